//! Segments: which values are kept in memory, and which groups of values become one kernel each. Pure functions.
//!
//! `segmentation` (the value and its text) · `external` (groups that are external ops) · `engine` (a kernel or a library)
//! · `legality` (its answers) · `kept` (bytes that a block keeps) · `cost` (bytes and seconds) · `joined` (two segments
//! as one) · `structure` (what similar segments share) · `dependencies` (the order of segments) · `constraints` (of the
//! user's groups) · `free` (nodes recomputed anywhere) · `memory` (peak memory, and an order of segments that keeps it
//! low) · `bound` (a lower bound for all segmentations) · `greedy`, `search` (how one is found) · `group_classes` (groups
//! that are equal except for their values) · `flow_network` (minimum cuts) · `axis_classes` (axes that one loop may walk)
//! · `worker_axes` (whether workers may divide any) · `disjoint_sets` (of values) · `ready_order` (a topological order) ·
//! `parallel` (two parts of a compilation at the same time).

mod axis_classes;
mod bound;
mod constraints;
pub mod cost;
mod dependencies;
mod disjoint_sets;
mod engine;
mod external;
mod flow_network;
mod free;
mod greedy;
mod group_classes;
mod joined;
mod kept;
mod legality;
mod memory;
pub mod parallel;
mod ready_order;
mod search;
mod segmentation;
mod structure;
mod worker_axes;

pub use bound::{LowerBound, lower_bound};
pub use constraints::{Constraints, GroupError};
pub use cost::InputReads;
pub use dependencies::Wait;
pub use disjoint_sets::DisjointSets;
pub use engine::Engine;
pub use external::{ExternalCall, Source, ViewedOperand, external_call};
pub use greedy::greedy_with;
pub use greedy::{greedy, unfused};
pub use group_classes::{GroupClass, PlaceInGroup};
pub use joined::Joined;
pub use legality::{Legality, LegalityAnswer};
pub use memory::Lifetimes;

pub use search::{Optimum, SearchProblem, SearchResult, optimum, search, search_within};
pub use segmentation::{DescribedVal, Segmentation, SegmentationError, WrittenSegment};
pub use structure::Structure;
