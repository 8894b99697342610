//! The functions of the library, found by name as a user of libcuda and libnvrtc finds them.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use libloading::Library;

pub type Handle = *mut c_void;
pub type Address = u64;

macro_rules! functions {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        /// Pointers to the functions; the library stays open. Some are only looked up.
        #[allow(non_snake_case, dead_code)]
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            /// Finds all of them.
            pub fn find() -> Functions {
                let path = ferrofuse_emulator::library().expect("the library lies beside the test");
                // SAFETY: the library has no initializers; its functions have these types, as in `cuda.h` and `nvrtc.h`.
                unsafe {
                    let library = Box::leak(Box::new(Library::new(path).expect("a library")));
                    Functions { $($name: *library.get(concat!(stringify!($name), "\0").as_bytes()).expect(stringify!($name)),)* }
                }
            }
        }
    };
}

functions! {
    cuInit(c_uint) -> c_int;
    cuDriverGetVersion(*mut c_int) -> c_int;
    cuGetErrorName(c_int, *mut *const c_char) -> c_int;
    cuGetErrorString(c_int, *mut *const c_char) -> c_int;
    cuDeviceGetCount(*mut c_int) -> c_int;
    cuDeviceGet(*mut c_int, c_int) -> c_int;
    cuDeviceGetName(*mut c_char, c_int, c_int) -> c_int;
    cuDeviceGetAttribute(*mut c_int, c_int, c_int) -> c_int;
    cuDeviceTotalMem_v2(*mut usize, c_int) -> c_int;
    cuDevicePrimaryCtxRetain(*mut Handle, c_int) -> c_int;
    cuDevicePrimaryCtxRelease_v2(c_int) -> c_int;
    cuCtxSetCurrent(Handle) -> c_int;
    cuCtxGetCurrent(*mut Handle) -> c_int;
    cuCtxPushCurrent_v2(Handle) -> c_int;
    cuCtxPopCurrent_v2(*mut Handle) -> c_int;
    cuCtxSynchronize() -> c_int;
    cuStreamCreate(*mut Handle, c_uint) -> c_int;
    cuStreamDestroy_v2(Handle) -> c_int;
    cuStreamSynchronize(Handle) -> c_int;
    cuStreamQuery(Handle) -> c_int;
    cuStreamWaitEvent(Handle, Handle, c_uint) -> c_int;
    cuStreamGetCtx(Handle, *mut Handle) -> c_int;
    cuThreadExchangeStreamCaptureMode(*mut c_uint) -> c_int;
    cuStreamIsCapturing(Handle, *mut c_uint) -> c_int;
    cuStreamBeginCapture_v2(Handle, c_uint) -> c_int;
    cuStreamEndCapture(Handle, *mut Handle) -> c_int;
    cuGraphInstantiateWithFlags(*mut Handle, Handle, c_ulonglong) -> c_int;
    cuGraphLaunch(Handle, Handle) -> c_int;
    cuGraphExecDestroy(Handle) -> c_int;
    cuGraphDestroy(Handle) -> c_int;
    cuEventCreate(*mut Handle, c_uint) -> c_int;
    cuEventDestroy_v2(Handle) -> c_int;
    cuEventRecord(Handle, Handle) -> c_int;
    cuEventSynchronize(Handle) -> c_int;
    cuEventQuery(Handle) -> c_int;
    cuEventElapsedTime(*mut f32, Handle, Handle) -> c_int;
    cuMemGetInfo_v2(*mut usize, *mut usize) -> c_int;
    cuMemAlloc_v2(*mut Address, usize) -> c_int;
    cuMemFree_v2(Address) -> c_int;
    cuMemAllocAsync(*mut Address, usize, Handle) -> c_int;
    cuMemFreeAsync(Address, Handle) -> c_int;
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint) -> c_int;
    cuMemFreeHost(*mut c_void) -> c_int;
    cuMemHostGetDevicePointer_v2(*mut Address, *mut c_void, c_uint) -> c_int;
    cuMemcpyHtoDAsync_v2(Address, *const c_void, usize, Handle) -> c_int;
    cuMemcpyDtoHAsync_v2(*mut c_void, Address, usize, Handle) -> c_int;
    cuMemcpyDtoDAsync_v2(Address, Address, usize, Handle) -> c_int;
    cuMemcpyHtoD_v2(Address, *const c_void, usize) -> c_int;
    cuMemcpyDtoH_v2(*mut c_void, Address, usize) -> c_int;
    cuMemsetD8Async(Address, u8, usize, Handle) -> c_int;
    cuMemsetD32Async(Address, c_uint, usize, Handle) -> c_int;
    cuDeviceGetDefaultMemPool(*mut Handle, c_int) -> c_int;
    cuMemPoolSetAttribute(Handle, c_int, *mut c_void) -> c_int;
    cuMemPoolGetAttribute(Handle, c_int, *mut c_void) -> c_int;
    cuMemPoolTrimTo(Handle, usize) -> c_int;
    cuPointerGetAttribute(*mut c_void, c_int, Address) -> c_int;
    cuModuleLoadData(*mut Handle, *const c_void) -> c_int;
    cuModuleUnload(Handle) -> c_int;
    cuModuleGetFunction(*mut Handle, Handle, *const c_char) -> c_int;
    cuFuncGetAttribute(*mut c_int, c_int, Handle) -> c_int;
    cuFuncSetAttribute(Handle, c_int, c_int) -> c_int;
    cuLaunchKernel(
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
    ) -> c_int;
    cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, Handle, c_int, usize) -> c_int;
    nvrtcVersion(*mut c_int, *mut c_int) -> c_int;
    nvrtcGetErrorString(c_int) -> *const c_char;
    nvrtcCreateProgram(
        *mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
    ) -> c_int;
    nvrtcDestroyProgram(*mut Handle) -> c_int;
    nvrtcCompileProgram(Handle, c_int, *const *const c_char) -> c_int;
    nvrtcGetProgramLogSize(Handle, *mut usize) -> c_int;
    nvrtcGetProgramLog(Handle, *mut c_char) -> c_int;
    nvrtcGetCUBINSize(Handle, *mut usize) -> c_int;
    nvrtcGetCUBIN(Handle, *mut c_char) -> c_int;
    nvrtcGetPTXSize(Handle, *mut usize) -> c_int;
    nvrtcGetPTX(Handle, *mut c_char) -> c_int;
    nvrtcGetNumSupportedArchs(*mut c_int) -> c_int;
    nvrtcGetSupportedArchs(*mut c_int) -> c_int;
    cublasLtCreate(*mut Handle) -> c_int;
    cublasLtDestroy(Handle) -> c_int;
    cublasLtMatmulDescCreate(*mut Handle, c_int, c_int) -> c_int;
    cublasLtMatmulDescDestroy(Handle) -> c_int;
    cublasLtMatrixLayoutCreate(*mut Handle, c_int, u64, u64, i64) -> c_int;
    cublasLtMatrixLayoutSetAttribute(Handle, c_int, *const c_void, usize) -> c_int;
    cublasLtMatrixLayoutDestroy(Handle) -> c_int;
    cublasLtMatmulPreferenceCreate(*mut Handle) -> c_int;
    cublasLtMatmulPreferenceSetAttribute(Handle, c_int, *const c_void, usize) -> c_int;
    cublasLtMatmulPreferenceDestroy(Handle) -> c_int;
    cublasLtMatmulAlgoGetHeuristic(
        Handle, Handle, Handle, Handle, Handle, Handle, Handle, c_int, *mut [u64; 16], *mut c_int
    ) -> c_int;
    cublasLtMatmul(
        Handle, Handle, *const f32, Address, Handle, Address, Handle, *const f32, Address, Handle, Address, Handle,
        *const u64, Address, usize, Handle
    ) -> c_int;
    ferrofuse_stand_in_set(*const c_char, u64) -> c_int;
    ferrofuse_stand_in_get(*const c_char) -> u64;
    ferrofuse_stand_in_message() -> *const c_char;
}
