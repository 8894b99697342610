//! Facts about the machine that decisions are made from: numbers, never names.
//!
//! `Target` is what differs from one machine to the next; `cpu` and `gpu` have besides what holds of all of a kind,
//! `limits` what holds of all. `gpus` has GPUs by their names.

pub mod cpu;
pub mod gpu;
mod gpus;
pub mod limits;
mod multiprocessor;

pub use cpu::Cpu;
pub use gpu::Gpu;
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
    /// The same on a CPU where the loop over lanes stands around the stages: rows are walked for one vector at a time anyway.
    pub column_strip: u64,
    /// As many as it takes at least where it can take fewer rows that are folded instead: memory gives long runs faster than
    /// short ones.
    pub run: u64,
    /// Rows that a block takes at least where their folds are partial results as long as a row: of few rows these are as much to
    /// write and read as the rows themselves. Fewer on a GPU, where memory waits for blocks if there are not enough of them.
    pub partial: u64,
    /// Operations of a segment, and cycles of an element, up to which they are so little work that memory decides.
    pub little: usize,
    /// Memory bandwidth in bytes per second.
    pub bandwidth: f64,
    /// How many times as long memory takes where a block walks columns, a few neighbours of each row at a time.
    pub in_columns: f64,
    /// The same where a fold besides reduces the rows, so that lanes lie across memory.
    pub across_lanes: f64,
    /// The same for the tensors that lie across the lanes while others do not and stages wait for folds: a CPU walks them in
    /// tiles.
    pub in_tiles: f64,
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

impl Target {
    /// The same CPU by what was measured of it: bytes and cycles of elements a second, seconds of a launch, threads.
    pub fn measured(self, bandwidth: f64, throughput: f64, launch: f64, threads: usize) -> Target {
        Target { bandwidth, throughput, launch, cores: threads as u64, ..self }
    }

    /// Bytes of a row that the blocks which walk it keep from stage to stage: one block, or a cluster of them in registers.
    pub fn row_bytes(&self) -> u64 {
        match &self.processor {
            Processor::Cpu(_) => self.block_bytes,
            Processor::Gpu(gpu) => self.block_bytes.max(gpu.cluster_bytes()),
        }
    }

    /// Elements from which on there is work for all blocks.
    pub fn large(&self) -> u64 {
        self.blocks * self.grain
    }
}
