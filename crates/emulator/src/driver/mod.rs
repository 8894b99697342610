//! A stand-in for libcuda: functions with the names, types and numbers of `cuda.h`, for two devices that report to be H100s.
//! A caller opens this crate's library as libcuda.
//!
//! Streams run their work as late as their order allows: when the host waits, and no further than it waits for (`order`,
//! `queue`, `run`). So a missing event, a result that is read too early or memory that is freed too early shows in every
//! run. Misuse of memory is found when work is enqueued, and reported when it runs, as the sticky error of its context, as
//! on a device. A kernel's pointers are checked; its accesses through them are not, but memory lies between guard pages.
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

/// Whether kernels are compiled with the sanitizer, as set by a test.
pub(crate) fn sanitizes() -> bool {
    state::driver().settings.sanitize != 0
}
