//! Calls that report where their time went: in which step, and in the compiler if the call compiles.

use ir::array::{Argument, ArrayView};

use super::Executable;
use crate::{CallOptions, CallReport, Error, Outputs};

impl Executable {
    /// Calls the fusion and reports where the time went.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn run_timed<'a>(&self, inputs: &[ArrayView<'a>]) -> Result<(Outputs<'a>, CallReport), Error> {
        self.reading(&CallOptions::default(), inputs, true)
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
        self.in_place(options, arguments, true)
    }
}
