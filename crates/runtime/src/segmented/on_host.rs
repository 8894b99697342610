//! Calls of segments on arrays of the host.

use ir::array::{Argument, ArrayView, Layout};

use super::call::CallOfSegments;
use super::destinations::CallerMemory;
use super::engine::{Engine, Input};
use super::executable::SegmentedExecutable;
use crate::call::Finished;
use crate::destination::{OutputForm, Place, placed};
use crate::device::{AddressSpace, Device, Host};
use crate::executable::{CallMode, outputs_on_host};
use crate::host::HostMemory;
use crate::located::located;
use crate::{CallOptions, CallReport, Error, Executable, Outputs, Tensor};

impl Engine for Host<'_> {
    type Device = Self;

    fn device(&self) -> &Self {
        self
    }

    fn call<'d>(
        &self,
        segment: &Executable,
        options: &CallOptions,
        inputs: &[Input<'_, HostMemory>],
        place: Option<impl Place<Argument<'d>>>,
        mode: CallMode,
    ) -> Result<Finished<HostMemory>, Error> {
        let arguments: Vec<Argument<'_>> = inputs.iter().map(argument).collect();
        segment.run_segment(options, &arguments, place, mode)
    }

    fn uploaded(&self, view: &ArrayView<'_>) -> Result<Tensor, Error> {
        let mut copy = self.allocate(view.dtype(), Layout::dense(view.sizes()))?;
        self.copy(copy.view_mut(), view)?;
        Ok(copy)
    }
}

/// An input of a segment.
fn argument<'v>(input: &'v Input<'_, HostMemory>) -> Argument<'v> {
    match input {
        Input::Device(argument) => HostMemory::again(argument),
        Input::Host(view) => Argument::from(view.clone()),
    }
}

impl SegmentedExecutable {
    /// [`SegmentedExecutable::run_with`] with the default options.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn run<'a>(&self, inputs: &[ArrayView<'a>]) -> Result<Outputs<'a>, Error> {
        self.run_with(&CallOptions::default(), inputs)
    }

    /// Calls the segments. It changes no input: in-place outputs are returned like the others.
    ///
    /// # Errors
    /// As [`Executable::run_with`].
    pub fn run_with<'a>(
        &self,
        options: &CallOptions,
        inputs: &[ArrayView<'a>],
    ) -> Result<Outputs<'a>, Error> {
        self.reading(options, inputs, false).map(|(outputs, _)| outputs)
    }

    /// [`SegmentedExecutable::run_with`], with a report of where the time went: in the steps of all segments.
    ///
    /// # Errors
    /// As [`Executable::run_with`].
    pub fn run_timed_with<'a>(
        &self,
        options: &CallOptions,
        inputs: &[ArrayView<'a>],
    ) -> Result<(Outputs<'a>, CallReport), Error> {
        self.reading(options, inputs, true)
    }

    fn reading<'a>(
        &self,
        options: &CallOptions,
        inputs: &[ArrayView<'a>],
        is_timed: bool,
    ) -> Result<(Outputs<'a>, CallReport), Error> {
        let arguments: Vec<Argument<'_>> = inputs.iter().cloned().map(Argument::from).collect();
        let mode = CallMode { writes: false, is_timed };
        let (done, report) = self.on_host(options, &arguments, inputs, None::<fn(&_) -> _>, mode)?;
        Ok((outputs_on_host(done, inputs), report))
    }

    /// Calls the segments and writes in-place outputs to their inputs.
    ///
    /// # Errors
    /// As [`Executable::run_in_place_with`].
    pub fn run_in_place_with<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a mut [Argument<'_>],
    ) -> Result<Outputs<'a>, Error> {
        self.in_place(options, arguments, false).map(|(outputs, _)| outputs)
    }

    /// [`SegmentedExecutable::run_in_place_with`], with a report of where the time went: in the steps of all segments, and
    /// in copies of in-place outputs.
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

    /// As [`Executable::run_into`]: the last segment writes its outputs there, the others are copied after it.
    ///
    /// # Errors
    /// As [`Executable::run_into`].
    pub fn run_into<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a mut [Argument<'_>],
        destinations: &'a mut [Argument<'_>],
    ) -> Result<(), Error> {
        let (arguments, destinations): (&'a [_], &'a [_]) = (arguments, destinations);
        let views: Vec<ArrayView<'_>> = arguments.iter().map(Argument::view).collect();
        placed(destinations, &self.dense_forms(&views)?, arguments)?;
        let place = |_: &[OutputForm]| {
            Ok(destinations.iter().map(|given| Some(HostMemory::again(given))).collect::<Vec<_>>())
        };
        let mode = CallMode { writes: true, is_timed: false };
        self.on_host(options, arguments, &views, Some(place), mode).map(drop)
    }

    fn in_place<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a [Argument<'_>],
        is_timed: bool,
    ) -> Result<(Outputs<'a>, CallReport), Error> {
        let views: Vec<ArrayView<'a>> = arguments.iter().map(Argument::view).collect();
        let mode = CallMode { writes: true, is_timed };
        let (done, report) = self.on_host(options, arguments, &views, None::<fn(&_) -> _>, mode)?;
        Ok((outputs_on_host(done, &views), report))
    }

    /// A call on arguments, of which these are views.
    fn on_host<'d>(
        &self,
        options: &CallOptions,
        arguments: &[Argument<'_>],
        views: &[ArrayView<'_>],
        place: Option<impl Place<Argument<'d>>>,
        mode: CallMode,
    ) -> Result<Finished<HostMemory>, Error> {
        let host = Host { machine: self.machine(options), interrupt: &options.interrupt };
        let inputs: Vec<Input<'_, HostMemory>> =
            arguments.iter().map(|argument| Input::Device(HostMemory::again(argument))).collect();
        let memory = place.map(|place| CallerMemory::new(|forms: &[OutputForm]| place(forms), true));
        let done = self.signature.bind(views, &[]).map_err(Error::from).and_then(|sizes| {
            let call = CallOfSegments::new(self, &host, options, &inputs, mode)?;
            call.run(&self.with_seeds(options, sizes), memory.as_ref())
        });
        done.map_err(|error| located(error, &self.definition, views))
    }
}
