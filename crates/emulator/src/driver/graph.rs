//! Graphs: what captures made, instantiated and launched.

use std::ffi::{c_int, c_ulonglong};
use std::sync::Arc;

use super::ffi::{Address, Handle, Out};
use super::queue::Clock;
use super::result::{DriverResult, Status};
use super::state::{Driver, call};
use super::work::Work;

/// `CUDA_GRAPH_INSTANTIATE_FLAG_…`: free on launch, upload, node priorities. Device launches are not supported.
const FLAGS: c_ulonglong = 1 | 2 | 8;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`.
const FREE_ON_LAUNCH: c_ulonglong = 1;

/// Work with the nodes before it.
#[derive(Debug)]
pub struct Node {
    pub work: Work,
    pub after: Vec<usize>,
}

/// The nodes of a graph, operands first, and the memory that they allocate.
#[derive(Debug)]
pub struct Body {
    pub nodes: Vec<Node>,
    pub memory: Vec<Address>,
}

/// A graph.
#[derive(Debug)]
pub struct Graph {
    pub context: Handle,
    pub body: Arc<Body>,
}

/// A graph that can be launched.
#[derive(Debug)]
pub struct Executable {
    pub context: Handle,
    body: Arc<Body>,
    frees_on_launch: bool,
}

impl Body {
    /// The nodes in an order that their edges allow. Of the ready nodes it takes the youngest first, so that a missing edge
    /// shows.
    pub fn late_order(&self) -> Vec<usize> {
        let mut left: Vec<usize> = (0..self.nodes.len()).collect();
        let mut order: Vec<usize> = Vec::new();
        while !left.is_empty() {
            let ready = |&node: &usize| self.nodes[node].after.iter().all(|before| !left.contains(before));
            let place = left.iter().rposition(ready).expect("a node is behind older ones only");
            order.push(left.remove(place));
        }
        order
    }
}

impl Driver {
    /// Removes a graph's memory once nothing else holds its nodes.
    pub fn drop_body(&mut self, body: Arc<Body>) {
        let Some(body) = Arc::into_inner(body) else { return };
        for start in body.memory {
            if let Some(allocation) = self.allocations.remove(start) {
                self.devices[allocation.device].bytes -= allocation.bytes as u64;
            }
        }
    }

    fn launch_graph(&mut self, executable: Handle, stream: Handle) -> DriverResult {
        let Executable { context, body, frees_on_launch } = self.executables.get(executable)?;
        self.healthy(*context)?;
        let (body, frees) = (Arc::clone(body), *frees_on_launch);
        if self.streams.get(stream)?.capturing.is_some() {
            let text = "the stand-in captures no launch of a graph";
            return Err(Status::ERROR_NOT_SUPPORTED.because(text));
        }
        let launches = body.nodes.iter().filter(|node| matches!(node.work, Work::Launch(_))).count();
        self.launches += launches as u64;
        if frees {
            self.free_memory_of(&body, stream)?;
        }
        self.enqueue(stream, Work::Graph(body), &[], &Clock::default()).map(|_| ())
    }

    /// Frees what an earlier launch allocated and nobody freed.
    fn free_memory_of(&mut self, body: &Body, stream: Handle) -> DriverResult {
        for &start in &body.memory {
            self.enqueue(stream, Work::Free(start), &[], &Clock::default())?;
        }
        Ok(())
    }
}

#[unsafe(no_mangle)]
extern "C" fn cuGraphInstantiateWithFlags(
    executable: Out<Handle>,
    graph: Handle,
    flags: c_ulonglong,
) -> c_int {
    call(|driver| {
        let Graph { context, body } = driver.graphs.get(graph)?;
        if flags & !FLAGS != 0 {
            let text = format!("the stand-in knows no flags {flags:#x} of a graph");
            return Err(Status::ERROR_INVALID_VALUE.because(text));
        }
        let (context, body) = (*context, Arc::clone(body));
        let frees_on_launch = flags & FREE_ON_LAUNCH != 0;
        executable.set_made(|| Ok(driver.executables.insert(Executable { context, body, frees_on_launch })))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuGraphLaunch(executable: Handle, stream: Handle) -> c_int {
    call(|driver| {
        let stream = driver.stream(stream)?;
        driver.launch_graph(executable, stream)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuGraphExecDestroy(executable: Handle) -> c_int {
    call(|driver| {
        let Executable { body, .. } = driver.executables.remove(executable)?;
        driver.drop_body(body);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuGraphDestroy(graph: Handle) -> c_int {
    call(|driver| {
        let Graph { body, .. } = driver.graphs.remove(graph)?;
        driver.drop_body(body);
        Ok(())
    })
}
