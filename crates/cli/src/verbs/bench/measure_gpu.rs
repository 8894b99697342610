//! The measurement of one workload on a GPU, by its clock: steady calls beside a copy or a read, and the host's time for a
//! call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cuda::{Event, Stream};
use ferrofuse::{CallOptions, CompileOptions, CudaDevice, Executable, GpuInput, GpuTensor, explain};
use frontend::text::InputSpec;
use ir::array::StridedArray;
use testing::inputs::{draw, facts_of};

use super::cases::Case;
use super::gpu_bandwidth::GpuBandwidth;
use super::measure::{
    Beside, Row, SMALL_CALLS, median, milliseconds, rows_and_columns, sets_beyond, small_specs,
};
use crate::failure::Failure;

/// Timed rounds, each with a call on every set of inputs.
const ROUNDS: usize = 15;

/// The number of calls on nearly no data after which the host waits for the GPU.
const SMALL_WAIT: usize = 100;

/// An input in the GPU's memory, or a number.
enum Input {
    Tensor(GpuTensor),
    Number(StridedArray),
}

impl Input {
    fn given(&mut self) -> GpuInput<'_> {
        match self {
            Input::Tensor(tensor) => GpuInput::Tensor(tensor.argument()),
            Input::Number(number) => GpuInput::Host(number.view()),
        }
    }
}

/// An executable with its stream.
struct OnGpu {
    executable: Executable,
    stream: Arc<Stream>,
}

impl OnGpu {
    fn set(&self, specs: &[InputSpec], seed: u64) -> Result<Vec<Input>, Failure> {
        let input = |(place, spec): (usize, &InputSpec)| {
            let array = draw(spec, seed, place).map_err(Failure::machine)?;
            match spec {
                InputSpec::Scalar(_) => Ok(Input::Number(array)),
                InputSpec::Tensor(_) => GpuTensor::of_host(&self.stream, &array.view())
                    .map(Input::Tensor)
                    .map_err(Failure::machine),
            }
        };
        specs.iter().enumerate().map(input).collect()
    }

    /// Enqueues a call on the stream. The memory of its outputs is freed in the stream's order.
    fn call(&self, set: &mut [Input]) -> Result<(), Failure> {
        let inputs: Vec<GpuInput<'_>> = set.iter_mut().map(Input::given).collect();
        let options = CallOptions::default();
        self.executable.run_on_gpu(&options, &self.stream, &inputs).map_err(Failure::of_call).map(drop)
    }

    fn wait(&self) -> Result<(), Failure> {
        self.stream.synchronize().map_err(Failure::machine)
    }

    /// Median time of a call, and the bandwidths beside it, timed alternately.
    fn steady(
        &self,
        sets: &mut [Vec<Input>],
        bandwidth: &GpuBandwidth,
    ) -> Result<(Duration, Beside), Failure> {
        let (mut times, mut peers) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let begin = Event::record_timed(&self.stream).map_err(Failure::machine)?;
            sets.iter_mut().try_for_each(|set| self.call(set))?;
            let end = Event::record_timed(&self.stream).map_err(Failure::machine)?;
            times.push(end.since(&begin).map_err(Failure::machine)? / sets.len() as u32);
            peers.push(Beside::each(|peer| {
                let taken = bandwidth.round(peer).map_err(Failure::machine)?;
                Ok::<f64, Failure>(bandwidth.bytes() as f64 / taken.as_secs_f64() / 1e9)
            })?);
        }
        Ok((median(times), Beside::median(&peers)))
    }

    /// Median time that the host spends in a call on axes of size 1 or 2.
    fn small_call(&self, specs: &[InputSpec]) -> Result<Duration, Failure> {
        let mut set = self.set(&small_specs(&self.executable, specs), 0)?;
        let mut times = Vec::with_capacity(SMALL_CALLS);
        for call in 0..SMALL_CALLS {
            let start = Instant::now();
            self.call(&mut set)?;
            times.push(start.elapsed());
            if call % SMALL_WAIT == 0 {
                self.wait()?;
            }
        }
        self.wait()?;
        Ok(median(times))
    }
}

/// Measures a case on inputs that are in no cache, or, if `warm`, on the same ones in each call.
pub fn measure_on_gpu(
    case: &Case,
    device: &Arc<CudaDevice>,
    options: &CompileOptions,
    warm: bool,
) -> Result<Row, Failure> {
    let (file, specs) = case.read();
    let (hints, _) = facts_of(&file.definition, &specs);
    let options = CompileOptions { hints: hints.clone(), ..options.clone() };
    let plan = ferrofuse::plan(&file.definition, &options).map_err(Failure::machine)?;
    let bytes = explain(&file.definition, &plan, &hints).map_err(Failure::user)?.compulsory_bytes;
    let stream = Arc::new(device.new_stream().map_err(Failure::machine)?);
    let executable = Executable::by_size(file.definition.clone(), options);
    let on_gpu = OnGpu { executable, stream };
    let count = if warm { 1 } else { sets_beyond(bytes, device.cache_bytes()) };
    let sets = (0..count).map(|seed| on_gpu.set(&specs, seed)).collect::<Result<Vec<_>, _>>();
    let mut sets = sets?;
    on_gpu.wait()?;
    let start = Instant::now();
    on_gpu.call(&mut sets[0])?;
    on_gpu.wait()?;
    let first = start.elapsed();
    let variant = on_gpu.executable.latest().expect("compiled");
    // The plan for the GPU, by the model's constants for it.
    let explanation = explain(&file.definition, &variant.plan, &hints).map_err(Failure::user)?;
    let bandwidth = GpuBandwidth::new(device, &on_gpu.stream, bytes as usize).map_err(Failure::machine)?;
    let (time, beside) = on_gpu.steady(&mut sets, &bandwidth)?;
    let small = on_gpu.small_call(&specs)?;
    let (rows, columns) = rows_and_columns(&specs);
    let kernels = variant.report.segments.iter().map(|segment| segment.kernels.len()).sum();
    let row = Row::new(case, "cuda", (rows, columns), bytes, time, beside);
    Ok(Row {
        kernels,
        traffic_ratio: explanation.traffic_ratio,
        model_us: explanation.cost_us(),
        compile_ms: milliseconds(variant.report.compile),
        first_call_ms: milliseconds(first),
        call_us: small.as_secs_f64() * 1e6,
        ..row
    })
}
