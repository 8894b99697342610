//! A GPU, opened, and what the compiler needs to know of it.

use std::sync::Arc;

use compiler::target::{Processor, Target};
use cuda::{Cuda, Error, Gpu, Nvrtc, Stream};

use super::strided_copy::StridedCopy;

/// A GPU with the stream that calls from the host run on. Any number of threads may call executables on it.
#[derive(Debug)]
pub struct CudaDevice {
    gpu: Arc<Gpu>,
    cuda: Arc<Cuda>,
    stream: Arc<Stream>,
    copies: StridedCopy,
}

impl CudaDevice {
    /// The GPU of this number.
    ///
    /// # Errors
    /// That there is none, or what the driver says.
    pub fn open(cuda: &Arc<Cuda>, ordinal: usize) -> Result<CudaDevice, Error> {
        let gpu = Arc::new(Gpu::open(cuda, ordinal)?);
        let stream = Arc::new(Stream::new(&gpu)?);
        Ok(CudaDevice { gpu, cuda: Arc::clone(cuda), stream, copies: StridedCopy::default() })
    }

    /// What users call it, as in `cuda:0`.
    pub fn name(&self) -> String {
        format!("cuda:{}", self.gpu.ordinal())
    }

    /// What the compiler needs to know: the facts of a GPU of its class, with its own numbers where the driver tells them.
    pub fn target(&self) -> Target {
        let (facts, usual) = (self.gpu.facts(), Target::cuda());
        let cores = u64::try_from(facts.multiprocessors).unwrap_or(usual.cores).max(1);
        let shared = u64::try_from(facts.shared_bytes).unwrap_or(0);
        let Processor::Gpu(usual_gpu) = &usual.processor else { unreachable!("a GPU's facts") };
        let mut gpu = usual_gpu.clone();
        gpu.warp = u32::try_from(facts.warp).unwrap_or(gpu.warp);
        Target {
            cores,
            blocks: usual.blocks * cores / usual.cores,
            // What reductions and the driver take for themselves stays free.
            block_bytes: shared.saturating_sub(RESERVED_SHARED_BYTES).min(usual.block_bytes),
            bandwidth: if facts.bandwidth > 0 { facts.bandwidth as f64 } else { usual.bandwidth },
            throughput: usual.throughput * cores as f64 / usual.cores as f64,
            processor: Processor::Gpu(gpu),
            ..usual
        }
    }

    pub(super) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub(crate) fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    pub(super) fn nvrtc(&self) -> &Nvrtc {
        &self.cuda.nvrtc
    }

    pub(super) fn copies(&self) -> &StridedCopy {
        &self.copies
    }
}

/// Shared memory of a block that schedules leave to reductions and to the driver.
const RESERVED_SHARED_BYTES: u64 = 16 << 10;
