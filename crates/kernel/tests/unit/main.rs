//! Tests of single modules through their exports to other crates.

mod build;
mod contraction;
mod joined;
mod strips;
