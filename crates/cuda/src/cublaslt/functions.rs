//! The functions of `cublasLt.h` that we call, and the numbers of its enumerations.

use std::ffi::{c_char, c_int, c_void};

use crate::driver::Handle;
use crate::library::function_table;

function_table! { Functions:
    cublasLtGetVersion() -> usize;
    cublasLtGetStatusString(c_int) -> *const c_char;
    cublasLtCreate(*mut Handle) -> c_int;
    cublasLtDestroy(Handle) -> c_int;
    cublasLtMatmulDescCreate(*mut Handle, c_int, c_int) -> c_int;
    cublasLtMatmulDescDestroy(Handle) -> c_int;
    cublasLtMatmulDescSetAttribute(Handle, c_int, *const c_void, usize) -> c_int;
    cublasLtMatrixLayoutCreate(*mut Handle, c_int, u64, u64, i64) -> c_int;
    cublasLtMatrixLayoutDestroy(Handle) -> c_int;
    cublasLtMatrixLayoutSetAttribute(Handle, c_int, *const c_void, usize) -> c_int;
    cublasLtMatmulPreferenceCreate(*mut Handle) -> c_int;
    cublasLtMatmulPreferenceDestroy(Handle) -> c_int;
    cublasLtMatmulPreferenceSetAttribute(Handle, c_int, *const c_void, usize) -> c_int;
    cublasLtMatmulAlgoGetHeuristic(
        Handle, Handle, Handle, Handle, Handle, Handle, Handle, c_int, *mut HeuristicResult, *mut c_int
    ) -> c_int;
    cublasLtMatmul(
        Handle, Handle, *const c_void, *const c_void, Handle, *const c_void, Handle, *const c_void, *const c_void, Handle,
        *mut c_void, Handle, *const Algorithm, *mut c_void, usize, Handle
    ) -> c_int;
}

/// `cublasLtMatmulAlgo_t`: opaque, and of one version of the library.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Algorithm {
    data: [u64; 8],
}

/// `cublasLtMatmulHeuristicResult_t`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct HeuristicResult {
    pub algorithm: Algorithm,
    pub workspace_bytes: usize,
    pub state: c_int,
    pub waves: f32,
    reserved: [c_int; 4],
}

/// `cudaDataType`.
pub(crate) mod data_type {
    pub(crate) const R_32F: i32 = 0;
    pub(crate) const R_64F: i32 = 1;
    pub(crate) const R_16F: i32 = 2;
    pub(crate) const R_16BF: i32 = 14;
}

/// `cublasComputeType_t`.
pub(crate) mod compute {
    /// No operand is rounded to fewer bits, as to TF32.
    pub(crate) const F32: i32 = 68;
    pub(crate) const F64: i32 = 70;
}

/// `cublasLtMatmulDescAttributes_t`.
pub(crate) mod matmul_attribute {
    pub(crate) const TRANSA: i32 = 3;
    pub(crate) const TRANSB: i32 = 4;
    pub(crate) const EPILOGUE: i32 = 7;
    pub(crate) const BIAS_POINTER: i32 = 8;
}

/// `CUBLASLT_EPILOGUE_BIAS`: a vector is added to each column of a column-major result before it is rounded.
pub(crate) const EPILOGUE_BIAS: u32 = 4;

/// `CUBLAS_OP_T`.
pub(crate) const TRANSPOSED: i32 = 1;

/// `cublasLtMatrixLayoutAttribute_t`.
pub(crate) mod layout_attribute {
    pub(crate) const BATCH_COUNT: i32 = 5;
    pub(crate) const STRIDED_BATCH_OFFSET: i32 = 6;
}

/// `cublasLtMatmulPreferenceAttributes_t`.
pub(crate) mod preference_attribute {
    pub(crate) const MAX_WORKSPACE_BYTES: i32 = 1;
    pub(crate) const REDUCTION_SCHEME_MASK: i32 = 3;
    /// Of A; those of B, C and D follow.
    pub(crate) const MIN_ALIGNMENT_A_BYTES: i32 = 5;
}

/// `CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE`: parts of a sum are added up before anything is rounded to the type of the result.
pub(crate) const REDUCE_IN_COMPUTE_TYPE: u32 = 2;
