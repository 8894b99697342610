//! A stand-in for libcublasLt: functions with the names, types and numbers of `cublasLt.h`, whose products are work of the
//! stand-in driver's streams. They are called by who opens this crate's library as libcublasLt.
//!
//! `attributes` (what may be set, and how many bytes it has) · `descriptors` (what handles stand for) · `problem` (a product,
//! checked) · `status`.

#![allow(non_snake_case)]

mod attributes;
mod descriptors;
mod problem;
mod status;

use std::ffi::{c_char, c_int, c_void};

use crate::driver::{MatmulCall, give_matmul};
use attributes::Attribute;
use descriptors::{Description, Descriptors, Layout, Preference, descriptors};
use problem::{Algorithm, Operand, Problem};
use status::{CublasResult, Status, finish};

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
    finish(body(&mut descriptors()))
}

/// Handles and descriptors that were made and not destroyed.
pub(crate) fn objects() -> usize {
    let all = descriptors();
    all.handles.len() + all.descriptions.len() + all.layouts.len() + all.preferences.len()
}

/// Writes to a place of the caller's.
fn put<T>(place: *mut T, value: T) -> CublasResult {
    if place.is_null() {
        return Err(Status::INVALID_VALUE.because("the pointer to a result is null"));
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
    Status(status).sentence().as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtCreate(handle: *mut usize) -> c_int {
    with(|all| {
        let context =
            crate::driver::current_context().map_err(|text| Status::NOT_INITIALIZED.because(text))?;
        put(handle, all.handles.insert(context))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtDestroy(handle: usize) -> c_int {
    with(|all| all.handles.remove(handle).map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulDescCreate(description: *mut usize, compute: c_int, scale: c_int) -> c_int {
    with(|all| put(description, all.descriptions.insert(Description::new(compute, scale)?)))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulDescDestroy(description: usize) -> c_int {
    with(|all| all.descriptions.remove(description).map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulDescSetAttribute(
    description: usize,
    attribute: c_int,
    value: *const c_void,
    bytes: usize,
) -> c_int {
    with(|all| all.descriptions.get_mut(description)?.set(Attribute::read(attribute, value, bytes)?))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatrixLayoutCreate(
    layout: *mut usize,
    kind: c_int,
    rows: u64,
    columns: u64,
    leading: i64,
) -> c_int {
    with(|all| put(layout, all.layouts.insert(Layout::new(kind, rows, columns, leading)?)))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatrixLayoutDestroy(layout: usize) -> c_int {
    with(|all| all.layouts.remove(layout).map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatrixLayoutSetAttribute(
    layout: usize,
    attribute: c_int,
    value: *const c_void,
    bytes: usize,
) -> c_int {
    with(|all| all.layouts.get_mut(layout)?.set(Attribute::read(attribute, value, bytes)?))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulPreferenceCreate(preference: *mut usize) -> c_int {
    with(|all| put(preference, all.preferences.insert(Preference::default())))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulPreferenceDestroy(preference: usize) -> c_int {
    with(|all| all.preferences.remove(preference).map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulPreferenceSetAttribute(
    preference: usize,
    attribute: c_int,
    value: *const c_void,
    bytes: usize,
) -> c_int {
    with(|all| all.preferences.get_mut(preference)?.set(Attribute::read(attribute, value, bytes)?))
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulAlgoGetHeuristic(
    handle: usize,
    description: usize,
    a: usize,
    b: usize,
    c: usize,
    result: usize,
    preference: usize,
    asked: c_int,
    results: *mut HeuristicResult,
    found: *mut c_int,
) -> c_int {
    with(|all| {
        all.handles.get(handle)?;
        if asked < 1 {
            return Err(Status::INVALID_VALUE.because("no algorithm is asked for"));
        }
        let preference = all.preferences.get(preference)?;
        let algorithm = Problem::of(all, description, [a, b, c, result])?.algorithm(preference);
        let workspace_bytes = algorithm.workspace_bytes();
        let result = HeuristicResult { algorithm, workspace_bytes, state: 0, waves: 1.0, reserved: [0; 4] };
        put(results, result)?;
        put(found, 1)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmul(
    handle: usize,
    description: usize,
    alpha: *const c_void,
    a: u64,
    a_layout: usize,
    b: u64,
    b_layout: usize,
    beta: *const c_void,
    c: u64,
    c_layout: usize,
    result: u64,
    result_layout: usize,
    algorithm: *const Algorithm,
    workspace: u64,
    workspace_bytes: usize,
    stream: usize,
) -> c_int {
    with(|all| {
        let context = *all.handles.get(handle)?;
        if crate::driver::current_context() != Ok(context) {
            return Err(
                Status::INVALID_VALUE.because("the handle is of another context than the current one")
            );
        }
        let problem = Problem::of(all, description, [a_layout, b_layout, c_layout, result_layout])?;
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
            workspace: (workspace, workspace_bytes),
        };
        give_matmul(stream, call).map_err(|text| Status::EXECUTION_FAILED.because(text))
    })
}
