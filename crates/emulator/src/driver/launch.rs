//! Launches: their arguments are checked and copied, then they wait in their stream.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use super::attributes::{
    BLOCKS_PER_MULTIPROCESSOR, MOST_THREADS, REGISTERS, SHARED_OPT_IN, SHARED_PER_MULTIPROCESSOR,
    SHARED_RESERVED, THREADS_PER_MULTIPROCESSOR, WARP,
};
use super::ffi::{Handle, Out};
use super::module::{LoadedFunction, NOMINAL_REGISTERS};
use super::result::{DriverResult, Status};
use super::settings::strikes;
use super::state::{Driver, call};
use super::work::{KernelCall, Work};
use crate::{Arg, Launch};

/// The function of a launch in this stream; the contexts of both must be current.
fn launched(driver: &Driver, function: Handle, stream: Handle) -> DriverResult<&LoadedFunction> {
    let current = driver.current()?;
    let found = driver.functions.get(function)?;
    let given = driver.streams.get(stream)?.context;
    if found.context != current || given != current {
        let text = "the function or the stream is of another context than the current one";
        return Err(Status::ERROR_INVALID_HANDLE.because(text));
    }
    Ok(found)
}

/// Counts a launch; whether a test makes it fault. Fails if a test rejects it.
fn count_launch(driver: &mut Driver) -> DriverResult<bool> {
    driver.launches += 1;
    if strikes(&mut driver.settings.fail_launch_after) {
        let text = "a test wants this launch to be rejected";
        return Err(Status::ERROR_LAUNCH_OUT_OF_RESOURCES.because(text));
    }
    Ok(strikes(&mut driver.settings.fault_launch_after))
}

/// Checks a launch against the limits of the device.
fn check(function: &LoadedFunction, launch: &Launch) -> DriverResult {
    function
        .function
        .check_sizes(launch)
        .map_err(|error| Status::ERROR_INVALID_VALUE.because(error.to_string()))?;
    let (asked, most) = (launch.dynamic_shared_bytes, function.most_dynamic_shared);
    if asked > most {
        let text = format!(
            "{asked} bytes of dynamic shared memory, at most {most} unless cuFuncSetAttribute asks for more"
        );
        return Err(Status::ERROR_INVALID_VALUE.because(text));
    }
    Ok(())
}

/// Copies the parameters out of the words that the caller points to: arguments, and what tables among them point to.
fn copy_parameters(function: &LoadedFunction, parameters: *mut *mut c_void) -> DriverResult<Copied> {
    let mut tables = Vec::new();
    if function.function.parameters().next().is_none() {
        return Ok((Vec::new(), tables));
    }
    if parameters.is_null() {
        return Err(Status::ERROR_INVALID_VALUE.because("the kernel has parameters, and none are passed"));
    }
    let read = |(number, (letter, bytes)): (usize, (char, usize))| {
        // SAFETY: the caller passes a pointer for each parameter of the kernel.
        let place = unsafe { parameters.add(number).read() };
        if place.is_null() {
            return Err(Status::ERROR_INVALID_VALUE.because(format!("parameter {number} is null")));
        }
        if letter == 's' {
            // SAFETY: the caller points at a structure of this number of words, which may be unaligned.
            let word = |at: usize| unsafe { place.cast::<u64>().add(at).read_unaligned() };
            let words: Box<[u64]> = (0..bytes / 8).map(word).collect();
            let table = Arg::Table { words: words.as_ptr(), count: words.len() };
            tables.push(words);
            return Ok(table);
        }
        // SAFETY: the caller points at a value of the parameter's type.
        let value = unsafe { Arg::read(letter, place) };
        value.ok_or_else(|| {
            Status::ERROR_NOT_SUPPORTED.because(format!("parameter {number} is a struct of other than words"))
        })
    };
    let args = function.function.parameters().enumerate().map(read).collect::<DriverResult<_>>()?;
    Ok((args, tables))
}

/// Arguments, and the words of tables among them.
type Copied = (Vec<Arg>, Vec<Box<[u64]>>);

#[unsafe(no_mangle)]
extern "C" fn cuLaunchKernel(
    function: Handle,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared_bytes: c_uint,
    stream: Handle,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> c_int {
    call(|driver| {
        let stream = driver.stream(stream)?;
        let found = launched(driver, function, stream)?;
        if !extra.is_null() {
            return Err(Status::ERROR_NOT_SUPPORTED.because("the stand-in takes no parameters in `extra`"));
        }
        let launch = Launch {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            dynamic_shared_bytes: shared_bytes as usize,
            order: driver.settings.thread_order(),
        };
        check(found, &launch)?;
        let (args, tables) = copy_parameters(found, parameters)?;
        let is_address = |&word: &u64| driver.allocations.containing(word, 0).is_some();
        let in_tables = tables.iter().flatten().copied().filter(is_address).collect();
        let function = found.function.clone();
        let faults = count_launch(driver)?;
        let work =
            Work::Launch(Arc::new(KernelCall { function, launch, args, in_tables, _tables: tables, faults }));
        driver.give(stream, work).map(|_| ())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: Out<c_int>,
    function: Handle,
    block: c_int,
    shared_bytes: usize,
) -> c_int {
    call(|driver| {
        let function = driver.functions.get(function)?;
        let threads = u32::try_from(block).ok().filter(|threads| (1..=MOST_THREADS).contains(threads));
        let Some(threads) = threads.map(|threads| threads.next_multiple_of(WARP)) else {
            return Err(Status::ERROR_INVALID_VALUE.because(format!("a block has no {block} threads")));
        };
        let shared = function.static_shared() + shared_bytes;
        if shared > SHARED_OPT_IN {
            return blocks.set(0);
        }
        let by_shared = SHARED_PER_MULTIPROCESSOR / (shared + SHARED_RESERVED);
        let by_threads = THREADS_PER_MULTIPROCESSOR / threads;
        let by_registers = REGISTERS / (threads * NOMINAL_REGISTERS);
        let most = by_threads.min(by_registers).min(BLOCKS_PER_MULTIPROCESSOR);
        blocks.set(most.min(by_shared as u32) as c_int)
    })
}
