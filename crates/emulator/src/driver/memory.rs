//! Memory of devices, at once or in the order of a stream.

use std::ffi::{c_int, c_uint, c_void};

use super::allocations::{Allocation, MemoryKind};
use super::ffi::{Address, Handle, Out};
use super::queue::Ticket;
use super::result::{DriverResult, Status};
use super::settings::strikes;
use super::state::{Driver, call};
use super::work::Work;

impl Driver {
    /// Memory of the kind `Device` or `Graph`, for which the device must have room.
    fn allocate(&mut self, bytes: usize, context: Handle, kind: MemoryKind) -> DriverResult<Address> {
        let device = self.contexts.get(context)?.device;
        let free = self.free_bytes(device);
        if strikes(&mut self.settings.fail_alloc_after) || bytes as u64 > free {
            return Err(out_of_memory(bytes, free, device));
        }
        let start = self.allocations.add(bytes, context, device, kind)?;
        self.devices[device].bytes += bytes as u64;
        Ok(start)
    }

    fn allocate_in_order(&mut self, bytes: usize, stream: Handle) -> DriverResult<Address> {
        let context = self.streams.get(stream)?.context;
        if self.streams.get(stream)?.capturing.is_some() {
            let start = self.allocate(bytes, context, MemoryKind::Graph)?;
            self.own_memory(stream, start)?;
            self.give(stream, Work::Allocate(start))?;
            return Ok(start);
        }
        let device = self.contexts.get(context)?.device;
        self.take_from_pool(bytes, stream, device)?;
        let start = self.allocations.add(bytes, context, device, MemoryKind::Pooled)?;
        let ticket = self.give(stream, Work::Allocate(start))?;
        if let Some(allocation) = self.allocations.get_mut(start) {
            allocation.born = ticket.map(|ticket| (stream, ticket));
        }
        Ok(start)
    }

    /// What the stream frees before is there for it, though it may not have run.
    fn take_from_pool(&mut self, bytes: usize, stream: Handle, device: usize) -> DriverResult {
        let strike = strikes(&mut self.settings.fail_alloc_after);
        for again in [false, true] {
            if again {
                let freed = self.frees_of(stream);
                self.run_until(&freed);
            }
            let free = self.free_bytes(device);
            if !strike && self.devices[device].pool.take(bytes as u64, free) {
                return Ok(());
            }
        }
        Err(out_of_memory(bytes, self.free_bytes(device), device))
    }

    /// Places in the order of a stream where memory is freed.
    fn frees_of(&self, stream: Handle) -> Vec<Ticket> {
        let frees =
            self.queue.iter().filter(|(_, item)| item.stream == stream && matches!(item.work, Work::Free(_)));
        frees.map(|(ticket, _)| ticket).collect()
    }

    fn free_in_order(&mut self, start: Address, stream: Handle) -> DriverResult {
        let Allocation { kind, freed, .. } = *self.allocations.get(start)?;
        if kind == MemoryKind::Host || freed && kind != MemoryKind::Graph {
            let text = format!("the memory at {start:#x} is the host's, or was freed before");
            return Err(Status::ERROR_INVALID_VALUE.because(text));
        }
        let ticket = self.give(stream, Work::Free(start))?;
        if let Some(allocation) = self.allocations.get_mut(start) {
            allocation.freed = ticket.is_some();
        }
        Ok(())
    }

    fn free_at_once(&mut self, start: Address) -> DriverResult {
        let Allocation { kind, context, device, bytes, freed, .. } = *self.allocations.get(start)?;
        if kind == MemoryKind::Host || kind == MemoryKind::Graph || freed {
            let text = format!("the memory at {start:#x} is not freed by cuMemFree, or was freed before");
            return Err(Status::ERROR_INVALID_VALUE.because(text));
        }
        // The driver waits for all that may use the memory.
        self.run_context(context)?;
        self.allocations.remove(start);
        match kind {
            MemoryKind::Pooled => self.devices[device].pool.put_back(bytes as u64),
            _ => self.devices[device].bytes -= bytes as u64,
        }
        Ok(())
    }
}

fn out_of_memory(bytes: usize, free: u64, device: usize) -> super::result::Failure {
    Status::ERROR_OUT_OF_MEMORY.because(format!("{bytes} bytes asked of device {device}, {free} are free"))
}

fn some_bytes(bytes: usize) -> DriverResult {
    match bytes {
        0 => Err(Status::ERROR_INVALID_VALUE.because("no bytes are asked")),
        _ => Ok(()),
    }
}

#[unsafe(no_mangle)]
extern "C" fn cuMemAlloc_v2(address: Out<Address>, bytes: usize) -> c_int {
    call(|driver| {
        let context = driver.current()?;
        some_bytes(bytes)?;
        driver.reject_while_capturing(context, "cuMemAlloc")?;
        address.set_made(|| driver.allocate(bytes, context, MemoryKind::Device))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFree_v2(address: Address) -> c_int {
    call(|driver| {
        let context = driver.current()?;
        driver.reject_while_capturing(context, "cuMemFree")?;
        if address == 0 { Ok(()) } else { driver.free_at_once(address) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemAllocAsync(address: Out<Address>, bytes: usize, stream: Handle) -> c_int {
    call(|driver| {
        driver.current()?;
        let stream = driver.stream(stream)?;
        some_bytes(bytes)?;
        address.set_made(|| driver.allocate_in_order(bytes, stream))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFreeAsync(address: Address, stream: Handle) -> c_int {
    call(|driver| {
        driver.current()?;
        let stream = driver.stream(stream)?;
        if address == 0 { Ok(()) } else { driver.free_in_order(address, stream) }
    })
}

/// `CU_POINTER_ATTRIBUTE_…`: context, kind of memory, device, host, ordinal, start, size.
#[unsafe(no_mangle)]
extern "C" fn cuPointerGetAttribute(value: *mut c_void, attribute: c_int, address: Address) -> c_int {
    call(|driver| {
        let Some((start, allocation)) = driver.allocations.containing(address, 0) else {
            return Err(
                Status::ERROR_INVALID_VALUE.because(format!("{address:#x} is no pointer of the driver"))
            );
        };
        if value.is_null() {
            return Err(Status::ERROR_INVALID_VALUE.because("the place for the value is null"));
        }
        let host = allocation.is_host();
        // SAFETY: the caller passes a place for what the attribute is: a handle, an address, a number or a byte.
        unsafe {
            match attribute {
                1 => value.cast::<Handle>().write(allocation.context),
                2 => value.cast::<c_uint>().write(if host { 1 } else { 2 }),
                3 => value.cast::<Address>().write(address),
                4 if host => value.cast::<Address>().write(address),
                7 => value.cast::<u64>().write(start),
                8 => value.cast::<u8>().write(0),
                9 => value.cast::<c_int>().write(allocation.device as c_int),
                11 => value.cast::<Address>().write(start),
                12 => value.cast::<usize>().write(allocation.bytes),
                13 => value.cast::<u8>().write(1),
                _ => {
                    let text = format!("the stand-in knows no attribute {attribute} of this pointer");
                    return Err(Status::ERROR_INVALID_VALUE.because(text));
                }
            }
        }
        Ok(())
    })
}
