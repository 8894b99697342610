//! Tiles: a loop nest walks tiles of two axes, so that tensors contiguous along either one use each cache line whole.
//!
//! ```text
//! for x1_tile, x0_tile               tiles
//!   for x0 transpose, for x1 lanes   what lies along x1 is copied to scratch, where it lies along x0
//!   for x1, for x0 lanes             the nest itself, with lanes along x0; prefetches
//!   for x0 transpose, for x1 lanes   what is stored along x1 is copied from scratch, where it lies along x0
//! ```
//!
//! Which loads and stores are transposed follows from their index: contiguous along the crossing axis and not along the
//! lanes.
//!
//! A tile ends each run of memory after a few lines, before the hardware prefetcher has seen it. So the nest prefetches: of
//! transposed tensors, with each row of the tile one of the next tile; of those along the lanes, a few rows ahead. Rows of a
//! tile are often a power of two apart, where they evict each other from L1, so they are prefetched into L2. Decides
//! nothing: the schedule says whether there are tiles and how large.

use index::{Expr, Sym};
use kernel::{Buffer, LoopKind, Scratch, Value};

use super::AccessEmitter;
use crate::address::is_unit;
use space::Axis;
use target::cpu::TILE_ROWS_AHEAD;

/// The tile that loops walk now.
#[derive(Clone)]
pub(super) struct Tile {
    /// The number of the body that is run once a tile.
    body: usize,
    side: u32,
    /// From one row in an array to the next.
    stride: i64,
    /// Of the axis that crosses the lanes.
    cross: Range,
    /// Of the axis of the lanes.
    along: Range,
    /// The parts of the two axes that the tiles divide.
    outside: [Option<(Expr, Expr)>; 2],
    /// The tensors that are transposed already.
    loaded: Vec<Transposed>,
    /// Those to be transposed and stored when the loops over the tile have closed.
    stored: Vec<Transposed>,
}

/// A tensor that lies across the lanes, and the array that holds its tile.
#[derive(Clone)]
struct Transposed {
    buffer: Buffer,
    /// The position in memory, over the variables of the loops along the crossing axis and the lanes.
    position: Expr,
    vars: [Sym; 2],
    array: Scratch,
}

/// The part of an axis that belongs to a tile.
#[derive(Clone)]
struct Range {
    axis: Axis,
    begin: Expr,
    end: Expr,
    /// Where the block's part of the axis ends.
    limit: Expr,
}

impl AccessEmitter<'_> {
    /// Opens the loops over tiles.
    pub fn open_tiles(&mut self, cross: Axis, along: Axis) {
        let (_, side) = self.emitter.group.schedule.tile.expect("the nest is walked in tiles");
        let [cross, along] = [cross, along].map(|axis| self.open_range(axis, side));
        self.emitter.builder.barrier();
        let body = self.emitter.builder.innermost();
        let outside = [&cross, &along]
            .map(|range| self.open_loops.enter(range.axis, (range.begin.clone(), range.end.clone())));
        let stride = i64::from(side + self.emitter.group.schedule.pad);
        self.tile =
            Some(Tile { body, side, stride, cross, along, outside, loaded: Vec::new(), stored: Vec::new() });
    }

    fn open_range(&mut self, axis: Axis, side: u32) -> Range {
        let (begin, limit) = self.range(axis);
        let side = Expr::constant(i64::from(side));
        let count = (limit.clone() - begin.clone()).ceil_div(&side);
        let iteration =
            self.emitter.open_loop(&format!("{axis}_tile"), Expr::zero(), count, LoopKind::Serial);
        let limit = self.named(axis, "limit", &limit);
        let begin = self.named(axis, "begin", &(begin + Expr::sym(iteration) * side.clone()));
        let end = self.named(axis, "end", &Expr::min(&(begin.clone() + side), &limit));
        Range { axis, begin, end, limit }
    }

    /// A symbol for an index that is used in many computations.
    fn named(&mut self, axis: Axis, what: &str, index: &Expr) -> Expr {
        let value = self.emitter.index(index);
        Expr::sym(self.emitter.bind(|| format!("{axis}_{what}"), value))
    }

    /// Emits the pending transposed stores and closes the loops over tiles.
    pub fn close_tiles(&mut self) {
        let tile = self.tile.take().expect("tiles are open");
        for transposed in &tile.stored {
            self.emitter.builder.barrier();
            self.copy(&tile, transposed, |nest, position, at| {
                let value = nest.emitter.builder.load(transposed.array, at);
                nest.emitter.builder.store(transposed.buffer, position, value);
            });
        }
        for (range, outside) in [tile.cross, tile.along].iter().zip(tile.outside) {
            self.open_loops.leave(range.axis, outside);
        }
        self.emitter.close_loop();
        self.emitter.close_loop();
    }

    /// A load that is transposed, at the indices of the loops; `None` for one that is not.
    pub(super) fn load_transposed(&mut self, buffer: Buffer, position: &Expr) -> Option<Value> {
        let tile = self.tile.clone()?;
        let vars = self.across(&tile, position)?;
        let known = tile.loaded.iter().find(|known| known.buffer == buffer && known.position == *position);
        let array = match known {
            Some(known) => known.array,
            None => {
                self.prefetch_next_tile(&tile, buffer, position, vars);
                self.transposed_copy(&tile, buffer, position, vars)
            }
        };
        Some(self.emitter.builder.load(array, place_in(&tile, vars)))
    }

    /// Prefetches the load that is some rows ahead, if loops walk tiles and its tensor lies along the lanes.
    pub(super) fn prefetch_next_rows(&mut self, buffer: Buffer, position: &Expr) {
        let Some(tile) = &self.tile else { return };
        let vars = [&tile.cross, &tile.along].map(|range| self.open_loops.vars.get(&range.axis).copied());
        let [Some(cross), Some(along)] = vars else { return };
        if !position.mentions(cross) || !is_unit(position, along) {
            return;
        }
        let read_ahead = clamped(Expr::sym(cross) + Expr::constant(TILE_ROWS_AHEAD), &tile.cross.end);
        let index = position.substitute(&|sym| (sym == cross).then(|| read_ahead.clone()));
        self.emitter.builder.prefetch(buffer, index, true);
    }

    /// Prefetches the next tile: in each iteration of the loops over this one the element at the same position in the next,
    /// in memory order, so that the lanes take neighbours.
    fn prefetch_next_tile(&mut self, tile: &Tile, buffer: Buffer, position: &Expr, [cross, along]: [Sym; 2]) {
        let row = Expr::sym(cross) - tile.cross.begin.clone();
        let next = tile.along.begin.clone() + Expr::constant(tile.side.into()) + row;
        let next = clamped(next, &tile.along.limit);
        let column = tile.cross.begin.clone() + Expr::sym(along) - tile.along.begin.clone();
        let moved = |sym| [(cross, &column), (along, &next)].into_iter().find(|(from, _)| *from == sym);
        let next = position.substitute(&|sym| moved(sym).map(|(_, to)| to.clone()));
        self.emitter.builder.prefetch(buffer, next, true);
    }

    /// Stores a value at the indices of the loops if it is to be transposed first; returns whether it is.
    pub(super) fn store_transposed(&mut self, buffer: Buffer, position: &Expr, value: Value) -> bool {
        let Some(tile) = self.tile.clone() else { return false };
        let Some(vars) = self.across(&tile, position) else { return false };
        let array = self.tile_array(&tile, buffer);
        self.emitter.builder.store(array, place_in(&tile, vars), value);
        let transposed = Transposed { buffer, position: position.clone(), vars, array };
        self.tile.as_mut().expect("tiles are open").stored.push(transposed);
        true
    }

    /// The loops over the tile, if neighbours along the crossing axis are neighbours in memory and those along the lanes
    /// are not, and the position is known where tiles are transposed.
    fn across(&self, tile: &Tile, position: &Expr) -> Option<[Sym; 2]> {
        let [cross, along] =
            [*self.open_loops.vars.get(&tile.cross.axis)?, *self.open_loops.vars.get(&tile.along.axis)?];
        let corner = position.substitute(&|sym| (sym == cross || sym == along).then(Expr::zero));
        let is_known = self.emitter.builder.body_of(&[], &corner) <= tile.body;
        let is_across = is_unit(position, cross) && position.mentions(along) && !is_unit(position, along);
        (is_known && is_across).then_some([cross, along])
    }

    /// An array for a tile of a buffer's tensor.
    fn tile_array(&mut self, tile: &Tile, buffer: Buffer) -> Scratch {
        let elements = Expr::constant(i64::from(tile.side) * tile.stride);
        let builder = &mut self.emitter.builder;
        builder.scratch(builder.element_dtype(buffer), elements)
    }

    /// Copies a tile to an array, before the loops over the tile.
    fn transposed_copy(&mut self, tile: &Tile, buffer: Buffer, position: &Expr, vars: [Sym; 2]) -> Scratch {
        let array = self.tile_array(tile, buffer);
        let transposed = Transposed { buffer, position: position.clone(), vars, array };
        let within = self.emitter.step_out(tile.body);
        self.copy(tile, &transposed, |nest, position, at| {
            let value = nest.emitter.load_buffer(buffer, position, None);
            nest.emitter.builder.store(array, at, value);
        });
        self.emitter.builder.barrier();
        self.emitter.step_in(within);
        self.tile.as_mut().expect("tiles are open").loaded.push(transposed);
        array
    }

    /// Walks the tile with lanes along the crossing axis; `body` takes the position in memory and in the array, in which
    /// neighbours along the axis of the lanes are neighbours.
    fn copy(&mut self, tile: &Tile, transposed: &Transposed, body: impl FnOnce(&mut Self, Expr, Expr)) {
        let mut open = |range: &Range, kind| {
            self.emitter.open_loop(&range.axis.to_string(), range.begin.clone(), range.end.clone(), kind)
        };
        let row = open(&tile.along, LoopKind::Transpose);
        let column = open(&tile.cross, LoopKind::Lanes);
        let at = place_in(tile, [column, row]);
        let [cross, along] = transposed.vars;
        let moved = |sym| [(cross, column), (along, row)].into_iter().find(|(from, _)| *from == sym);
        let position = transposed.position.substitute(&|sym| moved(sym).map(|(_, to)| Expr::sym(to)));
        body(self, position, at);
        self.emitter.close_loop();
        self.emitter.close_loop();
    }
}

/// An index, or the last one of its range if it is past that.
fn clamped(index: Expr, end: &Expr) -> Expr {
    Expr::min(&index, &(end.clone() - Expr::one()))
}

/// The position of two loops over the tile in an array, row-major.
fn place_in(tile: &Tile, [cross, along]: [Sym; 2]) -> Expr {
    let within = |var, range: &Range| Expr::sym(var) - range.begin.clone();
    within(cross, &tile.cross) * Expr::constant(tile.stride) + within(along, &tile.along)
}
