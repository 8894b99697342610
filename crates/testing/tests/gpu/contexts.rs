//! The device that is current in a thread: calls leave it unchanged, and their callbacks may change it.

use std::ffi::{c_int, c_void};
use std::ptr;

use ferrofuse::{CallOptions, GpuOutput, Interrupt};
use ferrofuse_testing::stand_in;
use ir::array::Layout;
use libloading::Library;

use crate::tensors::{argument, downloaded, executable, stream, uploaded};

/// The driver's functions for the current context.
#[derive(Clone, Copy)]
struct Current {
    get: unsafe extern "C" fn(*mut *mut c_void) -> c_int,
    set: unsafe extern "C" fn(*mut c_void) -> c_int,
}

impl Current {
    fn new() -> Current {
        let path = emulator::library().expect("the stand-in is built");
        // SAFETY: the stand-in is already open, and stays so; its functions have these types.
        unsafe {
            let library = Box::leak(Box::new(Library::new(path).expect("it opens")));
            let get = *library.get(b"cuCtxGetCurrent\0").expect("it is there");
            Current { get, set: *library.get(b"cuCtxSetCurrent\0").expect("it is there") }
        }
    }

    /// The context of this thread as a number.
    fn get(&self) -> usize {
        let mut context = ptr::null_mut();
        // SAFETY: the pointer is to a variable.
        assert_eq!(unsafe { (self.get)(&mut context) }, 0);
        context as usize
    }

    fn set(&self, context: usize) {
        // SAFETY: contexts live as long as their devices.
        assert_eq!(unsafe { (self.set)(context as *mut c_void) }, 0);
    }
}

/// As a signal handler in Python that calls `torch.cuda.set_device`.
#[test]
fn the_function_of_an_interrupt_may_make_another_device_current() {
    let executable = executable(
        "    fd.add_output(fd.ops.cumsum(fd.ops.add(x, y), 1))\n    fd.add_output(fd.ops.matmul(x, y))\n",
    );
    let current = Current::new();
    let second = stand_in::gpu().expect("the stand-in opens").sibling(1).expect("one of two");
    let other_stream = second.new_stream().expect("a stream");
    let other = {
        let _entered = other_stream.enter().expect("it is there");
        current.get()
    };
    let stream = stream();
    let [x, y] = [[1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 0.0, 1.0]].map(|elements| uploaded(&stream, &elements));
    let dense = || Layout::dense(&[2, 2]);
    let inputs = [argument(&x, 0, dense(), false), argument(&y, 0, dense(), false)];
    let interrupt = Interrupt::when(move || {
        current.set(other);
        false
    });
    let options = CallOptions { interrupt, ..CallOptions::default() };
    let outputs = executable.run_on_gpu(&options, &stream, &inputs).expect("runs");
    assert_eq!(current.get(), other);
    current.set(0);
    let [GpuOutput::Made(sums), GpuOutput::Made(product)] = &outputs[..] else { panic!("both are made") };
    assert_eq!(downloaded(&stream, sums.address(), 4), [2.0, 4.0, 3.0, 8.0]);
    assert_eq!(downloaded(&stream, product.address(), 4), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(current.get(), 0);
}
