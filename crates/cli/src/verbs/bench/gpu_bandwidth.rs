//! The bandwidth of a GPU's memory: a copy by the driver and a read by a kernel, of the same footprint and in the same
//! minute as the kernel that they are compared with.

use std::sync::Arc;
use std::time::Duration;

use cuda::{DeviceBuffer, Error, Event, Function, LaunchShape, Module, Stream};
use ferrofuse::CudaDevice;

use super::workloads::Peer;

/// Reads all words, 16 bytes a thread at a time. It stores their bitwise or unless that is zero, so that no read is
/// optimized away.
const READ: &str = r#"
extern "C" __global__ void read_words(const uint4* from, unsigned* to, long long words) {
  unsigned sum = 0;
  #pragma unroll 4
  for (long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x; at < words; at += gridDim.x * (long long)blockDim.x) {
    const uint4 word = from[at];
    sum |= word.x | word.y | word.z | word.w;
  }
  if (sum != 0) *to = sum;
}
"#;

/// Threads of a block, and blocks of a multiprocessor.
const THREADS: u32 = 512;
const BLOCKS: u32 = 4;

/// Bytes that a thread reads at a time.
const WORD: usize = 16;

/// Memory to copy from and to, and a kernel that reads it.
pub struct GpuBandwidth {
    stream: Arc<Stream>,
    from: DeviceBuffer,
    to: DeviceBuffer,
    read: Function,
    blocks: u32,
    /// Bytes of each half.
    half: usize,
}

impl GpuBandwidth {
    /// Two halves of this footprint, filled with zeros.
    pub fn new(device: &CudaDevice, stream: &Arc<Stream>, footprint: usize) -> Result<GpuBandwidth, Error> {
        let half = (footprint / 2).next_multiple_of(WORD).max(WORD);
        let zeros = vec![0; half];
        let zeroed = || -> Result<DeviceBuffer, Error> {
            let mut buffer = DeviceBuffer::allocate(stream, half)?;
            // SAFETY: a `Vec` is pageable memory.
            unsafe { buffer.upload(&zeros) }?;
            Ok(buffer)
        };
        let cubin = device.compile(READ)?;
        let read = Module::load(stream.device(), &cubin.bytes)?.function("read_words")?;
        let blocks = BLOCKS * u32::try_from(stream.device().facts().multiprocessors).unwrap_or(1).max(1);
        Ok(GpuBandwidth { stream: Arc::clone(stream), from: zeroed()?, to: zeroed()?, read, blocks, half })
    }

    /// Bytes that a round moves.
    pub fn bytes(&self) -> usize {
        2 * self.half
    }

    /// The time of a round by the GPU's clock.
    pub fn round(&self, peer: Peer) -> Result<Duration, Error> {
        let begin = Event::record_timed(&self.stream)?;
        match peer {
            // SAFETY: both buffers have this many bytes, live until the end is waited for, and do not overlap.
            Peer::Copy => unsafe { self.stream.copy(self.to.address(), self.from.address(), self.half) }?,
            Peer::Read => [&self.from, &self.to].into_iter().try_for_each(|half| self.read(half))?,
        }
        Event::record_timed(&self.stream)?.since(&begin)
    }

    fn read(&self, half: &DeviceBuffer) -> Result<(), Error> {
        let shape = LaunchShape { blocks: self.blocks, threads: THREADS, shared_bytes: 0 };
        let parameters = [half.address(), self.to.address(), (self.half / WORD) as u64];
        // SAFETY: the kernel takes these three words, reads no more than the buffer, and stores nothing, as all elements are
        // zero.
        unsafe { self.read.launch(&self.stream, shape, &parameters) }
    }
}
