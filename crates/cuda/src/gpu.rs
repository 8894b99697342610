//! Devices: their contexts and facts.

use std::ffi::{CStr, c_int};
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::cublaslt::CublasLt;
use crate::driver::{Address, Driver, Handle, OUT_OF_MEMORY};
use crate::error::Error;
use crate::library::LibraryPaths;
use crate::nvrtc::Nvrtc;

/// The driver and a compatible NVRTC, and cuBLASLt once it is needed.
#[derive(Debug)]
pub struct Cuda {
    pub(crate) driver: Driver,
    pub nvrtc: Nvrtc,
    cublaslt: OnceLock<Result<Arc<CublasLt>, Error>>,
    paths: LibraryPaths,
}

/// The facts about a device that decisions need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuFacts {
    /// The name that NVIDIA sells it under.
    pub name: String,
    /// Major and minor compute capability.
    pub capability: (i32, i32),
    pub multiprocessors: i32,
    /// Threads that run in step.
    pub warp: i32,
    /// Bytes of shared memory that a block may have when it asks for them.
    pub shared_bytes: i32,
    /// Bytes of the L2 cache.
    pub l2_bytes: i32,
    /// The peak bandwidth of its memory in bytes a second, from clock and bus width; 0 if the driver does not report them.
    pub bandwidth: u64,
    /// Bytes of memory.
    pub memory: usize,
}

/// A device with its primary context, which it shares with all users of the CUDA runtime, such as torch.
#[derive(Debug)]
pub struct Gpu {
    pub(crate) cuda: Arc<Cuda>,
    ordinal: usize,
    raw: c_int,
    context: Handle,
    pool: Handle,
    facts: GpuFacts,
    /// Whether new memory is filled with NaN.
    poisons: AtomicBool,
}

// SAFETY: contexts and memory pools are handles that the driver lets any thread use.
unsafe impl Send for Gpu {}
// SAFETY: as above; the driver locks what it must.
unsafe impl Sync for Gpu {}

/// Numbers of `CUdevice_attribute`.
mod attribute {
    pub(super) const WARP_SIZE: i32 = 10;
    pub(super) const MULTIPROCESSOR_COUNT: i32 = 16;
    pub(super) const MEMORY_CLOCK_RATE: i32 = 36;
    pub(super) const GLOBAL_MEMORY_BUS_WIDTH: i32 = 37;
    pub(super) const L2_CACHE_SIZE: i32 = 38;
    pub(super) const CAPABILITY_MAJOR: i32 = 75;
    pub(super) const CAPABILITY_MINOR: i32 = 76;
    pub(super) const MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: i32 = 97;
}

/// Numbers of `CUmemPool_attribute`.
mod pool_attribute {
    pub(super) const RELEASE_THRESHOLD: i32 = 4;
    pub(super) const USED_MEM_CURRENT: i32 = 7;
}

impl Cuda {
    /// Opens driver and NVRTC.
    ///
    /// # Errors
    /// Which of them is missing, or does not fit the other.
    pub fn open(paths: &LibraryPaths) -> Result<Cuda, Error> {
        let (driver, nvrtc) = (Driver::open(paths)?, Nvrtc::open(paths)?);
        if nvrtc.version().0 > driver.version.0 {
            return Err(Error::DriverTooOld { driver: driver.version, nvrtc: nvrtc.version() });
        }
        Ok(Cuda { driver, nvrtc, cublaslt: OnceLock::new(), paths: paths.clone() })
    }

    /// cuBLASLt, which is opened when it is first asked for.
    ///
    /// # Errors
    /// That it is missing.
    pub fn cublaslt(&self) -> Result<&Arc<CublasLt>, Error> {
        let opened = self.cublaslt.get_or_init(|| CublasLt::open(&self.paths).map(Arc::new));
        opened.as_ref().map_err(Error::clone)
    }

    /// What exists without NVRTC: the driver and the names of its devices.
    ///
    /// # Errors
    /// That the driver is missing, or what it says.
    pub fn driver(paths: &LibraryPaths) -> Result<DriverSummary, Error> {
        let driver = Driver::open(paths)?;
        let devices = driver.devices()?;
        let name = |device| driver.device(device).and_then(|raw| driver.name(raw));
        let devices = (0..devices).map(name).collect::<Result<_, Error>>()?;
        Ok(DriverSummary { version: driver.version, path: driver.path, devices })
    }

    /// The number of the device that owns an address.
    ///
    /// # Errors
    /// What the driver says, of an address that is none of its own too.
    pub fn device_of(&self, address: u64) -> Result<usize, Error> {
        const DEVICE_ORDINAL: i32 = 9;
        let mut ordinal: i32 = 0;
        // SAFETY: the function has this type; the attribute is one `int`, which outlives the call.
        let code = unsafe {
            let to = (&raw mut ordinal).cast();
            (self.driver.functions.cuPointerGetAttribute)(to, DEVICE_ORDINAL, address)
        };
        self.driver.check("cuPointerGetAttribute", code)?;
        Ok(usize::try_from(ordinal).unwrap_or(0))
    }

    /// How many devices there are.
    ///
    /// # Errors
    /// What the driver says.
    pub fn devices(&self) -> Result<usize, Error> {
        self.driver.devices()
    }
}

/// A driver and its devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverSummary {
    /// The newest CUDA that it supports, major and minor.
    version: (i32, i32),
    path: PathBuf,
    /// The names of the devices.
    devices: Vec<String>,
}

impl fmt::Display for DriverSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.version;
        let devices = if self.devices.is_empty() { "none".to_owned() } else { self.devices.join(", ") };
        write!(f, "{devices}; driver of CUDA {major}.{minor}, {}", self.path.display())
    }
}

impl Driver {
    fn devices(&self) -> Result<usize, Error> {
        let mut count = 0;
        // SAFETY: the function has this type; the number outlives the call.
        self.check("cuDeviceGetCount", unsafe { (self.functions.cuDeviceGetCount)(&mut count) })?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    fn device(&self, ordinal: usize) -> Result<c_int, Error> {
        let mut raw = 0;
        // SAFETY: the function has this type; the number outlives the call.
        let code = unsafe { (self.functions.cuDeviceGet)(&mut raw, ordinal as c_int) };
        self.check("cuDeviceGet", code).map(|()| raw)
    }

    fn name(&self, device: c_int) -> Result<String, Error> {
        let mut name = [0; 256];
        // SAFETY: the function has this type; the name outlives the call.
        let code =
            unsafe { (self.functions.cuDeviceGetName)(name.as_mut_ptr(), name.len() as c_int, device) };
        self.check("cuDeviceGetName", code)?;
        // SAFETY: the driver ended the name with a zero within the array.
        Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
    }
}

impl Gpu {
    /// The device of this number.
    ///
    /// # Errors
    /// [`Error::NoDevice`], and what the driver says.
    pub fn open(cuda: &Arc<Cuda>, ordinal: usize) -> Result<Gpu, Error> {
        let devices = cuda.devices()?;
        if ordinal >= devices {
            return Err(Error::NoDevice { asked: ordinal, devices });
        }
        let driver = &cuda.driver;
        let raw = driver.device(ordinal)?;
        let facts = GpuFacts::of(driver, raw)?;
        let (mut context, mut pool) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the functions have these types; what they write to outlives the calls. The context is released when the
        // device is dropped.
        unsafe {
            let code = (driver.functions.cuDeviceGetDefaultMemPool)(&mut pool, raw);
            driver.check("cuDeviceGetDefaultMemPool", code)?;
            let code = (driver.functions.cuDevicePrimaryCtxRetain)(&mut context, raw);
            driver.check("cuDevicePrimaryCtxRetain", code)?;
        }
        let poisons = AtomicBool::new(false);
        let device = Gpu { cuda: Arc::clone(cuda), ordinal, raw, context, pool, facts, poisons };
        device.keep_freed_memory()?;
        Ok(device)
    }

    /// Its number.
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// What is known of it.
    pub fn facts(&self) -> &GpuFacts {
        &self.facts
    }

    /// The name of its machine code, as in `sm_90`.
    pub fn architecture(&self) -> String {
        format!("sm_{}{}", self.facts.capability.0, self.facts.capability.1)
    }

    /// Makes its context the thread's current one as long as the guard lives, unless it is already, as within another guard.
    /// The driver is asked, as other code may have changed the current context since.
    pub(crate) fn enter(&self) -> Result<Entered<'_>, Error> {
        let pushed = !self.is_current()?;
        if pushed {
            // SAFETY: the function has this type; the context lives as long as the device.
            let code = unsafe { (self.driver().functions.cuCtxPushCurrent)(self.context) };
            self.driver().check("cuCtxPushCurrent", code)?;
        }
        Ok(Entered { device: self, pushed, on_thread: PhantomData })
    }

    /// Whether its context is the thread's current one.
    fn is_current(&self) -> Result<bool, Error> {
        let mut current = ptr::null_mut();
        // SAFETY: the function has this type; the handle outlives the call.
        let code = unsafe { (self.driver().functions.cuCtxGetCurrent)(&mut current) };
        self.driver().check("cuCtxGetCurrent", code).map(|()| current == self.context)
    }

    /// Lets the thread allocate as long as the guard lives, even while a stream captures its work.
    pub(crate) fn relaxed(&self) -> Result<Relaxed<'_>, Error> {
        const RELAXED: u32 = 2;
        let mut relaxed = Relaxed { device: self, before: RELAXED };
        relaxed.exchange().map(|()| relaxed)
    }

    pub(crate) fn driver(&self) -> &Driver {
        &self.cuda.driver
    }

    pub(crate) fn context(&self) -> Handle {
        self.context
    }

    /// Waits for all its work.
    ///
    /// # Errors
    /// What went wrong in it.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        let _entered = self.enter()?;
        // SAFETY: the function has this type.
        let code = unsafe { (self.driver().functions.cuCtxSynchronize)() };
        self.driver().check("cuCtxSynchronize", code)
    }

    /// Bytes that are free, and all there are.
    ///
    /// # Errors
    /// What the driver says.
    pub fn memory(&self) -> Result<(usize, usize), Error> {
        let _entered = self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: the function has this type; the numbers outlive the call.
        let code = unsafe { (self.driver().functions.cuMemGetInfo)(&mut free, &mut total) };
        self.driver().check("cuMemGetInfo", code).map(|()| (free, total))
    }

    /// Memory that is valid in stream order. Before the device is reported to have none, the pool returns its unused memory.
    pub(crate) fn allocate(&self, bytes: usize, stream: Handle) -> Result<Address, Error> {
        let allocate = || {
            let mut address = 0;
            // SAFETY: the function has this type; the number outlives the call.
            let code =
                unsafe { (self.driver().functions.cuMemAllocAsync)(&mut address, bytes.max(1), stream) };
            (code, address)
        };
        let (code, address) = match allocate() {
            (OUT_OF_MEMORY, _) => {
                self.trim()?;
                allocate()
            }
            result => result,
        };
        if code == OUT_OF_MEMORY {
            let (free, total) = self.memory()?;
            let (device, held) = (self.ordinal, self.pool_value(pool_attribute::USED_MEM_CURRENT)?);
            return Err(Error::OutOfMemory { device, bytes, free, total, held });
        }
        self.driver().check("cuMemAllocAsync", code).map(|()| address)
    }

    /// Returns unused memory to the system.
    fn trim(&self) -> Result<(), Error> {
        // SAFETY: the function has this type; the pool lives as long as the process.
        let code = unsafe { (self.driver().functions.cuMemPoolTrimTo)(self.pool, 0) };
        self.driver().check("cuMemPoolTrimTo", code)
    }

    /// Has the pool keep freed memory for the next call instead of returning it at each synchronization.
    fn keep_freed_memory(&self) -> Result<(), Error> {
        let mut threshold = u64::MAX;
        let value = (&raw mut threshold).cast();
        // SAFETY: the attribute is a number of 64 bits that outlives the call.
        let code = unsafe {
            (self.driver().functions.cuMemPoolSetAttribute)(
                self.pool,
                pool_attribute::RELEASE_THRESHOLD,
                value,
            )
        };
        self.driver().check("cuMemPoolSetAttribute", code)
    }

    fn pool_value(&self, attribute: c_int) -> Result<u64, Error> {
        let mut value = 0_u64;
        // SAFETY: the attribute is a number of 64 bits that outlives the call.
        let code = unsafe {
            (self.driver().functions.cuMemPoolGetAttribute)(self.pool, attribute, (&raw mut value).cast())
        };
        self.driver().check("cuMemPoolGetAttribute", code).map(|()| value)
    }

    /// Fills all memory that is allocated from now on with NaN (-1 for integers), so that a check finds elements that
    /// nothing wrote.
    pub fn poison(&self) {
        self.poisons.store(true, Ordering::Relaxed);
    }

    /// Whether [`Gpu::poison`] was called.
    pub fn poisons(&self) -> bool {
        self.poisons.load(Ordering::Relaxed)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: it was retained once, and all that was made in it held the device until it was gone.
        unsafe { (self.driver().functions.cuDevicePrimaryCtxRelease)(self.raw) };
    }
}

/// A device whose context is the thread's current one. Guards end in the reverse of the order in which they began.
pub struct Entered<'d> {
    device: &'d Gpu,
    /// Whether the guard made it current.
    pushed: bool,
    /// A handle keeps the guard on its thread.
    on_thread: PhantomData<Handle>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if !self.pushed {
            return;
        }
        let (mut popped, functions) = (ptr::null_mut(), &self.device.driver().functions);
        // SAFETY: the function has this type; the handle outlives the call.
        unsafe { (functions.cuCtxPopCurrent)(&mut popped) };
        if popped != self.device.context {
            // SAFETY: the function has this type. What other code made current meanwhile, in place of this context, stays so;
            // code that pushes a context pops it again.
            unsafe { (functions.cuCtxSetCurrent)(popped) };
        }
    }
}

/// A thread that may allocate while a stream captures: what it does is not captured.
pub(crate) struct Relaxed<'d> {
    device: &'d Gpu,
    /// The thread's other mode.
    before: u32,
}

impl Relaxed<'_> {
    fn exchange(&mut self) -> Result<(), Error> {
        let driver = self.device.driver();
        // SAFETY: the function has this type; the mode outlives the call.
        let code = unsafe { (driver.functions.cuThreadExchangeStreamCaptureMode)(&mut self.before) };
        driver.check("cuThreadExchangeStreamCaptureMode", code)
    }
}

impl Drop for Relaxed<'_> {
    fn drop(&mut self) {
        let _ = self.exchange(); // it did so before
    }
}

impl GpuFacts {
    fn of(driver: &Driver, device: c_int) -> Result<GpuFacts, Error> {
        let mut memory = 0;
        // SAFETY: the function has this type; the number outlives the call.
        let code = unsafe { (driver.functions.cuDeviceTotalMem)(&mut memory, device) };
        driver.check("cuDeviceTotalMem", code)?;
        let attribute = |number| driver.attribute(device, number);
        let clock = attribute(attribute::MEMORY_CLOCK_RATE)?.max(0) as u64 * 1000;
        let bus_bytes = attribute(attribute::GLOBAL_MEMORY_BUS_WIDTH)?.max(0) as u64 / 8;
        Ok(GpuFacts {
            name: driver.name(device)?,
            capability: (attribute(attribute::CAPABILITY_MAJOR)?, attribute(attribute::CAPABILITY_MINOR)?),
            multiprocessors: attribute(attribute::MULTIPROCESSOR_COUNT)?,
            warp: attribute(attribute::WARP_SIZE)?,
            shared_bytes: attribute(attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            l2_bytes: attribute(attribute::L2_CACHE_SIZE)?,
            // Memory moves data on both edges of its clock.
            bandwidth: 2 * clock * bus_bytes,
            memory,
        })
    }
}
