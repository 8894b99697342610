//! One workload measured: compile, first call, steady calls beside a copy or a read, and a call on next to no data.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ferrofuse::{ArrayView, CompileOptions, Executable, File, Machine, compile, explain, read};
use ir::array::StridedArray;
use ir::text::{Distribution, InputSpec, TensorSpec};
use serde::Serialize;
use testing::inputs::{draw, facts_of};

use super::bandwidth::Bandwidth;
use super::workloads::{Peer, Workload};
use crate::failure::Failure;

/// Steady calls that are timed.
const CALLS: usize = 15;

/// Calls on next to no data that are timed.
const SMALL_CALLS: usize = 2000;

/// What was measured of a workload.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub workload: String,
    /// `cpu`.
    pub device: &'static str,
    /// Elements along all axes but the last of the largest input.
    pub rows: i64,
    /// Elements along the last axis of the largest input.
    pub columns: i64,
    /// Median milliseconds of a call.
    pub ms: f64,
    /// Compulsory bytes over that time, in 1e9 bytes a second.
    pub gbps: f64,
    /// `gbps` over the bandwidth it is compared with.
    pub fraction: f64,
    /// Bandwidth of a copy of the same footprint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy_gbps: Option<f64>,
    /// Bandwidth of a read of the same footprint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_gbps: Option<f64>,
    /// Launches of a call.
    pub kernels: usize,
    /// Bytes moved over compulsory bytes.
    pub traffic_ratio: f64,
    /// Milliseconds from the plan to machine code.
    pub compile_ms: f64,
    /// Milliseconds of the first call, compilation included.
    pub first_call_ms: f64,
    /// Median microseconds of a call whose axes all have size 1 or 2.
    pub call_us: f64,
}

/// Measures a workload.
pub fn measure(workload: &Workload, machine: &Arc<Machine>) -> Result<Row, Failure> {
    let file = read(workload.source).expect("the workloads are definition files; a test reads them all");
    let specs = sized(&file, workload);
    let (hints, _) = facts_of(&file.definition, &specs);
    let options =
        CompileOptions { machine: Arc::clone(machine), hints: hints.clone(), ..CompileOptions::default() };
    let plan = ferrofuse::plan(&file.definition, &options).map_err(Failure::machine)?;
    let explanation = explain(&file.definition, &plan, &hints);
    let bytes = explanation.compulsory_bytes;
    let executable = compile(file.definition.clone(), options).map_err(Failure::machine)?;

    let sets = sets_of(&specs, bytes, machine.last_level_cache())?;
    let first = timed(&executable, &sets[0])?;
    let report = executable.latest();
    let (time, peer) = steady(&executable, &sets, bytes, workload.peer, machine.threads())?;
    let small = small_call(&executable, &specs)?;
    let gbps = bytes as f64 / time.as_secs_f64() / 1e9;
    let sizes =
        specs.iter().map(sizes_of).max_by_key(|sizes| sizes.iter().product::<i64>()).unwrap_or_default();
    let columns = sizes.last().copied().unwrap_or(1);
    Ok(Row {
        workload: workload.id.to_owned(),
        device: "cpu",
        rows: sizes.iter().product::<i64>() / columns.max(1),
        columns,
        ms: milliseconds(time),
        gbps,
        fraction: gbps / peer,
        copy_gbps: (workload.peer == Peer::Copy).then_some(peer),
        read_gbps: (workload.peer == Peer::Read).then_some(peer),
        kernels: report.report.segments.iter().map(|segment| segment.kernels.len()).sum(),
        traffic_ratio: explanation.traffic_ratio,
        compile_ms: milliseconds(report.report.compile),
        first_call_ms: milliseconds(first),
        call_us: small.as_secs_f64() * 1e6,
    })
}

/// The specs of the file's inputs with the workload's sizes in place of the file's.
fn sized(file: &File, workload: &Workload) -> Vec<InputSpec> {
    let specs = file.inputs.clone().expect("the workloads list their inputs");
    let wanted =
        |symbol: &str| workload.sizes.iter().find(|(name, _)| *name == symbol).map(|(_, size)| *size);
    let inputs = file.definition.fusion.inputs();
    let resized = |(spec, &val): (&InputSpec, &ir::graph::Val)| {
        let facts = file.definition.fusion.facts();
        let shape = file.definition.graph.shape(val);
        let size = |axis: usize, old: i64| {
            let expr = facts.normalize(&shape[axis]);
            expr.as_sym().and_then(|symbol| wanted(&symbol.to_string())).unwrap_or(old)
        };
        resize(spec, &size)
    };
    specs.iter().zip(inputs).map(resized).collect()
}

/// A spec with other sizes: expanded axes stay expanded, all others lie dense.
fn resize(spec: &InputSpec, size: &dyn Fn(usize, i64) -> i64) -> InputSpec {
    let InputSpec::Tensor(spec) = spec else { return spec.clone() };
    let mut spec = spec.clone();
    let mut stride = 1;
    for axis in (0..spec.sizes.len()).rev() {
        spec.sizes[axis] = size(axis, spec.sizes[axis]);
        if spec.strides[axis] != 0 {
            spec.strides[axis] = stride;
            stride *= spec.sizes[axis];
        }
    }
    spec.storage = stride;
    InputSpec::Tensor(spec)
}

fn sizes_of(spec: &InputSpec) -> Vec<i64> {
    match spec {
        InputSpec::Tensor(spec) => spec.sizes.clone(),
        InputSpec::Scalar(_) => Vec::new(),
    }
}

/// Sets of inputs that together exceed the last-level cache four times, two at least.
fn sets_of(specs: &[InputSpec], bytes: u64, cache: usize) -> Result<Vec<Vec<StridedArray>>, Failure> {
    let count = (4 * cache as u64).div_ceil(bytes.max(1)).clamp(2, 64);
    let set = |seed: u64| {
        let arrays = specs.iter().enumerate().map(|(place, spec)| draw(spec, seed, place));
        arrays.collect::<Result<Vec<_>, _>>().map_err(Failure::machine)
    };
    (0..count).map(set).collect()
}

fn views(set: &[StridedArray]) -> Vec<ArrayView<'_>> {
    set.iter().map(StridedArray::view).collect()
}

fn timed(executable: &Executable, set: &[StridedArray]) -> Result<Duration, Failure> {
    let views = views(set);
    let start = Instant::now();
    let outputs = executable.run(&views).map_err(Failure::machine)?;
    let time = start.elapsed();
    drop(outputs);
    Ok(time)
}

/// Median time of a call, and the bandwidth of the peer, timed in turn. The outputs of as many calls as there are sets
/// are held, so that outputs rotate too.
fn steady(
    executable: &Executable,
    sets: &[Vec<StridedArray>],
    bytes: u64,
    peer: Peer,
    threads: usize,
) -> Result<(Duration, f64), Failure> {
    let mut bandwidth = Bandwidth::new(bytes as usize, sets.len(), threads);
    let mut held = VecDeque::new();
    let (mut times, mut peers) = (Vec::new(), Vec::new());
    for call in 0..sets.len() + CALLS {
        let views = views(&sets[call % sets.len()]);
        if held.len() == sets.len() {
            held.pop_front();
        }
        let start = Instant::now();
        let outputs = executable.run(&views).map_err(Failure::machine)?;
        let time = start.elapsed();
        held.push_back(outputs);
        let (moved, taken) = match peer {
            Peer::Copy => (bandwidth.copied_bytes(), bandwidth.copy(call)),
            Peer::Read => (bandwidth.read_bytes(), bandwidth.read(call)),
        };
        if call >= sets.len() {
            times.push(time);
            peers.push(moved as f64 / taken.as_secs_f64() / 1e9);
        }
    }
    times.sort_unstable();
    peers.sort_unstable_by(f64::total_cmp);
    Ok((times[times.len() / 2], peers[peers.len() / 2]))
}

/// Integers may be places on an axis that is small now: all the first.
fn first_places(spec: InputSpec) -> InputSpec {
    match spec {
        InputSpec::Tensor(spec) if spec.dtype.is_int() => {
            InputSpec::Tensor(TensorSpec { distribution: Distribution::Constant(0.0), ..spec })
        }
        spec => spec,
    }
}

/// Median time of a call on axes of size 1 or 2: what a call costs beyond its kernels.
fn small_call(executable: &Executable, specs: &[InputSpec]) -> Result<Duration, Failure> {
    let definition = executable.definition();
    let inputs = definition.fusion.inputs();
    let shrunk = specs.iter().zip(inputs).map(|(spec, &val)| {
        let shape = definition.graph.shape(val);
        first_places(resize(spec, &|axis, old| {
            if shape[axis].as_const().is_some() { old } else { old.min(2) }
        }))
    });
    let specs: Vec<InputSpec> = shrunk.collect();
    let set = specs.iter().enumerate().map(|(place, spec)| draw(spec, 0, place));
    let set = set.collect::<Result<Vec<_>, _>>().map_err(Failure::machine)?;
    let views = views(&set);
    let mut times = Vec::with_capacity(SMALL_CALLS);
    for _ in 0..SMALL_CALLS {
        let start = Instant::now();
        let outputs = executable.run(&views).map_err(Failure::machine)?;
        times.push(start.elapsed());
        drop(outputs);
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::super::workloads::WORKLOADS;
    use super::*;

    #[test]
    fn every_workload_reads_and_has_its_sizes() {
        for workload in WORKLOADS {
            let file =
                read(workload.source).unwrap_or_else(|error| panic!("{}: {}", workload.id, error.message));
            let specs = sized(&file, workload);
            for (name, size) in workload.sizes {
                assert!(specs.iter().any(|spec| sizes_of(spec).contains(size)), "{}: {name}", workload.id);
            }
        }
    }
}
