//! Memory of the host that devices see.

use std::ffi::{c_int, c_uint, c_void};

use super::allocations::MemoryKind;
use super::ffi::{Address, Out};
use super::result::{DriverResult, Status};
use super::state::{Driver, call};

/// Portable, mapped, write-combined.
const FLAGS: c_uint = 7;

fn allocate_host(driver: &mut Driver, bytes: usize) -> DriverResult<Address> {
    let context = driver.current()?;
    driver.reject_while_capturing(context, "cuMemHostAlloc")?;
    let device = driver.contexts.get(context)?.device;
    driver.allocations.add(bytes, context, device, MemoryKind::Host)
}

fn free_host(driver: &mut Driver, start: Address) -> DriverResult {
    let context = driver.current()?;
    driver.reject_while_capturing(context, "cuMemFreeHost")?;
    if !driver.allocations.get(start)?.is_host() {
        return Err(Status::ERROR_INVALID_VALUE.because("the memory is a device's"));
    }
    // Work of any device may use it.
    let contexts: Vec<_> = driver.contexts.iter().map(|(context, _)| context).collect();
    for other in contexts {
        match driver.run_context(other) {
            Err(failure) if other == context => return Err(failure),
            _ => {}
        }
    }
    driver.allocations.remove(start);
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn cuMemHostAlloc(place: Out<*mut c_void>, bytes: usize, flags: c_uint) -> c_int {
    call(|driver| {
        if bytes == 0 || flags & !FLAGS != 0 {
            let text = format!("{bytes} bytes with flags {flags:#x} are no memory of the host");
            return Err(Status::ERROR_INVALID_VALUE.because(text));
        }
        place.set_made(|| allocate_host(driver, bytes).map(|start| start as *mut c_void))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFreeHost(memory: *mut c_void) -> c_int {
    call(|driver| free_host(driver, memory as Address))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemHostGetDevicePointer_v2(
    address: Out<Address>,
    memory: *mut c_void,
    flags: c_uint,
) -> c_int {
    call(|driver| {
        driver.current()?;
        let found = driver.allocations.containing(memory as Address, 0);
        if flags != 0 || !found.is_some_and(|(_, allocation)| allocation.is_host()) {
            let text = format!("{memory:?} is not in memory of cuMemHostAlloc, or the flags are not 0");
            return Err(Status::ERROR_INVALID_VALUE.because(text));
        }
        // Addresses are unified.
        address.set(memory as Address)
    })
}
