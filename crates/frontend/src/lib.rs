//! The definition language: definitions built call by call, read from text, printed, outlined from a graph.
//!
//! `define` (the builder, and views as definitions of their own) · `text` (files read and written, the lists of inputs).
//! No backend, no I/O; nothing here runs anything.

pub mod define;
pub mod text;
