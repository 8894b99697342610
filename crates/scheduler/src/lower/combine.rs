//! The combine step of folds whose elements several blocks share: a second kernel that folds the blocks' partial
//! results in the order of the chunks, and makes the stores that waited for them.

use index::Expr;
use ir::graph::Shape;
use ir::kernel::{Access, Accumulator, LoopKind, Value};

use super::address::delinearize;
use super::emitter::Emitter;
use super::fold::{FoldEmitter, PartialLayout, kept_shape, states};
use super::layer::layer;
use super::{BufferSource, Group, Lowered};
use crate::legal::When;
use crate::space::Axis;
use crate::target::cpu::COMBINED_RESULTS;

/// Folds that are finished together: they reduce and keep the same axes, those of size 1 aside.
pub(super) struct Step {
    number: usize,
    folds: Vec<usize>,
}

/// A combine step's kernel under construction.
struct CombineKernel<'a> {
    folds: FoldEmitter<'a>,
}

layer!(CombineKernel, folds: FoldEmitter);

/// The combine steps of a group's crossing folds.
pub(super) fn steps(group: &Group<'_>) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for fold in group.crossing() {
        let kept = |number: usize| group.witness.folds[number].kept_axes().collect::<Vec<Axis>>();
        let divided = |number: usize| PartialLayout::of(group, number).divided;
        let alike =
            |step: &&mut Step| kept(step.folds[0]) == kept(fold) && divided(step.folds[0]) == divided(fold);
        match steps.iter_mut().find(alike) {
            Some(step) => step.folds.push(fold),
            None => steps.push(Step { number: steps.len(), folds: vec![fold] }),
        }
    }
    steps
}

/// The kernel of a combine step.
pub(super) fn kernel(group: &Group<'_>, step: &Step) -> Lowered {
    let emitter = Emitter::new(group, &format!("{}_combine{}", group.name, step.number));
    let mut combine = CombineKernel { folds: FoldEmitter::new(emitter) };
    let shape = kept_shape(group, &group.witness.folds[step.folds[0]]);
    if shape.iter().all(|size| size.is_one()) {
        combine.one(step);
    } else {
        combine.many(step, shape);
    }
    combine.finish()
}

impl CombineKernel<'_> {
    /// One result: the lanes share the chunks.
    fn one(&mut self, step: &Step) {
        let group = self.emitter.group;
        let chunks = PartialLayout::of(&group, step.folds[0]).chunks(&group);
        let chunks = self.emitter.size(&chunks);
        let accumulators: Vec<_> = step.folds.iter().map(|&fold| self.open_totals(fold)).collect();
        let chunk = self.emitter.open_loop("chunk", Expr::zero(), chunks, LoopKind::Lanes);
        for (&fold, accumulators) in step.folds.iter().zip(&accumulators) {
            self.take_partial(fold, accumulators, Expr::sym(chunk));
        }
        self.emitter.close_loop();
        for (&fold, accumulators) in step.folds.iter().zip(&accumulators) {
            let values = self.reduce(fold, accumulators);
            self.know_fold(fold, &values);
        }
        self.store_waiting(step);
    }

    /// Many results: the lanes share the results, each takes the chunks in order.
    fn many(&mut self, step: &Step, shape: &Shape) {
        let group = self.emitter.group;
        let chunks = PartialLayout::of(&group, step.folds[0]).chunks(&group);
        let chunks = self.emitter.size(&chunks);
        let sizes = self.emitter.sizes(shape);
        let count = sizes.iter().fold(Expr::one(), |n, size| n * size.clone());
        if let Some(lanes) = group.schedule.combine {
            (self.emitter.builder.kernel.lanes, self.emitter.builder.kernel.warp) = (lanes, lanes);
        }
        let results = Expr::constant(group.schedule.combine.map_or(COMBINED_RESULTS, i64::from));
        self.emitter.builder.kernel.blocks = count.ceil_div(&results);
        let begin = Expr::sym(self.emitter.builder.kernel.block) * results.clone();
        let end = Expr::min(&(begin.clone() + results), &count);
        let result = self.emitter.open_loop("result", begin, end, LoopKind::Lanes);
        let result = Expr::sym(result);
        let accumulators: Vec<_> = step.folds.iter().map(|&fold| self.open_totals(fold)).collect();
        let chunk = self.emitter.open_loop("chunk", Expr::zero(), chunks, LoopKind::Serial);
        let at = Expr::sym(chunk) * count + result.clone();
        for (&fold, accumulators) in step.folds.iter().zip(&accumulators) {
            self.take_partial(fold, accumulators, at.clone());
        }
        self.emitter.close_loop();
        let axes: Vec<Axis> = group.witness.folds[step.folds[0]].kept_axes().collect();
        let sizes: Vec<Expr> =
            axes.iter().map(|&axis| self.emitter.size(group.witness.space.size(axis))).collect();
        self.open_loops.at = axes.into_iter().zip(delinearize(&result, &sizes)).collect();
        for (&fold, accumulators) in step.folds.iter().zip(&accumulators) {
            let values: Vec<Value> = accumulators.iter().map(|&acc| self.emitter.builder.get(acc)).collect();
            self.know_fold(fold, &values);
        }
        self.store_waiting(step);
        self.emitter.close_loop();
    }

    /// Combines one partial result into accumulators.
    fn take_partial(&mut self, fold: usize, accumulators: &[Accumulator], at: Expr) {
        let group = self.emitter.group;
        let node = group.witness.folds[fold].node;
        let first = PartialLayout::of(&group, fold).first_temporary;
        let dtypes = states(&group, fold);
        let old: Vec<Value> = accumulators.iter().map(|&acc| self.emitter.builder.get(acc)).collect();
        let partial: Vec<Value> = dtypes
            .iter()
            .enumerate()
            .map(|(state, &dtype)| {
                let source = BufferSource::Temporary(first + state);
                let buffer =
                    self.emitter.buffer(source, &format!("{node}_partial{state}"), dtype, Access::Read);
                self.emitter.load_buffer(buffer, at.clone(), None)
            })
            .collect();
        let new = self.combine(fold, &old, &partial);
        accumulators.iter().zip(new).for_each(|(&acc, value)| self.emitter.builder.set(acc, value));
    }

    /// Makes the stores that waited for the folds of a step, where the step stands.
    fn store_waiting(&mut self, step: &Step) {
        let group = self.emitter.group;
        for (number, store) in group.witness.stores.iter().enumerate() {
            let When::After(folds) = &store.when else { continue };
            if !step.folds.contains(&folds[0]) {
                continue;
            }
            let index = self.index_of(&store.axes);
            self.store_value(number, store.val, &index);
        }
    }
}
