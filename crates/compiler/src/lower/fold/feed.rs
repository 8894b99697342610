//! Folds take elements: into registers, or into arrays whose states are loaded and stored once for all rows that are walked
//! together. Lanes that would share a place of an array collect in registers of their own first.

use ir::index::Expr;
use ir::kernel::{Accumulator, Place, Scratch, Value};

use super::Storage;
use crate::lower::nest::Nest;
use crate::space::Axis;

/// Accumulators that collect per lane what then goes into an array.
pub(in crate::lower) struct Temps {
    fold: usize,
    row: Option<u32>,
    accumulators: Vec<Accumulator>,
}

/// States of an array between their load and their store: rows that are walked together share both.
pub(in crate::lower) struct Held {
    fold: usize,
    row: Option<u32>,
    arrays: Vec<Scratch>,
    at: Expr,
    states: Vec<Value>,
}

impl Nest<'_> {
    /// Accumulators outside the loop over lanes, for a fold into an array that the lanes would share.
    pub fn open_lane_temps(&mut self, fold: usize, lane: Axis, temps: &mut Vec<Temps>) {
        let shared = self.array_dims(fold).is_some_and(|dims| !dims.contains(&lane));
        let row = self.opened(fold).and_then(|open| self.row_of(open));
        if shared && !temps.iter().any(|temps| temps.fold == fold && temps.row == row) {
            temps.push(Temps { fold, row, accumulators: self.open_states(fold) });
        }
    }

    /// Takes the element at the open loops into a fold.
    pub fn feed(&mut self, fold: usize, temps: &[Temps], held: &mut Vec<Held>) {
        let states = self.states(fold);
        let element = self.element(self.witness().folds[fold].node);
        let in_lanes = self.emitter.in_lanes();
        let place = self.place_of(fold).expect("opened before its stage");
        let row = self.row_of(&self.open[place]);
        let temps = temps.iter().find(|temps| temps.fold == fold && temps.row == row);
        let open = &mut self.open[place];
        open.dealt |= in_lanes && !open.per_lane && temps.is_none();
        let storage = open.storage.clone();
        match (temps.map(|temps| &temps.accumulators), &storage) {
            (Some(accumulators), _) | (None, Storage::Registers(accumulators)) => {
                states.advance(&mut self.emitter, accumulators, &element);
            }
            (None, Storage::Arrays(arrays, dims)) => {
                let known = held.iter().position(|held| held.fold == fold && held.row == row);
                let place = known.unwrap_or_else(|| {
                    held.push(self.hold(fold, row, arrays, dims));
                    held.len() - 1
                });
                held[place].states = states.step(&mut self.emitter, &held[place].states, &element);
            }
        }
    }

    /// Loads the states of a fold where the loops stand.
    fn hold(&mut self, fold: usize, row: Option<u32>, arrays: &[Scratch], dims: &[Axis]) -> Held {
        let at = self.dim_index(dims);
        let states = arrays.iter().map(|&array| self.emitter.load_scratch(array, at.clone())).collect();
        Held { fold, row, arrays: arrays.to_vec(), at, states }
    }

    /// Stores states where they were loaded.
    pub fn put_back(&mut self, held: Held) {
        self.replace(&held.arrays, &held.at, &held.states);
    }

    /// Adds what the lanes collected to the array.
    pub fn close_temps(&mut self, temps: &Temps) {
        self.at_row(temps.row, |nest| nest.add_temps(temps));
    }

    fn add_temps(&mut self, temps: &Temps) {
        let collected = self.reduce(temps.fold, &temps.accumulators);
        let open = self.opened(temps.fold).expect("closed after its temps").clone();
        let Storage::Arrays(arrays, dims) = &open.storage else { unreachable!("temps feed arrays") };
        let at = self.dim_index(dims);
        let old: Vec<Value> =
            arrays.iter().map(|&array| self.emitter.load_scratch(array, at.clone())).collect();
        let new = self.combine(temps.fold, &old, &collected);
        self.replace(arrays, &at, &new);
    }

    /// Stores new states; where all lanes hold the same, none may store before all have loaded.
    fn replace(&mut self, arrays: &[Scratch], at: &Expr, states: &[Value]) {
        self.barrier();
        for (&array, &state) in arrays.iter().zip(states) {
            self.emitter.store(Place::Scratch(array), at.clone(), state);
        }
        self.barrier();
    }
}
