//! The combine step of folds whose elements several blocks share: a second kernel that folds the blocks' partial
//! results in the order of the chunks, and makes the stores that waited for them.
//!
//! Partial results lie chunk by chunk, each chunk row-major over what the fold keeps.

use index::Expr;
use ir::graph::Val;
use ir::kernel::{Access, Accumulator, LoopKind, Value};
use ops::DType;

use super::address::{delinearize, row_major};
use super::emitter::Emitter;
use super::fold::States;
use super::nest::Nest;
use super::{BufferSource, Group, Lowered, Temporary};
use crate::legal::{Fold, When};
use crate::space::Axis;

/// How many results one block of the combine kernel makes.
const RESULTS: i64 = 256;

/// Folds that are finished together: they reduce and keep the same axes, those of size 1 aside.
pub(super) struct Step {
    number: usize,
    folds: Vec<usize>,
}

/// Where the partial results of one fold lie.
pub(super) struct PartialLayout<'a> {
    fold: &'a Fold,
    /// The divided axes among those that the fold reduces, outermost first.
    divided: Vec<Axis>,
    /// The number of the first of its temporaries, one a state.
    pub first_temporary: usize,
}

impl Group<'_> {
    /// Whether blocks divide what a terminal fold reduces, so that a combine step must finish it.
    pub(super) fn crosses(&self, number: usize) -> bool {
        let fold = &self.witness.folds[number];
        let reduced = self.schedule.loops_of(fold.reduced.iter().copied());
        fold.terminal && self.schedule.blocks.iter().any(|(axis, _)| reduced.contains(axis))
    }

    /// The folds that cross blocks.
    fn crossing(&self) -> impl Iterator<Item = usize> {
        (0..self.witness.folds.len()).filter(|&number| self.crosses(number))
    }
}

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

fn states(group: &Group<'_>, fold: usize) -> Vec<DType> {
    States::of(group.graph, group.witness.folds[fold].node).partial_dtypes()
}

impl<'a> PartialLayout<'a> {
    /// The layout of a fold's partial results. Temporaries are numbered through the crossing folds in step order.
    pub fn of(group: &Group<'a>, number: usize) -> PartialLayout<'a> {
        let fold = &group.witness.folds[number];
        let divided: Vec<Axis> = group
            .schedule
            .blocks
            .iter()
            .map(|(axis, _)| *axis)
            .filter(|axis| group.schedule.loops_of(fold.reduced.iter().copied()).contains(axis))
            .collect();
        PartialLayout { fold, divided, first_temporary: first_temporary(group, number) }
    }

    /// How many chunks there are, over the graph's size symbols.
    fn chunks(&self, group: &Group<'_>) -> Expr {
        let count = |axis: &Axis| {
            let chunk = group.schedule.chunk(*axis).expect("a divided axis has chunks");
            group.schedule.extent(group.witness, *axis).ceil_div(&Expr::constant(chunk as i64))
        };
        self.divided.iter().fold(Expr::one(), |n, axis| n * count(axis))
    }

    /// The position of this block's partial result at an index of what the fold keeps.
    pub fn position(&self, nest: &mut Nest<'_>, index: &[Expr]) -> Expr {
        let group = nest.emitter.group;
        let mut chunk = Expr::zero();
        for axis in &self.divided {
            let length = group.schedule.chunk(*axis).expect("a divided axis has chunks");
            let count = group.schedule.extent(group.witness, *axis).ceil_div(&Expr::constant(length as i64));
            let count = nest.emitter.size(&count);
            chunk = chunk * count + nest.open_loops.chunks[axis].2.clone();
        }
        let sizes = nest.emitter.sizes(kept_shape(&group, self.fold));
        let kept = sizes.iter().fold(Expr::one(), |n, size| n * size.clone());
        chunk * kept + row_major(index, &sizes)
    }
}

fn kept_shape<'a>(group: &Group<'a>, fold: &Fold) -> &'a ir::graph::Shape {
    group.graph.shape(Val::from(fold.node))
}

/// Temporaries are numbered fold by fold, by the folds' numbers.
fn first_temporary(group: &Group<'_>, number: usize) -> usize {
    group.crossing().take_while(|&fold| fold < number).map(|fold| states(group, fold).len()).sum()
}

/// The memory that the kernels of a group will share: the partial results of folds that cross blocks, in order.
pub fn temporaries(group: &Group<'_>) -> Vec<Temporary> {
    let mut temporaries = Vec::new();
    for number in group.crossing() {
        let layout = PartialLayout::of(group, number);
        let kept = kept_shape(group, layout.fold).iter().fold(Expr::one(), |n, size| n * size.clone());
        let len = layout.chunks(group) * kept;
        temporaries
            .extend(states(group, number).into_iter().map(|dtype| Temporary { dtype, len: len.clone() }));
    }
    temporaries
}

/// The kernel of a combine step.
pub(super) fn kernel(group: &Group<'_>, step: &Step) -> Lowered {
    let mut nest = Nest::new(Emitter::new(group, &format!("{}_combine{}", group.name, step.number)));
    let shape = kept_shape(group, &group.witness.folds[step.folds[0]]);
    if shape.iter().all(|size| size.is_one()) {
        nest.combine_one(step);
    } else {
        nest.combine_many(step, shape);
    }
    nest.emitter.finish()
}

impl Nest<'_> {
    /// One result: the lanes share the chunks.
    fn combine_one(&mut self, step: &Step) {
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
    fn combine_many(&mut self, step: &Step, shape: &ir::graph::Shape) {
        let group = self.emitter.group;
        let chunks = PartialLayout::of(&group, step.folds[0]).chunks(&group);
        let chunks = self.emitter.size(&chunks);
        let sizes = self.emitter.sizes(shape);
        let count = sizes.iter().fold(Expr::one(), |n, size| n * size.clone());
        if let Some(lanes) = group.schedule.combine {
            (self.emitter.builder.kernel.lanes, self.emitter.builder.kernel.warp) = (lanes, lanes);
        }
        let results = Expr::constant(group.schedule.combine.map_or(RESULTS, i64::from));
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
