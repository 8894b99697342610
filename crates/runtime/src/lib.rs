//! Buffers, compile cache, execution plans, launches.

pub mod cpu;
