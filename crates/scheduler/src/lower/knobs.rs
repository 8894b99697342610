//! What knobs of the schedule do to a nest, at three places: where loops are opened, where inputs are loaded, and
//! where values are stored. Each has its state and its part of the work in a file of its own; their order is here.

use index::Expr;
use ir::graph::Val;
use ir::kernel::{Buffer, LoopKind, Scratch, Value};
use rustc_hash::FxHashMap;

use super::jam::Jam;
use super::nest::Nest;
use super::prefetch::Read;
use super::scan::Loops;
use super::tile::Tile;
use crate::space::Axis;

/// What belongs to one of the rows that are walked together, or to the only one.
pub(super) type OfRow<T> = (T, Option<u32>);

/// What knobs keep from one place to another.
#[derive(Default)]
pub(super) struct Knobs {
    /// The rows that are walked together now.
    pub jam: Option<Jam>,
    /// The subrange that each loop walks of a partitioned axis, by number.
    pub subranges: FxHashMap<Axis, usize>,
    /// The tile that loops walk now.
    pub tile: Option<Tile>,
    /// What the first stage of the row has read, to be prefetched.
    pub reads: Vec<Read>,
    /// Values that persist from earlier stages, of each row: the array and its axes.
    pub persistent: FxHashMap<OfRow<Val>, (Scratch, Vec<Axis>)>,
}

/// Loops.
impl<'a> Nest<'a> {
    /// The loops over an axis outside the stages, around what `body` emits: jammed, or one subrange after the other.
    pub fn outer_loop(&mut self, axis: Axis, body: &mut dyn FnMut(&mut Self)) {
        let body = &mut |nest: &mut Self| {
            body(nest);
            // The loop may not have run once, so nothing that it kept is there for what follows.
            nest.knobs.persistent.clear();
        };
        let is_over_lanes = self.emitter.group.schedule.is_lane_outside(axis);
        match self.rows_of(axis) {
            1 if is_over_lanes => self.each_subrange(&[axis], LoopKind::Lanes, body),
            1 => self.each_subrange(&[axis], LoopKind::Serial, body),
            rows => self.jammed(axis, rows, body),
        }
    }

    /// The loops around that over the lanes, for these folds: over tiles and the rows of a tile, or none.
    pub fn around_lanes(&mut self, loops: &Loops, folds: &[usize], body: &mut dyn FnMut(&mut Self)) {
        match (loops.cross, loops.lane) {
            (Some(cross), Some(along)) => {
                self.open_tiles(cross, along);
                self.rows_of_square(folds, cross, body);
                self.close_tiles();
            }
            _ => body(self),
        }
    }
}

/// Loads and stores.
impl Nest<'_> {
    /// An element of an input: from the transposed tile, or from memory, of which more is prefetched.
    pub fn load(&mut self, buffer: Buffer, position: Expr, guard: Option<Value>) -> Value {
        let transposed = if guard.is_none() { self.load_transposed(buffer, &position) } else { None };
        transposed.unwrap_or_else(|| {
            self.fetch_next_rows(buffer, &position);
            self.note_read(buffer, &position);
            self.emitter.load_buffer(buffer, position, guard)
        })
    }

    /// What comes between the values that an iteration computes and their stores.
    pub fn before_stores(&mut self) {
        self.prefetch_reads();
    }

    /// Stores an element of a result: to the tile that is transposed later, or to memory.
    pub fn store_element(&mut self, buffer: Buffer, position: Expr, value: Value) {
        if !self.store_transposed(buffer, &position, value) {
            self.emitter.builder.store(buffer, position, value);
        }
    }
}
