//! The segments that a chain consists of: definitions, the sources of their inputs, schedules of the user.

use compiler::{PlanError, PlanOptions, SegmentId};
use index::{Expr, Sym};
use ir::definition::Definition;
use ir::graph::Val;
use scheduler::schedule::Schedule;

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
    /// Its number in the order in which they run.
    pub number: usize,
    /// Its name in diagnostics and reports.
    pub name: String,
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
    /// For each of its size symbols that inputs determine the size of the whole definition.
    pub fn sizes(&self, whole: &Definition) -> Vec<(Sym, Expr)> {
        self.definition.graph.sizes_of_inputs(|place, axis| match (self.inputs.get(place)?, axis) {
            (SegmentInput::Val(val), Some(axis)) if whole.graph.has(*val) => {
                whole.graph.shape(*val).get(axis).cloned()
            }
            (SegmentInput::Size(size), None) => Some(size.clone()),
            _ => None,
        })
    }

    /// Whether it takes this value of the whole definition.
    pub(super) fn takes(&self, val: Val) -> bool {
        self.inputs.contains(&SegmentInput::Val(val))
    }

    /// Whether it may find an index out of range, or sizes that it rejects, or layouts that its schedule does not fit.
    pub(super) fn may_reject(&self) -> bool {
        self.is_edited
            || self.schedule.is_some()
            || checks_indices(&self.definition.graph, &self.definition.fusion)
    }

    /// The options to compile it, with the schedule if there is one.
    ///
    /// # Errors
    /// [`Error::Plan`] for a schedule that does not fit.
    pub fn options(&self, options: &CompileOptions) -> Result<CompileOptions, Error> {
        let schedules = self.schedule.iter().map(|schedule| (0.into(), schedule.clone())).collect();
        let plan = PlanOptions { is_segment: true, schedules, ..PlanOptions::default() };
        let options = CompileOptions { plan, ..options.clone() };
        if self.schedule.is_some() {
            let cut = cut_declared(&self.definition, &options.facts(), &options);
            cut.map_err(|error| in_words(&self.name, error))?;
        }
        Ok(options)
    }
}

/// An error about the one segment of its definition, with the name that the segment has in the whole.
pub(super) fn in_words(name: &str, error: Error) -> Error {
    let segment = name.to_owned();
    match error {
        Error::Plan(PlanError::Schedule { error, val, .. }) => {
            PlanError::Schedule { segment, error, val }.into()
        }
        Error::Plan(PlanError::Scratch { bytes, most, .. }) => {
            PlanError::Scratch { segment, bytes, most }.into()
        }
        Error::Plan(PlanError::NoKernel(_)) => PlanError::NoKernel(SegmentId::Name(segment)).into(),
        Error::Plan(PlanError::Parts { kernels, .. }) => {
            PlanError::Parts { segment: SegmentId::Name(segment), kernels }.into()
        }
        error => error,
    }
}
