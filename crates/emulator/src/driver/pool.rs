//! The memory pool of a device: what it has given out and what it holds. A freed block is reused whole or in parts, and
//! blocks are not merged: a pool can hold much and still have no block for a large request.

use std::ffi::{c_int, c_void};

use super::ffi::{Handle, Out};
use super::result::{DriverResult, Status};
use super::state::{Driver, call};

/// `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`.
const RELEASE_THRESHOLD: c_int = 4;

/// How much a pool has given out and holds.
#[derive(Debug, Default)]
pub struct Pool {
    /// Bytes that are kept when the host waits.
    threshold: u64,
    used: u64,
    used_high: u64,
    reserved_high: u64,
    /// Sizes of freed blocks.
    held: Vec<u64>,
    /// Reuse by events, by chance, by dependencies of its own; kept and not used.
    reuse: [c_int; 3],
}

impl Pool {
    /// Bytes of the device that it has taken.
    pub fn reserved(&self) -> u64 {
        self.used + self.held.iter().sum::<u64>()
    }

    /// Gives a block; `false` if it holds none that is large enough and the device has too few free bytes.
    pub fn take(&mut self, bytes: u64, free: u64) -> bool {
        let fits = (0..self.held.len()).filter(|&block| self.held[block] >= bytes);
        match fits.min_by_key(|&block| self.held[block]) {
            Some(block) => {
                let rest = self.held.swap_remove(block) - bytes;
                self.held.extend((rest > 0).then_some(rest));
            }
            None if bytes > free => return false,
            None => {}
        }
        self.used += bytes;
        self.used_high = self.used_high.max(self.used);
        self.reserved_high = self.reserved_high.max(self.reserved());
        true
    }

    /// Takes a block back and holds it.
    pub fn put_back(&mut self, bytes: u64) {
        self.used -= bytes;
        self.held.push(bytes);
    }

    /// Gives held blocks back to the device until it has taken no more than this.
    pub fn trim_to(&mut self, bytes: u64) {
        while self.reserved() > bytes && self.held.pop().is_some() {}
    }

    /// Releases held blocks above the threshold when the host waits.
    pub fn trim_at_wait(&mut self) {
        self.trim_to(self.threshold);
    }

    fn number(&self, attribute: c_int) -> Option<u64> {
        Some(match attribute {
            RELEASE_THRESHOLD => self.threshold,
            5 => self.reserved(),
            6 => self.reserved_high,
            7 => self.used,
            8 => self.used_high,
            _ => return None,
        })
    }
}

/// The handle of a device's pool.
fn handle(device: usize) -> Handle {
    Handle(1 << 56 | 9 << 48 | (device + 1) << 4)
}

fn pool_of(driver: &mut Driver, pool: Handle) -> DriverResult<&mut Pool> {
    let devices = driver.settings.devices as usize;
    match (0..devices).find(|&device| handle(device) == pool) {
        Some(device) => Ok(&mut driver.devices[device].pool),
        None => Err(Status::ERROR_INVALID_HANDLE.because(format!("{:#x} is not a memory pool", pool.0))),
    }
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetDefaultMemPool(pool: Out<Handle>, device: c_int) -> c_int {
    call(|driver| pool.set(handle(driver.ordinal(device)?)))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemPoolSetAttribute(pool: Handle, attribute: c_int, value: *mut c_void) -> c_int {
    call(|driver| {
        let pool = pool_of(driver, pool)?;
        if value.is_null() {
            return Err(Status::ERROR_INVALID_VALUE.because("the value is null"));
        }
        match attribute {
            // SAFETY: the caller passes the number that the attribute is made of.
            1..=3 => pool.reuse[attribute as usize - 1] = unsafe { value.cast::<c_int>().read() },
            // SAFETY: as above.
            RELEASE_THRESHOLD => pool.threshold = unsafe { value.cast::<u64>().read() },
            // SAFETY: as above.
            6 | 8 if unsafe { value.cast::<u64>().read() } == 0 => match attribute {
                6 => pool.reserved_high = pool.reserved(),
                _ => pool.used_high = pool.used,
            },
            _ => {
                let text = format!("attribute {attribute} of a pool cannot be set so");
                return Err(Status::ERROR_INVALID_VALUE.because(text));
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemPoolGetAttribute(pool: Handle, attribute: c_int, value: *mut c_void) -> c_int {
    call(|driver| {
        let pool = pool_of(driver, pool)?;
        if value.is_null() {
            return Err(Status::ERROR_INVALID_VALUE.because("the place for the value is null"));
        }
        match (attribute, pool.number(attribute)) {
            // SAFETY: the caller passes a place for the number that the attribute is made of.
            (_, Some(number)) => unsafe { value.cast::<u64>().write(number) },
            // SAFETY: as above.
            (1..=3, None) => unsafe { value.cast::<c_int>().write(pool.reuse[attribute as usize - 1]) },
            (_, None) => {
                return Err(
                    Status::ERROR_INVALID_VALUE.because(format!("a pool has no attribute {attribute}"))
                );
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemPoolTrimTo(pool: Handle, bytes: usize) -> c_int {
    call(|driver| {
        pool_of(driver, pool)?.trim_to(bytes as u64);
        Ok(())
    })
}
