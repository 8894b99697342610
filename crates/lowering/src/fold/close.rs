//! Folds are closed: their results become known, stay in scratch, or lie in memory for the combine step.

use index::Expr;
use kernel::{Access, Accumulator, Value};

use super::{Arrays, FoldEmitter, OpenFold, PartialLayout, Storage};
use crate::BufferSource;
use crate::loops::Walk;
use space::Axis;

impl FoldEmitter<'_> {
    /// Closes folds: their results become known, or are left to the combine step, those in arrays over the same axes by one
    /// loop.
    pub fn close_folds(&mut self, closing: &[OpenFold]) {
        for alike in
            closing.chunk_by(|a, b| a.row == b.row && a.dims().is_some_and(|dims| b.dims() == Some(dims)))
        {
            self.at_row(alike[0].row, |this| match &alike[0].storage {
                Storage::Registers(accumulators) => this.close_registers(&alike[0], accumulators),
                Storage::Arrays(arrays) => this.close_arrays(alike, &arrays.dims),
            });
        }
    }

    fn close_registers(&mut self, open: &OpenFold, accumulators: &[Accumulator]) {
        let states = if open.lane_mapped {
            self.reduce(open.fold, accumulators)
        } else {
            accumulators.iter().map(|&acc| self.emitter.builder.get(acc)).collect()
        };
        self.publish(open.fold, &states);
    }

    fn close_arrays(&mut self, closing: &[OpenFold], dims: &[Axis]) {
        self.barrier();
        let mut waiting: Vec<(usize, &Arrays)> = Vec::new();
        for (fold, arrays) in closing.iter().filter_map(|open| Some((open.fold, open.arrays()?))) {
            self.keep_fold(fold, arrays.blocks.clone(), dims);
            let has_results = arrays.totals.is_none() && self.states(fold).is_finished();
            if self.emitter.group.crosses(fold) || !has_results {
                waiting.push((fold, arrays));
            }
        }
        if waiting.is_empty() {
            return;
        }
        self.walk(dims, &mut |this| {
            let at = this.dim_index(dims);
            for (fold, arrays) in &waiting {
                let states = this.total(*fold, arrays, &at);
                if this.emitter.group.crosses(*fold) {
                    this.publish(*fold, &states);
                } else {
                    this.put_results(*fold, arrays, &at, &states);
                }
            }
        });
        if waiting.iter().any(|(fold, _)| !self.emitter.group.crosses(*fold)) {
            self.barrier();
        }
    }

    /// Stores results in place of the states that they are computed from.
    fn put_results(&mut self, fold: usize, arrays: &Arrays, at: &Expr, states: &[Value]) {
        let results = self.states(fold).finish(&mut self.emitter, states);
        // Where all lanes hold the same, none may store before all have loaded.
        self.barrier();
        for (&array, result) in arrays.blocks.iter().zip(results) {
            self.emitter.builder.store(array, at.clone(), result);
        }
    }

    /// Makes the results of a fold known at the open loops, or stores them as partial results.
    fn publish(&mut self, number: usize, states: &[Value]) {
        if !self.emitter.group.crosses(number) {
            return self.know_fold(number, states);
        }
        let fold = &self.witness().folds[number];
        let index = self.index_of(&fold.kept);
        let layout = PartialLayout::of(&self.emitter.group, number);
        let position = layout.position(self, &index);
        let position = self.emitter.recombined(&position);
        let dtypes = self.states(number).partial_dtypes();
        for (state, (&value, dtype)) in states.iter().zip(dtypes).enumerate() {
            let value = self.emitter.cast(value, dtype);
            let source = BufferSource::Temporary(layout.first_temporary + state);
            let buffer = self.emitter.buffer(source, dtype, Access::Write);
            self.emitter.builder.store(buffer, position.clone(), value);
        }
    }

    /// Makes the results of a fold that ends with these states known at the open loops.
    pub fn know_fold(&mut self, number: usize, states: &[Value]) {
        let fold = &self.witness().folds[number];
        let results = self.states(number).finish(&mut self.emitter, states);
        self.know(fold.node, &fold.kept, &results);
    }
}
