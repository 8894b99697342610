//! A GPU for tests, the emulator as NVIDIA's libraries; and behaviour of GPUs only.

use std::sync::{Arc, OnceLock};

use cuda::{Cuda, LibraryPaths};
use ferrofuse::{
    Array, ArrayView, CallOptions, CompileOptions, CudaDevice, DType, Executable, Executor, ExecutorKind,
    compile, define,
};

use crate::examples::{agree, examples, inputs};
use crate::tensors::{Strange, StrangeArray, random, views};

/// All executors.
pub const EXECUTORS: [ExecutorKind; 4] =
    [ExecutorKind::Compiled, ExecutorKind::Interpreter, ExecutorKind::Evaluator, ExecutorKind::CUDA];

/// The GPU that all tests share.
fn gpu() -> Arc<CudaDevice> {
    static GPU: OnceLock<Arc<CudaDevice>> = OnceLock::new();
    let open = || {
        let library = Some(emulator::library().expect("the emulator is built beside the tests"));
        let paths = LibraryPaths {
            cuda: library.clone(),
            nvrtc: library.clone(),
            cublaslt: library,
            folders: Vec::new(),
        };
        let cuda = Arc::new(Cuda::open(&paths).expect("the stand-in opens"));
        Arc::new(CudaDevice::open(&cuda, 0).expect("it has a device"))
    };
    Arc::clone(GPU.get_or_init(open))
}

/// Options for an executor.
pub fn options(executor: ExecutorKind) -> CompileOptions {
    let executor = match executor {
        ExecutorKind::Compiled => Executor::Compiled,
        ExecutorKind::Device(_) => gpu().into(),
        ExecutorKind::Interpreter => Executor::Interpreter,
        ExecutorKind::Evaluator => Executor::Evaluator,
    };
    CompileOptions { executor, ..CompileOptions::default() }
}

#[test]
fn examples_agree_with_the_evaluator_on_a_gpu() {
    for (name, text) in examples() {
        let definition = define(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let executable = Executable::by_size(definition, options(ExecutorKind::CUDA));
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
            compile(define(&file.expect("an example").1).expect("defines"), options(ExecutorKind::CUDA));
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

/// One output goes to memory of the caller's, one to an input, and a view of an input is copied there.
#[test]
fn outputs_of_a_gpu_go_where_the_caller_wants_them() {
    let text = "
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    fd.add_output(fd.ops.exp(x))
    fd.add_output(fd.ops.add(x, 1.0), x)
    fd.add_output(fd.ops.permute(x, dims=[1, 0]))
";
    let executable = compile(define(text).expect("defines"), options(ExecutorKind::CUDA)).expect("compiles");
    let (mut x, call) = (random(DType::F32, &[3, 5], 1), CallOptions::default());
    let old: Vec<f32> = x.as_slice().to_vec();
    let forms = executable.output_forms(&call, &mut [x.view_mut().into()]).expect("fits");
    let sizes: Vec<&[usize]> = forms.iter().map(|form| form.layout.sizes.as_slice()).collect();
    assert_eq!(sizes, [&[3, 5][..], &[5, 3]]);
    let mut exp = Array::zeros(DType::F32, &[3, 5]).expect("memory");
    let mut transposed = Array::zeros(DType::F32, &[5, 3]).expect("memory");
    let mut destinations = [exp.view_mut().into(), transposed.view_mut().into()];
    executable.run_into(&call, &mut [x.view_mut().into()], &mut destinations).expect("runs");
    let error = executable.run_into(&call, &mut [x.view_mut().into()], &mut destinations[..1]);
    assert!(error.is_err(), "two outputs are given back");
    for (place, &old) in old.iter().enumerate() {
        assert!((exp.as_slice::<f32>()[place] - old.exp()).abs() <= 1e-6 * old.exp());
        assert_eq!(x.as_slice::<f32>()[place], old + 1.0);
        assert_eq!(transposed.as_slice::<f32>()[place % 5 * 3 + place / 5], old);
    }
}
