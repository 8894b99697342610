//! The segments that a chain consists of: definitions, the sources of their inputs, schedules of the user.

use compiler::{PlanError, PlanOptions};
use index::Expr;
use ir::definition::Definition;
use ir::graph::Val;
use scheduler::schedule::Schedule;
use segmenter::Segmentation;

use crate::compile::cut_declared;
use crate::{CompileOptions, Error};
use execution::checks_indices;

/// The source of a segment's input.
#[derive(Clone, Debug, PartialEq)]
pub enum SegmentInput {
    /// A value of the whole definition.
    Val(Val),
    /// A size over the symbols of the whole definition, as a scalar.
    Size(Expr),
}

/// A segment as a separate definition.
#[derive(Clone, Debug)]
pub struct SegmentDefinition {
    /// Its number in the order in which they run: diagnostics call it `seg0`, `seg1`, …
    pub number: usize,
    /// The computation.
    pub definition: Definition,
    /// The source of each of its inputs.
    pub inputs: Vec<SegmentInput>,
    /// For each of its outputs the value of the whole definition.
    pub outputs: Vec<Val>,
    /// The schedule of its one kernel, if the user chose it.
    pub schedule: Option<Schedule>,
    /// Whether the user edited it, so that it may reject sizes that the whole definition accepts.
    pub is_edited: bool,
}

impl SegmentDefinition {
    /// Whether it takes this value of the whole definition.
    pub(super) fn takes(&self, val: Val) -> bool {
        self.inputs.contains(&SegmentInput::Val(val))
    }

    /// Whether it may find an index out of range, or sizes that it rejects.
    pub(super) fn may_reject(&self) -> bool {
        self.is_edited || checks_indices(&self.definition.graph, &self.definition.fusion)
    }

    /// The options to compile it: with a schedule as one kernel, otherwise like any definition.
    ///
    /// # Errors
    /// [`Error::Plan`] for a schedule that does not fit.
    pub fn options(&self, options: &CompileOptions) -> Result<CompileOptions, Error> {
        let Some(schedule) = &self.schedule else {
            let plan = PlanOptions { is_segment: true, ..PlanOptions::default() };
            return Ok(CompileOptions { plan, ..options.clone() });
        };
        let plan = PlanOptions {
            segmentation: Segmentation::whole(&self.definition.fusion),
            schedules: vec![(0, schedule.clone())],
            ..PlanOptions::default()
        };
        let options = CompileOptions { plan, ..options.clone() };
        cut_declared(&self.definition, &options.facts(), &options).map_err(|error| self.in_words(error))?;
        Ok(options)
    }

    /// An error about the one segment of its definition, in the names of the whole.
    fn in_words(&self, error: Error) -> Error {
        match error {
            Error::Plan(PlanError::Schedule { error, .. }) => {
                PlanError::Schedule { segment: format!("seg{}", self.number), error }.into()
            }
            Error::Plan(PlanError::Scratch { bytes, most, .. }) => {
                PlanError::Scratch { segment: format!("seg{}", self.number), bytes, most }.into()
            }
            Error::Plan(PlanError::NoSegment(_)) => PlanError::NoSegment(self.number).into(),
            error => error,
        }
    }
}
