//! Folds inside a kernel: in registers where one result is wanted at a time, in scratch arrays where many are.
//!
//! `states` (how they begin and take elements) · `open` (registers and arrays, filled with what they begin with) · `feed`
//! (elements taken in) · `blocks` (how many at a time) · `close` (results made known, or left to the combine step).

mod blocks;
mod close;
mod feed;
mod open;
mod states;

pub(super) use feed::Temps;
pub(super) use states::States;

use ir::kernel::{Accumulator, Scratch};
use rustc_hash::FxHashMap;

use super::knobs::OfRow;
use super::nest::Nest;
use crate::space::Axis;

/// The folds of a nest.
#[derive(Default)]
pub(super) struct Folds {
    /// Those that are being accumulated.
    pub open: Vec<OpenFold>,
    /// Results of closed folds that lie in scratch, of each row: one array a state, over these axes.
    closed: FxHashMap<OfRow<usize>, (Vec<Scratch>, Vec<Axis>)>,
}

/// A fold that is being accumulated.
#[derive(Clone)]
pub(super) struct OpenFold {
    pub fold: usize,
    /// How many outer loops stand around it; of no interest for inner folds.
    pub depth: usize,
    /// The row that it belongs to, of several that are walked together; `None` where they share it.
    row: Option<u32>,
    /// Whether it was opened inside the loop over lanes, so that each lane has a fold of its own.
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
    /// Arrays over what is kept.
    Arrays(Arrays),
}

impl Nest<'_> {
    /// The open fold of this number: that of the row, or the one that all rows share.
    fn opened(&self, fold: usize) -> Option<&OpenFold> {
        self.place_of(fold).map(|place| &self.folds.open[place])
    }

    /// Its place among the open folds.
    fn place_of(&self, fold: usize) -> Option<usize> {
        let is_own = |open: &OpenFold| open.fold == fold && (open.row.is_none() || open.row == self.row());
        self.folds.open.iter().position(is_own)
    }

    /// The row whose states an open fold has where the loops stand: rows share a fold that was opened before them, unless
    /// its array is over them.
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
