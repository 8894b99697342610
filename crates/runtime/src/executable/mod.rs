//! Executables: definitions ready to be called, with the variants that were compiled for them.
//!
//! A variant is for inputs with the same layouts (dense, or else the same strides that are 0 or 1), for rows of whole
//! vectors or for any rows, and if requested for sizes of one order of magnitude (on a GPU, of one step of at most an
//! eighth); other new sizes compile nothing. Any number of threads may call an executable, also while others wait for a new
//! variant.

mod graph;
mod on_gpu;
mod timed;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ir::array::{ArrayView, Layout};
use ir::definition::Definition;
use ir::graph::{InputSignature, Sizes, Stream};
use ir::interrupt::Interrupt;
use ops::DType;
use smallvec::SmallVec;

use crate::accelerator::Loaded;
use crate::background::in_background;
use crate::call::{Call, Done, Finished, Given, is_short};
use crate::compile::{Code, Variant, compile};
use crate::destination::{OutputForm, placed};
use crate::device::{AddressSpace, Host, WriteTarget};
use crate::host::HostMemory;
use crate::inputs::{Inputs, layouts};
use crate::located::located;
use crate::prepared::Prepared;
use crate::variant_key::{Shapes, VariantKey};
use crate::{
    CallOptions, CallReport, CompileOptions, CudaDevice, Error, Generator, Machine, Output, Outputs,
};
use cpu::fork::ForkLock;
use cpu::last_call::LastCall;
use ir::array::{Argument, Footprint, shared};

pub use graph::GpuGraph;
pub(crate) use graph::require_placed;
pub use on_gpu::{GpuInput, GpuOutput};
pub(crate) use on_gpu::{bound_on_gpu, located_on_gpu, unplaced};

/// The number of variants that an executable keeps; the one unused longest is dropped first.
const MOST_VARIANTS: usize = 64;

/// The request of a call on arguments.
enum Wanted<'w> {
    /// Its outputs.
    Outputs {
        /// Whether its steps are timed.
        timed: bool,
    },
    /// Its outputs in memory of the caller's.
    Into(&'w [Argument<'w>]),
    /// The forms of its outputs.
    Forms,
}

/// The result of a request.
enum Got {
    Outputs(Finished<HostMemory>),
    Forms(Vec<OutputForm>),
}

/// The input for compiling variants, which outlives an executable that is dropped meanwhile.
#[derive(Debug)]
struct Source {
    definition: Arc<Definition>,
    options: CompileOptions,
}

/// A definition ready to be called.
#[derive(Debug)]
pub struct Executable {
    source: Arc<Source>,
    signature: InputSignature,
    /// The shapes by which sizes of calls are classified, if code depends on sizes.
    shapes: Option<Shapes>,
    /// Most recently used first.
    variants: ForkLock<Vec<(VariantKey, Arc<Cell>)>>,
    /// The work that the inputs of the last call led to.
    last_call: LastCall<Prepared>,
    /// The same for the last call on tensors of a GPU.
    last_gpu_call: LastCall<Prepared>,
    /// Whether sizes of calls depend on elements of inputs.
    reads_sizes: bool,
}

/// A variant, or a wait for the thread that compiles it. A failed compilation is not kept.
#[derive(Debug, Default)]
struct Cell {
    variant: OnceLock<Arc<Variant>>,
    /// Held while it is compiled.
    compiling: Mutex<()>,
}

impl Cell {
    /// The variant; if it is missing, one thread at a time compiles it.
    fn filled(
        &self,
        source: &Source,
        key: &VariantKey,
        interrupt: &Interrupt,
    ) -> Result<Arc<Variant>, Error> {
        let _only = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(variant) = self.variant.get() {
            return Ok(Arc::clone(variant));
        }
        interrupt.check()?;
        let compiled = Arc::new(compile(&source.definition, key, &source.options, interrupt)?);
        Ok(Arc::clone(self.variant.get_or_init(|| compiled)))
    }
}

impl Executable {
    /// Compiles a definition for dense inputs, or ones with the declared layouts; for others at their first call.
    ///
    /// # Errors
    /// [`Error::Plan`] when choices of the user do not fit the definition, [`Error::Target`] when the machine lacks
    /// instructions.
    pub fn new(definition: Definition, options: CompileOptions) -> Result<Executable, Error> {
        let key = VariantKey::declared(&definition);
        Executable::for_calls(definition, options, key, None)
    }

    /// Compiles a definition for inputs with the layouts of these, with rows of whole vectors if theirs are; for others at
    /// their first call.
    ///
    /// # Errors
    /// As [`Executable::new`], and errors in the inputs.
    pub fn for_inputs(
        definition: Definition,
        options: CompileOptions,
        inputs: &[ArrayView<'_>],
    ) -> Result<Executable, Error> {
        let sizes = definition.signature().bind(inputs, &[])?;
        let shapes = Shapes::new(&definition, false, &options);
        let key = VariantKey::of(layouts(inputs, options.executor), &sizes, Some(&shapes));
        Executable::for_calls(definition, options, key, Some(shapes))
    }

    /// A definition to be compiled by its calls, with decisions for the sizes of each call rather than for the hints: once
    /// for each combination of input layouts and order of magnitude of the sizes (on a GPU, step of at most an eighth).
    pub fn by_size(definition: Definition, options: CompileOptions) -> Executable {
        let shapes = Shapes::new(&definition, true, &options);
        Executable::uncompiled(definition, options, Some(shapes))
    }

    fn for_calls(
        definition: Definition,
        options: CompileOptions,
        key: VariantKey,
        shapes: Option<Shapes>,
    ) -> Result<Executable, Error> {
        let interrupt = options.plan.interrupt.clone();
        let executable = Executable::uncompiled(definition, options, shapes);
        executable.compiled(key, &interrupt)?;
        Ok(executable)
    }

    fn uncompiled(definition: Definition, options: CompileOptions, shapes: Option<Shapes>) -> Executable {
        let signature = definition.signature();
        let (variants, reads_sizes) = (ForkLock::default(), signature.reads_elements());
        let (last_call, last_gpu_call) = (LastCall::default(), LastCall::default());
        let source = Arc::new(Source { definition: Arc::new(definition), options });
        Executable { source, signature, shapes, variants, last_call, last_gpu_call, reads_sizes }
    }

    /// Compiles the variant for a call on such inputs, if it is missing.
    ///
    /// # Errors
    /// Errors in the inputs, and lacks of the machine.
    pub fn prepare(&self, inputs: &[ArrayView<'_>]) -> Result<(), Error> {
        self.prepared(inputs, &self.source.options.machine, &Interrupt::default()).map(drop)
    }

    /// Calls the fusion. It changes no input: in-place outputs are returned like the others. Outputs that only re-index an
    /// input are views of it, unless the input had to be copied to be read.
    ///
    /// # Errors
    /// Errors in the inputs, and lacks of the machine.
    pub fn run<'a>(&self, inputs: &[ArrayView<'a>]) -> Result<Outputs<'a>, Error> {
        self.run_on(&self.source.options.machine, inputs)
    }

    /// Calls the fusion on other threads and other memory than it was compiled for.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn run_on<'a>(&self, machine: &Machine, inputs: &[ArrayView<'a>]) -> Result<Outputs<'a>, Error> {
        self.call(machine, inputs, false, &CallOptions::default()).map(|(outputs, _)| outputs)
    }

    /// [`Executable::run`] with options of the call.
    ///
    /// # Errors
    /// As [`Executable::run`], and [`Error::Interrupted`].
    pub fn run_with<'a>(
        &self,
        options: &CallOptions,
        inputs: &[ArrayView<'a>],
    ) -> Result<Outputs<'a>, Error> {
        self.call(self.machine(options), inputs, false, options).map(|(outputs, _)| outputs)
    }

    /// The machine of a call.
    fn machine<'m>(&'m self, options: &'m CallOptions) -> &'m Machine {
        options.machine.as_ref().unwrap_or(&self.source.options.machine)
    }

    fn call<'a>(
        &self,
        machine: &Machine,
        inputs: &[ArrayView<'a>],
        timed: bool,
        options: &CallOptions,
    ) -> Result<(Outputs<'a>, CallReport), Error> {
        let done = self.steps(machine, inputs, timed, options);
        done.map_err(|error| located(error, self.definition(), inputs))
    }

    fn steps<'a>(
        &self,
        machine: &Machine,
        given: &[ArrayView<'a>],
        timed: bool,
        options: &CallOptions,
    ) -> Result<(Outputs<'a>, CallReport), Error> {
        let (inputs, prepared) = self.prepared(given, machine, &options.interrupt)?;
        let sizes = self.seeded(&prepared.sizes, options.stream);
        let visible: SmallVec<[bool; 8]> = (0..given.len()).map(|place| !inputs.is_copied(place)).collect();
        let (variant, interrupt) = (&prepared.variant, &options.interrupt);
        let extents = variant.extents(&sizes)?;
        let call = Given { sizes: &sizes, extents, inputs: inputs.views(), targets: &[], visible: &visible };
        let finished = self.finished(variant, Host { machine, interrupt }, call, timed);
        finished.map(|(done, report)| (outputs(done, given), report))
    }

    /// Calls the fusion and writes its in-place outputs to their inputs; the others are returned.
    ///
    /// A kernel writes there directly if nothing reads the old contents later. Otherwise the output is made in separate
    /// memory and copied at the end, and so are all outputs whose input overlaps another argument. After an error inputs
    /// have their old contents, except in two cases ([`Error::may_have_written`]): the machine lacks memory for a kernel's
    /// scratch after an earlier kernel of the same call has written to an input, or the call is interrupted while a kernel
    /// writes to one. Outputs may be views of arguments that are not written to and overlap none that is; the arguments are
    /// borrowed as long as these live.
    ///
    /// # Errors
    /// As [`Executable::run`]; an argument that must be written to but is read-only, or repeats elements.
    pub fn run_in_place<'a>(&self, arguments: &'a mut [Argument<'_>]) -> Result<Outputs<'a>, Error> {
        self.run_in_place_with(&CallOptions::default(), arguments)
    }

    /// [`Executable::run_in_place`] with options of the call.
    ///
    /// # Errors
    /// As [`Executable::run_in_place`], and [`Error::Interrupted`].
    pub fn run_in_place_with<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a mut [Argument<'_>],
    ) -> Result<Outputs<'a>, Error> {
        self.in_place(options, arguments, false).map(|(outputs, _)| outputs)
    }

    /// [`Executable::run_in_place_with`], with the returned outputs written to memory of the caller's, which overlaps no
    /// argument. That, dtypes and sizes are checked before anything runs. After an error in a kernel the contents of that
    /// memory are undefined.
    ///
    /// # Errors
    /// As [`Executable::run_in_place_with`], [`Error::Destinations`] and [`Error::Destination`].
    pub fn run_into<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a mut [Argument<'_>],
        destinations: &'a mut [Argument<'_>],
    ) -> Result<(), Error> {
        let (arguments, destinations): (&'a [_], &'a [_]) = (arguments, destinations);
        self.viewing(arguments, |views| {
            self.with_call(options, arguments, views, Wanted::Into(destinations)).map(drop)
        })
    }

    /// The forms of the outputs of a call on such arguments. Compiles the variant if it is missing, runs nothing, and draws
    /// no random number.
    ///
    /// # Errors
    /// Errors in the arguments.
    pub fn output_forms(
        &self,
        options: &CallOptions,
        arguments: &mut [Argument<'_>],
    ) -> Result<Vec<OutputForm>, Error> {
        let stream = Some(options.stream.unwrap_or(Stream { seed: 0, offset: 0 }));
        let options = CallOptions { stream, ..options.clone() };
        self.viewing(arguments, |views| match self.with_call(&options, arguments, views, Wanted::Forms)? {
            Got::Forms(forms) => Ok(forms),
            Got::Outputs(_) => unreachable!("forms were asked for"),
        })
    }

    fn in_place<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a [Argument<'_>],
        timed: bool,
    ) -> Result<(Outputs<'a>, CallReport), Error> {
        self.viewing(arguments, |views| {
            match self.with_call(options, arguments, views, Wanted::Outputs { timed })? {
                Got::Outputs((done, report)) => Ok((outputs(done, views), report)),
                Got::Forms(_) => unreachable!("outputs were asked for"),
            }
        })
    }

    /// Calls a function with views of the arguments.
    fn viewing<'a, R>(
        &self,
        arguments: &'a [Argument<'_>],
        act: impl FnOnce(&[ArrayView<'a>]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let views: SmallVec<[ArrayView<'a>; 4]> = arguments.iter().map(Argument::view).collect();
        act(&views).map_err(|error| located(error, self.definition(), &views))
    }

    /// A call on arguments that it may write to, or the forms of its outputs.
    fn with_call(
        &self,
        options: &CallOptions,
        arguments: &[Argument<'_>],
        views: &[ArrayView<'_>],
        wanted: Wanted<'_>,
    ) -> Result<Got, Error> {
        let machine = self.machine(options);
        let (inputs, prepared) = self.prepared(views, machine, &options.interrupt)?;
        let shared = shared(arguments.iter().map(|argument| Some(argument.footprint())));
        let targets = self.targets(arguments, &shared, &inputs)?;
        let sizes = self.seeded(&prepared.sizes, options.stream);
        let is_visible = |(place, argument): (usize, &Argument<'_>)| {
            let footprint = argument.footprint();
            !inputs.is_copied(place) && is_unwritten(place, Some(&footprint), &targets, shared[place])
        };
        let visible: SmallVec<[bool; 8]> = arguments.iter().enumerate().map(is_visible).collect();
        let (variant, interrupt) = (&prepared.variant, &options.interrupt);
        let (extents, host) = (variant.extents(&sizes)?, Host { machine, interrupt });
        let mut given =
            Given { sizes: &sizes, extents, inputs: inputs.views(), targets: &targets, visible: &visible };
        match (wanted, &variant.code) {
            (Wanted::Outputs { timed }, _) => self.finished(variant, host, given, timed).map(Got::Outputs),
            (Wanted::Forms, Code::Host(code)) => {
                Ok(Got::Forms(Call::new(&variant.steps, code, host, given)?.forms()))
            }
            (Wanted::Forms, Code::Device(device, code)) => {
                let loaded = Loaded { plan: &variant.steps, code };
                device.device().forms(loaded, host, given.by_ref()).map(Got::Forms)
            }
            (Wanted::Into(destinations), Code::Host(code)) => {
                let call = Call::new(&variant.steps, code, host, given)?;
                let checked = placed(destinations, &call.forms(), arguments)?;
                call.writing_to(&checked)?.run(false).map(Got::Outputs)
            }
            (Wanted::Into(destinations), Code::Device(device, code)) => {
                let loaded = Loaded { plan: &variant.steps, code };
                let hidden: SmallVec<[bool; 8]> = visible.iter().map(|_| false).collect();
                let mut given = Given { visible: &hidden, ..given };
                let checked = |forms: &[OutputForm]| placed(destinations, forms, arguments);
                device.device().call(loaded, host, given.by_ref(), false, Some(&checked)).map(Got::Outputs)
            }
        }
    }

    /// The GPU that its variants are compiled for.
    fn gpu(&self) -> Result<Arc<CudaDevice>, Error> {
        self.source.options.opened_gpu()
    }

    /// Runs the steps of a call, on the host or on another device.
    fn finished<'c, 'a>(
        &self,
        variant: &'c Variant,
        host: Host<'c>,
        mut given: Given<'c, 'a, HostMemory, impl Iterator<Item = ArrayView<'c>>>,
        timed: bool,
    ) -> Result<Finished<HostMemory>, Error> {
        match &variant.code {
            Code::Host(code) => Call::new(&variant.steps, code, host, given)?.run(timed),
            Code::Device(device, code) => {
                let loaded = Loaded { plan: &variant.steps, code };
                device.device().call(loaded, host, given.by_ref(), timed, None)
            }
        }
    }

    /// Whether a call on such arguments is known to take microseconds: the last one was on arguments with the same layouts,
    /// and no step of it was worth sharing among threads. Then it is not worth asking what else to do meanwhile either.
    pub fn is_short(&self, arguments: &[Argument<'_>]) -> bool {
        let forms = arguments.iter().map(Argument::form);
        self.last_call.get().is_some_and(|last_call| last_call.is_short && last_call.is_for(forms))
    }

    /// The inputs as kernels take them, and the work that they lead to.
    fn prepared<'i>(
        &self,
        given: &'i [ArrayView<'i>],
        machine: &Machine,
        interrupt: &Interrupt,
    ) -> Result<(Inputs<'i>, Arc<Prepared>), Error> {
        let Source { definition, options } = &*self.source;
        let executor = options.executor;
        let last_call = self.last_call.get().filter(|last_call| last_call.is_for(given.iter().map(form)));
        if let (Some(last_call), Some(inputs)) = (last_call, Inputs::uncopied(given, executor)) {
            return Ok((inputs, last_call));
        }
        let sizes = self.signature.bind(given, &[])?;
        let key = VariantKey::of(layouts(given, executor), &sizes, self.shapes.as_ref());
        let inputs = Inputs::new(given, executor, &machine.workers(interrupt))?;
        let variant = self.compiled(key, interrupt)?;
        let forms = given.iter().map(form).map(|(dtype, layout)| (dtype, layout.clone()));
        let lasts = !self.reads_sizes && !inputs.has_copies();
        let draws = definition.draws > 0;
        let is_short =
            lasts && !draws && is_short(&variant.steps, &*variant.extents(&sizes)?, &options.machine);
        let prepared = Arc::new(Prepared { forms: forms.collect(), sizes, variant, is_short });
        if lasts {
            self.last_call.keep(&prepared);
        }
        Ok((inputs, prepared))
    }

    /// The sizes of a call that can begin, with its random numbers: from the caller's random stream, or the generator's
    /// next.
    fn seeded<'s>(&self, sizes: &'s Sizes, stream: Option<Stream>) -> Cow<'s, Sizes> {
        let mut sizes = Cow::Borrowed(sizes);
        let Source { definition, options } = &*self.source;
        if definition.draws > 0 {
            let stream = stream.unwrap_or_else(|| options.generator.take(definition.draws));
            let symbols = stream.symbols(&definition.graph);
            symbols.for_each(|(sym, value)| sizes.to_mut().set(sym, value));
        }
        sizes
    }

    /// The arguments that outputs are written to; for each it is known whether it shares memory with another.
    fn targets<'a>(
        &self,
        arguments: &'a [Argument<'a>],
        shared: &[bool],
        inputs: &Inputs<'_>,
    ) -> Result<SmallVec<[Option<WriteTarget<'a, HostMemory>>; 8]>, Error> {
        let mut targets: SmallVec<_> = arguments.iter().map(|_| None).collect();
        for place in self.definition().fusion.outputs().iter().filter_map(|output| output.alias) {
            let place = place as usize;
            let (argument, name) = (&arguments[place], || self.signature.input_name(place).to_owned());
            let direct = !shared[place] && !inputs.is_copied(place);
            targets[place] = Some(WriteTarget::checked(argument, direct, name)?);
        }
        Ok(targets)
    }

    /// The variant for a key, compiled if it is new.
    fn compiled(&self, key: VariantKey, interrupt: &Interrupt) -> Result<Arc<Variant>, Error> {
        let cell = self.cell(&key);
        if let Some(variant) = cell.variant.get() {
            return Ok(Arc::clone(variant));
        }
        let (source, asked) = (Arc::clone(&self.source), interrupt.clone());
        in_background(interrupt, move || cell.filled(&source, &key, &asked))?
    }

    /// The cell of the variant for such calls, now the most recently used.
    fn cell(&self, key: &VariantKey) -> Arc<Cell> {
        let mut variants = self.variants.lock();
        match variants.iter().position(|(known, _)| known == key) {
            Some(place) => variants[..=place].rotate_right(1),
            None => {
                variants.truncate(MOST_VARIANTS - 1);
                variants.insert(0, (key.clone(), Arc::default()));
            }
        }
        Arc::clone(&variants[0].1)
    }

    /// Whether the variant for such inputs exists, so that a call on them compiles nothing.
    ///
    /// # Errors
    /// Errors in the inputs.
    pub fn is_compiled(&self, inputs: &[ArrayView<'_>]) -> Result<bool, Error> {
        let sizes = self.signature.bind(inputs, &[])?;
        let layouts = layouts(inputs, self.source.options.executor);
        let key = VariantKey::of(layouts, &sizes, self.shapes.as_ref());
        let variants = self.variants.lock();
        Ok(variants.iter().any(|(known, cell)| *known == key && cell.variant.get().is_some()))
    }

    /// The source of its random numbers.
    pub fn generator(&self) -> &Generator {
        &self.source.options.generator
    }

    /// The definition.
    pub fn definition(&self) -> &Definition {
        &self.source.definition
    }

    /// The number of variants, compiled or being compiled.
    pub fn variants(&self) -> usize {
        self.variants.lock().len()
    }

    /// The variant that was used last: its plan and how it was compiled. `None` before the first call of one made by
    /// [`Executable::by_size`].
    pub fn latest(&self) -> Option<Arc<Variant>> {
        self.variants.lock().iter().find_map(|(_, cell)| cell.variant.get().cloned())
    }
}

fn form<'v>(view: &'v ArrayView<'_>) -> (DType, &'v Layout) {
    (view.dtype(), view.layout())
}

/// Outputs of a call on these inputs.
fn outputs<'a>(done: Vec<Done<HostMemory>>, given: &[ArrayView<'a>]) -> Outputs<'a> {
    let output = |done| match done {
        Done::Made(tensor) => Output::Made(tensor),
        Done::Placed => unreachable!("no memory was given for outputs"),
        Done::Viewed(input, layout) => {
            let view = given[input].relaid(layout).expect("view ops reach no further");
            Output::View { input, view }
        }
    };
    Outputs { outputs: done.into_iter().map(output).collect() }
}

/// Whether no output is written to this input, nor to memory that it shares.
fn is_unwritten<S: AddressSpace>(
    place: usize,
    footprint: Option<&Footprint<'_>>,
    targets: &[Option<WriteTarget<'_, S>>],
    is_shared: bool,
) -> bool {
    let meets = |target: &WriteTarget<'_, S>| {
        footprint.is_some_and(|footprint| target.footprint().overlaps(footprint))
    };
    targets[place].is_none() && !(is_shared && targets.iter().flatten().any(meets))
}
