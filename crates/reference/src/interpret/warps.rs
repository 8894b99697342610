//! What the warps of a GPU make of a block: sectors of the caller's memory, wavefronts at the banks of a block's scratch, and lanes
//! that have nothing to do while others have.
//!
//! Lanes of a warp take the same statement at the same time, as often as they come to it. Of a loop with a width a lane takes
//! what lies next to each other at once. Code outside of loops over lanes is not counted, as it is little. Buffers begin at a
//! sector, scratch arrays at the first bank; private arrays are registers.

use std::collections::{BTreeMap, BTreeSet};

use index::Expr;
use kernel::{GPU_WARP, Kernel, Loop, Place, Stmt, VECTOR_BYTES, is_contiguous, verify};

use super::global::Global;
use super::order::LaneOrder;
use super::race::Agent;
use super::{Fault, Options, Run};

/// The smallest unit of a memory transfer, in bytes.
const SECTOR: u64 = 32;

/// Banks of shared memory, of four bytes each; a wavefront accesses each bank once.
const BANKS: u64 = 32;
const BANK_BYTES: u64 = 4;

/// How many of something a kernel takes, and the minimum that it needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needed {
    /// The number taken.
    pub taken: u64,
    /// The minimum needed.
    pub min: u64,
}

impl Needed {
    fn add(&mut self, taken: u64, min: u64) {
        self.taken += taken;
        self.min += min;
    }

    /// The number taken as a multiple of the minimum.
    pub fn ratio(self) -> f64 {
        if self.min == 0 { 1.0 } else { self.taken as f64 / self.min as f64 }
    }
}

/// The counts of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpCounts {
    /// Sectors of 32 bytes that accesses of warps touch in the caller's memory, and the minimum for those bytes.
    pub sectors: Needed,
    /// Wavefronts of shared memory, one for each access where no two lanes want other words of a bank.
    pub wavefronts: Needed,
    /// Bytes of the caller's memory that lanes access.
    pub bytes: u64,
    /// Iterations of all lanes if each had as many as the busiest lane, and their actual iterations.
    pub iterations: Needed,
}

/// Counts what a block does with these arguments. There is no memory: what it loads is zero.
///
/// # Errors
/// The first [`Fault`].
pub fn warp_counts(kernel: &Kernel, args: &[i64], block: i64) -> Result<WarpCounts, Fault> {
    verify(kernel)?;
    let options = Options { lanes: LaneOrder::Forward, ..Options::default() };
    let mut run = Run::new(kernel, args, Global::Absent, &options);
    run.observer = Some(Observer::default());
    run.block(block)?;
    Ok(run.observer.map_or_else(WarpCounts::default, |observer| observer.counts))
}

/// A statement, by its address, with how often a warp has reached it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    statement: usize,
    time: u64,
    warp: u32,
}

/// What the lanes of a warp access at the same time.
#[derive(Clone, Debug)]
struct Accessed {
    is_scratch: bool,
    /// Bytes of an element.
    size: u64,
    /// Lanes, in order, each with the address of an element.
    elements: Vec<(u32, u64)>,
}

/// Records what lanes do in the current loop over lanes, and counts at its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Observer {
    counts: WarpCounts,
    /// Loads and stores contiguous along the loop's variable, with the width of the loop.
    widths: BTreeMap<usize, u64>,
    /// How often a lane has reached a statement.
    times: BTreeMap<(usize, u32), u64>,
    accessed: BTreeMap<Step, Accessed>,
    /// Iterations of each lane.
    iterations: BTreeMap<u32, u64>,
}

fn address(statement: &Stmt) -> usize {
    std::ptr::from_ref(statement).addr()
}

impl Observer {
    /// A loop over lanes begins.
    pub(super) fn enter(&mut self, for_loop: &Loop) {
        let index = |statement: &Stmt| match statement {
            Stmt::Load { index, .. } | Stmt::Store { index, .. } => Some(index.clone()),
            _ => None,
        };
        let is_along = |index: Expr| is_contiguous(&index, for_loop.var);
        let along = for_loop.body.iter().filter(|statement| index(statement).is_some_and(is_along));
        self.widths = along.map(|statement| (address(statement), for_loop.width.into())).collect();
    }

    /// An iteration of the loop begins.
    pub(super) fn iterate(&mut self, lane: u32) {
        *self.iterations.entry(lane).or_default() += 1;
    }

    /// A lane reaches a load or store of an element of `bytes` bytes, which its guard may disable.
    pub(super) fn access(
        &mut self,
        statement: &Stmt,
        agent: Agent,
        (place, size): (Place, u64),
        index: Option<i64>,
    ) {
        let Agent::Lane(lane) = agent else { return };
        let statement = address(statement);
        let width = self.widths.get(&statement).copied().unwrap_or(1);
        let times = self.times.entry((statement, lane)).or_default();
        let step = Step { statement, time: *times / width, warp: lane / GPU_WARP };
        *times += 1;
        let Some(index) = index.and_then(|index| u64::try_from(index).ok()) else { return };
        let is_scratch = matches!(place, Place::Scratch(_));
        let accessed = self.accessed.entry(step);
        let accessed = accessed.or_insert_with(|| Accessed { is_scratch, size, elements: Vec::new() });
        accessed.elements.push((lane, index * size));
    }

    /// The loop ends; `lanes` lanes took part in it.
    pub(super) fn leave(&mut self, lanes: u32) {
        let most = self.iterations.values().copied().max().unwrap_or(0);
        self.counts.iterations.add(most * u64::from(lanes), self.iterations.values().sum());
        for accessed in std::mem::take(&mut self.accessed).values() {
            match accessed.is_scratch {
                true => self
                    .counts
                    .wavefronts
                    .add(accessed.wavefronts().iter().sum(), accessed.wavefronts().len() as u64),
                false => {
                    self.counts.bytes += accessed.elements.len() as u64 * accessed.size;
                    self.counts.sectors.add(accessed.sectors(), accessed.min_sectors());
                }
            }
        }
        self.times.clear();
        self.iterations.clear();
    }
}

impl Accessed {
    fn sectors(&self) -> u64 {
        let sectors: BTreeSet<u64> = self.elements.iter().map(|(_, at)| at / SECTOR).collect();
        sectors.len() as u64
    }

    fn min_sectors(&self) -> u64 {
        let elements: BTreeSet<u64> = self.elements.iter().map(|&(_, at)| at).collect();
        (elements.len() as u64 * self.size).div_ceil(SECTOR)
    }

    /// The wavefronts of each access: up to 16 bytes of a lane, and of as many lanes as a wavefront has bytes for.
    fn wavefronts(&self) -> Vec<u64> {
        let mut words: BTreeMap<(usize, u64), BTreeSet<u64>> = BTreeMap::new();
        let of_access = (u64::from(VECTOR_BYTES) / self.size).max(1) as usize;
        for lane in self.elements.chunk_by(|one, next| one.0 == next.0) {
            for (number, elements) in lane.chunks(of_access).enumerate() {
                let bytes = (elements.len() as u64 * self.size).max(BANK_BYTES);
                let together = u64::from(lane[0].0 % GPU_WARP) * bytes / (BANKS * BANK_BYTES);
                let touched =
                    elements.iter().flat_map(|&(_, at)| at / BANK_BYTES..=(at + self.size - 1) / BANK_BYTES);
                words.entry((number, together)).or_default().extend(touched);
            }
        }
        let wavefronts = |words: &BTreeSet<u64>| {
            let of_bank = |bank| words.iter().filter(|&word| word % BANKS == bank).count() as u64;
            (0..BANKS).map(of_bank).max().unwrap_or(0)
        };
        words.values().map(wavefronts).collect()
    }
}
