//! Facts about the machine that decisions are made from: numbers, never names. `gpus` has those of GPUs by their names.

mod gpus;
mod multiprocessor;

pub use gpus::{GPUS, GpuModel};
pub use multiprocessor::{BlockNeeds, Multiprocessor};

/// What the compiler needs to know of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Lanes of a block: elements taken at a time, or threads of a block. A power of two.
    pub lanes: u32,
    /// Bytes of fast memory that serve one worker between two stages of a kernel (half of L2, or shared memory).
    pub block_bytes: u64,
    /// How many blocks keep every worker busy; chunks are cut so that about this many exist.
    pub blocks: u64,
    /// Smallest number of elements that make a block worth its start.
    pub grain: u64,
    /// Neighbouring elements that a block takes at least where the contiguous axis is divided.
    pub strip: u64,
    /// As many as it takes at least where it can take fewer rows that are folded instead: memory gives long runs faster than
    /// short ones.
    pub run: u64,
    /// Rows that a block takes at least where their folds are partial results as long as a row: of fewer rows these are as much
    /// to write and read as the rows themselves.
    pub partial: u64,
    /// Operations of a segment up to which they are so little work that memory decides.
    pub little: usize,
    /// Memory bandwidth in bytes per second.
    pub bandwidth: f64,
    /// How many times as long memory takes where a block walks columns, a few neighbours of each row at a time.
    pub in_columns: f64,
    /// The same where a fold besides reduces the rows, so that lanes lie across memory.
    pub across_lanes: f64,
    /// Cores that work at once.
    pub cores: u64,
    /// Elements of f32 that all lanes of the machine together can multiply in a second.
    pub throughput: f64,
    /// Cost of one launch in seconds.
    pub launch: f64,
    /// What only machines of its kind have.
    pub processor: Processor,
}

/// The facts of one kind of machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Processor {
    /// Lanes are the elements of vectors.
    Cpu(Cpu),
    /// Lanes are threads.
    Gpu(Gpu),
}

/// Facts of a CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpu {
    /// Lanes of a block whose operations wait for each other: more of them are in flight.
    pub wide: u32,
    /// Bytes of a row of the tiles in which memory that lies across the lanes is transposed.
    pub tile_bytes: u32,
    /// The most rows that are worth walking together.
    pub rows: u32,
    /// The most bytes that are prefetched.
    pub prefetch_bytes: u64,
}

/// Facts of a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu {
    /// Threads that run in step.
    pub warp: u32,
    /// The most threads of a block that walk one row: more of them wait for each other longer than memory takes.
    pub most_threads: u32,
    /// Bytes that a thread loads before it uses the first of them, so that all threads of a multiprocessor keep its share of
    /// memory busy.
    pub in_flight: u64,
    /// Side of the tiles in which memory that lies across the lanes is transposed: a block's threads walk a row of it.
    pub tile_side: u32,
    /// Blocks of a multiprocessor that leave partial results, at least: with many more, adding these up takes longer than it saves.
    pub partials: u64,
    /// Seconds that memory takes to answer under load.
    pub latency: f64,
    /// What each multiprocessor has.
    pub multiprocessor: Multiprocessor,
}

impl Target {
    /// A CPU whose vectors hold `vector_bits` bits. A block takes two vectors of f32 at a time, or four: folds then have as many
    /// chains in flight. Four measured 1.1 to 1.35 times as fast as two on normalizations, and slower on rows that go
    /// together and where memory is all that matters. Rows that are only summed together take one each.
    pub fn cpu(vector_bits: u32) -> Target {
        Target {
            lanes: (vector_bits / 16).max(1),
            block_bytes: 512 << 10,
            blocks: 64,
            grain: 1 << 14,
            strip: 1 << 10,
            run: 1 << 13,
            partial: 32,
            little: 8,
            bandwidth: 30e9,
            in_columns: 2.0,
            across_lanes: 8.0,
            cores: 2,
            throughput: 325e6 * f64::from(vector_bits),
            launch: 2e-6,
            processor: Processor::Cpu(Cpu {
                wide: (vector_bits / 8).max(1),
                tile_bytes: 256,
                rows: 8,
                prefetch_bytes: 256 << 10,
            }),
        }
    }

    /// Elements from which on there is work for all blocks.
    pub fn large(&self) -> u64 {
        self.blocks * self.grain
    }
}
