//! A GPU for tests, the emulator as NVIDIA's libraries; and what GPUs alone do.

use std::sync::{Arc, OnceLock};

use cuda::{Cuda, LibraryPaths};
use ferrofuse::{ArrayView, CompileOptions, CudaDevice, Executable, Executor, compile, define};

use crate::examples::{agree, examples, inputs};
use crate::tensors::{Strange, StrangeArray, views};

/// Everything that runs definitions.
pub const EXECUTORS: [Executor; 4] =
    [Executor::Compiled, Executor::Interpreter, Executor::Evaluator, Executor::Cuda];

/// The GPU that all tests share.
fn gpu() -> Arc<CudaDevice> {
    static GPU: OnceLock<Arc<CudaDevice>> = OnceLock::new();
    let open = || {
        let library = Some(emulator::library().expect("the emulator is built beside the tests"));
        let paths = LibraryPaths { cuda: library.clone(), nvrtc: library, folders: Vec::new() };
        let cuda = Arc::new(Cuda::open(&paths).expect("the stand-in opens"));
        Arc::new(CudaDevice::open(&cuda, 0).expect("it has a device"))
    };
    Arc::clone(GPU.get_or_init(open))
}

/// Options for an executor.
pub fn options(executor: Executor) -> CompileOptions {
    let gpu = (executor == Executor::Cuda).then(gpu);
    CompileOptions { executor, gpu, ..CompileOptions::default() }
}

#[test]
fn examples_agree_with_the_evaluator_on_a_gpu() {
    for (name, text) in examples() {
        let definition = define(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let executable = Executable::by_size(definition, options(Executor::Cuda));
        // Few rows and columns, odd ones, whole vectors, none.
        for sizes in [&[2, 3, 5, 4][..], &[3, 1, 1023], &[4, 128, 2, 64], &[0, 5, 2]] {
            let arrays = inputs(executable.definition(), sizes);
            agree(&format!("{name} at {sizes:?}"), &executable, &views(&arrays));
        }
    }
}

#[test]
fn gpus_read_strides_of_any_kind() {
    for name in ["layer_norm_backward", "transpose_add", "rope"] {
        let file = examples().into_iter().find(|(path, _)| path.ends_with(&format!("/{name}.py")));
        let executable =
            compile(define(&file.expect("an example").1).expect("defines"), options(Executor::Cuda));
        let executable = executable.expect("compiles");
        for strange in Strange::ALL {
            let dense = inputs(executable.definition(), &[2, 3, 5, 4]);
            let arrays: Vec<StrangeArray> = dense
                .iter()
                .map(|dense| StrangeArray::new(strange, dense.dtype(), dense.sizes(), 5))
                .collect();
            let views: Vec<ArrayView<'_>> = arrays.iter().map(StrangeArray::view).collect();
            agree(&format!("{name}, {strange:?}"), &executable, &views);
        }
    }
}
