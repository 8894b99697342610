//! Streams: created, waited for, queried. `order` enqueues work on them.

use std::collections::VecDeque;
use std::ffi::{c_int, c_uint};

use super::capture::Capturing;
use super::ffi::{Handle, Out};
use super::queue::{Clock, Ticket};
use super::result::{DriverResult, Status};
use super::state::{Driver, call};
use super::work::Work;

/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: c_uint = 1;
/// `CU_STREAM_LEGACY`; null is the same stream.
const LEGACY: usize = 1;
/// `CU_STREAM_PER_THREAD`.
const PER_THREAD: usize = 2;

/// A stream.
#[derive(Debug)]
pub struct Stream {
    pub context: Handle,
    /// Whether it is ordered with the default stream.
    pub blocking: bool,
    /// Its work that may not have run, oldest first.
    pub given: VecDeque<Ticket>,
    /// What its next work is ordered after.
    pub clock: Clock,
    /// The graph that it captures into instead of running.
    pub capturing: Option<Capturing>,
}

impl Stream {
    /// A stream without work.
    pub fn new(context: Handle, blocking: bool) -> Stream {
        Stream { context, blocking, given: VecDeque::new(), clock: Clock::default(), capturing: None }
    }

    /// Its latest work.
    pub fn last(&self) -> Option<Ticket> {
        self.given.back().copied()
    }
}

impl Driver {
    /// The stream that a caller means; its context must have no error.
    pub fn stream(&mut self, stream: Handle) -> DriverResult<Handle> {
        match stream.0 {
            0 | LEGACY => {
                let context = self.current()?;
                let legacy = self.contexts.get(context)?.legacy;
                self.reject_implicit(context)?;
                Ok(legacy)
            }
            PER_THREAD => self.own_stream(),
            _ => {
                let context = self.streams.get(stream)?.context;
                self.healthy(context).map(|_| stream)
            }
        }
    }

    /// The default stream of this thread.
    fn own_stream(&mut self) -> DriverResult<Handle> {
        let context = self.current()?;
        let thread = std::thread::current().id();
        if let Some(&stream) = self.contexts.get(context)?.per_thread.get(&thread) {
            return Ok(stream);
        }
        let stream = self.streams.insert(Stream::new(context, true));
        self.contexts.get_mut(context)?.per_thread.insert(thread, stream);
        Ok(stream)
    }

    /// Runs all work of a stream.
    pub fn run_stream(&mut self, stream: Handle) -> DriverResult {
        let Stream { context, .. } = *self.streams.get(stream)?;
        let last = self.streams.get(stream)?.last();
        self.run_until(last.as_slice());
        self.after_wait(context)
    }

    /// Whether these have run. Each query runs one more piece of work, so that polling makes progress.
    pub fn poll(&mut self, context: Handle, tickets: &[Ticket]) -> DriverResult {
        let Some(&next) = self.queue.needed(tickets).first() else { return self.after_wait(context) };
        self.run_until(&[next]);
        self.healthy(context)?;
        Err(Status::ERROR_NOT_READY.because("there is work that has not run"))
    }
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamCreate(stream: Out<Handle>, flags: c_uint) -> c_int {
    call(|driver| {
        let context = driver.current()?;
        if flags & !NON_BLOCKING != 0 {
            return Err(Status::ERROR_INVALID_VALUE.because(format!("a stream has no flags {flags:#x}")));
        }
        let blocking = flags & NON_BLOCKING == 0;
        stream.set_made(|| Ok(driver.streams.insert(Stream::new(context, blocking))))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamDestroy_v2(stream: Handle) -> c_int {
    call(|driver| {
        if stream.0 <= PER_THREAD {
            return Err(Status::ERROR_INVALID_HANDLE.because("a default stream is not destroyed"));
        }
        driver.abandon_capture(stream)?;
        // Its work still runs.
        driver.streams.remove(stream).map(|_| ())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamSynchronize(stream: Handle) -> c_int {
    call(|driver| {
        let stream = driver.stream(stream)?;
        driver.reject_captured(stream, "cuStreamSynchronize")?;
        driver.run_stream(stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamQuery(stream: Handle) -> c_int {
    call(|driver| {
        let stream = driver.stream(stream)?;
        driver.reject_captured(stream, "cuStreamQuery")?;
        let Stream { context, .. } = *driver.streams.get(stream)?;
        let last = driver.streams.get(stream)?.last();
        driver.poll(context, last.as_slice())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamGetCtx(stream: Handle, context: Out<Handle>) -> c_int {
    call(|driver| {
        let stream = driver.stream(stream)?;
        context.set(driver.streams.get(stream)?.context)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) -> c_int {
    call(|driver| {
        let stream = driver.stream(stream)?;
        if flags != 0 {
            let text = format!("the stand-in knows no flags {flags:#x} of waiting for an event");
            return Err(Status::ERROR_NOT_SUPPORTED.because(text));
        }
        if driver.wait_in_capture(stream, event)? {
            return Ok(());
        }
        let event = driver.events.get(event)?;
        let (ticket, clock) = (event.ticket, event.clock.clone());
        if let Some(ticket) = ticket {
            driver.enqueue(stream, Work::Nothing, &[ticket], &clock)?;
        }
        Ok(())
    })
}
