//! What runs a fusion, and all that others must know of it to make it ready: which inputs it can read, what its variants depend on.

/// How a fusion is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Executor {
    /// Segments as machine code. Without libLLVM the evaluator runs instead, and the report says so.
    #[default]
    Compiled,
    /// Segments in the language of a device of this kind, on [`crate::CompileOptions::device`].
    Device(&'static str),
    /// Segments as kernel programs, interpreted: slow, for tests.
    Interpreter,
    /// The definition as it stands, by the evaluator: slow, the meaning of all others.
    Evaluator,
}

/// The inputs that an executor reads where they are; it reads packed copies of all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readable {
    All,
    Aligned,
    /// Those that begin with the first element besides.
    Forward,
    /// Those that have nothing between the elements besides, as all their memory is copied to the device.
    Packed,
}

/// What NVIDIA's GPUs are called.
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
