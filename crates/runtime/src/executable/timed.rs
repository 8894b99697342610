//! Calls that report where their time went: in which step, and in the compiler if the call compiles.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ir::array::ArrayView;

use super::Executable;
use crate::{CallOptions, CallReport, Error, Outputs};
use ir::array::Argument;

impl Executable {
    /// Calls the fusion and reports where the time went.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn run_timed<'a>(&self, inputs: &[ArrayView<'a>]) -> Result<(Outputs<'a>, CallReport), Error> {
        self.run_timed_with(&CallOptions::default(), inputs)
    }

    /// [`Executable::run_timed`] with options of the call.
    ///
    /// # Errors
    /// As [`Executable::run_with`].
    pub(crate) fn run_timed_with<'a>(
        &self,
        options: &CallOptions,
        inputs: &[ArrayView<'a>],
    ) -> Result<(Outputs<'a>, CallReport), Error> {
        self.with_compile_time(inputs, || self.call(self.machine(options), inputs, true, options))
    }

    /// [`Executable::run_in_place_with`], with a report of where the time went.
    ///
    /// # Errors
    /// As [`Executable::run_in_place_with`].
    pub fn run_in_place_timed<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a mut [Argument<'_>],
    ) -> Result<(Outputs<'a>, CallReport), Error> {
        let arguments: &'a [Argument<'_>] = arguments;
        let views: Vec<ArrayView<'_>> = arguments.iter().map(Argument::view).collect();
        self.with_compile_time(&views, || self.in_place(options, arguments, true))
    }

    /// A timed call, with its compile time.
    fn with_compile_time<'a>(
        &self,
        inputs: &[ArrayView<'_>],
        call: impl FnOnce() -> Result<(Outputs<'a>, CallReport), Error>,
    ) -> Result<(Outputs<'a>, CallReport), Error> {
        let (is_compiled, begin) = (self.is_compiled(inputs)?, Instant::now());
        let (outputs, mut report) = call()?;
        if !is_compiled {
            report.compile = begin.elapsed().saturating_sub(report.total);
            let times = self.compile_times();
            for step in &mut report.steps {
                step.compile = times.get(&step.name).copied().unwrap_or_default();
            }
        }
        Ok((outputs, report))
    }

    /// The time that each kernel of the last called variant spent in libLLVM.
    fn compile_times(&self) -> HashMap<String, Duration> {
        let Some(variant) = self.latest() else { return HashMap::new() };
        let kernels = variant.report.segments.iter().flat_map(|segment| &segment.kernels);
        kernels.map(|kernel| (kernel.name.clone(), kernel.compile)).collect()
    }
}
