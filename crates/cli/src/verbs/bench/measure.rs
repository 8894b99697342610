//! The measurement of one workload: compilation, first call, steady calls beside a copy or a read, and a call on nearly no
//! data.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ferrofuse::{ArrayView, CompileOptions, Executable, Machine, explain};
use frontend::text::{Distribution, InputSpec, TensorSpec};
use ir::array::StridedArray;
use llvm::CpuTarget;
use serde::Serialize;
use testing::inputs::{draw, facts_of};

use super::bandwidth::Bandwidth;
use super::cases::{Case, resize};
use super::workloads::Peer;
use crate::failure::{Failure, tell};

/// Steady calls that are timed.
const CALLS: usize = 15;

/// Steady calls on inputs that fit in a cache.
const WARM_CALLS: usize = 201;

/// Timed calls on nearly no data; in debug builds only tests measure.
pub const SMALL_CALLS: usize = if cfg!(debug_assertions) { 200 } else { 2000 };

/// The measurements of a workload.
#[derive(Debug, Serialize)]
pub struct Row {
    pub workload: String,
    /// `cpu` or `cuda`.
    pub device: &'static str,
    /// Elements along all axes but the last of the largest input.
    pub rows: i64,
    /// Elements along the last axis of the largest input.
    pub columns: i64,
    /// Median milliseconds of a call.
    pub ms: f64,
    /// Compulsory bytes divided by that time, in 1e9 bytes a second.
    pub gbps: f64,
    /// `gbps` divided by the bandwidth that it is compared with.
    pub fraction: f64,
    /// What that is.
    pub peer: Peer,
    /// Both bandwidths.
    #[serde(flatten)]
    pub beside: Beside,
    /// Launches of a call.
    pub kernels: usize,
    /// Bytes moved over compulsory bytes.
    pub traffic_ratio: f64,
    /// Microseconds that the cost model expects for a call.
    pub model_us: f64,
    /// Milliseconds from the plan to machine code.
    pub compile_ms: f64,
    /// Milliseconds of the first call, compilation included.
    pub first_call_ms: f64,
    /// Median microseconds of a call whose axes all have size 1 or 2.
    pub call_us: f64,
}

/// Bandwidths of the same footprint, in 1e9 bytes a second.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Beside {
    /// Of a copy.
    pub copy_gbps: f64,
    /// Of a read.
    pub read_gbps: f64,
}

impl Beside {
    /// Both, measured one after the other.
    pub fn each<E>(mut gbps: impl FnMut(Peer) -> Result<f64, E>) -> Result<Beside, E> {
        Ok(Beside { copy_gbps: gbps(Peer::Copy)?, read_gbps: gbps(Peer::Read)? })
    }

    fn of(&self, peer: Peer) -> f64 {
        match peer {
            Peer::Copy => self.copy_gbps,
            Peer::Read => self.read_gbps,
        }
    }

    /// The median of each.
    pub fn median(rounds: &[Beside]) -> Beside {
        let median = |gbps: fn(&Beside) -> f64| {
            let mut all: Vec<f64> = rounds.iter().map(gbps).collect();
            all.sort_unstable_by(f64::total_cmp);
            all[all.len() / 2]
        };
        Beside { copy_gbps: median(|beside| beside.copy_gbps), read_gbps: median(|beside| beside.read_gbps) }
    }
}

impl Row {
    /// A case's bytes in a time, beside the bandwidth of its peer; the rest is not measured yet.
    pub fn new(
        case: &Case,
        device: &'static str,
        (rows, columns): (i64, i64),
        bytes: u64,
        time: Duration,
        beside: Beside,
    ) -> Row {
        let (gbps, peer) = (bytes as f64 / time.as_secs_f64() / 1e9, case.workload.peer);
        Row {
            workload: case.workload.id.to_owned(),
            device,
            rows,
            columns,
            ms: milliseconds(time),
            gbps,
            fraction: gbps / beside.of(peer),
            peer,
            beside,
            kernels: 0,
            traffic_ratio: 0.0,
            model_us: 0.0,
            compile_ms: 0.0,
            first_call_ms: 0.0,
            call_us: 0.0,
        }
    }

    /// The bandwidth that it is compared with.
    pub fn peer_gbps(&self) -> f64 {
        self.beside.of(self.peer)
    }

    /// Rows and columns in readable form.
    pub fn size(&self) -> String {
        format!("{}x{}", self.rows, self.columns)
    }
}

/// Measures a case: on inputs that are in no cache, or, if `warm`, on the same ones in each call.
pub fn measure(case: &Case, machine: &Arc<Machine>, target: CpuTarget, warm: bool) -> Result<Row, Failure> {
    let (file, specs) = case.read();
    let (hints, _) = facts_of(&file.definition, &specs);
    let options = CompileOptions {
        machine: Arc::clone(machine),
        hints: hints.clone(),
        target,
        ..CompileOptions::default()
    };
    let plan = ferrofuse::plan(&file.definition, &options).map_err(Failure::machine)?;
    let explanation = explain(&file.definition, &plan, &hints).map_err(Failure::user)?;
    let bytes = explanation.compulsory_bytes;
    let sets = sets_of(&specs, if warm { 1 } else { sets_beyond(bytes, machine.last_level_cache()) })?;
    let executable = Executable::for_inputs(file.definition.clone(), options, &views(&sets[0]));
    let executable = executable.map_err(Failure::of_call)?;
    let first = timed(&executable, &sets[0])?;
    let variant = executable.latest().expect("compiled");
    variant.report.notice.iter().for_each(tell);
    let (time, beside) = steady(&executable, &sets, bytes, machine.threads())?;
    let small = small_call(&executable, &specs)?;
    Ok(Row {
        kernels: variant.report.segments.iter().map(|segment| segment.kernels.len()).sum(),
        traffic_ratio: explanation.traffic_ratio,
        model_us: explanation.cost_us(),
        compile_ms: milliseconds(variant.report.compile),
        first_call_ms: milliseconds(first),
        call_us: small.as_secs_f64() * 1e6,
        ..Row::new(case, "cpu", rows_and_columns(&specs), bytes, time, beside)
    })
}

/// Elements of the largest input along all axes but the last, and along the last.
pub fn rows_and_columns(specs: &[InputSpec]) -> (i64, i64) {
    let sizes = specs.iter().map(sizes_of).max_by_key(|sizes| sizes.iter().product::<i64>());
    let sizes = sizes.unwrap_or_default();
    let columns = sizes.last().copied().unwrap_or(1);
    (sizes.iter().product::<i64>() / columns.max(1), columns)
}

fn sizes_of(spec: &InputSpec) -> Vec<i64> {
    match spec {
        InputSpec::Tensor(spec) => spec.sizes.clone(),
        InputSpec::Scalar(_) => Vec::new(),
    }
}

/// The number of sets of inputs that together exceed the last-level cache four times, at least two.
pub fn sets_beyond(bytes: u64, cache: usize) -> u64 {
    (4 * cache as u64).div_ceil(bytes.max(1)).clamp(2, 64)
}

fn sets_of(specs: &[InputSpec], count: u64) -> Result<Vec<Vec<StridedArray>>, Failure> {
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
    let outputs = executable.run(&views).map_err(Failure::of_call)?;
    let time = start.elapsed();
    drop(outputs);
    Ok(time)
}

/// Median time of a call, and the bandwidths beside it, timed [`CALLS`] times alternately. The outputs of as many calls
/// as there are sets are kept, so that outputs rotate too.
fn steady(
    executable: &Executable,
    sets: &[Vec<StridedArray>],
    bytes: u64,
    threads: usize,
) -> Result<(Duration, Beside), Failure> {
    let mut bandwidth = Bandwidth::new(bytes as usize, sets.len(), threads);
    let calls = if sets.len() == 1 { WARM_CALLS } else { CALLS };
    let mut held = VecDeque::new();
    let (mut times, mut peers) = (Vec::new(), Vec::new());
    for call in 0..sets.len() + calls {
        let views = views(&sets[call % sets.len()]);
        if held.len() == sets.len() {
            held.pop_front();
        }
        if sets.len() == 1 {
            // What is measured beside may have evicted the inputs from the caches.
            drop(executable.run(&views).map_err(Failure::of_call)?);
        }
        let start = Instant::now();
        let outputs = executable.run(&views).map_err(Failure::of_call)?;
        let time = start.elapsed();
        held.push_back(outputs);
        // A copy repeats a cached window very often: it is not timed after each of many short calls.
        let beside = (call % (calls / CALLS) == 0).then(|| beside(&mut bandwidth, call));
        if call >= sets.len() {
            times.push(time);
            peers.extend(beside);
        }
    }
    Ok((median(times), Beside::median(&peers)))
}

/// The bandwidths in one round.
fn beside(bandwidth: &mut Bandwidth, round: usize) -> Beside {
    let gbps = |moved: usize, taken: Duration| moved as f64 / taken.as_secs_f64() / 1e9;
    Beside {
        copy_gbps: gbps(bandwidth.copied_bytes(), bandwidth.copy(round)),
        read_gbps: gbps(bandwidth.read_bytes(), bandwidth.read(round)),
    }
}

/// Integers may be indices along an axis that is small now: all become zero.
fn first_places(spec: InputSpec) -> InputSpec {
    match spec {
        InputSpec::Tensor(spec) if spec.dtype.is_int() => {
            InputSpec::Tensor(TensorSpec { distribution: Distribution::Constant(0.0), ..spec })
        }
        spec => spec,
    }
}

/// The inputs with axes of size 1 or 2.
pub fn small_specs(executable: &Executable, specs: &[InputSpec]) -> Vec<InputSpec> {
    let definition = executable.definition();
    let inputs = definition.fusion.inputs();
    let shrunk = specs.iter().zip(inputs).map(|(spec, &val)| {
        let shape = definition.graph.shape(val);
        first_places(resize(spec, &|axis, old| {
            if shape[axis].as_const().is_some() { old } else { old.min(2) }
        }))
    });
    shrunk.collect()
}

/// Median time of a call on axes of size 1 or 2: the cost of a call besides its kernels.
fn small_call(executable: &Executable, specs: &[InputSpec]) -> Result<Duration, Failure> {
    let specs = small_specs(executable, specs);
    let set = specs.iter().enumerate().map(|(place, spec)| draw(spec, 0, place));
    let set = set.collect::<Result<Vec<_>, _>>().map_err(Failure::machine)?;
    let views = views(&set);
    let mut times = Vec::with_capacity(SMALL_CALLS);
    for _ in 0..SMALL_CALLS {
        let start = Instant::now();
        let outputs = executable.run(&views).map_err(Failure::of_call)?;
        times.push(start.elapsed());
        drop(outputs);
    }
    Ok(median(times))
}

/// The median of times.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// A time in milliseconds.
pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
