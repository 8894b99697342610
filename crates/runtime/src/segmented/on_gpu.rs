//! Calls of segments on tensors of a GPU, in the order of the caller's stream: values between them stay on the GPU.

use std::sync::Arc;

use cuda::Stream;
use ir::array::ArrayView;

use super::call::CallOfSegments;
use super::destinations::CallerMemory;
use super::engine::{Engine, Input};
use super::executable::SegmentedExecutable;
use crate::call::Finished;
use crate::cuda::{GpuArgument, GpuMemory, GpuTensor, OnStream, Telling};
use crate::destination::{OutputForm, Place, unplaced};
use crate::device::{AddressSpace, Host};
use crate::executable::{CallMode, bound_on_gpu, located_on_gpu, require_placed};
use crate::{CallOptions, CallReport, Error, Executable, GpuInput, GpuOutput};

impl<'c> Engine for OnStream<'c> {
    type Device = OnStream<'c>;

    fn device(&self) -> &OnStream<'c> {
        self
    }

    fn call<'d>(
        &self,
        segment: &Executable,
        options: &CallOptions,
        inputs: &[Input<'_, GpuMemory>],
        place: Option<impl Place<GpuArgument<'d>>>,
        mode: CallMode,
    ) -> Result<Finished<GpuMemory>, Error> {
        let inputs: Vec<GpuInput<'_>> = inputs.iter().map(of_segment).collect();
        match place {
            Some(place) => segment.run_segment_on_gpu(options, self.stream, &inputs, place, mode),
            None => segment.run_segment_on_gpu(options, self.stream, &inputs, unplaced, mode),
        }
    }

    fn uploaded(&self, view: &ArrayView<'_>) -> Result<GpuTensor, Error> {
        GpuTensor::of_host(self.stream, view)
    }

    fn check_placed<A>(&self, forms: &[OutputForm], destinations: &[Option<A>]) -> Result<(), Error> {
        if self.stream.is_capturing()? { require_placed(forms, destinations) } else { Ok(()) }
    }
}

impl<'v> Input<'v, GpuMemory> {
    /// An input of a call.
    fn of_call(input: &'v GpuInput<'_>) -> Self {
        match input {
            GpuInput::Tensor(argument) => Input::Device(GpuMemory::again(argument)),
            GpuInput::Host(view) => Input::Host(view.clone()),
        }
    }
}

/// An input of a segment.
fn of_segment<'v>(input: &'v Input<'_, GpuMemory>) -> GpuInput<'v> {
    match input {
        Input::Device(argument) => GpuInput::Tensor(GpuMemory::again(argument)),
        Input::Host(view) => GpuInput::Host(view.clone()),
    }
}

impl SegmentedExecutable {
    /// As [`Executable::run_on_gpu_into`], but `place` is called after all segments but the last were enqueued: the last
    /// writes its outputs there, the other outputs are copied.
    ///
    /// # Errors
    /// As [`Executable::run_on_gpu_into`].
    pub fn run_on_gpu_into<'d>(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        inputs: &[GpuInput<'_>],
        place: impl Place<GpuArgument<'d>>,
    ) -> Result<Vec<GpuOutput>, Error> {
        self.on_gpu(options, stream, inputs, place, false).map(|(outputs, _)| outputs)
    }

    /// The same, with the time of each step by the GPU's clock; waits for the work.
    ///
    /// # Errors
    /// As [`SegmentedExecutable::run_on_gpu_into`].
    pub fn run_on_gpu_timed<'d>(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        inputs: &[GpuInput<'_>],
        place: impl Place<GpuArgument<'d>>,
    ) -> Result<(Vec<GpuOutput>, CallReport), Error> {
        self.on_gpu(options, stream, inputs, place, true)
    }

    fn on_gpu<'d>(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        given: &[GpuInput<'_>],
        place: impl Place<GpuArgument<'d>>,
        is_timed: bool,
    ) -> Result<(Vec<GpuOutput>, CallReport), Error> {
        let device = self.options.gpu()?;
        let host = Host { machine: self.machine(options), interrupt: &options.interrupt };
        let on_stream = OnStream::new(&device, stream, host, Telling::Itself);
        let inputs: Vec<Input<'_, GpuMemory>> = given.iter().map(Input::of_call).collect();
        let memory = CallerMemory::new(|forms: &[OutputForm]| place(forms), false);
        let mode = CallMode { writes: true, is_timed };
        let done = bound_on_gpu(&self.signature, given).and_then(|sizes| {
            let call = CallOfSegments::new(self, &on_stream, options, &inputs, mode)?;
            call.run(&self.with_seeds(options, sizes), Some(&memory))
        });
        let (done, report) = done.map_err(|error| located_on_gpu(error, &self.definition, given))?;
        Ok((done.into_iter().map(GpuOutput::from).collect(), report))
    }
}
