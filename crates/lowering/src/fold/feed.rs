//! Folds take elements: into registers, or into arrays whose states are loaded and stored once for all jammed rows. Lanes
//! that would share an element of an array accumulate in their own registers first, and so do blocks of a fold that
//! continues in another dtype.

use index::Expr;
use kernel::{Accumulator, Scratch, Value};

use super::{Arrays, FoldEmitter, Storage};
use crate::loops::Walk;
use space::Axis;

/// Accumulators of each lane for what later goes into an array, or into totals.
pub(crate) struct Temps {
    pub(super) fold: usize,
    row: Option<u32>,
    accumulators: Vec<Accumulator>,
    /// Whether they are opened inside the loop over lanes.
    pub(super) in_lanes: bool,
}

/// States of an array between their load and their store: rows that are walked together share both.
pub(crate) struct Held {
    fold: usize,
    row: Option<u32>,
    arrays: Vec<Scratch>,
    at: Expr,
    states: Vec<Value>,
    /// Elements that they have not taken yet.
    waiting: Vec<Vec<Value>>,
    /// The states of a block that stays in registers; they are added to the others before the store.
    block: Option<Vec<Value>>,
}

impl FoldEmitter<'_> {
    /// Accumulators outside the loop over lanes, for a fold into an array whose elements the lanes would share.
    pub fn open_lane_temps(&mut self, fold: usize, lane: Axis, in_blocks: bool, temps: &mut Vec<Temps>) {
        let shared = self.array_dims(fold).is_some_and(|dims| !dims.contains(&lane));
        if shared {
            self.open_temp(fold, in_blocks, temps);
        }
    }

    /// Accumulators for a block of a fold whose totals are in registers of a wider dtype.
    pub fn open_block_temps(&mut self, fold: usize, temps: &mut Vec<Temps>) {
        if self.array_dims(fold).is_none() && self.states(fold).widens() {
            self.open_temp(fold, true, temps);
        }
    }

    fn open_temp(&mut self, fold: usize, in_blocks: bool, temps: &mut Vec<Temps>) {
        let row = self.opened(fold).and_then(|open| self.row_of(open));
        if !temps.iter().any(|temps| temps.fold == fold && temps.row == row) {
            let in_lanes = self.emitter.builder.in_lanes();
            let accumulators = if in_blocks { self.open_block(fold) } else { self.open_totals(fold) };
            temps.push(Temps { fold, row, accumulators, in_lanes });
        }
    }

    /// Takes the element at the open loops into a fold: into a block, or into totals if there are no blocks.
    pub fn feed(&mut self, fold: usize, temps: &[&Temps], in_blocks: bool, held: &mut Vec<Held>) {
        let states = self.states(fold);
        let node = self.witness().folds[fold].node;
        let element = self.element(node);
        let in_lanes = self.emitter.builder.in_lanes();
        let place = self.place_of(fold).expect("opened before its stage");
        let row = self.row_of(&self.open[place]);
        let temps = temps.iter().find(|temps| temps.fold == fold && temps.row == row);
        let open = &mut self.open[place];
        open.lane_mapped |= in_lanes && !open.per_lane && temps.is_none();
        let storage = open.storage.clone();
        match (temps.map(|temps| &temps.accumulators), &storage) {
            (Some(accumulators), _) | (None, Storage::Registers(accumulators)) => {
                states.advance(&mut self.emitter, accumulators, &element);
            }
            (None, Storage::Arrays(arrays)) => {
                let known = held.iter().position(|held| held.fold == fold && held.row == row);
                let place = known.unwrap_or_else(|| {
                    held.push(self.hold(fold, row, arrays, in_blocks));
                    held.len() - 1
                });
                let Held { states: total, waiting, block, .. } = &mut held[place];
                if states.monoid().rescaled().is_some() {
                    return waiting.push(element);
                }
                let taking = block.as_mut().unwrap_or(total);
                *taking = match known {
                    Some(_) => states.next(&mut self.emitter, taking, &element),
                    None => states.step(&mut self.emitter, taking, &element),
                };
            }
        }
    }

    /// Loads the states of a fold where the loops stand.
    fn hold(&mut self, fold: usize, row: Option<u32>, arrays: &Arrays, in_blocks: bool) -> Held {
        let at = self.dim_index(&arrays.dims);
        let collects = arrays.collects;
        let arrays = arrays.totals.as_ref().filter(|_| !in_blocks).unwrap_or(&arrays.blocks);
        let states = arrays.iter().map(|&array| self.emitter.builder.load(array, at.clone())).collect();
        let identity = collects.then(|| self.states(fold).identity());
        let block = identity.map(|begin| begin.into_iter().map(|init| self.emitter.constant(init)).collect());
        Held { fold, row, arrays: arrays.clone(), at, states, waiting: Vec::new(), block }
    }

    /// Stores states where they were loaded.
    pub fn put_back(&mut self, held: Held) {
        let states = match &held.block {
            Some(block) => self.combine(held.fold, &held.states, block),
            None if held.waiting.is_empty() => held.states,
            None => self.states(held.fold).take(&mut self.emitter, &held.states, &held.waiting),
        };
        self.replace(&held.arrays, &held.at, &states);
    }

    /// Adds these accumulators to the array or to the totals, or initializes those with them if they come first.
    pub fn close_temps(&mut self, temps: &Temps, is_first: bool) {
        self.at_row(temps.row, |this| this.add_temps(temps, is_first));
    }

    /// Adds what a lane collected to its own totals.
    pub(super) fn add_in_lanes(&mut self, temps: &Temps) {
        self.at_row(temps.row, |this| {
            let place = this.place_of(temps.fold).expect("closed after its temps");
            this.open[place].lane_mapped |= !this.open[place].per_lane;
            let collected: Vec<Value> =
                temps.accumulators.iter().map(|&acc| this.emitter.builder.get(acc)).collect();
            let Storage::Registers(accumulators) = this.open[place].storage.clone() else {
                unreachable!("lanes have totals in registers")
            };
            let old: Vec<Value> = accumulators.iter().map(|&acc| this.emitter.builder.get(acc)).collect();
            let new = this.combine(temps.fold, &old, &collected);
            accumulators.iter().zip(new).for_each(|(&acc, value)| this.emitter.builder.set(acc, value));
        });
    }

    fn add_temps(&mut self, temps: &Temps, is_first: bool) {
        let collected = if temps.in_lanes {
            temps.accumulators.iter().map(|&acc| self.emitter.builder.get(acc)).collect()
        } else {
            self.reduce(temps.fold, &temps.accumulators)
        };
        let place = self.place_of(temps.fold).expect("closed after its temps");
        self.open[place].lane_mapped |= temps.in_lanes && !self.open[place].per_lane;
        match self.open[place].storage.clone() {
            Storage::Registers(accumulators) => {
                let new = if is_first && self.open[place].depth.is_none() {
                    collected
                } else {
                    let old: Vec<Value> =
                        accumulators.iter().map(|&acc| self.emitter.builder.get(acc)).collect();
                    self.combine(temps.fold, &old, &collected)
                };
                for (&acc, value) in accumulators.iter().zip(new) {
                    let total = self.emitter.builder.kernel.accumulators[acc];
                    let value = self.emitter.cast(value, total);
                    self.emitter.builder.set(acc, value);
                }
            }
            Storage::Arrays(arrays) => {
                let at = self.dim_index(&arrays.dims);
                let arrays = arrays.totals.as_ref().unwrap_or(&arrays.blocks);
                let old: Vec<Value> =
                    arrays.iter().map(|&array| self.emitter.builder.load(array, at.clone())).collect();
                let new = self.combine(temps.fold, &old, &collected);
                self.replace(arrays, &at, &new);
            }
        }
    }

    /// Stores new states; if all lanes hold the same, none may store before all have loaded.
    fn replace(&mut self, arrays: &[Scratch], at: &Expr, states: &[Value]) {
        self.barrier();
        for (&array, &state) in arrays.iter().zip(states) {
            self.emitter.builder.store(array, at.clone(), state);
        }
        self.barrier();
    }
}
