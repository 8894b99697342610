//! How many blocks a multiprocessor of a GPU runs at a time, by what each takes of it. As in NVIDIA's occupancy calculator:
//! registers are given to warps in units of 256, shared memory to blocks in units of 128 bytes, of which the driver takes 1 KiB.

/// What a multiprocessor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiprocessor {
    /// Threads at a time.
    pub threads: u64,
    /// Blocks at a time.
    pub blocks: u64,
    /// Registers of 32 bits.
    pub registers: u64,
    /// Bytes of shared memory.
    pub shared_bytes: u64,
}

/// What a block takes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockNeeds {
    pub threads: u64,
    /// Registers of each thread; `None` where nobody knows, and then they are no limit.
    pub registers: Option<u64>,
    /// Bytes of shared memory, static and dynamic.
    pub shared_bytes: u64,
}

const WARP: u64 = 32;
const REGISTER_UNIT: u64 = 256;
const SHARED_UNIT: u64 = 128;
const DRIVERS_SHARED_BYTES: u64 = 1 << 10;

/// Parts of a multiprocessor, each with registers of its own.
const PARTITIONS: u64 = 4;

impl Multiprocessor {
    /// The blocks that it runs at a time: none where one is too much for it.
    pub fn blocks_of(&self, needs: &BlockNeeds) -> u64 {
        let warps = needs.threads.div_ceil(WARP).max(1);
        let of_registers = needs.registers.map_or(u64::MAX, |registers| {
            let of_warp = (registers * WARP).next_multiple_of(REGISTER_UNIT).max(REGISTER_UNIT);
            self.registers / PARTITIONS / of_warp * PARTITIONS / warps
        });
        let shared = (needs.shared_bytes + DRIVERS_SHARED_BYTES).next_multiple_of(SHARED_UNIT);
        let of_threads = self.threads / (warps * WARP);
        self.blocks.min(of_threads).min(of_registers).min(self.shared_bytes / shared)
    }
}
