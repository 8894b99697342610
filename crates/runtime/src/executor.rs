//! What runs a fusion, and what others must know about it to prepare inputs and variants.

/// How a fusion is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Executor {
    /// Segments as machine code. Without libLLVM the evaluator runs instead, as the report says.
    #[default]
    Compiled,
    /// Segments in the language of a device of this kind, on [`crate::CompileOptions::device`].
    Device(&'static str),
    /// Segments as kernel programs, interpreted: slow, for tests.
    Interpreter,
    /// The definition itself, by the evaluator: slow; it defines the results of all others.
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

impl Executor {
    /// Segments as CUDA C++, on a GPU.
    pub const CUDA: Executor = Executor::Device(CUDA_KIND);

    /// The name that users give and read.
    pub fn name(self) -> &'static str {
        match self {
            Executor::Compiled => "compiled",
            Executor::Device(kind) => kind,
            Executor::Interpreter => "interpreter",
            Executor::Evaluator => "evaluator",
        }
    }

    /// The inputs that it reads where they are.
    pub(crate) fn readable(self) -> Readable {
        match self {
            Executor::Compiled => Readable::Aligned,
            Executor::Device(_) => Readable::Packed,
            Executor::Interpreter => Readable::Forward,
            Executor::Evaluator => Readable::All,
        }
    }

    /// Whether it runs on a device such as a GPU, where vectors are shorter and rows that a block keeps have variants of their own.
    pub(crate) fn is_on_gpu(self) -> bool {
        matches!(self, Executor::Device(_))
    }
}
