//! A stand-in for libcublasLt: functions with the names, types and numbers of `cublasLt.h`, whose products are work of the
//! stand-in driver's streams. A caller opens this crate's library as libcublasLt.
//!
//! `attributes` (what may be set, and how many bytes it has) · `descriptors` (what handles stand for) · `product` (a product,
//! checked) · `status`.

#![allow(non_snake_case)]

mod attributes;
mod descriptors;
mod product;
mod status;

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::Ordering;

use crate::driver::{CUBLAS_OBJECTS, Handle, MatmulCall, Timed, current_context, give_matmul};
use attributes::Attribute;
use descriptors::{Description, Descriptors, Layout, Preference, descriptors};
use product::{Algorithm, Operand, Product};
use status::{CublasResult, CublasStatus, finish};

/// `cublasLtMatmulHeuristicResult_t`.
#[repr(C)]
pub struct HeuristicResult {
    algorithm: Algorithm,
    workspace_bytes: usize,
    state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

fn with(body: impl FnOnce(&mut Descriptors) -> CublasResult) -> c_int {
    let _timed = Timed::begin();
    let mut all = descriptors();
    let outcome = body(&mut all);
    CUBLAS_OBJECTS.store(all.len() as u64, Ordering::Relaxed);
    finish(outcome)
}

/// Writes to the caller's pointer.
fn put<T>(place: *mut T, value: T) -> CublasResult {
    if place.is_null() {
        return Err(CublasStatus::INVALID_VALUE.because("the pointer to a result is null"));
    }
    // SAFETY: whoever calls cuBLASLt passes null or a place for the result.
    unsafe { place.write(value) };
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtGetVersion() -> usize {
    120_901
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtGetStatusString(status: c_int) -> *const c_char {
    CublasStatus(status).sentence().as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtCreate(handle: *mut Handle) -> c_int {
    with(|all| {
        let context =
            current_context().map_err(|failure| CublasStatus::NOT_INITIALIZED.because(failure.text))?;
        put(handle, all.handles.insert(context))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtDestroy(handle: Handle) -> c_int {
    with(|all| Ok(all.handles.remove(handle).map(|_| ())?))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulDescCreate(description: *mut Handle, compute: c_int, scale: c_int) -> c_int {
    with(|all| put(description, all.descriptions.insert(Description::new(compute, scale)?)))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulDescDestroy(description: Handle) -> c_int {
    with(|all| Ok(all.descriptions.remove(description).map(|_| ())?))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulDescSetAttribute(
    description: Handle,
    attribute: c_int,
    value: *const c_void,
    bytes: usize,
) -> c_int {
    with(|all| all.descriptions.get_mut(description)?.set(Attribute::read(attribute, value, bytes)?))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatrixLayoutCreate(
    layout: *mut Handle,
    kind: c_int,
    rows: u64,
    columns: u64,
    leading: i64,
) -> c_int {
    with(|all| put(layout, all.layouts.insert(Layout::new(kind, rows, columns, leading)?)))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatrixLayoutDestroy(layout: Handle) -> c_int {
    with(|all| Ok(all.layouts.remove(layout).map(|_| ())?))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatrixLayoutSetAttribute(
    layout: Handle,
    attribute: c_int,
    value: *const c_void,
    bytes: usize,
) -> c_int {
    with(|all| all.layouts.get_mut(layout)?.set(Attribute::read(attribute, value, bytes)?))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulPreferenceCreate(preference: *mut Handle) -> c_int {
    with(|all| put(preference, all.preferences.insert(Preference::default())))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulPreferenceDestroy(preference: Handle) -> c_int {
    with(|all| Ok(all.preferences.remove(preference).map(|_| ())?))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulPreferenceSetAttribute(
    preference: Handle,
    attribute: c_int,
    value: *const c_void,
    bytes: usize,
) -> c_int {
    with(|all| all.preferences.get_mut(preference)?.set(Attribute::read(attribute, value, bytes)?))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulAlgoGetHeuristic(
    handle: Handle,
    description: Handle,
    a: Handle,
    b: Handle,
    c: Handle,
    result: Handle,
    preference: Handle,
    asked: c_int,
    results: *mut HeuristicResult,
    found: *mut c_int,
) -> c_int {
    with(|all| {
        all.handles.get(handle)?;
        if asked < 1 {
            return Err(CublasStatus::INVALID_VALUE.because("no algorithm is asked for"));
        }
        let preference = all.preferences.get(preference)?;
        let algorithm = Product::of(all, description, [a, b, c, result])?.algorithm(preference);
        let workspace_bytes = algorithm.workspace_bytes();
        let result = HeuristicResult { algorithm, workspace_bytes, state: 0, waves: 1.0, reserved: [0; 4] };
        put(results, result)?;
        put(found, 1)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmul(
    handle: Handle,
    description: Handle,
    alpha: *const c_void,
    a: u64,
    a_layout: Handle,
    b: u64,
    b_layout: Handle,
    beta: *const c_void,
    c: u64,
    c_layout: Handle,
    result: u64,
    result_layout: Handle,
    algorithm: *const Algorithm,
    workspace: u64,
    workspace_bytes: usize,
    stream: Handle,
) -> c_int {
    with(|all| {
        let context = *all.handles.get(handle)?;
        if current_context()? != context {
            return Err(
                CublasStatus::INVALID_VALUE.because("the handle is of another context than the current one")
            );
        }
        let problem = Product::of(all, description, [a_layout, b_layout, c_layout, result_layout])?;
        let at = [a, b, c, result];
        problem.check(Algorithm::read(algorithm)?, at, workspace, workspace_bytes)?;
        let [alpha, beta] = [alpha, beta].map(|scalar| problem.scalar(scalar));
        let matrices = |operand: Operand| problem.matrices(operand, at);
        let call = MatmulCall {
            a: matrices(Operand::A),
            b: matrices(Operand::B),
            c: matrices(Operand::C),
            result: matrices(Operand::Result),
            alpha: alpha?,
            beta: beta?,
            bias: problem.bias()?,
            workspace: (workspace, workspace_bytes),
        };
        give_matmul(stream, call).map_err(|failure| CublasStatus::EXECUTION_FAILED.because(failure.text))
    })
}
