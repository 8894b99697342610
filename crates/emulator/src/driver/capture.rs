//! Capture: work of a stream becomes nodes of a graph instead of running. Streams join a capture by waiting for an event of
//! it, and must be joined back.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::{c_int, c_uint};
use std::sync::Arc;
use std::thread::ThreadId;

use super::ffi::{Address, Handle, Out};
use super::graph::{Body, Graph, Node};
use super::result::{DriverResult, Status};
use super::state::{Driver, call};
use super::work::Work;

/// `CU_STREAM_CAPTURE_MODE_RELAXED`; 0 is global, 1 is of the thread alone.
const RELAXED: c_uint = 2;

thread_local! {
    /// The thread's capture mode: what captures forbid it to do.
    static MODE: Cell<c_uint> = const { Cell::new(0) };
}

/// A graph under construction.
#[derive(Debug)]
pub struct Capture {
    pub context: Handle,
    /// The stream in which it began.
    origin: Handle,
    mode: c_uint,
    thread: ThreadId,
    nodes: Vec<Node>,
    /// Memory that its nodes allocate.
    memory: Vec<Address>,
    invalid: bool,
}

/// The state of a stream that captures.
#[derive(Clone, Debug)]
pub struct Capturing {
    pub capture: Handle,
    /// The nodes that its next node depends on.
    pub last: Vec<usize>,
}

impl Driver {
    /// Adds work to the capture of a stream.
    pub fn capture(&mut self, stream: Handle, work: Work) -> DriverResult {
        let Some(capturing) = self.streams.get(stream)?.capturing.clone() else { return Ok(()) };
        let capture = self.valid(capturing.capture)?;
        let node = capture.nodes.len();
        capture.nodes.push(Node { work, after: capturing.last });
        let capture = capturing.capture;
        self.streams.get_mut(stream)?.capturing = Some(Capturing { capture, last: vec![node] });
        Ok(())
    }

    fn valid(&mut self, capture: Handle) -> DriverResult<&mut Capture> {
        let capture = self.captures.get_mut(capture)?;
        if capture.invalid {
            let text = "a call before this one has made the capture invalid";
            return Err(Status::ERROR_STREAM_CAPTURE_INVALIDATED.because(text));
        }
        Ok(capture)
    }

    /// Memory that a node of the stream's capture allocates.
    pub fn own_memory(&mut self, stream: Handle, start: Address) -> DriverResult {
        if let Some(capturing) = &self.streams.get(stream)?.capturing {
            self.captures.get_mut(capturing.capture)?.memory.push(start);
        }
        Ok(())
    }

    /// The capture and nodes that an event recorded now in `stream` stands for, if the stream captures.
    pub fn captured_place(&mut self, stream: Handle) -> DriverResult<Option<(Handle, Vec<usize>)>> {
        let capturing = self.streams.get(stream)?.capturing.clone();
        if let Some(capturing) = &capturing {
            self.valid(capturing.capture)?;
        }
        Ok(capturing.map(|capturing| (capturing.capture, capturing.last)))
    }

    /// Makes a stream wait for an event if either captures; returns whether it did.
    pub fn wait_in_capture(&mut self, stream: Handle, event: Handle) -> DriverResult<bool> {
        let captured = self.events.get(event)?.captured.clone();
        let captured = captured.filter(|(capture, _)| self.captures.get(*capture).is_ok());
        let own = self.streams.get(stream)?.capturing.clone();
        let (capture, mut last) = match (captured, &own) {
            (None, None) => return Ok(false),
            (None, Some(own)) => {
                self.invalidate(own.capture);
                let text = "a stream that captures waits for an event of work that is not captured";
                return Err(Status::ERROR_STREAM_CAPTURE_ISOLATION.because(text));
            }
            (Some(captured), _) => captured,
        };
        self.valid(capture)?;
        if let Some(own) = own {
            if own.capture != capture {
                self.invalidate(capture);
                self.invalidate(own.capture);
                return Err(Status::ERROR_STREAM_CAPTURE_MERGE.because("two captures would become one"));
            }
            last.extend(own.last.iter().filter(|node| !last.contains(node)).copied().collect::<Vec<_>>());
        }
        self.streams.get_mut(stream)?.capturing = Some(Capturing { capture, last });
        Ok(true)
    }

    /// Makes a capture end with an error.
    pub fn invalidate(&mut self, capture: Handle) {
        if let Ok(capture) = self.captures.get_mut(capture) {
            capture.invalid = true;
        }
    }

    /// Rejects a call that waits or allocates while a capture forbids it.
    pub fn reject_while_capturing(&mut self, context: Handle, what: &str) -> DriverResult {
        if MODE.get() == RELAXED {
            return Ok(());
        }
        let thread = std::thread::current().id();
        let forbids = |capture: &Capture| {
            let is_own = capture.thread == thread && capture.mode < RELAXED;
            capture.context == context && (is_own || capture.mode == 0 && MODE.get() == 0)
        };
        let found = self.captures.iter().find(|(_, capture)| forbids(capture)).map(|(handle, _)| handle);
        match found {
            Some(capture) => self.reject_capture(capture, what),
            None => Ok(()),
        }
    }

    /// Rejects a call that a stream cannot answer while it captures.
    pub fn reject_captured(&mut self, stream: Handle, what: &str) -> DriverResult {
        match &self.streams.get(stream)?.capturing {
            Some(capturing) => self.reject_capture(capturing.capture, what),
            None => Ok(()),
        }
    }

    fn reject_capture(&mut self, capture: Handle, what: &str) -> DriverResult {
        self.invalidate(capture);
        let text = format!("{what} while a stream captures");
        Err(Status::ERROR_STREAM_CAPTURE_UNSUPPORTED.because(text))
    }

    /// Rejects the default stream while a stream that is ordered with it captures.
    pub fn reject_implicit(&mut self, context: Handle) -> DriverResult {
        let captures = self.streams.iter().filter(|(_, stream)| stream.context == context && stream.blocking);
        let found = captures.filter_map(|(_, stream)| stream.capturing.as_ref()).next();
        let Some(capture) = found.map(|capturing| capturing.capture) else { return Ok(()) };
        self.invalidate(capture);
        let text = "the default stream is used while a stream that is ordered with it captures";
        Err(Status::ERROR_STREAM_CAPTURE_IMPLICIT.because(text))
    }

    fn begin(&mut self, stream: Handle, mode: c_uint) -> DriverResult {
        let own = self.streams.get(stream)?;
        let (context, capturing) = (own.context, own.capturing.is_some());
        if stream == self.contexts.get(context)?.legacy {
            let text = "the default stream cannot capture";
            return Err(Status::ERROR_STREAM_CAPTURE_UNSUPPORTED.because(text));
        }
        if capturing || mode > RELAXED {
            let text = format!("the stream captures already, or {mode} is no mode of capture");
            return Err(Status::ERROR_ILLEGAL_STATE.because(text));
        }
        let thread = std::thread::current().id();
        let (nodes, memory) = (Vec::new(), Vec::new());
        let capture = Capture { context, origin: stream, mode, thread, nodes, memory, invalid: false };
        let capture = self.captures.insert(capture);
        self.streams.get_mut(stream)?.capturing = Some(Capturing { capture, last: Vec::new() });
        Ok(())
    }

    /// Destroying a stream invalidates its capture, and ends the capture if it began in that stream.
    pub fn abandon_capture(&mut self, stream: Handle) -> DriverResult {
        let Some(Capturing { capture, .. }) = self.streams.get(stream)?.capturing else { return Ok(()) };
        self.invalidate(capture);
        if self.captures.get(capture)?.origin == stream {
            let (ended, _) = self.take_capture(capture, &BTreeSet::new())?;
            self.drop_body(Arc::new(Body { nodes: ended.nodes, memory: ended.memory }));
        }
        Ok(())
    }

    /// Removes a capture from all of its streams; also returns whether all their last nodes are in `before`.
    fn take_capture(&mut self, handle: Handle, before: &BTreeSet<usize>) -> DriverResult<(Capture, bool)> {
        let mut joined = true;
        for stream in self.streams.values_mut() {
            if let Some(ended) = stream.capturing.take_if(|capturing| capturing.capture == handle) {
                joined &= ended.last.iter().all(|node| before.contains(node));
            }
        }
        Ok((self.captures.remove(handle)?, joined))
    }

    /// Ends the capture of a stream, with all streams that joined it.
    fn end(&mut self, stream: Handle) -> DriverResult<Handle> {
        let Some(Capturing { capture: handle, last }) = self.streams.get(stream)?.capturing.clone() else {
            return Err(Status::ERROR_ILLEGAL_STATE.because("the stream does not capture"));
        };
        let capture = self.captures.get(handle)?;
        if capture.origin != stream {
            return Err(Status::ERROR_STREAM_CAPTURE_UNMATCHED.because("the capture began in another stream"));
        }
        if capture.mode != RELAXED && capture.thread != std::thread::current().id() {
            let text = "the capture began in another thread";
            return Err(Status::ERROR_STREAM_CAPTURE_WRONG_THREAD.because(text));
        }
        let before = ancestors(&capture.nodes, &last);
        let (ended, joined) = self.take_capture(handle, &before)?;
        let Capture { context, nodes, memory, invalid, .. } = ended;
        let body = Arc::new(Body { nodes, memory });
        let failure = if invalid {
            Status::ERROR_STREAM_CAPTURE_INVALIDATED.because("a call has made the capture invalid")
        } else if !joined {
            Status::ERROR_STREAM_CAPTURE_UNJOINED
                .because("a stream that joined the capture was not joined back")
        } else {
            return Ok(self.graphs.insert(Graph { context, body }));
        };
        self.drop_body(body);
        Err(failure)
    }
}

/// These nodes and all that they depend on.
fn ancestors(nodes: &[Node], last: &[usize]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = last.to_vec();
    while let Some(node) = open.pop() {
        if found.insert(node) {
            open.extend(&nodes[node].after);
        }
    }
    found
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamBeginCapture_v2(stream: Handle, mode: c_uint) -> c_int {
    call(|driver| {
        let stream = driver.stream(stream)?;
        driver.begin(stream, mode)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuThreadExchangeStreamCaptureMode(mode: *mut c_uint) -> c_int {
    call(|_| {
        // SAFETY: the caller passes null or a place with a mode, which is replaced by the previous one.
        let Some(mode) = (unsafe { mode.as_mut() }).filter(|mode| **mode <= RELAXED) else {
            return Err(Status::ERROR_INVALID_VALUE.because("there is no such mode of capture"));
        };
        *mode = MODE.replace(*mode);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamEndCapture(stream: Handle, graph: Out<Handle>) -> c_int {
    call(|driver| {
        graph.set(Handle::default())?;
        let stream = driver.stream(stream)?;
        graph.set(driver.end(stream)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamIsCapturing(stream: Handle, status: Out<c_uint>) -> c_int {
    call(|driver| {
        let stream = driver.stream(stream)?;
        let capture = driver.streams.get(stream)?.capturing.as_ref().map(|capturing| capturing.capture);
        let invalid = capture.map(|capture| driver.captures.get(capture)).transpose()?.map(|c| c.invalid);
        status.set(invalid.map_or(0, |invalid| 1 + c_uint::from(invalid)))
    })
}
