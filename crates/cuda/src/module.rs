//! Machine code in a device, and launches of its kernels.

use std::ffi::{CString, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::driver::Handle;
use crate::error::Error;
use crate::gpu::Gpu;
use crate::stream::Stream;

/// Machine code in a device.
#[derive(Debug)]
pub struct Module {
    device: Arc<Gpu>,
    raw: Handle,
}

// SAFETY: a module is a handle that the driver lets any thread use.
unsafe impl Send for Module {}
// SAFETY: as above; the driver locks what it must.
unsafe impl Sync for Module {}

/// A kernel of a module.
#[derive(Clone, Debug)]
pub struct Function {
    module: Arc<Module>,
    raw: Handle,
}

// SAFETY: a function is a handle that the driver lets any thread use, and lives as long as its module.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// The shape of a launch: all along x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// At least 1.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of dynamic shared memory.
    pub shared_bytes: usize,
}

/// The resources of a kernel on a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelResources {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of local memory of a thread: spilled registers, and arrays.
    pub local_bytes: u32,
    /// Blocks that a multiprocessor runs at a time.
    pub blocks: u32,
}

impl Module {
    /// Loads machine code into a device.
    ///
    /// # Errors
    /// What the driver says: that it is damaged, or for another device.
    pub fn load(device: &Arc<Gpu>, cubin: &[u8]) -> Result<Arc<Module>, Error> {
        let _entered = device.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the function has this type; the driver reads as much as the image says it has, and NVRTC made it.
        let code = unsafe { (device.driver().functions.cuModuleLoadData)(&mut raw, cubin.as_ptr().cast()) };
        device.driver().check("cuModuleLoadData", code)?;
        Ok(Arc::new(Module { device: Arc::clone(device), raw }))
    }

    /// The kernel of a name, whose blocks may use the maximum of shared memory.
    ///
    /// # Errors
    /// What the driver says.
    pub fn function(self: &Arc<Module>, name: &str) -> Result<Function, Error> {
        let _entered = self.device.enter()?;
        let text = CString::new(name).expect("names of kernels hold no zero");
        let mut raw = ptr::null_mut();
        // SAFETY: the function has this type; the name outlives the call.
        let code = unsafe {
            (self.device.driver().functions.cuModuleGetFunction)(&mut raw, self.raw, text.as_ptr())
        };
        self.device.driver().check("cuModuleGetFunction", code)?;
        let function = Function { module: Arc::clone(self), raw };
        function.allow_shared()?;
        Ok(function)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Ok(_entered) = self.device.enter() {
            // SAFETY: no function of it is left; the driver waits for launches that still run.
            unsafe { (self.device.driver().functions.cuModuleUnload)(self.raw) };
        }
    }
}

impl Function {
    /// Allows blocks as much dynamic shared memory as the kernel's static memory leaves. By default both together are
    /// limited to 48 KiB.
    fn allow_shared(&self) -> Result<(), Error> {
        const SHARED_SIZE_BYTES: c_int = 1;
        const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;
        let driver = self.module.device.driver();
        let most = self.module.device.facts().shared_bytes;
        let bytes = most.saturating_sub(self.attribute(SHARED_SIZE_BYTES)?);
        // SAFETY: the function has this type; the kernel's module lives.
        let code =
            unsafe { (driver.functions.cuFuncSetAttribute)(self.raw, MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes) };
        driver.check("cuFuncSetAttribute", code)
    }

    /// The driver's attribute with a number.
    fn attribute(&self, number: c_int) -> Result<c_int, Error> {
        let (driver, mut value) = (self.module.device.driver(), 0);
        // SAFETY: the function has this type; the number outlives the call, and the kernel's module lives.
        let code = unsafe { (driver.functions.cuFuncGetAttribute)(&mut value, number, self.raw) };
        driver.check("cuFuncGetAttribute", code).map(|()| value)
    }

    /// The resources that it takes in blocks of `threads` threads with `shared_bytes` of dynamic shared memory.
    ///
    /// # Errors
    /// What the driver says.
    pub fn resources(&self, threads: u32, shared_bytes: usize) -> Result<KernelResources, Error> {
        const LOCAL_SIZE_BYTES: c_int = 3;
        const NUM_REGS: c_int = 4;
        let (_entered, driver) = (self.module.device.enter()?, self.module.device.driver());
        let mut blocks = 0;
        // SAFETY: the function has this type; the number outlives the call, and the kernel's module lives.
        let code = unsafe {
            let occupancy = driver.functions.cuOccupancyMaxActiveBlocksPerMultiprocessor;
            occupancy(&mut blocks, self.raw, threads as c_int, shared_bytes)
        };
        driver.check("cuOccupancyMaxActiveBlocksPerMultiprocessor", code)?;
        let count = |number: c_int| u32::try_from(number).unwrap_or(0);
        Ok(KernelResources {
            registers: count(self.attribute(NUM_REGS)?),
            local_bytes: count(self.attribute(LOCAL_SIZE_BYTES)?),
            blocks: count(blocks),
        })
    }

    /// Enqueues the kernel on a stream. Every parameter is a word of 64 bits: an address, or a number.
    ///
    /// # Safety
    /// The kernel takes as many parameters, of 64 bits each, and every address among them is of memory that it may use as it
    /// does when the stream comes to it.
    ///
    /// # Errors
    /// What the driver says: a launch that the device has no room for.
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        launch: LaunchShape,
        parameters: &[u64],
    ) -> Result<(), Error> {
        let mut addresses: SmallVec<[*mut c_void; 16]> = parameters.iter().map(place_of).collect();
        // SAFETY: each address is of a parameter; the rest is the caller's.
        unsafe { self.enqueue(stream, launch, &mut addresses) }
    }

    /// Enqueues a kernel whose one parameter is a structure of words of 64 bits.
    ///
    /// # Safety
    /// The structure has as many words; addresses as in [`Function::launch`].
    ///
    /// # Errors
    /// As [`Function::launch`].
    pub unsafe fn launch_with_table(
        &self,
        stream: &Stream,
        launch: LaunchShape,
        table: &[u64],
    ) -> Result<(), Error> {
        let first = table.first().expect("a table is not empty");
        // SAFETY: the address is of the one parameter; the rest is the caller's.
        unsafe { self.enqueue(stream, launch, &mut [place_of(first)]) }
    }

    /// Enqueues the kernel on a stream, with the parameters at these addresses.
    ///
    /// # Safety
    /// Every parameter of the kernel is at its address; see [`Function::launch`].
    unsafe fn enqueue(
        &self,
        stream: &Stream,
        launch: LaunchShape,
        parameters: &mut [*mut c_void],
    ) -> Result<(), Error> {
        let _entered = self.module.device.enter()?;
        let shared = u32::try_from(launch.shared_bytes).unwrap_or(u32::MAX);
        let (driver, none) = (self.module.device.driver(), ptr::null_mut());
        // SAFETY: the driver copies the parameters before it returns; the rest is the caller's.
        let code = unsafe {
            (driver.functions.cuLaunchKernel)(
                self.raw,
                launch.blocks,
                1,
                1,
                launch.threads,
                1,
                1,
                shared,
                stream.raw(),
                parameters.as_mut_ptr(),
                none,
            )
        };
        driver.check("cuLaunchKernel", code)
    }
}

/// The address of a word, as the driver takes it. The driver writes to no parameter.
fn place_of(word: &u64) -> *mut c_void {
    ptr::from_ref(word).cast_mut().cast()
}
