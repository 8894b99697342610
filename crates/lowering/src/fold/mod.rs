//! Folds inside a kernel: in registers where one result is wanted at a time, in scratch arrays where many are.
//!
//! `open` (registers and arrays, and their initial values) · `feed` (elements taken in) · `blocks` (how many at a time) ·
//! `close` (results made known, or left to the combine step) · `partial` (where those of a block lie).

mod blocks;
mod close;
mod feed;
mod open;
mod partial;

pub(super) use feed::Temps;
pub use partial::temporaries;
pub(super) use partial::{PartialLayout, kept_shape, partial_dtypes};

use kernel::{Accumulator, Scratch, Value};
use ops::Totals;

use crate::access::AccessEmitter;
use crate::emitter::Emitter;
use crate::layer::layer;
use crate::loops::LoopEmitter;
use crate::states::States;
use crate::value::ValueEmitter;
use space::Axis;

/// Emits folds: opens them, feeds them and closes them.
pub(super) struct FoldEmitter<'a> {
    values: ValueEmitter<'a>,
    /// Those that are being accumulated.
    pub open: Vec<OpenFold>,
}

layer!(FoldEmitter, values: ValueEmitter);

/// A fold that is being accumulated.
#[derive(Clone)]
pub(super) struct OpenFold {
    pub fold: usize,
    /// How many outer loops are around a terminal fold; `None` for an inner one.
    pub depth: Option<usize>,
    /// The row that it belongs to, of several that are walked together; `None` where they share it.
    row: Option<u32>,
    /// Whether it was opened inside the loop over lanes, so that each lane has its own fold.
    per_lane: bool,
    /// Whether lanes have taken elements into states that are opened outside of their loop.
    lane_mapped: bool,
    storage: Storage,
}

impl OpenFold {
    /// The arrays of its states, if they are kept in arrays.
    fn arrays(&self) -> Option<&Arrays> {
        match &self.storage {
            Storage::Arrays(arrays) => Some(arrays),
            Storage::Registers(_) => None,
        }
    }

    /// The axes of these arrays.
    fn dims(&self) -> Option<&[Axis]> {
        self.arrays().map(|arrays| &arrays.dims[..])
    }
}

/// Scratch arrays of the states of a fold, one a state.
#[derive(Clone)]
struct Arrays {
    /// Their axes.
    dims: Vec<Axis>,
    /// The states of the block that elements go into; of a closed fold its results.
    blocks: Vec<Scratch>,
    /// The totals that blocks are added to, if elements are more than one block may have.
    totals: Option<Vec<Scratch>>,
    /// Whether rows that are walked together are added up in registers first.
    collects: bool,
}

/// Where the states of an open fold are kept.
#[derive(Clone)]
enum Storage {
    /// One accumulator for each total.
    Registers(Vec<Accumulator>),
    /// Arrays over the axes that it keeps.
    Arrays(Arrays),
}

impl<'a> FoldEmitter<'a> {
    /// No folds and no loops yet.
    pub fn new(emitter: Emitter<'a>) -> FoldEmitter<'a> {
        let access = AccessEmitter::new(LoopEmitter::new(emitter));
        FoldEmitter { values: ValueEmitter::new(access), open: Vec::new() }
    }

    /// The states of the fold with this number.
    pub fn states(&self, fold: usize) -> States<'a> {
        States::of(self.emitter.group.graph, self.witness().folds[fold].node)
    }

    /// One accumulator for each total of a fold, opened in the innermost body.
    pub fn open_totals(&mut self, fold: usize) -> Vec<Accumulator> {
        let identity = self.states(fold).total_identity();
        self.emitter.open_accumulators(identity)
    }

    /// One accumulator for each state of a block of a fold, likewise.
    fn open_block(&mut self, fold: usize) -> Vec<Accumulator> {
        let identity = self.states(fold).identity();
        self.emitter.open_accumulators(identity)
    }

    /// The states of two runs as those of both, `left` before `right`.
    pub fn combine(&mut self, fold: usize, left: &[Value], right: &[Value]) -> Vec<Value> {
        self.states(fold).combine(&mut self.emitter, left, right)
    }

    /// The accumulators of all lanes as one state each, in the dtype of totals.
    pub fn reduce(&mut self, fold: usize, accumulators: &[Accumulator]) -> Vec<Value> {
        let states = self.states(fold);
        let in_f64 = states.totals() == Totals::OfLanes;
        self.emitter.builder.reduce(states.monoid().clone(), accumulators, in_f64)
    }

    /// The open fold of this number: that of the row, or the one that all rows share.
    fn opened(&self, fold: usize) -> Option<&OpenFold> {
        self.place_of(fold).map(|place| &self.open[place])
    }

    /// Its place among the open folds.
    fn place_of(&self, fold: usize) -> Option<usize> {
        let is_own = |open: &OpenFold| open.fold == fold && (open.row.is_none() || open.row == self.row());
        self.open.iter().position(is_own)
    }

    /// The row whose states an open fold has at the current indices: rows share a fold that was opened before them, unless
    /// its array has their axis.
    fn row_of(&self, open: &OpenFold) -> Option<u32> {
        match &open.storage {
            Storage::Arrays(arrays) => open.row.or_else(|| self.row_along(&arrays.dims)),
            Storage::Registers(_) => open.row,
        }
    }

    /// The axes of the arrays that an open fold is accumulated in.
    pub fn array_dims(&self, fold: usize) -> Option<&[Axis]> {
        self.opened(fold)?.dims()
    }
}
