//! From a definition to its outputs: compiled variants, execution plans, calls.
//!
//! `executable` (a definition with its variants) · `segmented` (its segments as executables of their own) · `executor` (what
//! runs it) · `options` · `compile` (definition to variant) · `background` (work on a large stack) ·
//! `inputs` · `variant_key` (which calls share a variant) · `prepared` (what inputs determine) · `destination` (the caller's
//! memory for outputs) · `extents` (what sizes determine) · `call` (runs the steps) · `device` (does their work) · `host`
//! (the CPU) · `accelerator` (the interface of all other devices) · `cuda` (GPUs) · `device_kinds` (their names) · `tensor`
//! (memory of the call) · `output` · `located` (errors in words of the definition) · `report` · `machine` (threads, memory,
//! libLLVM). Decides nothing about kernels, and reads no files.

mod accelerator;
mod background;
mod call;
mod compile;
mod cuda;
mod destination;
mod device;
mod device_kinds;
mod error;
mod executable;
mod executor;
mod extents;
mod host;
mod inputs;
mod located;
mod machine;
mod options;
mod output;
mod prepared;
mod report;
mod segmented;
mod tensor;
#[cfg(test)]
mod tests;
mod variant_key;

pub use ::cuda::ThreadResources;
pub use accelerator::DeviceHandle;
pub use background::in_background;
pub use compile::{CallFacts, LLVM_IS_MISSING, Variant, cut_declared, plan_declared, plan_for_call};
pub use cpu::background::end_background;
pub use cpu::fork::{has_ended, unforked};
pub use cpu::generator::Generator;
pub use cuda::{CudaDevice, GpuArgument, GpuCodeError, GpuCompiler, GpuTensor};
pub use destination::{OutputForm, Place};
pub use device_kinds::{DEVICE_KINDS, DeviceKind};
pub use error::{Blame, Error};
pub use executable::{Executable, GpuGraph, GpuInput, GpuOutput};
pub use executor::ExecutorKind;
pub use inputs::declared_layouts;
pub use ir::array::Argument;
pub use ir::graph::{Formula, Formulas};
pub use machine::{Machine, MachineOptions};
pub use options::{CallOptions, CompileOptions, Executor};
pub use output::{Output, Outputs};
pub use report::{CallReport, KernelReport, Report, SegmentReport, StepReport};
pub use segmented::{SegmentDefinition, SegmentInput, SegmentedExecutable, require_segments};
pub use tensor::Tensor;
