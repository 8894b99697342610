//! Random programs, segmentations and schedules for the differential check.
//!
//! `program` (a program as a value) · `data` (its inputs) · `memory` (inputs in memory) · `generate` (the program of a seed)
//! · `like_groups` (independent groups in it) · `calls` (one op with its arguments) · `segmentation` and `schedule` (valid
//! choices). Checks nothing.

mod calls;
mod data;
mod generate;
mod like_groups;
mod memory;
mod program;
mod schedule;
mod segmentation;

pub use data::{Input, Numbers, Placement};
pub use generate::generate;
pub use memory::{Placed, WritableInputs, place};
pub use ops::draws::Draws;
pub use program::{Draft, Given, Program, Size, Step, Tensor};
pub use schedule::schedule;
pub use segmentation::segmentation;
