//! Copies and fills. Bytes of pageable memory are taken at the call, and are there when it returns; pinned memory is read
//! and written when the work runs.

use std::ffi::{c_int, c_uchar, c_uint, c_void};
use std::slice;

use super::allocations::Allocation;
use super::ffi::{Address, Handle};
use super::result::{DriverResult, Status};
use super::state::{Driver, call};
use super::work::{Pattern, Place, Work};

impl Driver {
    /// Memory of the host as the end of a copy.
    fn host_place(&self, memory: *const c_void, bytes: usize) -> Place {
        let address = memory as Address;
        match self.allocations.containing(address, bytes) {
            Some((_, Allocation { .. })) => Place::Allocated(address),
            None => Place::Pageable(address),
        }
    }

    fn upload(&mut self, to: Address, from: *const c_void, bytes: usize, stream: Handle) -> DriverResult {
        let from = self.host_place(from, bytes);
        let work = match from {
            Place::Pageable(address) if self.streams.get(stream)?.capturing.is_none() => {
                // SAFETY: the caller passes memory with so many bytes, which is not written meanwhile.
                let bytes = unsafe { slice::from_raw_parts(address as *const u8, bytes) }.into();
                Work::Write { to, bytes }
            }
            from => Work::Copy { to: Place::Allocated(to), from, bytes },
        };
        self.give(stream, work).map(|_| ())
    }

    fn download(&mut self, to: *mut c_void, from: Address, bytes: usize, stream: Handle) -> DriverResult {
        let to = self.host_place(to, bytes);
        let given = self.give(stream, Work::Copy { to, from: Place::Allocated(from), bytes })?;
        match (to, given) {
            (Place::Pageable(_), Some(_)) => self.run_stream(stream),
            _ => Ok(()),
        }
    }

    /// The default stream, for a call that waits.
    fn waiting_stream(&mut self, what: &str) -> DriverResult<Handle> {
        let context = self.current()?;
        self.reject_while_capturing(context, what)?;
        self.stream(Handle::default())
    }

    fn fill(&mut self, to: Address, pattern: Pattern, bytes: usize, stream: Handle) -> DriverResult {
        self.current()?;
        let stream = self.stream(stream)?;
        if bytes == 0 {
            return Ok(());
        }
        some_place(to)?;
        self.give(stream, Work::Fill { to, pattern, bytes }).map(|_| ())
    }
}

fn some_place(address: Address) -> DriverResult {
    match address {
        0 => Err(Status::ERROR_INVALID_VALUE.because("an end of a copy is null")),
        _ => Ok(()),
    }
}

/// Runs a copy whose ends are not null, if there is something to copy.
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
        driver.upload(to, from, bytes, stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: Address, bytes: usize, stream: Handle) -> c_int {
    copy([to as Address, from], bytes, |driver| {
        let stream = driver.stream(stream)?;
        driver.download(to, from, bytes, stream)
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
        let stream = driver.waiting_stream("cuMemcpyHtoD")?;
        driver.upload(to, from, bytes, stream)?;
        driver.run_stream(stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoH_v2(to: *mut c_void, from: Address, bytes: usize) -> c_int {
    copy([to as Address, from], bytes, |driver| {
        let stream = driver.waiting_stream("cuMemcpyDtoH")?;
        driver.download(to, from, bytes, stream)?;
        driver.run_stream(stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD8Async(to: Address, value: c_uchar, count: usize, stream: Handle) -> c_int {
    call(|driver| driver.fill(to, Pattern::Byte(value), count, stream))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD32Async(to: Address, value: c_uint, count: usize, stream: Handle) -> c_int {
    call(|driver| match count.checked_mul(size_of::<u32>()) {
        Some(bytes) if to.is_multiple_of(4) => driver.fill(to, Pattern::Word(value), bytes, stream),
        _ => Err(Status::ERROR_INVALID_VALUE.because(format!("{count} words at {to:#x} are no memory"))),
    })
}
