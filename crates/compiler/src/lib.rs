//! How a program gets fast: segments, schedules, lowering. Pure functions.
