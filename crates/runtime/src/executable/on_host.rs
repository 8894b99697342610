//! Calls on arrays of the host.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use ir::array::{Argument, ArrayView, Footprint, Layout};
use ir::graph::{Sizes, Stream};
use ir::interrupt::Interrupt;
use ops::DType;
use smallvec::SmallVec;

use super::access::{Access, ArgumentMemory};
use super::variants::Found;
use super::{CallMode, Executable, Source};
use crate::accelerator::{Loaded, Placing};
use crate::call::{Call, Done, Finished, Given, is_short};
use crate::compile::{Code, Variant};
use crate::destination::{OutputForm, Place, checked};
use crate::device::{AddressSpace, Host};
use crate::host::HostMemory;
use crate::inputs::{Inputs, layouts};
use crate::located::located;
use crate::prepared::Prepared;
use crate::variant_key::VariantKey;
use crate::{CallOptions, CallReport, Error, Machine, Output, Outputs};

/// A call on arguments that it may write to.
struct ReadyCall<'r, 'a> {
    host: Host<'r>,
    inputs: Inputs<'r>,
    prepared: Arc<Prepared>,
    /// How long its variant took to compile, if it is new.
    compile: Option<Duration>,
    access: Access<'a, HostMemory>,
}

impl<'a> ReadyCall<'_, 'a> {
    /// What its variant is given, at these sizes.
    fn given<'c>(
        &'c self,
        sizes: &'c Sizes,
    ) -> Result<Given<'c, 'a, HostMemory, impl Iterator<Item = ArrayView<'c>>>, Error> {
        let (Access { targets, visible }, inputs) = (&self.access, self.inputs.views());
        Ok(Given { sizes, extents: self.prepared.variant.extents(sizes)?, inputs, targets, visible })
    }
}

impl Executable {
    /// Calls the fusion. It changes no input: in-place outputs are returned like the others. Outputs that only re-index an
    /// input are views of it, unless the input had to be copied to be read.
    ///
    /// # Errors
    /// Errors in the inputs, and lacks of the machine.
    pub fn run<'a>(&self, inputs: &[ArrayView<'a>]) -> Result<Outputs<'a>, Error> {
        self.run_with(&CallOptions::default(), inputs)
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
        self.reading(options, inputs, false).map(|(outputs, _)| outputs)
    }

    /// Calls the fusion without writing to inputs.
    pub(super) fn reading<'a>(
        &self,
        options: &CallOptions,
        given: &[ArrayView<'a>],
        timed: bool,
    ) -> Result<(Outputs<'a>, CallReport), Error> {
        let done = self.read(options, given, timed);
        let (done, report) = done.map_err(|error| located(error, self.definition(), given))?;
        Ok((outputs(done, given), report))
    }

    fn read(
        &self,
        options: &CallOptions,
        given: &[ArrayView<'_>],
        timed: bool,
    ) -> Result<Finished<HostMemory>, Error> {
        let machine = self.machine(options);
        let (inputs, prepared, compile) = self.prepared(given, machine, &options.interrupt)?;
        let sizes = self.seeded(&prepared.sizes, options.stream);
        let access = Access::reading((0..given.len()).map(|place| inputs.is_copied(place)));
        let (variant, interrupt) = (&prepared.variant, &options.interrupt);
        let extents = variant.extents(&sizes)?;
        let Access { targets, visible } = &access;
        let call = Given { sizes: &sizes, extents, inputs: inputs.views(), targets, visible };
        let (done, mut report) = self.finished(variant, Host { machine, interrupt }, call, timed)?;
        variant.add_compile(compile, &mut report);
        Ok((done, report))
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
        let mode = CallMode { writes: true, is_timed: false };
        let again =
            |_: &[OutputForm]| Ok(destinations.iter().map(|given| Some(HostMemory::again(given))).collect());
        self.viewing(arguments, |views| self.placing(options, arguments, views, again, mode)).map(drop)
    }

    /// A call as a segment of another executable; outputs are written to memory of the caller's where `place` says so.
    pub(crate) fn run_segment<'d>(
        &self,
        options: &CallOptions,
        arguments: &[Argument<'_>],
        place: Option<impl Place<Argument<'d>>>,
        mode: CallMode,
    ) -> Result<Finished<HostMemory>, Error> {
        self.viewing(arguments, |views| match place {
            Some(place) => self.placing(options, arguments, views, place, mode),
            None if mode.writes => self.writing(options, arguments, views, mode.is_timed),
            None => self.read(options, views, mode.is_timed),
        })
    }

    /// Calls the fusion with outputs written to the memory that `place` returns for them.
    fn placing<'d>(
        &self,
        options: &CallOptions,
        arguments: &[Argument<'_>],
        views: &[ArrayView<'_>],
        place: impl Place<Argument<'d>>,
        mode: CallMode,
    ) -> Result<Finished<HostMemory>, Error> {
        let memory: OnceCell<Vec<Option<Argument<'_>>>> = OnceCell::new();
        let ready = self.ready(options, arguments, views, mode.writes)?;
        let sizes = self.seeded(&ready.prepared.sizes, options.stream);
        let (variant, given) = (&ready.prepared.variant, ready.given(&sizes)?);
        let footprints: SmallVec<[Footprint<'_>; 8]> = arguments.iter().map(Argument::footprint).collect();
        let destinations = |forms: &[OutputForm]| {
            let given = place(forms)?;
            checked::<HostMemory>(memory.get_or_init(|| given).iter().map(Option::as_ref), forms, &footprints)
        };
        let (done, mut report) = match &variant.code {
            Code::Host(code) => {
                let call = Call::new(&variant.steps, code, ready.host, given);
                let checked = destinations(&call.forms())?;
                call.writing_to(&checked).run(mode.is_timed)?
            }
            Code::Device(device, code) => {
                let loaded = Loaded { plan: &variant.steps, code };
                let hidden: SmallVec<[bool; 8]> = given.visible.iter().map(|_| false).collect();
                let mut given = Given { visible: &hidden, ..given };
                let (given, placing) = (given.by_ref(), Some(Box::new(destinations) as Placing<'_, '_>));
                device.device().call(loaded, ready.host, given, mode.is_timed, placing)?
            }
        };
        variant.add_compile(ready.compile, &mut report);
        Ok((done, report))
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
        self.viewing(arguments, |views| {
            let ready = self.ready(&options, arguments, views, true)?;
            let sizes = self.seeded(&ready.prepared.sizes, options.stream);
            let (variant, mut given) = (&ready.prepared.variant, ready.given(&sizes)?);
            match &variant.code {
                Code::Host(code) => Ok(Call::new(&variant.steps, code, ready.host, given).forms()),
                Code::Device(device, code) => {
                    let loaded = Loaded { plan: &variant.steps, code };
                    device.device().forms(loaded, ready.host, given.by_ref())
                }
            }
        })
    }

    pub(super) fn in_place<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a [Argument<'_>],
        timed: bool,
    ) -> Result<(Outputs<'a>, CallReport), Error> {
        self.viewing(arguments, |views| {
            let (done, report) = self.writing(options, arguments, views, timed)?;
            Ok((outputs(done, views), report))
        })
    }

    fn writing(
        &self,
        options: &CallOptions,
        arguments: &[Argument<'_>],
        views: &[ArrayView<'_>],
        timed: bool,
    ) -> Result<Finished<HostMemory>, Error> {
        let ready = self.ready(options, arguments, views, true)?;
        let sizes = self.seeded(&ready.prepared.sizes, options.stream);
        let given = ready.given(&sizes)?;
        let variant = &ready.prepared.variant;
        let (done, mut report) = self.finished(variant, ready.host, given, timed)?;
        variant.add_compile(ready.compile, &mut report);
        Ok((done, report))
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

    /// A call on arguments, of which these are views; whether it writes in-place outputs to them.
    fn ready<'r, 'a>(
        &'r self,
        options: &'r CallOptions,
        arguments: &'a [Argument<'a>],
        views: &'r [ArrayView<'r>],
        writes: bool,
    ) -> Result<ReadyCall<'r, 'a>, Error> {
        let host = Host { machine: self.machine(options), interrupt: &options.interrupt };
        let (inputs, prepared, compile) = self.prepared(views, host.machine, host.interrupt)?;
        let are_copied = (0..arguments.len()).map(|place| inputs.is_copied(place));
        let access = match writes {
            false => Access::reading(are_copied),
            true => {
                let memory = arguments.iter().zip(are_copied);
                let memory: SmallVec<[ArgumentMemory<'a, HostMemory>; 8]> = memory
                    .map(|(argument, is_copied)| ArgumentMemory { argument: Some(argument), is_copied })
                    .collect();
                Access::writing(self.definition(), &self.signature, &memory)?
            }
        };
        Ok(ReadyCall { host, inputs, prepared, compile, access })
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
            Code::Host(code) => Call::new(&variant.steps, code, host, given).run(timed),
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

    /// The inputs as kernels take them, and the work that they lead to, with the compile time of its variant if it is
    /// new.
    pub(super) fn prepared<'i>(
        &self,
        given: &'i [ArrayView<'i>],
        machine: &Machine,
        interrupt: &Interrupt,
    ) -> Result<(Inputs<'i>, Arc<Prepared>, Option<Duration>), Error> {
        let Source { definition, options } = &*self.source;
        let executor = options.executor.kind();
        let last_call = self.last_call.get().filter(|last_call| last_call.is_for(given.iter().map(form)));
        if let (Some(last_call), Some(inputs)) = (last_call, Inputs::uncopied(given, executor)) {
            return Ok((inputs, last_call, None));
        }
        let sizes = self.signature.bind(given, &[])?;
        let key = VariantKey::of(layouts(given, executor), &sizes, self.shapes.as_ref());
        let inputs = Inputs::new(given, executor, &machine.workers(interrupt))?;
        let Found { variant, compile } = self.compiled(key, interrupt)?;
        let forms = given.iter().map(form).map(|(dtype, layout)| (dtype, layout.clone()));
        let lasts = !self.reads_sizes && !inputs.has_copies();
        let draws = definition.draws > 0;
        let is_short =
            lasts && !draws && is_short(&variant.steps, &*variant.extents(&sizes)?, &options.machine);
        let prepared = Arc::new(Prepared { forms: forms.collect(), sizes, variant, is_short });
        if lasts {
            self.last_call.keep(&prepared);
        }
        Ok((inputs, prepared, compile))
    }
}

fn form<'v>(view: &'v ArrayView<'_>) -> (DType, &'v Layout) {
    (view.dtype(), view.layout())
}

/// Outputs of a call on these inputs.
pub(crate) fn outputs<'a>(done: Vec<Done<HostMemory>>, given: &[ArrayView<'a>]) -> Outputs<'a> {
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
