//! NVIDIA's GPUs as described in its data sheets, for decisions about machines that are not available.

use crate::{Gpu, Multiprocessor, Processor, Target};

/// A GPU of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuModel {
    /// Its name for users.
    pub name: &'static str,
    /// The name of its machine code.
    pub architecture: &'static str,
    /// Streaming multiprocessors.
    pub multiprocessors: u64,
    /// Bytes of shared memory that a block may ask for.
    pub shared_bytes: u64,
    /// The bandwidth of a copy, in bytes a second: nine tenths of the memory's.
    pub bandwidth: f64,
    /// Multiplications of f32 in a second.
    pub throughput: f64,
    /// The most blocks of a cluster; 1 without clusters.
    pub max_cluster: u32,
    /// What each multiprocessor has.
    pub multiprocessor: Multiprocessor,
}

/// Shared memory of a block that schedules leave to reductions and to the driver.
const RESERVED_SHARED_BYTES: u64 = 27 << 10;

/// Blocks of a multiprocessor that keep it busy.
const BLOCKS: (u64, u64) = (1024, 132);

const KIB: u64 = 1 << 10;

/// Registers of a multiprocessor, of every architecture from sm_80 on.
const REGISTERS: u64 = 1 << 16;

/// Seconds that memory takes to answer under load: an H100 copies at full speed with about 32 KB in flight for each of its
/// multiprocessors, an H200 with 45.
const LATENCY: f64 = 1.4e-6;

/// The table: multiprocessors, bytes and multiplications of f32 in a second, blocks of a cluster, and what each multiprocessor has. Of each architecture
/// the first is what its name stands for.
pub const GPUS: [GpuModel; 6] = [
    model("a100", "sm_80", 108, 1.8e12, 9.7e12, 1, multiprocessor(2048, 32, 164)),
    model("a10", "sm_86", 72, 0.54e12, 15.6e12, 1, multiprocessor(1536, 16, 100)),
    model("l40s", "sm_89", 142, 0.78e12, 45e12, 1, multiprocessor(1536, 24, 100)),
    model("h100", "sm_90", 132, 3e12, 30e12, 8, multiprocessor(2048, 32, 228)),
    model("h200", "sm_90", 132, 4.3e12, 30e12, 8, multiprocessor(2048, 32, 228)),
    model("b200", "sm_100", 148, 7.2e12, 36e12, 8, multiprocessor(2048, 32, 228)),
];

const fn model(
    name: &'static str,
    architecture: &'static str,
    multiprocessors: u64,
    bandwidth: f64,
    throughput: f64,
    max_cluster: u32,
    multiprocessor: Multiprocessor,
) -> GpuModel {
    // A block may ask for all but what the driver takes of it.
    let shared_bytes = multiprocessor.shared_bytes - KIB;
    GpuModel {
        name,
        architecture,
        multiprocessors,
        shared_bytes,
        bandwidth,
        throughput,
        max_cluster,
        multiprocessor,
    }
}

const fn multiprocessor(threads: u64, blocks: u64, shared_kib: u64) -> Multiprocessor {
    Multiprocessor { threads, blocks, registers: REGISTERS, shared_bytes: shared_kib * KIB }
}

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
            column_strip: 1 << 10,
            run: 1 << 10,
            partial: 12,
            little: 8,
            bandwidth: model.bandwidth,
            in_columns: 1.0,
            across_lanes: 8.0,
            in_tiles: 8.0,
            cores: model.multiprocessors,
            throughput: model.throughput,
            launch: 3e-6,
            processor: Processor::Gpu(Gpu {
                warp: 32,
                most_threads: 512,
                in_flight: 64,
                max_cluster: model.max_cluster,
                tile_side: 64,
                partials: 2,
                latency: LATENCY,
                multiprocessor: model.multiprocessor,
            }),
        }
    }
}
