//! A fusion compiler for tensor programs: define, compile, run.
//!
//! A *definition* is a tensor program in nvFuser's definition language. It is cut into segments so that few bytes move
//! through memory, each compiled to a kernel where it can be one, and run on views of arrays with any strides.
//!
//! ```
//! use ferrofuse::{Array, CompileOptions, compile, define};
//!
//! let definition = define(
//!     "
//! def scaled_sum(fd):
//!     x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
//!     two = fd.define_scalar(2.0)
//!     scaled = fd.ops.mul(x, two)
//!     fd.add_output(fd.ops.sum(scaled, dims=[1]))
//! ",
//! )?;
//! let executable = compile(definition, CompileOptions::default())?;
//! let x = Array::from_slice(&[2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let outputs = executable.run(&[x.view()])?;
//! assert_eq!(outputs[0].to_array()?.as_slice::<f32>(), [12.0, 30.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here reads the environment, nor any file but libLLVM, what the system says of the machine, and the cache of
//! machine code where [`MachineOptions::cache`] names one. Without
//! libLLVM everything runs on the evaluator, and [`Report::notice`] says what to install.

#![warn(missing_docs)]

pub mod check;
mod code_target;
mod device_name;
mod emit;
mod explain;
mod fusion_definition;
mod kernel_text;
mod lambdas;
mod languages;
mod names;
mod op_list;
mod other_definition;
mod saved;
mod segments;
pub mod table;

pub use code_target::{CodeTarget, UnknownTarget};
pub use compiler::{
    Baseline, Certificate, Cut, Decision, Plan, PlanError, PlanOptions, SegmentId, ShallowProduct,
};
pub use cpu::alloc::{Buffer, Side};
pub use cpu::facts::{CpuFacts, FactsError};
pub use cpu::objects::{CacheOptions, ObjectCache};
pub use cpu::pool::share_openmp;
pub use device_name::DeviceName;
pub use emit::{EmitError, EmitOptions, Stage, emit, emit_segments, emit_written};
pub use explain::{
    Bottleneck, Changed, CostUs, Difference, Edge, Explanation, GroupExplanation, KernelOnGpu,
    LambdaExplanation, MachineCode, OutputExplanation, PatternExplanation, SegmentExplanation, TensorBytes,
    TimesOnGpu, difference, explain, explain_call, explain_compiled, explain_without_llvm, fragment,
    gpu_kernels, html, svg,
};
pub use frontend::define::{DefineError, DefinitionBuilder};
pub use frontend::text::{File, NameStyle};
pub use fusion_definition::{DefinitionError, FusionDefinition, FusionValue, OpArgument};
pub use ir::array::{
    Array, ArrayError, ArrayView, ArrayViewMut, ByteBool, Complex, Dims, Element, Layout, Part, Strides,
};
pub use ir::definition::{CallArgument, Definition, NamedValue, Object, SourceLine};
pub use ir::graph::{DeviceStream, GroupOptions, Task, TaskData, TaskKind, Tasks};
pub use ir::graph::{InputError, InputSignature};
pub use ir::graph::{Stream, Val};
pub use ir::interrupt::{Interrupt, Interrupted};
pub use ir::layout::LayoutClass;
pub use ir::{Diagnostic, Span};
pub use lambdas::{FoldLambda, lambdas};
pub use llvm::{CpuTarget, LlvmOptions};
pub use names::{output_names, printed_names, result_name, value_name, value_named};
pub use op_list::{OpEntry, op_entries, op_entry};
pub use ops::small_float::{E4m3, E5m2, E8m0};
pub use ops::{DType, Scalar};
pub use other_definition::OtherDefinition;
pub use reference::interpret::Options as InterpreterOptions;
pub use runtime::{
    Argument, Blame, CallFacts, CallOptions, CallReport, CompileOptions, CudaDevice, DeviceHandle, Error,
    Executable, Executor, ExecutorKind, Generator, GpuArgument, GpuCodeError, GpuCompiler, GpuGraph,
    GpuInput, GpuOutput, GpuTensor, KernelReport, Machine, MachineOptions, Output, OutputForm, Outputs,
    Place, Report, SegmentDefinition, SegmentInput, SegmentReport, SegmentedExecutable, StepReport, Tensor,
    ThreadResources, Variant, declared_layouts, end_background, has_ended, in_background, unforked,
};
pub use saved::{SavedDefinition, SavedError, Section};
pub use scheduler::hints::Hints;
pub use scheduler::schedule::{Prefetch, Schedule, parse as parse_schedule};
pub use segmenter::Segmentation;
pub use segmenter::{greedy, unfused};
pub use segments::{
    Segment, SegmentError, count_positions, explain_segments, listed_segmentation, of_plan,
    read_segmentation, segments, tasks,
};

/// Reads a definition from its text.
///
/// # Errors
/// The first thing that is wrong, with its place in the text.
pub fn define(text: &str) -> Result<Definition, Diagnostic> {
    read(text).map(|file| file.definition)
}

/// Reads a definition file: the definition, and the inputs to run it on if the file says so.
///
/// # Errors
/// As [`define`].
pub fn read(text: &str) -> Result<File, Diagnostic> {
    frontend::text::parse(text)
}

/// The sizes that inputs give the symbols of a definition, as hints to compile and explain it with.
///
/// # Errors
/// The first input that is not as the definition needs it.
pub fn hints(definition: &Definition, inputs: &[ArrayView<'_>]) -> Result<Hints, Error> {
    Ok(Hints::new(definition.signature().bind(inputs, &[])?.known()))
}

/// Plans a definition for inputs with the declared layouts, and compiles nothing: for [`explain`], with or without
/// libLLVM.
///
/// # Errors
/// When choices in the options do not fit the definition.
pub fn plan(definition: &Definition, options: &CompileOptions) -> Result<Plan, Error> {
    plan_for(definition, CodeTarget::Cpu(options.target), options)
}

/// Cuts a definition as [`plan`] does, and makes no kernels: for [`segments`].
///
/// # Errors
/// As [`plan`].
pub fn cut(definition: &Definition, options: &CompileOptions) -> Result<Cut, Error> {
    runtime::cut_declared(definition, &options.machine.target(options.target), options)
}

/// Plans a definition as [`plan`], for a machine that need not be this one: for [`emit`].
///
/// # Errors
/// When choices in the options do not fit the definition.
pub fn plan_for(
    definition: &Definition,
    target: CodeTarget,
    options: &CompileOptions,
) -> Result<Plan, Error> {
    runtime::plan_declared(definition, &target.facts_on(&options.machine), options)
}

/// Plans a definition as an executable does for a call, for a machine that need not be this one, and compiles nothing: for
/// [`explain_call`]. Returns the sizes that decisions are made for, too.
///
/// # Errors
/// When choices in the options do not fit the definition.
pub fn plan_for_call(
    definition: &Definition,
    target: CodeTarget,
    options: &CompileOptions,
    call: CallFacts,
) -> Result<(Plan, Hints), Error> {
    runtime::plan_for_call(definition, &target.facts_on(&options.machine), &options.plan, call)
}

/// Compiles a definition. The result is called with [`Executable::run`], from any number of threads.
///
/// # Errors
/// When choices in the options do not fit the definition.
pub fn compile(definition: Definition, options: CompileOptions) -> Result<Executable, Error> {
    Executable::new(definition, options)
}

/// The Rust of the README, which runs as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The page about Rust, likewise.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
struct RustPage;
