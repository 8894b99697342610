//! Events: positions in the order of a stream, and when the stream reached them.

use std::ffi::{c_int, c_uint};
use std::time::Instant;

use super::ffi::{Handle, Out};
use super::queue::{Clock, Ticket};
use super::result::{DriverResult, Status};
use super::state::{Driver, call};
use super::work::Work;

/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: c_uint = 2;

/// An event.
#[derive(Debug)]
pub struct Event {
    pub context: Handle,
    pub timing: bool,
    /// The position where it was last recorded.
    pub ticket: Option<Ticket>,
    /// What happened before it.
    pub clock: Clock,
    /// When it happened.
    pub time: Option<Instant>,
    /// The capture in which it was recorded last, with the nodes before it.
    pub captured: Option<(Handle, Vec<usize>)>,
}

/// The event; fails if it was last recorded in a capture.
fn uncaptured<'d>(driver: &'d mut Driver, handle: Handle, what: &str) -> DriverResult<&'d Event> {
    let captured = driver.events.get(handle)?.captured.as_ref().map(|(capture, _)| *capture);
    if let Some(capture) = captured {
        driver.invalidate(capture);
        return Err(Status::ERROR_CAPTURED_EVENT.because(format!("{what}: the event was captured")));
    }
    let context = driver.events.get(handle)?.context;
    driver.healthy(context)?;
    driver.events.get(handle)
}

fn record(driver: &mut Driver, handle: Handle, stream: Handle) -> DriverResult {
    if driver.events.get(handle)?.context != driver.streams.get(stream)?.context {
        let text = "the event is recorded in a stream of another context";
        return Err(Status::ERROR_INVALID_HANDLE.because(text));
    }
    let captured = driver.captured_place(stream)?;
    let event = driver.events.get_mut(handle)?;
    event.time = None;
    event.captured = captured;
    if event.captured.is_some() {
        return Ok(());
    }
    let ticket = driver.enqueue(stream, Work::Record(handle), &[], &Clock::default())?;
    let clock = driver.streams.get(stream)?.clock.clone();
    let event = driver.events.get_mut(handle)?;
    (event.ticket, event.clock) = (Some(ticket), clock);
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn cuEventCreate(event: Out<Handle>, flags: c_uint) -> c_int {
    call(|driver| {
        let context = driver.current()?;
        // Blocking waits, no timing; between processes only without timing.
        if flags & !7 != 0 || flags & 6 == 4 {
            return Err(Status::ERROR_INVALID_VALUE.because(format!("an event has no flags {flags:#x}")));
        }
        let timing = flags & DISABLE_TIMING == 0;
        let clock = Clock::default();
        let new = Event { context, timing, ticket: None, clock, time: None, captured: None };
        event.set_made(|| Ok(driver.events.insert(new)))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuEventDestroy_v2(event: Handle) -> c_int {
    call(|driver| driver.events.remove(event).map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cuEventRecord(event: Handle, stream: Handle) -> c_int {
    call(|driver| {
        let stream = driver.stream(stream)?;
        record(driver, event, stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuEventSynchronize(event: Handle) -> c_int {
    call(|driver| {
        let Event { ticket, context, .. } = *uncaptured(driver, event, "cuEventSynchronize")?;
        driver.run_until(ticket.as_slice());
        driver.after_wait(context)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuEventQuery(event: Handle) -> c_int {
    call(|driver| {
        let Event { ticket, context, .. } = *uncaptured(driver, event, "cuEventQuery")?;
        driver.poll(context, ticket.as_slice())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle) -> c_int {
    call(|driver| {
        let mut times = [None; 2];
        for (time, handle) in times.iter_mut().zip([start, end]) {
            let event = uncaptured(driver, handle, "cuEventElapsedTime")?;
            if !event.timing || event.ticket.is_none() {
                let text = "an event has no time: it was never recorded, or made without timing";
                return Err(Status::ERROR_INVALID_HANDLE.because(text));
            }
            *time = event.time;
        }
        match times {
            [Some(start), Some(end)] => milliseconds.set(match end.checked_duration_since(start) {
                Some(time) => time.as_secs_f32() * 1e3,
                None => start.duration_since(end).as_secs_f32() * -1e3,
            }),
            _ => Err(Status::ERROR_NOT_READY.because("an event has not happened")),
        }
    })
}
