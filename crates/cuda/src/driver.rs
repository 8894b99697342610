//! The driver's functions: those of `cuda.h` that we call, and their results as errors.

use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void};
use std::path::PathBuf;
use std::ptr;

use crate::Error;
use crate::library::{Library, LibraryPaths, function_table};

/// A handle of the driver's: context, stream, event, module, function, memory pool.
pub(crate) type Handle = *mut c_void;

/// An address in a device's memory.
pub(crate) type Address = u64;

/// The driver's word for success.
const SUCCESS: c_int = 0;

/// `CUDA_ERROR_NOT_READY`.
pub(crate) const NOT_READY: c_int = 600;

/// `CUDA_ERROR_OUT_OF_MEMORY`.
pub(crate) const OUT_OF_MEMORY: c_int = 2;

function_table! { Functions:
    cuInit(c_uint) -> c_int;
    cuDriverGetVersion(*mut c_int) -> c_int;
    cuGetErrorName(c_int, *mut *const c_char) -> c_int;
    cuGetErrorString(c_int, *mut *const c_char) -> c_int;
    cuDeviceGetCount(*mut c_int) -> c_int;
    cuDeviceGet(*mut c_int, c_int) -> c_int;
    cuDeviceGetName(*mut c_char, c_int, c_int) -> c_int;
    cuDeviceGetAttribute(*mut c_int, c_int, c_int) -> c_int;
    cuDeviceTotalMem as "cuDeviceTotalMem_v2" (*mut usize, c_int) -> c_int;
    cuDevicePrimaryCtxRetain(*mut Handle, c_int) -> c_int;
    cuDevicePrimaryCtxRelease as "cuDevicePrimaryCtxRelease_v2" (c_int) -> c_int;
    cuCtxGetCurrent(*mut Handle) -> c_int;
    cuCtxSetCurrent(Handle) -> c_int;
    cuCtxPushCurrent as "cuCtxPushCurrent_v2" (Handle) -> c_int;
    cuCtxPopCurrent as "cuCtxPopCurrent_v2" (*mut Handle) -> c_int;
    cuCtxSynchronize() -> c_int;
    cuStreamCreate(*mut Handle, c_uint) -> c_int;
    cuStreamDestroy as "cuStreamDestroy_v2" (Handle) -> c_int;
    cuStreamSynchronize(Handle) -> c_int;
    cuStreamGetCtx(Handle, *mut Handle) -> c_int;
    cuStreamWaitEvent(Handle, Handle, c_uint) -> c_int;
    cuEventCreate(*mut Handle, c_uint) -> c_int;
    cuEventDestroy as "cuEventDestroy_v2" (Handle) -> c_int;
    cuEventRecord(Handle, Handle) -> c_int;
    cuEventQuery(Handle) -> c_int;
    cuEventSynchronize(Handle) -> c_int;
    cuEventElapsedTime(*mut f32, Handle, Handle) -> c_int;
    cuPointerGetAttribute(*mut c_void, c_int, Address) -> c_int;
    cuStreamIsCapturing(Handle, *mut c_int) -> c_int;
    cuThreadExchangeStreamCaptureMode(*mut c_uint) -> c_int;
    cuStreamBeginCapture as "cuStreamBeginCapture_v2" (Handle, c_uint) -> c_int;
    cuStreamEndCapture(Handle, *mut Handle) -> c_int;
    cuGraphInstantiateWithFlags(*mut Handle, Handle, c_ulonglong) -> c_int;
    cuGraphLaunch(Handle, Handle) -> c_int;
    cuGraphExecDestroy(Handle) -> c_int;
    cuGraphDestroy(Handle) -> c_int;
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint) -> c_int;
    cuMemHostGetDevicePointer as "cuMemHostGetDevicePointer_v2" (*mut Address, *mut c_void, c_uint) -> c_int;
    cuMemFreeHost(*mut c_void) -> c_int;
    cuMemGetInfo as "cuMemGetInfo_v2" (*mut usize, *mut usize) -> c_int;
    cuMemAllocAsync(*mut Address, usize, Handle) -> c_int;
    cuMemFreeAsync(Address, Handle) -> c_int;
    cuMemcpyHtoDAsync as "cuMemcpyHtoDAsync_v2" (Address, *const c_void, usize, Handle) -> c_int;
    cuMemcpyDtoHAsync as "cuMemcpyDtoHAsync_v2" (*mut c_void, Address, usize, Handle) -> c_int;
    cuMemcpyDtoDAsync as "cuMemcpyDtoDAsync_v2" (Address, Address, usize, Handle) -> c_int;
    cuMemsetD8Async(Address, c_uchar, usize, Handle) -> c_int;
    cuMemsetD32Async(Address, c_uint, usize, Handle) -> c_int;
    cuDeviceGetDefaultMemPool(*mut Handle, c_int) -> c_int;
    cuMemPoolSetAttribute(Handle, c_int, *mut c_void) -> c_int;
    cuMemPoolGetAttribute(Handle, c_int, *mut c_void) -> c_int;
    cuMemPoolTrimTo(Handle, usize) -> c_int;
    cuModuleLoadData(*mut Handle, *const c_void) -> c_int;
    cuModuleUnload(Handle) -> c_int;
    cuModuleGetFunction(*mut Handle, Handle, *const c_char) -> c_int;
    cuFuncSetAttribute(Handle, c_int, c_int) -> c_int;
    cuFuncGetAttribute(*mut c_int, c_int, Handle) -> c_int;
    cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, Handle, c_int, usize) -> c_int;
    cuLaunchKernel(
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
    ) -> c_int;
}

/// The driver, opened and initialised.
#[derive(Debug)]
pub(crate) struct Driver {
    pub functions: Functions,
    /// The newest CUDA that it supports, major and minor.
    pub version: (i32, i32),
    pub path: PathBuf,
}

impl Driver {
    /// Opens libcuda at the path, or by its name.
    pub fn open(paths: &LibraryPaths) -> Result<Driver, Error> {
        const HINT: &str = "it comes with NVIDIA's driver";
        let names = || ["libcuda.so.1", "libcuda.so"].map(PathBuf::from).to_vec();
        let candidates = paths.cuda.as_ref().map_or_else(names, |path| vec![path.clone()]);
        let library = Library::open("libcuda", &candidates, HINT)?;
        let functions = Functions::find(&library)?;
        let mut driver = Driver { functions, version: (0, 0), path: library.path };
        let mut version = 0;
        // SAFETY: the functions have these types; the number outlives the call.
        unsafe {
            driver.check("cuInit", (driver.functions.cuInit)(0))?;
            driver.check("cuDriverGetVersion", (driver.functions.cuDriverGetVersion)(&mut version))?;
        }
        driver.version = (version / 1000, version % 1000 / 10);
        Ok(driver)
    }

    /// The result of a call as an error in the driver's words.
    #[inline]
    pub fn check(&self, call: &'static str, code: c_int) -> Result<(), Error> {
        if code == SUCCESS { Ok(()) } else { Err(self.failure(call, code)) }
    }

    #[cold]
    fn failure(&self, call: &'static str, code: c_int) -> Error {
        let functions = &self.functions;
        let name = words(code, functions.cuGetErrorName).unwrap_or_else(|| format!("error {code}"));
        let text = words(code, functions.cuGetErrorString).unwrap_or_default();
        Error::Driver { call, code, name, text }
    }

    /// An attribute of a device, as `CUdevice_attribute` counts them.
    pub fn attribute(&self, device: c_int, attribute: c_int) -> Result<i32, Error> {
        let mut value = 0;
        // SAFETY: the function has this type; the number outlives the call.
        let code = unsafe { (self.functions.cuDeviceGetAttribute)(&mut value, attribute, device) };
        self.check("cuDeviceGetAttribute", code).map(|()| value)
    }
}

/// A function of the driver's description of an error.
fn words(code: c_int, of: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int) -> Option<String> {
    let mut text = ptr::null();
    // SAFETY: the function has this type; what it gives is a constant of the driver's, or null.
    unsafe {
        of(code, &mut text);
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    }
}
