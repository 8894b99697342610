//! NVIDIA's GPUs as its data sheets describe them, for decisions about machines that are not at hand.

use super::{Gpu, Multiprocessor, Processor, Target};

/// A GPU of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuModel {
    /// What users call it.
    pub name: &'static str,
    /// The name of its machine code.
    pub architecture: &'static str,
    /// Streaming multiprocessors.
    pub multiprocessors: u64,
    /// Bytes of shared memory that a block may ask for.
    pub shared_bytes: u64,
    /// Bytes a second that a copy moves: nine tenths of what the memory has.
    pub bandwidth: f64,
    /// Multiplications of f32 in a second.
    pub throughput: f64,
    /// What each multiprocessor has.
    pub multiprocessor: Multiprocessor,
}

/// Shared memory of a block that schedules leave to reductions and to the driver.
const RESERVED_SHARED_BYTES: u64 = 27 << 10;

/// Blocks of a multiprocessor that keep it busy.
const BLOCKS: (u64, u64) = (1024, 132);

const KIB: u64 = 1 << 10;

/// A multiprocessor with the registers of every architecture from sm_80 on.
const fn multiprocessor(threads: u64, blocks: u64, shared_bytes: u64) -> Multiprocessor {
    Multiprocessor { threads, blocks, registers: 1 << 16, shared_bytes }
}

/// Seconds that memory takes to answer under load: an H100 copies at full speed with about 32 KB in flight for each of its
/// multiprocessors, an H200 with 45.
const LATENCY: f64 = 1.4e-6;

/// The table. Of each architecture the first is what its name stands for.
pub const GPUS: [GpuModel; 6] = [
    GpuModel {
        name: "a100",
        architecture: "sm_80",
        multiprocessors: 108,
        shared_bytes: 163 * KIB,
        bandwidth: 1.8e12,
        throughput: 9.7e12,
        multiprocessor: multiprocessor(2048, 32, 164 * KIB),
    },
    GpuModel {
        name: "a10",
        architecture: "sm_86",
        multiprocessors: 72,
        shared_bytes: 99 * KIB,
        bandwidth: 0.54e12,
        throughput: 15.6e12,
        multiprocessor: multiprocessor(1536, 16, 100 * KIB),
    },
    GpuModel {
        name: "l40s",
        architecture: "sm_89",
        multiprocessors: 142,
        shared_bytes: 99 * KIB,
        bandwidth: 0.78e12,
        throughput: 45e12,
        multiprocessor: multiprocessor(1536, 24, 100 * KIB),
    },
    GpuModel {
        name: "h100",
        architecture: "sm_90",
        multiprocessors: 132,
        shared_bytes: 227 * KIB,
        bandwidth: 3e12,
        throughput: 30e12,
        multiprocessor: multiprocessor(2048, 32, 228 * KIB),
    },
    GpuModel {
        name: "h200",
        architecture: "sm_90",
        multiprocessors: 132,
        shared_bytes: 227 * KIB,
        bandwidth: 4.3e12,
        throughput: 30e12,
        multiprocessor: multiprocessor(2048, 32, 228 * KIB),
    },
    GpuModel {
        name: "b200",
        architecture: "sm_100",
        multiprocessors: 148,
        shared_bytes: 227 * KIB,
        bandwidth: 7.2e12,
        throughput: 36e12,
        multiprocessor: multiprocessor(2048, 32, 228 * KIB),
    },
];

impl GpuModel {
    /// The GPU of this name, or the one that an architecture's name stands for.
    pub fn named(name: &str) -> Option<&'static GpuModel> {
        let of_architecture = || GPUS.iter().find(|model| model.architecture == name);
        GPUS.iter().find(|model| model.name == name).or_else(of_architecture)
    }
}

impl Target {
    /// An H100.
    pub fn cuda() -> Target {
        Target::gpu(GpuModel::named("h100").expect("it is in the table"))
    }

    /// A GPU of NVIDIA's.
    pub fn gpu(model: &GpuModel) -> Target {
        let (blocks, multiprocessors) = BLOCKS;
        Target {
            lanes: 256,
            block_bytes: model.shared_bytes.saturating_sub(RESERVED_SHARED_BYTES),
            blocks: (blocks * model.multiprocessors / multiprocessors).max(1),
            grain: 1 << 10,
            strip: 1 << 10,
            run: 1 << 10,
            partial: 24,
            little: 8,
            bandwidth: model.bandwidth,
            in_columns: 1.0,
            across_lanes: 8.0,
            cores: model.multiprocessors,
            throughput: model.throughput,
            launch: 3e-6,
            processor: Processor::Gpu(Gpu {
                warp: 32,
                most_threads: 512,
                in_flight: 64,
                tile_side: 64,
                partials: 2,
                latency: LATENCY,
                multiprocessor: model.multiprocessor,
            }),
        }
    }
}
