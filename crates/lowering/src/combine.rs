//! The combine step of folds whose elements several blocks share: a second kernel that folds the blocks' partial
//! results in the order of the chunks, and makes the stores that waited for them.

use index::Expr;
use ir::graph::Shape;
use kernel::{Access, Accumulator, LoopKind, Scratch, Value};
use ops::{DType, Scalar, ScalarOp};

use crate::address::delinearize;
use crate::emitter::{Emitter, KernelLanes};
use crate::fold::{FoldEmitter, PartialLayout, kept_shape, partial_dtypes};
use crate::layer::layer;
use crate::{BufferSource, Group, Lowered};
use scheduler::legal::When;
use scheduler::schedule::Schedule;
use space::Axis;
use target::cpu::COMBINED_RESULTS;
use target::gpu::COMBINED_CHUNKS;

/// Folds that are finished together.
pub(crate) struct Step {
    number: usize,
    folds: Vec<usize>,
}

impl Step {
    /// Results of a block, and the teams that share the chunks of each.
    fn lanes(&self, group: &Group<'_>) -> Option<(u32, u32)> {
        let chosen = &group.schedule.combine;
        chosen.get(self.number).or(chosen.last()).copied()
    }
}

/// A combine step's kernel under construction.
struct CombineKernel<'a> {
    folds: FoldEmitter<'a>,
}

layer!(CombineKernel, folds: FoldEmitter);

/// The combine steps of a group's crossing folds.
pub(crate) fn steps(group: &Group<'_>) -> impl Iterator<Item = Step> {
    let steps = group.schedule.combine_steps(group.witness).into_iter().enumerate();
    steps.map(|(number, folds)| Step { number, folds })
}

/// The kernel of a combine step.
pub(crate) fn kernel(group: &Group<'_>, step: &Step) -> Lowered {
    let shape = kept_shape(group, &group.witness.folds[step.folds[0]]);
    let is_one = shape.iter().all(|size| size.is_one());
    let Schedule { lanes, warp, cluster, .. } = *group.schedule;
    let (lanes, warp) = match step.lanes(group) {
        Some((results, teams)) if !is_one => (results * teams, results * teams),
        _ => (lanes / cluster, warp.unwrap_or(lanes)),
    };
    let lanes = KernelLanes { lanes, warp, teams: 1, cluster: 1 };
    let emitter = Emitter::new(group, &group.kernel_name(Some(step.number)), &lanes);
    let mut combine = CombineKernel { folds: FoldEmitter::new(emitter) };
    if is_one {
        combine.one(step);
    } else {
        combine.many(step, shape);
    }
    combine.finish()
}

impl CombineKernel<'_> {
    /// One result: the lanes share the chunks.
    fn one(&mut self, step: &Step) {
        let chunks = self.chunks(step);
        let accumulators: Vec<_> = step.folds.iter().map(|&fold| self.open_totals(fold)).collect();
        let chunk = self.emitter.open_loop("chunk", Expr::zero(), chunks, LoopKind::Lanes);
        for (&fold, accumulators) in step.folds.iter().zip(&accumulators) {
            self.take(fold, accumulators, |this| this.partial(fold, Expr::sym(chunk)));
        }
        self.emitter.close_loop();
        for (&fold, accumulators) in step.folds.iter().zip(&accumulators) {
            let values = self.reduce(fold, accumulators);
            self.know_fold(fold, &values);
        }
        self.store_waiting(step);
    }

    /// Many results: the lanes share the results and each takes the chunks in order. Or teams of lanes share the chunks too,
    /// and then each lane combines the results of the teams.
    fn many(&mut self, step: &Step, shape: &Shape) {
        let group = self.emitter.group;
        let chunks = self.chunks(step);
        let sizes = self.emitter.sizes(shape);
        let count = sizes.iter().fold(Expr::one(), |n, size| n * size.clone());
        let (results, teams) = step.lanes(&group).unwrap_or((COMBINED_RESULTS, 1));
        let of_block = Expr::constant(results.into());
        self.emitter.builder.kernel.blocks = count.ceil_div(&of_block);
        let begin = Expr::sym(self.emitter.builder.kernel.block) * of_block.clone();
        let slots = if teams > 1 { self.teams(step, [&begin, &count, &chunks]) } else { Vec::new() };
        let end = Expr::min(&(begin.clone() + of_block.clone()), &count);
        let result = self.emitter.open_loop("result", begin.clone(), end, LoopKind::Lanes);
        let result = Expr::sym(result);
        let accumulators: Vec<_> = step.folds.iter().map(|&fold| self.open_totals(fold)).collect();
        let (name, parts) = match teams {
            1 => ("chunk", chunks),
            teams => ("team", Expr::constant(teams.into())),
        };
        let part = Expr::sym(self.emitter.open_loop(name, Expr::zero(), parts, LoopKind::Serial));
        for (place, (&fold, accumulators)) in step.folds.iter().zip(&accumulators).enumerate() {
            self.take(fold, accumulators, |this| match slots.get(place) {
                Some(slots) => {
                    let at = part.clone() * of_block.clone() + result.clone() - begin.clone();
                    slots.iter().map(|&slot| this.emitter.builder.load(slot, at.clone())).collect()
                }
                None => this.partial(fold, part.clone() * count.clone() + result.clone()),
            });
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

    /// The teams take turns at the chunks; each loads several before it uses the first. Returns the scratch arrays of each
    /// fold, where each lane leaves its states.
    fn teams(&mut self, step: &Step, [begin, count, chunks]: [&Expr; 3]) -> Vec<Vec<Scratch>> {
        let (results, teams) = step.lanes(&self.emitter.group).expect("teams are chosen");
        let [results, teams, together] =
            [results, teams, COMBINED_CHUNKS as u32].map(|number| Expr::constant(number.into()));
        let lanes = results.clone() * teams.clone();
        let lane = Expr::sym(self.emitter.open_loop("lane", Expr::zero(), lanes.clone(), LoopKind::Lanes));
        // Lanes past the last result repeat it.
        let result = begin.clone() + lane.modulo(&results);
        let result = Expr::min(&result, &(count.clone() - Expr::one()));
        let accumulators: Vec<_> = step.folds.iter().map(|&fold| self.open_totals(fold)).collect();
        let rounds = chunks.ceil_div(&(teams.clone() * together.clone()));
        let round = self.emitter.open_loop("round", Expr::zero(), rounds, LoopKind::Serial);
        let iteration = self.emitter.open_loop("iteration", Expr::zero(), together.clone(), LoopKind::Serial);
        let iteration = Expr::sym(round) * together + Expr::sym(iteration);
        let chunk = iteration * teams + lane.floor_div(&results);
        let operands = [self.emitter.index(&chunk), self.emitter.index(chunks)];
        let exists = self.emitter.apply(ScalarOp::Lt, &operands);
        // No machine moves a conditional load before the use of another: elements past the end are loaded, and not used.
        let at = Expr::min(&chunk, &(chunks.clone() - Expr::one())) * count.clone() + result;
        for (&fold, accumulators) in step.folds.iter().zip(&accumulators) {
            self.take(fold, accumulators, |this| {
                let (loaded, identity) = (this.partial(fold, at.clone()), this.states(fold).total_identity());
                let choose = |(state, begins): (Value, Scalar)| {
                    let dtype = this.emitter.builder.dtype(state);
                    let begins = this.emitter.constant(begins.cast(dtype));
                    this.select(exists, state, begins)
                };
                loaded.into_iter().zip(identity).map(choose).collect()
            });
        }
        self.emitter.close_loop();
        self.emitter.close_loop();
        let mut leave = |accumulator: &Accumulator| {
            let builder = &mut self.emitter.builder;
            let value = builder.get(*accumulator);
            let slots = builder.scratch(builder.accumulator_dtype(*accumulator), lanes.clone());
            builder.store(slots, lane.clone(), value);
            slots
        };
        let slots = accumulators.iter().map(|states| states.iter().map(&mut leave).collect()).collect();
        self.emitter.close_loop();
        self.barrier();
        slots
    }

    /// How many chunks there are.
    fn chunks(&mut self, step: &Step) -> Expr {
        let group = self.emitter.group;
        self.emitter.size(&PartialLayout::of(&group, step.folds[0]).chunks(&group))
    }

    /// A partial result of a fold.
    fn partial(&mut self, fold: usize, at: Expr) -> Vec<Value> {
        let group = self.emitter.group;
        let first = PartialLayout::of(&group, fold).first_temporary;
        let load = |(state, dtype): (usize, DType)| {
            let source = BufferSource::Temporary(first + state);
            let buffer = self.emitter.buffer(source, dtype, Access::Read);
            self.emitter.load_buffer(buffer, at.clone(), None)
        };
        partial_dtypes(&group, fold).into_iter().enumerate().map(load).collect()
    }

    /// Combines one partial result into accumulators.
    fn take(
        &mut self,
        fold: usize,
        accumulators: &[Accumulator],
        partial: impl FnOnce(&mut Self) -> Vec<Value>,
    ) {
        let old: Vec<Value> = accumulators.iter().map(|&acc| self.emitter.builder.get(acc)).collect();
        let partial = partial(self);
        let new = self.combine(fold, &old, &partial);
        accumulators.iter().zip(new).for_each(|(&acc, value)| self.emitter.builder.set(acc, value));
    }

    /// Makes the stores that waited for the folds of a step, at the step's index.
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
