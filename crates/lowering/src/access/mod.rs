//! Loads and stores of memory, with what knobs of the schedule do to them, each in a file of its own: `tile` (tensors across
//! the lanes are transposed) · `prefetch` (later loads).

mod prefetch;
mod tile;

use index::Expr;
use kernel::{Buffer, Value};

use crate::layer::layer;
use crate::loops::LoopEmitter;
use prefetch::Reads;
use tile::Tile;

/// Emits loads and stores at the indices of the open loops.
pub(super) struct AccessEmitter<'a> {
    loops: LoopEmitter<'a>,
    /// The tile that loops walk now.
    tile: Option<Tile>,
    /// What the first stage of a row reads.
    reads: Reads,
}

layer!(AccessEmitter, loops: LoopEmitter);

impl<'a> AccessEmitter<'a> {
    /// Nothing read yet.
    pub fn new(loops: LoopEmitter<'a>) -> AccessEmitter<'a> {
        AccessEmitter { loops, tile: None, reads: Reads::default() }
    }

    /// An element of an input: from the transposed tile, or from memory, with a prefetch of later ones.
    pub fn load(&mut self, buffer: Buffer, position: Expr, guard: Option<Value>) -> Value {
        let transposed = if guard.is_none() { self.load_transposed(buffer, &position) } else { None };
        transposed.unwrap_or_else(|| {
            self.prefetch_next_rows(buffer, &position);
            self.note_read(buffer, &position);
            self.emitter.load_buffer(buffer, position, guard)
        })
    }

    /// Emits what comes between the values that an iteration computes and their stores.
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
