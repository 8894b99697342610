//! Errors of a GPU: each has a message, and the next call works if the device does.

use ferrofuse::{Blame, CallOptions};
use ferrofuse_testing::stand_in;
use ir::array::{Array, Layout};

use crate::tensors::{argument, executable, stream, uploaded};

#[test]
fn inputs_that_do_not_fit_are_named() {
    let executable = executable("    fd.add_output(fd.ops.add(x, y), x)\n");
    let stream = stream();
    let x = uploaded(&stream, &[0.0; 12]);
    let call = |inputs: &[_]| {
        let error = executable.run_on_gpu(&CallOptions::default(), &stream, inputs).expect_err("is rejected");
        assert_eq!(error.blame(), Blame::User);
        error.to_string()
    };
    let dense = || Layout::dense(&[3, 4]);
    let of_x = |layout, writable| argument(&x, 0, layout, writable);
    assert_eq!(
        call(&[of_x(dense(), false), of_x(dense(), false)]),
        "input 0 (x) is written to, but was given for reading only"
    );
    let row = Layout { strides: [0, 1].into_iter().collect(), ..dense() };
    assert_eq!(
        call(&[of_x(row, true), of_x(dense(), false)]),
        "input 0 (x) is written to, but some of its elements share memory"
    );
    assert_eq!(call(&[of_x(dense(), true)]), "expected 2 inputs, got 1");
    let wide = Layout::dense(&[2, 6]);
    assert!(call(&[of_x(dense(), true), of_x(wide, false)]).starts_with("input 1 (y)"));
}

#[test]
fn what_the_host_runs_takes_no_arrays_of_a_gpu() {
    let source = "def f(fd):\n    x = fd.define_tensor(shape=[-1], contiguity=True)\n    fd.add_output(fd.ops.neg(x))\n";
    let definition = ferrofuse::define(source).expect("defines");
    let executable = ferrofuse::Executable::by_size(definition, ferrofuse::CompileOptions::default());
    let stream = stream();
    let x = uploaded(&stream, &[0.0; 4]);
    let inputs = [argument(&x, 0, Layout::dense(&[4]), false)];
    let error = executable.run_on_gpu(&CallOptions::default(), &stream, &inputs).expect_err("is rejected");
    assert_eq!(error.to_string(), ferrofuse::Error::NoGpu.to_string());
}

#[test]
fn memory_that_is_not_there() {
    let executable = executable("    fd.add_output(fd.ops.add(x, y))\n");
    let rows = Array::zeros(ferrofuse::DType::F32, &[4, 4]).expect("memory");
    let inputs = [rows.view(), rows.view()];
    executable.run(&inputs).expect("runs");
    stand_in::set("fail_alloc_after", 2);
    // The pool is trimmed and the allocation repeated, successfully here.
    executable.run(&inputs).expect("runs after the pool was trimmed");
    let gpu = stand_in::gpu().expect("opens");
    let too_many = 1_usize << 40;
    let error = cuda::DeviceBuffer::allocate(&stream(), too_many).expect_err("8 GiB are there").to_string();
    assert!(error.starts_with(&format!("{} has no memory for {too_many} bytes: ", gpu.name())), "{error}");
}

#[test]
fn a_rejected_launch_leaves_the_next_call_whole() {
    let executable = executable("    fd.add_output(fd.ops.add(x, y))\n");
    let rows = Array::from_slice(&[1, 4], &[1.0_f32, 2.0, 3.0, 4.0]).expect("memory");
    let inputs = [rows.view(), rows.view()];
    executable.run(&inputs).expect("runs");
    stand_in::set("fail_launch_after", 0);
    let error = executable.run(&inputs).expect_err("the launch is rejected");
    assert_eq!(error.blame(), Blame::Machine);
    assert!(error.to_string().starts_with("seg0 on cuda:0: cuLaunchKernel: CUDA_ERROR_"), "{error}");
    let outputs = executable.run(&inputs).expect("runs again");
    assert_eq!(outputs[0].to_array().expect("memory").as_slice::<f32>(), [2.0, 4.0, 6.0, 8.0]);
}

#[test]
fn devices_that_are_not_there() {
    let gpu = stand_in::gpu().expect("opens");
    let error = gpu.sibling(7).expect_err("there are two").to_string();
    assert_eq!(error, "there is no device cuda:7: this machine has cuda:0 to cuda:1");
    let other = gpu.sibling(1).expect("the second device");
    let executable = executable("    fd.add_output(fd.ops.add(x, y))\n");
    let stream = std::sync::Arc::new(other.new_stream().expect("a stream"));
    let x = uploaded(&stream, &[0.0; 4]);
    let dense = || Layout::dense(&[2, 2]);
    let inputs = [argument(&x, 0, dense(), false), argument(&x, 0, dense(), false)];
    let error = executable.run_on_gpu(&CallOptions::default(), &stream, &inputs).expect_err("another device");
    assert_eq!(error.to_string(), "the stream is one of cuda:1, and the executable is for cuda:0");
}
