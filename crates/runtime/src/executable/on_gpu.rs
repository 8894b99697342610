//! Calls on tensors of a GPU, which are read and written in place, in the order of the caller's stream.

use std::sync::Arc;
use std::time::Duration;

use cuda::{Graph, GraphWords, Stream};
use ir::array::{ArrayView, Footprint, Layout, StridedArray};
use ir::definition::Definition;
use ir::graph::{InputSignature, Sizes};
use ir::interrupt::Interrupt;
use ir::layout::LayoutClass;
use ops::DType;
use smallvec::SmallVec;

use super::access::{Access, ArgumentMemory};
use super::graph::require_placed;
use super::variants::Found;
use super::{CallMode, Executable};
use crate::call::{Call, Done, Finished, Given};
use crate::compile::Code;
use crate::cuda::{
    GpuArgument, GpuMemory, GpuTensor, GpuView, GraphFaults, Located, OnStream, Telling, Watched,
};
use crate::destination::{Place, checked, unplaced};
use crate::device::{AddressSpace, Device, Host};
use crate::error::IndexFault;
use crate::located::located;
use crate::prepared::Prepared;
use crate::variant_key::VariantKey;
use crate::{CallOptions, CallReport, Error};

/// The error of a call on these inputs, in the names of the definition.
pub(crate) fn located_on_gpu(error: Error, definition: &Definition, inputs: &[GpuInput<'_>]) -> Error {
    let shown = inputs.iter().map(GpuInput::shown).collect::<Result<Vec<_>, Error>>();
    let Ok(shown) = shown else { return error };
    let views: Vec<ArrayView<'_>> = shown.iter().map(StridedArray::view).collect();
    located(error, definition, &views)
}

/// An input of a call on a GPU.
#[derive(Debug)]
pub enum GpuInput<'a> {
    /// A tensor of the GPU.
    Tensor(GpuArgument<'a>),
    /// An array of the host, which is copied, for example a number for a scalar input.
    Host(ArrayView<'a>),
}

/// An output of a call on a GPU.
#[derive(Debug)]
pub enum GpuOutput {
    /// In memory of its own.
    Made(GpuTensor),
    /// In an input, as a view with this layout.
    View {
        /// The number of the input.
        input: usize,
        /// The layout; its offset is relative to that of the input.
        layout: Layout,
    },
    /// In the memory that the caller supplied for it.
    Placed,
}

impl GpuInput<'_> {
    /// Element type and layout.
    fn form(&self) -> (DType, &Layout) {
        match self {
            GpuInput::Tensor(argument) => argument.form(),
            GpuInput::Host(view) => (view.dtype(), view.layout()),
        }
    }

    /// Whether kernels read it in its own layout: copies of host arrays keep theirs.
    fn is_read_in_place(&self) -> bool {
        match self {
            GpuInput::Tensor(argument) => argument.is_aligned(),
            GpuInput::Host(_) => true,
        }
    }

    /// The layout in which kernels read it.
    fn layout_class(&self) -> LayoutClass {
        match self {
            GpuInput::Tensor(argument) => argument.layout_class(),
            GpuInput::Host(view) => LayoutClass::from(view.layout()),
        }
    }

    /// Its memory, if on the GPU.
    fn footprint(&self) -> Option<Footprint<'_>> {
        match self {
            GpuInput::Tensor(argument) => Some(argument.footprint()),
            GpuInput::Host(_) => None,
        }
    }

    /// Dtype and sizes as an array of the host; its elements are the input's if they are known, else zeros.
    ///
    /// # Errors
    /// When there is no memory for a copy.
    pub fn shown(&self) -> Result<StridedArray, Error> {
        match self {
            GpuInput::Tensor(argument) => argument.shown(),
            GpuInput::Host(view) => Ok(StridedArray::from(view.to_array()?)),
        }
    }
}

impl From<Done<GpuMemory>> for GpuOutput {
    fn from(done: Done<GpuMemory>) -> GpuOutput {
        match done {
            Done::Made(tensor) => GpuOutput::Made(tensor),
            Done::Viewed(input, layout) => GpuOutput::View { input, layout },
            Done::Placed => GpuOutput::Placed,
        }
    }
}

/// A call that was enqueued on a stream, or captured.
pub(super) struct Ran {
    pub outputs: Vec<Done<GpuMemory>>,
    /// The work, if it was captured.
    pub graph: Option<Graph>,
    /// Its fault words.
    pub faults: Vec<GraphWords<Watched>>,
    /// Copies of inputs.
    pub copies: Vec<Option<GpuTensor>>,
    /// The variant that the work runs, and its sizes.
    pub prepared: Arc<Prepared>,
    /// The time of each step, if requested.
    pub report: CallReport,
}

/// The destination of the work of a call.
#[derive(Clone, Copy)]
pub(super) enum Mode<'s> {
    /// It is enqueued on the stream.
    Given,
    /// The same, with timestamps of the GPU's clock between the steps.
    Timed,
    /// As [`Mode::Given`] for a segment, whose outputs are freed when the call ends.
    Segment(CallMode),
    /// It is captured from this stream.
    Captured(&'s Arc<Stream>),
}

impl Mode<'_> {
    fn is_timed(self) -> bool {
        matches!(self, Mode::Timed | Mode::Segment(CallMode { is_timed: true, .. }))
    }

    /// Whether in-place outputs are written to their inputs, rather than returned.
    fn writes(self) -> bool {
        !matches!(self, Mode::Segment(CallMode { writes: false, .. }))
    }
}

/// The inputs of a call as kernels can read them.
struct Readable<'a> {
    given: &'a [GpuInput<'a>],
    /// For each input its copy, if it had to be copied.
    copies: Vec<Option<GpuTensor>>,
}

impl<'a> Readable<'a> {
    /// What a call of this executable may do with them.
    fn access(&self, executable: &Executable, writes: bool) -> Result<Access<'a, GpuMemory>, Error> {
        if !writes {
            return Ok(Access::reading(self.copies.iter().map(Option::is_some)));
        }
        let memory = |(input, copy): (&'a GpuInput<'a>, &Option<GpuTensor>)| {
            let argument = match input {
                GpuInput::Tensor(argument) => Some(argument),
                GpuInput::Host(_) => None,
            };
            ArgumentMemory { argument, is_copied: copy.is_some() }
        };
        let arguments: SmallVec<[ArgumentMemory<'a, GpuMemory>; 8]> =
            self.given.iter().zip(&self.copies).map(memory).collect();
        Access::writing(executable.definition(), &executable.signature, &arguments)
    }

    fn views(&self) -> impl Iterator<Item = GpuView<'_>> {
        self.given.iter().zip(&self.copies).map(|(input, copy)| match (copy, input) {
            (Some(copy), _) => GpuMemory::view(copy),
            (None, GpuInput::Tensor(argument)) => argument.view(),
            (None, GpuInput::Host(_)) => unreachable!("arrays of the host were copied"),
        })
    }
}

impl Executable {
    /// Calls the fusion on tensors of its GPU. Nothing waits for the work, unless the host has a step in it; an index out of
    /// range is the error of a later call. In-place outputs are written to their inputs; the others are returned. Inputs
    /// whose address is no multiple of 16 bytes are copied.
    ///
    /// # Errors
    /// An error in the inputs or the stream, and errors of the driver, also of earlier work.
    pub fn run_on_gpu(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        inputs: &[GpuInput<'_>],
    ) -> Result<Vec<GpuOutput>, Error> {
        self.run_on_gpu_into(options, stream, inputs, unplaced)
    }

    /// [`Executable::run_on_gpu`], with outputs written to memory of the caller's: before any work is enqueued, `place` gets
    /// the forms of the outputs, and returns memory for each that is returned. For `None` the call allocates the output or,
    /// if it is a view of an input, returns it as such.
    ///
    /// # Errors
    /// As [`Executable::run_on_gpu`], errors of `place`, [`Error::Destinations`] and [`Error::Destination`].
    pub fn run_on_gpu_into<'d>(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        inputs: &[GpuInput<'_>],
        place: impl Place<GpuArgument<'d>>,
    ) -> Result<Vec<GpuOutput>, Error> {
        let ran = self.on_stream(options, stream, inputs, place, Mode::Given);
        let ran = ran.map_err(|error| located_on_gpu(error, self.definition(), inputs))?;
        Ok(ran.outputs.into_iter().map(GpuOutput::from).collect())
    }

    /// A call as a segment of another executable.
    pub(crate) fn run_segment_on_gpu<'d>(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        inputs: &[GpuInput<'_>],
        place: impl Place<GpuArgument<'d>>,
        mode: CallMode,
    ) -> Result<Finished<GpuMemory>, Error> {
        let ran = self.on_stream(options, stream, inputs, place, Mode::Segment(mode));
        ran.map(|ran| (ran.outputs, ran.report))
            .map_err(|error| located_on_gpu(error, self.definition(), inputs))
    }

    /// [`Executable::run_on_gpu_into`], with the time of each step by the GPU's clock; waits for the work.
    ///
    /// # Errors
    /// As [`Executable::run_on_gpu_into`].
    pub fn run_on_gpu_timed<'d>(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        inputs: &[GpuInput<'_>],
        place: impl Place<GpuArgument<'d>>,
    ) -> Result<(Vec<GpuOutput>, CallReport), Error> {
        let ran = self.on_stream(options, stream, inputs, place, Mode::Timed);
        let ran = ran.map_err(|error| located_on_gpu(error, self.definition(), inputs))?;
        Ok((ran.outputs.into_iter().map(GpuOutput::from).collect(), ran.report))
    }

    /// A call in the order of a stream.
    pub(super) fn on_stream<'d>(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        inputs: &[GpuInput<'_>],
        place: impl Place<GpuArgument<'d>>,
        mode: Mode<'_>,
    ) -> Result<Ran, Error> {
        let device = &*self.gpu()?;
        let (stream_gpu, own) = (stream.device().ordinal(), device.gpu().ordinal());
        if stream_gpu != own {
            return Err(Error::OtherGpu { stream: stream_gpu, executable: own });
        }
        device.check()?;
        let _entered = stream.enter()?;
        let (prepared, compile) = self.prepared_on_gpu(inputs, &options.interrupt)?;
        let variant = &prepared.variant;
        let captures = match mode {
            Mode::Captured(own) => Some(own),
            Mode::Given | Mode::Timed | Mode::Segment(_) => None,
        };
        let is_captured = captures.is_some() || stream.is_capturing()?;
        if is_captured {
            self.require_capturable(&variant.steps, inputs, captures.is_some())?;
        }
        let host = Host { machine: self.machine(options), interrupt: &options.interrupt };
        let readable = self.readable(inputs, &OnStream::new(device, stream, host, Telling::Itself))?;
        let faults = GraphFaults::default();
        let telling = match (variant.steps.faults.is_empty(), is_captured) {
            (true, _) => Telling::Itself,
            (false, false) => Telling::Later(self.located_later()),
            (false, true) => Telling::Captured(self.located_later(), captures.map(|_| &faults)),
        };
        let on_stream = OnStream::new(device, captures.unwrap_or(stream), host, telling);
        let Code::Device(_, code) = &variant.code else { return Err(Error::NoGpu) };
        let given_destinations;
        let access = readable.access(self, mode.writes())?;
        let sizes = self.seeded(&prepared.sizes, options.stream);
        let (extents, views) = (variant.extents(&sizes)?, readable.views());
        let Access { targets, visible } = &access;
        let given = Given { sizes: &sizes, extents, inputs: views, targets, visible };
        let call = Call::new(&variant.steps, code, on_stream, given);
        let forms = call.forms();
        given_destinations = place(&forms)?;
        if is_captured && matches!(mode, Mode::Given) {
            require_placed(&forms, &given_destinations)?;
        }
        let footprints: SmallVec<[Footprint<'_>; 8]> =
            inputs.iter().filter_map(GpuInput::footprint).collect();
        let destinations = checked(given_destinations.iter().map(Option::as_ref), &forms, &footprints)?;
        let call = call.writing_to(&destinations);
        let (graph, (outputs, mut report)) = match captures {
            None => (None, call.run(mode.is_timed())?),
            Some(captures) => {
                captures.capture(|| call.run(false)).map(|(graph, done)| (Some(graph), done))?
            }
        };
        variant.add_compile(compile, &mut report);
        let copies = readable.copies;
        Ok(Ran { outputs, graph, faults: faults.into_inner(), copies, prepared, report })
    }

    /// How a later call reports an index out of range. It does not keep the device alive, as the device keeps it.
    fn located_later(&self) -> Located {
        let definition = Arc::clone(&self.source.definition);
        Arc::new(move |fault: IndexFault| located(fault.into(), &definition, &[]))
    }

    /// The work that the layouts of the inputs lead to, from the last call if they are the same; with the compile time
    /// of its variant if it is new.
    fn prepared_on_gpu(
        &self,
        inputs: &[GpuInput<'_>],
        interrupt: &Interrupt,
    ) -> Result<(Arc<Prepared>, Option<Duration>), Error> {
        let lasts = !self.reads_sizes && inputs.iter().all(GpuInput::is_read_in_place);
        let last_call = self
            .last_gpu_call
            .get()
            .filter(|last_call| lasts && last_call.is_for(inputs.iter().map(GpuInput::form)));
        if let Some(last_call) = last_call {
            return Ok((last_call, None));
        }
        let sizes = bound_on_gpu(&self.signature, inputs)?;
        let layouts = inputs.iter().map(GpuInput::layout_class).collect();
        let key = VariantKey::of(layouts, &sizes, self.shapes.as_ref());
        let Found { variant, compile } = self.compiled(key, interrupt)?;
        let forms = inputs.iter().map(|input| (input.form().0, input.form().1.clone())).collect();
        let prepared = Arc::new(Prepared { forms, sizes, variant, is_short: false });
        if lasts {
            self.last_gpu_call.keep(&prepared);
        }
        Ok((prepared, compile))
    }

    /// Copies the inputs that have to be copied.
    fn readable<'a>(
        &self,
        given: &'a [GpuInput<'a>],
        on_stream: &OnStream<'_>,
    ) -> Result<Readable<'a>, Error> {
        let copy = |input: &GpuInput<'_>| match input {
            GpuInput::Host(view) => GpuTensor::of_host(on_stream.stream, view).map(Some),
            GpuInput::Tensor(_) if input.is_read_in_place() => Ok(None),
            GpuInput::Tensor(argument) => {
                let (dtype, layout) = argument.form();
                let mut copy = on_stream.allocate(dtype, Layout::dense(&layout.sizes))?;
                on_stream.copy(GpuMemory::view_mut(&mut copy), &argument.view())?;
                Ok(Some(copy))
            }
        };
        Ok(Readable { given, copies: given.iter().map(copy).collect::<Result<_, Error>>()? })
    }
}

/// The values of the size symbols. Numbers that determine sizes must be on the host.
pub(crate) fn bound_on_gpu(signature: &InputSignature, inputs: &[GpuInput<'_>]) -> Result<Sizes, Error> {
    let on_gpu = |&place: &usize| matches!(inputs.get(place), Some(GpuInput::Tensor(_)));
    if let Some(place) = signature.read_elements().find(on_gpu) {
        return Err(Error::OnGpu { input: signature.input_name(place).to_owned() });
    }
    let shown: Vec<StridedArray> = inputs.iter().map(GpuInput::shown).collect::<Result<_, Error>>()?;
    let views: Vec<ArrayView<'_>> = shown.iter().map(StridedArray::view).collect();
    Ok(signature.bind(&views, &[])?)
}
