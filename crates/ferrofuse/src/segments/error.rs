//! Errors about segments, in the names of the definition.

use frontend::define::DefineError;
use thiserror::Error;

use crate::Error;
use crate::other_definition::OtherDefinition;

/// Segments that are invalid or cannot run.
#[derive(Debug, Error)]
pub enum SegmentError {
    /// Text that is no segmentation, or names a value that the definition does not compute.
    #[error("{0}")]
    Text(#[from] segmenter::SegmentationError),
    /// A name in a list that the definition does not compute.
    #[error("{place}: the definition has no value `{name}`, or does not compute it")]
    Unknown {
        /// The name.
        name: String,
        /// Its place in the list.
        place: String,
    },
    /// A value that two segments make.
    #[error("{place}: `{name}` is made by {earlier} already")]
    Twice {
        /// The name of the value.
        name: String,
        /// The line, or the place in a list.
        place: String,
        /// The line or the list that makes it first.
        earlier: String,
    },
    /// A value that is equal to one that an earlier segment makes, under another name.
    #[error("{place}: `{name}` is equal to `{other}`, which {earlier} makes")]
    Equal {
        /// The name of the value.
        name: String,
        /// The name of the equal value.
        other: String,
        /// The line, or the place in a list.
        place: String,
        /// The line or the list that makes the equal value.
        earlier: String,
    },
    /// Two segments of one name.
    #[error("line {line}: line {earlier} names a segment `{name}` already")]
    SameName {
        /// The name.
        name: String,
        /// The line, from 1.
        line: usize,
        /// The line that has it first.
        earlier: usize,
    },
    /// An output of the definition that no segment makes.
    #[error("no segment makes the output `{name}`")]
    Missing {
        /// Its name.
        name: String,
    },
    /// Segments that wait for each other.
    #[error("the segments wait for each other: {0}")]
    Cycle(String),
    /// An edited segment with other inputs or outputs.
    #[error("{segment}: {what}; an edited segment keeps its inputs and outputs")]
    Changed {
        /// The name of the segment.
        segment: String,
        /// The difference.
        what: String,
    },
    /// Segments that conflict with the groups of the definition.
    #[error(transparent)]
    Group(segmenter::GroupError),
    /// A cut or a plan of another definition.
    #[error(transparent)]
    OtherDefinition(#[from] OtherDefinition),
    /// A segment that the definition language cannot express.
    #[error(transparent)]
    Define(#[from] DefineError),
    /// An error of a plan or of a schedule.
    #[error(transparent)]
    Plan(#[from] Error),
}
