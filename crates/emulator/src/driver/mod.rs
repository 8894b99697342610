//! A stand-in for libcuda: functions with the names, types and numbers of `cuda.h`, for two devices that are H100s by what
//! they say. They are called by who opens this crate's library as libcuda.
//!
//! Streams run their work as late as their order allows: when the host waits, and no further than it waits for (`order`,
//! `queue`, `run`). So a missing event, a result that is read too early or memory that is freed too early shows in every
//! run. What is wrong with memory that work uses is found when the work is given, and reported when it runs, as the error
//! of its context from then on, as on a device. A kernel's pointers are checked; what it reads through them is not, but
//! memory lies between pages that fault.
//!
//! Arguments: `ffi`, `registry` (handles), `result`. What there is: `device`, `attributes`, `context`, `stream`, `event`,
//! `memory`, `host_memory`, `pool`, `allocations`, `module`. What is done: `launch`, `matmul`, `copy`, `work`, `capture`, `graph`. For
//! tests: `control`, `settings`, `clock`.

#![allow(non_snake_case)]

mod allocations;
mod attributes;
mod capture;
mod clock;
mod context;
mod control;
mod copy;
mod device;
mod event;
mod ffi;
mod graph;
mod host_memory;
mod launch;
mod matmul;
mod memory;
mod module;
mod order;
mod pool;
mod queue;
mod registry;
mod result;
mod run;
mod settings;
mod state;
mod stream;
mod work;

pub(crate) use clock::Timed;
pub(crate) use ffi::Handle;
pub(crate) use matmul::{
    CUBLAS_OBJECTS, ElementType, MatmulCall, Matrices, current_context, failed, give_matmul,
};
pub(crate) use registry::Registry;
pub(crate) use result::Failure;

/// Whether kernels are compiled with the sanitizer, as a test has set it.
pub(crate) fn sanitizes() -> bool {
    state::driver().settings.sanitize != 0
}
