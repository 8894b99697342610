//! Device memory, allocated and freed at once or in stream order.

use std::ffi::{c_int, c_uint, c_void};

use super::allocations::{Allocation, MemoryKind};
use super::ffi::{Address, Handle, Out};
use super::queue::Ticket;
use super::result::{DriverResult, Status};
use super::settings::strikes;
use super::state::{Driver, call};
use super::work::Work;

/// Memory of the kind `Device` or `Graph`, for which the device must have room.
fn allocate(driver: &mut Driver, bytes: usize, context: Handle, kind: MemoryKind) -> DriverResult<Address> {
    let device = driver.contexts.get(context)?.device;
    let free = driver.free_bytes(device);
    if strikes(&mut driver.settings.fail_alloc_after) || bytes as u64 > free {
        return Err(out_of_memory(bytes, free, device));
    }
    let start = driver.allocations.add(bytes, context, device, kind)?;
    driver.devices[device].bytes += bytes as u64;
    Ok(start)
}

fn allocate_in_order(driver: &mut Driver, bytes: usize, stream: Handle) -> DriverResult<Address> {
    let context = driver.streams.get(stream)?.context;
    if driver.streams.get(stream)?.capturing.is_some() {
        let start = allocate(driver, bytes, context, MemoryKind::Graph)?;
        driver.own_memory(stream, start)?;
        driver.give(stream, Work::Allocate(start))?;
        return Ok(start);
    }
    let device = driver.contexts.get(context)?.device;
    take_from_pool(driver, bytes, stream, device)?;
    driver.taken += 1;
    let added = driver.allocations.add(bytes, context, device, MemoryKind::Pooled);
    let start = added.inspect_err(|_| driver.devices[device].pool.put_back(bytes as u64))?;
    let ticket = driver.give(stream, Work::Allocate(start))?;
    if let Some(allocation) = driver.allocations.get_mut(start) {
        allocation.born = ticket.map(|ticket| (stream, ticket));
    }
    Ok(start)
}

/// Counts the bytes of an allocation. It may use memory that the stream frees earlier, even if that has not run yet.
fn take_from_pool(driver: &mut Driver, bytes: usize, stream: Handle, device: usize) -> DriverResult {
    let strike = strikes(&mut driver.settings.fail_alloc_after);
    for again in [false, true] {
        if again {
            let freed = frees_of(driver, stream);
            driver.run_until(&freed);
        }
        let free = driver.free_bytes(device);
        if !strike && driver.devices[device].pool.take(bytes as u64, free) {
            return Ok(());
        }
    }
    Err(out_of_memory(bytes, driver.free_bytes(device), device))
}

/// Places in the order of a stream where memory is freed.
fn frees_of(driver: &Driver, stream: Handle) -> Vec<Ticket> {
    let frees =
        driver.queue.iter().filter(|(_, item)| item.stream == stream && matches!(item.work, Work::Free(_)));
    frees.map(|(ticket, _)| ticket).collect()
}

fn free_in_order(driver: &mut Driver, start: Address, stream: Handle) -> DriverResult {
    let Allocation { kind, freed, .. } = *driver.allocations.get(start)?;
    if kind == MemoryKind::Host || freed && kind != MemoryKind::Graph {
        let text = format!("the memory at {start:#x} is the host's, or was freed before");
        return Err(Status::ERROR_INVALID_VALUE.because(text));
    }
    let ticket = driver.give(stream, Work::Free(start))?;
    if let Some(allocation) = driver.allocations.get_mut(start) {
        allocation.freed = ticket.is_some();
    }
    Ok(())
}

fn free_at_once(driver: &mut Driver, start: Address) -> DriverResult {
    let Allocation { kind, context, device, bytes, freed, .. } = *driver.allocations.get(start)?;
    if kind == MemoryKind::Host || kind == MemoryKind::Graph || freed {
        let text = format!("the memory at {start:#x} is not freed by cuMemFree, or was freed before");
        return Err(Status::ERROR_INVALID_VALUE.because(text));
    }
    // The driver waits for all that may use the memory.
    driver.run_context(context)?;
    driver.allocations.remove(start);
    match kind {
        MemoryKind::Pooled => driver.devices[device].pool.put_back(bytes as u64),
        _ => driver.devices[device].bytes -= bytes as u64,
    }
    Ok(())
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
        address.set_made(|| allocate(driver, bytes, context, MemoryKind::Device))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFree_v2(address: Address) -> c_int {
    call(|driver| {
        let context = driver.current()?;
        driver.reject_while_capturing(context, "cuMemFree")?;
        if address == 0 { Ok(()) } else { free_at_once(driver, address) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemAllocAsync(address: Out<Address>, bytes: usize, stream: Handle) -> c_int {
    call(|driver| {
        driver.current()?;
        let stream = driver.stream(stream)?;
        some_bytes(bytes)?;
        address.set_made(|| allocate_in_order(driver, bytes, stream))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFreeAsync(address: Address, stream: Handle) -> c_int {
    call(|driver| {
        driver.current()?;
        let stream = driver.stream(stream)?;
        if address == 0 { Ok(()) } else { free_in_order(driver, address, stream) }
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
