//! Copies and fills. Bytes of pageable memory are taken at the call, and are there when it returns; pinned memory is read
//! and written when the work runs.

use std::ffi::{c_int, c_uchar, c_uint, c_void};
use std::slice;

use super::ffi::{Address, Handle};
use super::result::{DriverResult, Status};
use super::state::{Driver, call};
use super::work::{Pattern, Place, Work};

/// Memory of the host as the end of a copy.
fn host_place(driver: &Driver, memory: *const c_void, bytes: usize) -> Place {
    let address = memory as Address;
    let allocated = driver.allocations.containing(address, bytes).is_some();
    if allocated { Place::Allocated(address) } else { Place::Pageable(address) }
}

fn upload(
    driver: &mut Driver,
    to: Address,
    from: *const c_void,
    bytes: usize,
    stream: Handle,
) -> DriverResult {
    let from = host_place(driver, from, bytes);
    let work = match from {
        Place::Pageable(address) if driver.streams.get(stream)?.capturing.is_none() => {
            // SAFETY: the caller passes memory of `bytes` bytes, which is not written meanwhile.
            let bytes = unsafe { slice::from_raw_parts(address as *const u8, bytes) }.into();
            Work::Write { to, bytes }
        }
        from => Work::Copy { to: Place::Allocated(to), from, bytes },
    };
    driver.give(stream, work).map(|_| ())
}

fn download(
    driver: &mut Driver,
    to: *mut c_void,
    from: Address,
    bytes: usize,
    stream: Handle,
) -> DriverResult {
    let to = host_place(driver, to, bytes);
    let given = driver.give(stream, Work::Copy { to, from: Place::Allocated(from), bytes })?;
    match (to, given) {
        (Place::Pageable(_), Some(_)) => driver.run_stream(stream),
        _ => Ok(()),
    }
}

/// The default stream, for a synchronous call.
fn waiting_stream(driver: &mut Driver, what: &str) -> DriverResult<Handle> {
    let context = driver.current()?;
    driver.reject_while_capturing(context, what)?;
    driver.stream(Handle::default())
}

fn fill(driver: &mut Driver, to: Address, pattern: Pattern, bytes: usize, stream: Handle) -> DriverResult {
    driver.current()?;
    let stream = driver.stream(stream)?;
    if bytes == 0 {
        return Ok(());
    }
    some_place(to)?;
    driver.give(stream, Work::Fill { to, pattern, bytes }).map(|_| ())
}

fn some_place(address: Address) -> DriverResult {
    match address {
        0 => Err(Status::ERROR_INVALID_VALUE.because("an end of a copy is null")),
        _ => Ok(()),
    }
}

/// Runs a copy if `bytes` is not 0; neither end may be null.
fn copy(ends: [Address; 2], bytes: usize, body: impl FnOnce(&mut Driver) -> DriverResult) -> c_int {
    call(|driver| {
        driver.current()?;
        if bytes == 0 {
            return Ok(());
        }
        ends.into_iter().try_for_each(some_place)?;
        body(driver)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyHtoDAsync_v2(to: Address, from: *const c_void, bytes: usize, stream: Handle) -> c_int {
    copy([to, from as Address], bytes, |driver| {
        let stream = driver.stream(stream)?;
        upload(driver, to, from, bytes, stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: Address, bytes: usize, stream: Handle) -> c_int {
    copy([to as Address, from], bytes, |driver| {
        let stream = driver.stream(stream)?;
        download(driver, to, from, bytes, stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoDAsync_v2(to: Address, from: Address, bytes: usize, stream: Handle) -> c_int {
    copy([to, from], bytes, |driver| {
        let stream = driver.stream(stream)?;
        let work = Work::Copy { to: Place::Allocated(to), from: Place::Allocated(from), bytes };
        driver.give(stream, work).map(|_| ())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyHtoD_v2(to: Address, from: *const c_void, bytes: usize) -> c_int {
    copy([to, from as Address], bytes, |driver| {
        let stream = waiting_stream(driver, "cuMemcpyHtoD")?;
        upload(driver, to, from, bytes, stream)?;
        driver.run_stream(stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoH_v2(to: *mut c_void, from: Address, bytes: usize) -> c_int {
    copy([to as Address, from], bytes, |driver| {
        let stream = waiting_stream(driver, "cuMemcpyDtoH")?;
        download(driver, to, from, bytes, stream)?;
        driver.run_stream(stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD8Async(to: Address, value: c_uchar, count: usize, stream: Handle) -> c_int {
    call(|driver| fill(driver, to, Pattern::Byte(value), count, stream))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD32Async(to: Address, value: c_uint, count: usize, stream: Handle) -> c_int {
    call(|driver| match count.checked_mul(size_of::<u32>()) {
        Some(bytes) if to.is_multiple_of(4) => fill(driver, to, Pattern::Word(value), bytes, stream),
        _ => Err(Status::ERROR_INVALID_VALUE.because(format!("{count} words at {to:#x} are no memory"))),
    })
}
