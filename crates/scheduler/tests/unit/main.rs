//! Tests of single modules, by what they offer to other crates.

mod schedule_text;
