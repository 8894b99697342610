//! Files that appear whole or not at all.
//!
//! `temporary` makes files under temporary names and removes what killed writers left of them; `identity` says when two
//! paths are one file; `target` is a place to write to; `targets` writes several at once, all or none. Knows nothing of
//! what is written, and reads no file's content.

mod identity;
mod target;
mod targets;
mod temporary;

pub use targets::{Failed, Targets};
pub use temporary::{Temporary, is_temporary, sweep};
