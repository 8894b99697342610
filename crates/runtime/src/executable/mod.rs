//! Executables: definitions ready to be called, with the variants that were compiled for them.
//!
//! A variant is for inputs with the same layouts (dense, or else the same strides that are 0 or 1), for rows of whole
//! vectors or for any rows, and if requested for sizes of one order of magnitude (on a GPU, of one step of at most an
//! eighth); other new sizes compile nothing. Any number of threads may call an executable, also while others wait for a new
//! variant.
//!
//! `variants` · `access` (what a call may do with the memory of its arguments) · `on_host`, `timed`, `on_gpu`, `graph`
//! (calls).

mod access;
mod graph;
mod on_gpu;
mod on_host;
mod timed;
mod variants;

use std::borrow::Cow;
use std::sync::Arc;

use cpu::fork::ForkLock;
use cpu::last_call::LastCall;
use ir::array::ArrayView;
use ir::definition::Definition;
use ir::graph::{InputSignature, Sizes, Stream};
use ir::interrupt::Interrupt;

use crate::inputs::layouts;
use crate::prepared::Prepared;
use crate::variant_key::{Shapes, VariantKey};
use crate::{CallOptions, CompileOptions, CudaDevice, Error, Generator, Machine};

pub use graph::GpuGraph;
pub(crate) use graph::require_placed;
pub use on_gpu::{GpuInput, GpuOutput};
pub(crate) use on_gpu::{bound_on_gpu, located_on_gpu};
pub(crate) use on_host::outputs as outputs_on_host;

/// The input for compiling variants, which outlives an executable that is dropped meanwhile.
#[derive(Debug)]
struct Source {
    definition: Arc<Definition>,
    options: CompileOptions,
}

/// What a call does besides computing outputs.
#[derive(Clone, Copy)]
pub(crate) struct CallMode {
    /// Whether in-place outputs are written to their inputs, rather than returned.
    pub writes: bool,
    /// Whether its report says where the time went.
    pub is_timed: bool,
}

/// A definition ready to be called.
#[derive(Debug)]
pub struct Executable {
    source: Arc<Source>,
    signature: InputSignature,
    /// The shapes by which sizes of calls are classified, if code depends on sizes.
    shapes: Option<Shapes>,
    /// Most recently used first.
    variants: ForkLock<Vec<(VariantKey, Arc<variants::Cell>)>>,
    /// The work that the inputs of the last call led to.
    last_call: LastCall<Prepared>,
    /// The same for the last call on tensors of a GPU.
    last_gpu_call: LastCall<Prepared>,
    /// Whether sizes of calls depend on elements of inputs.
    reads_sizes: bool,
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
        let shapes = Shapes::new(&definition, false, &options.plan, options.executor.kind().is_on_gpu());
        let key = VariantKey::of(layouts(inputs, options.executor.kind()), &sizes, Some(&shapes));
        Executable::for_calls(definition, options, key, Some(shapes))
    }

    /// A definition to be compiled by its calls, with decisions for the sizes of each call rather than for the hints: once
    /// for each combination of input layouts and order of magnitude of the sizes (on a GPU, step of at most an eighth).
    pub fn by_size(definition: Definition, options: CompileOptions) -> Executable {
        let shapes = Shapes::new(&definition, true, &options.plan, options.executor.kind().is_on_gpu());
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

    /// The machine of a call.
    fn machine<'m>(&'m self, options: &'m CallOptions) -> &'m Machine {
        options.machine.as_ref().unwrap_or(&self.source.options.machine)
    }

    /// The GPU that its variants are compiled for.
    fn gpu(&self) -> Result<Arc<CudaDevice>, Error> {
        self.source.options.gpu()
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

    /// The source of its random numbers.
    pub fn generator(&self) -> &Generator {
        &self.source.options.generator
    }

    /// The definition.
    pub fn definition(&self) -> &Definition {
        &self.source.definition
    }
}
