//! Values that are kept in memory from then on: what several segments compute, what one computes several times by way of
//! index maps, and statistics, without which a kernel can divide its work otherwise. Made by a segment that computes them
//! anyway, or by a new one. All statistics of a stage go together, as those that stay would have workers divide as before.

use std::collections::BTreeMap;

use ir::graph::{Node, TensorOp, Val};

use super::SearchProblem;
use super::state::{Change, State};
use crate::segment::engine::Engine;
use crate::segment::segmentation::segment_view;

impl State<'_> {
    /// Tries the statistics of each segment, and each value that is not kept, first those that are made first; whether any is
    /// kept from then on.
    pub(super) fn keep(&mut self) -> bool {
        let places = 0..self.segments.len();
        let cut = places.filter(|&place| self.steps > 0 && self.try_keep_folds(place)).count();
        let order = self.problem.fusion.order();
        cut + order.iter().filter(|&&node| self.steps > 0 && self.try_keep(node)).count() > 0
    }

    /// Keeps the results of all folds of one stage of a kernel, of those that it uses again; a new segment makes them, also
    /// those that the kernel made.
    fn try_keep_folds(&mut self, place: usize) -> bool {
        let stages = {
            let answer = self.problem.legality.of(self.problem.graph, &self.segments[place].view);
            let Ok(Engine::Kernel(witness)) = &*answer else { return false };
            let mut stages: BTreeMap<u32, Vec<Val>> = BTreeMap::new();
            for fold in witness.folds.iter().filter(|fold| !fold.terminal) {
                let used = self.used(fold.node, |val| self.may_be_made(place, val));
                stages.entry(fold.level).or_default().extend(used);
            }
            stages
        };
        stages.into_values().any(|mut vals| {
            vals.retain(|&val| self.may_be_made(place, val));
            !vals.is_empty()
                && (self.improve(self.split(place, &vals))
                    || self.improve(self.split(place, &self.with_shared(place, &vals))))
        })
    }

    /// Folds, with what they are computed from that other values of a segment are computed from too.
    fn with_shared(&self, place: usize, folds: &[Val]) -> Vec<Val> {
        let SearchProblem { graph, fusion, .. } = self.problem;
        let view = segment_view(graph, fusion, folds, |val| self.kept.contains(&val));
        let rest = &self.segments[place].view;
        let is_rest = |user: &Node| rest.contains(*user) && !view.contains(*user);
        let is_shared = |val: &Val| self.may_be_kept(*val) && fusion.uses(*val).iter().any(is_rest);
        let shared = view.order().iter().flat_map(|&node| graph.results(node)).filter(is_shared);
        let mut vals: Vec<Val> = shared.chain(folds.iter().copied()).collect();
        vals.sort_unstable();
        vals.dedup();
        vals
    }

    /// Whether a value is not kept and could be.
    pub(super) fn may_be_kept(&self, val: Val) -> bool {
        self.is_free(val) && !self.kept.contains(&val)
    }

    /// Whether another segment may make a value that one computes or makes.
    fn may_be_made(&self, place: usize, val: Val) -> bool {
        self.may_be_kept(val) || self.segments[place].made.contains(&val)
    }

    /// The results of a node that something needs. Of a fold that keeps the axes that it reduces, the user knows the result with
    /// these, if that may be made.
    fn used(&self, node: Node, may_be_made: impl Fn(Val) -> bool) -> Vec<Val> {
        let SearchProblem { graph, fusion, .. } = self.problem;
        let named = |val: Val| match fusion.uses(val) {
            [user]
                if matches!(graph.node(*user).op, TensorOp::Broadcast(_)) && may_be_made((*user).into()) =>
            {
                (*user).into()
            }
            _ => val,
        };
        let is_fold = matches!(graph.node(node).op, TensorOp::Fold { .. });
        let used = graph.results(node).filter(|&val| !fusion.uses(val).is_empty());
        used.map(|val| if is_fold { named(val) } else { val }).collect()
    }

    /// Keeps what a node makes, as far as it is used: made by a segment that computes it, alone or with what else that makes,
    /// or, in small fusions, a statistic by one that reads the same tensors.
    fn try_keep(&mut self, node: Node) -> bool {
        let vals = self.used(node, |val| self.may_be_kept(val));
        if vals.is_empty() || !vals.iter().all(|&val| self.may_be_kept(val)) {
            return false;
        }
        let is_fold = matches!(self.problem.graph.node(node).op, TensorOp::Fold { .. });
        let computing = |place: &usize| self.segments[*place].computes(vals[0]);
        let (mut computing, mut others): (Vec<usize>, Vec<usize>) =
            (0..self.segments.len()).partition(computing);
        let is_small = self.problem.is_small();
        let near = |other: &usize| computing.iter().any(|&place| self.read_alike(place, *other));
        others.retain(|other| is_small && is_fold && near(other));
        computing.truncate(if is_small { computing.len() } else { 1 });
        computing.iter().chain(&others).any(|&place| {
            let made = vec![self.with(place, &vals)];
            self.improve(Change { made, kept: vals.clone(), dropped: Vec::new() })
        }) || computing.iter().any(|&place| self.improve(self.split(place, &vals)))
    }
}
