//! Tests of single modules, by what they offer to other crates.

mod multiprocessor;
mod schedule_text;
