//! Devices: their number and their properties.

use std::ffi::{CStr, c_char, c_int, c_uint};

use super::attributes::attribute;
use super::ffi::{Handle, Out};
use super::pool::Pool;
use super::result::{DriverResult, Status};
use super::state::{Driver, call, driver, finish};

/// How many devices a test may ask for.
pub const MOST_DEVICES: usize = 8;

const NAME: &CStr = c"NVIDIA H100 80GB HBM3 (stand-in)";

/// A device.
#[derive(Debug, Default)]
pub struct DeviceState {
    /// Its primary context while it is retained.
    pub primary: Option<Handle>,
    /// Bytes allocated outside of the pool.
    pub bytes: u64,
    pub pool: Pool,
}

impl Driver {
    /// The device of a number, checked.
    pub fn ordinal(&self, device: c_int) -> DriverResult<usize> {
        let known = usize::try_from(device).ok().filter(|&device| device < self.settings.devices as usize);
        let count = self.settings.devices;
        known.ok_or_else(|| {
            Status::ERROR_INVALID_DEVICE.because(format!("there is no device {device} among {count}"))
        })
    }

    /// Bytes of a device that are free.
    pub fn free_bytes(&self, device: usize) -> u64 {
        let DeviceState { bytes, pool, .. } = &self.devices[device];
        self.settings.memory.saturating_sub(bytes + pool.reserved())
    }
}

#[unsafe(no_mangle)]
extern "C" fn cuInit(flags: c_uint) -> c_int {
    let mut driver = driver();
    if flags != 0 {
        return finish(Err(Status::ERROR_INVALID_VALUE.because("the flags of cuInit must be 0")));
    }
    if driver.settings.devices == 0 {
        return finish(Err(Status::ERROR_NO_DEVICE.because("no device is set")));
    }
    driver.initialized = true;
    finish(Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cuDriverGetVersion(version: Out<c_int>) -> c_int {
    finish(version.set(driver().settings.driver_version as c_int))
}

#[unsafe(no_mangle)]
extern "C" fn cuGetErrorName(code: c_int, name: Out<*const c_char>) -> c_int {
    finish(words(Status(code).name(), &name))
}

#[unsafe(no_mangle)]
extern "C" fn cuGetErrorString(code: c_int, text: Out<*const c_char>) -> c_int {
    finish(words(Status(code).sentence(), &text))
}

fn words(found: Option<&'static CStr>, place: &Out<*const c_char>) -> DriverResult {
    place.set(found.map_or(std::ptr::null(), CStr::as_ptr))?;
    found.map(|_| ()).ok_or_else(|| Status::ERROR_INVALID_VALUE.because("there is no such error"))
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetCount(count: Out<c_int>) -> c_int {
    call(|driver| count.set(driver.settings.devices as c_int))
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGet(device: Out<c_int>, ordinal: c_int) -> c_int {
    call(|driver| device.set(driver.ordinal(ordinal)? as c_int))
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetName(name: Out<c_char>, length: c_int, device: c_int) -> c_int {
    call(|driver| {
        driver.ordinal(device)?;
        let room = usize::try_from(length).ok().filter(|&length| length > 0 && !name.as_ptr().is_null());
        let Some(room) = room else {
            return Err(Status::ERROR_INVALID_VALUE.because("there is no room for the name"));
        };
        let bytes = &NAME.to_bytes()[..NAME.to_bytes().len().min(room - 1)];
        // SAFETY: the caller has a place for `length` characters, and the name with its zero takes no more.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), name.as_ptr(), bytes.len());
            name.as_ptr().add(bytes.len()).write(0);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetAttribute(value: Out<c_int>, number: c_int, device: c_int) -> c_int {
    call(|driver| {
        let device = driver.ordinal(device)?;
        let unknown = || {
            Status::ERROR_INVALID_VALUE
                .because(format!("the stand-in knows no attribute {number} of a device"))
        };
        value.set(attribute(number, device).ok_or_else(unknown)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: c_int) -> c_int {
    call(|driver| {
        driver.ordinal(device)?;
        bytes.set(driver.settings.memory as usize)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) -> c_int {
    call(|driver| {
        let context = driver.current()?;
        let device = driver.contexts.get(context)?.device;
        free.set(driver.free_bytes(device) as usize)?;
        total.set(driver.settings.memory as usize)
    })
}
