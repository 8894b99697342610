//! The kinds of executors, and what others must know about them to prepare inputs and variants.

/// What an executor is, without the device if it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExecutorKind {
    /// Machine code.
    Compiled,
    /// A device of this kind.
    Device(&'static str),
    /// The kernel programs' interpreter.
    Interpreter,
    /// The definition's evaluator.
    Evaluator,
}

/// The inputs that an executor reads where they are; it reads packed copies of all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readable {
    All,
    Aligned,
    /// Aligned ones that begin with the first element.
    Forward,
    /// Those among these that have no gaps between the elements, as all their memory is copied to the device.
    Packed,
}

/// The name of NVIDIA's GPUs as devices.
pub(crate) const CUDA_KIND: &str = "cuda";

impl ExecutorKind {
    /// Segments as CUDA C++, on a GPU.
    pub const CUDA: ExecutorKind = ExecutorKind::Device(CUDA_KIND);

    /// The name that users give and read.
    pub fn name(self) -> &'static str {
        match self {
            ExecutorKind::Compiled => "compiled",
            ExecutorKind::Device(kind) => kind,
            ExecutorKind::Interpreter => "interpreter",
            ExecutorKind::Evaluator => "evaluator",
        }
    }

    /// The inputs that it reads where they are.
    pub(crate) fn readable(self) -> Readable {
        match self {
            ExecutorKind::Compiled => Readable::Aligned,
            ExecutorKind::Device(_) => Readable::Packed,
            ExecutorKind::Interpreter => Readable::Forward,
            ExecutorKind::Evaluator => Readable::All,
        }
    }

    /// Whether it runs on a device such as a GPU, where vectors are shorter and rows that a block keeps have variants of their own.
    pub(crate) fn is_on_gpu(self) -> bool {
        matches!(self, ExecutorKind::Device(_))
    }
}
