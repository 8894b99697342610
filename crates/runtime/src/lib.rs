//! Buffers, compile cache, execution plans, launches.
