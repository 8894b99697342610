//! A stage: loop nests for the folds that it feeds, the stores that it makes and the values that it keeps for later stages.
//! Those over the same axes share a nest.

use std::collections::BTreeMap;

use ir::graph::{Node, Val};
use kernel::LoopKind;

use super::Nest;
use crate::fold::{OpenFold, Temps};
use crate::loops::{LoopOrder, Walk};
use crate::value::Persistent;
use scheduler::legal::When;
use space::Axis;

/// Something that a stage produces.
#[derive(Clone, Copy)]
enum Root {
    /// The fold with this number is fed.
    Fold(usize),
    /// The store with this number is made.
    Store(usize),
    /// The persistent value with this number is kept for later stages.
    Persist(usize),
}

impl Root {
    fn fold(&self) -> Option<usize> {
        match self {
            Root::Fold(fold) => Some(*fold),
            Root::Store(_) | Root::Persist(_) => None,
        }
    }
}

/// A loop nest of a stage.
struct StageNest<'n> {
    axes: &'n [Axis],
    /// What it produces.
    roots: &'n [Root],
    /// The folds among that.
    folds: Vec<usize>,
    /// The scans that it needs.
    scans: Vec<Node>,
    loops: LoopOrder,
}

impl<'a> Nest<'a> {
    /// One stage: everything that needs folds of earlier stages and of no later ones.
    pub fn stage(&mut self, stage: u32) {
        let witness = self.witness();
        self.enter_stage(stage);
        let inner =
            witness.folds.iter().enumerate().filter(|(_, fold)| fold.stage == stage && !fold.terminal);
        let inner: Vec<usize> = inner.map(|(number, _)| number).collect();
        self.open_folds(&inner, None);
        for (axes, roots) in self.nests(stage) {
            self.stage_nest(&axes, &roots);
        }
        let inner = |open: &&OpenFold| !witness.folds[open.fold].terminal;
        let closing: Vec<OpenFold> = self.open.iter().filter(inner).cloned().collect();
        self.open.retain(|open| witness.folds[open.fold].terminal);
        self.close_folds(&closing);
    }

    /// The roots of a stage by the axes that have no loop yet, in loop order.
    fn nests(&self, stage: u32) -> Vec<(Vec<Axis>, Vec<Root>)> {
        let witness = self.witness();
        let mut nests: BTreeMap<Vec<Axis>, Vec<Root>> = BTreeMap::new();
        let mut add = |domain: Vec<Axis>, root: Root| {
            let closed = self.closed_loops(domain);
            let inner = self.emitter.group.schedule.inner.iter();
            let axes = inner.filter(|axis| closed.contains(axis)).copied().collect();
            nests.entry(axes).or_default().push(root);
        };
        for (number, fold) in witness.folds.iter().enumerate().filter(|(_, fold)| fold.stage == stage) {
            add(fold.domain().collect(), Root::Fold(number));
        }
        for (number, store) in witness.stores.iter().enumerate() {
            if store.when == When::Stage(stage) {
                add(store.domain().collect(), Root::Store(number));
            }
        }
        for (number, val) in self.emitter.group.schedule.persistent.iter().enumerate() {
            if witness.stage_of(val.node) == Some(stage) {
                add(self.axes_of(*val), Root::Persist(number));
            }
        }
        nests.into_iter().collect()
    }

    /// One loop nest of a stage. Folds whose array does not have the lane axis collect per lane first.
    fn stage_nest(&mut self, axes: &[Axis], roots: &[Root]) {
        if roots.iter().any(|root| matches!(root, Root::Persist(_))) {
            self.iteration_barrier();
        }
        let scans = self.scans_of(roots.iter().flat_map(|root| self.root_vals(*root)).collect());
        let shares = |lane, scanned| roots.iter().any(|root| self.shares(*root, lane, scanned));
        let loops = self.loop_order(axes, &scans, shares);
        let folds: Vec<usize> = roots.iter().filter_map(Root::fold).collect();
        let stage = StageNest { axes, roots, folds, scans, loops };
        let mut kept = Vec::new();
        self.in_blocks(&stage.folds, &stage.loops, &mut |nest, within, block| {
            nest.each_subrange(within, LoopKind::Serial, &mut |nest| {
                nest.around_lanes(&stage, &mut |nest| nest.lane_loop(&stage, block, &mut kept));
            });
        });
        if !kept.is_empty() {
            self.barrier();
            self.persist(kept);
        }
    }

    /// The loop over the lanes, and the scanned one within it.
    fn lane_loop(&mut self, stage: &StageNest<'_>, block: &[Temps], kept: &mut Persistent) {
        let LoopOrder { lane, scanned, .. } = stage.loops;
        let temps = self.open_temps(stage);
        let taking: Vec<&Temps> = block.iter().chain(&temps).collect();
        self.each_subrange(lane.as_slice(), LoopKind::Lanes, &mut |nest| {
            let walk = |nest: &mut Nest<'a>| {
                scanned.iter().for_each(|&axis| nest.open_axis(axis, LoopKind::Serial));
            };
            nest.run_scans(&stage.scans, walk, |nest| nest.take_roots(stage, &taking, kept));
            scanned.iter().for_each(|&axis| nest.close_axis(axis));
        });
        temps.iter().for_each(|temps| self.close_temps(temps, false));
    }

    /// The code for what a stage produces inside all loops of a nest; folds take it into `temps`, in blocks if nothing is
    /// scanned.
    fn take_roots(&mut self, stage: &StageNest<'_>, temps: &[&Temps], kept: &mut Persistent) {
        let in_blocks = stage.loops.scanned.is_none();
        let mut held = Vec::new();
        self.each_row(|nest| {
            nest.each_unrolled(stage.axes, &mut |nest| {
                for &root in stage.roots {
                    match root {
                        Root::Fold(fold) => nest.feed(fold, temps, in_blocks, &mut held),
                        Root::Store(store) => nest.store(store),
                        Root::Persist(number) => nest.keep(number, stage.axes, kept),
                    }
                }
            });
        });
        self.before_stores();
        held.into_iter().for_each(|held| self.put_back(held));
    }

    /// The values that a root asks for at the current index.
    fn root_vals(&self, root: Root) -> Vec<Val> {
        let group = self.emitter.group;
        match root {
            Root::Fold(fold) => group.graph.node(group.witness.folds[fold].node).operands.to_vec(),
            Root::Store(store) => vec![group.witness.stores[store].val],
            Root::Persist(number) => vec![group.schedule.persistent[number]],
        }
    }

    /// Whether lanes would share an array of a fold that each iteration of the scanned axis adds to at another place.
    fn shares(&self, root: Root, lane: Axis, scanned: Axis) -> bool {
        match root {
            Root::Fold(fold) => {
                self.array_dims(fold).is_some_and(|dims| !dims.contains(&lane) && dims.contains(&scanned))
            }
            Root::Store(_) | Root::Persist(_) => false,
        }
    }

    fn axes_of(&self, val: Val) -> Vec<Axis> {
        let group = self.emitter.group;
        group.witness.space.axes_of(val).iter().flatten().copied().collect()
    }

    fn open_temps(&mut self, stage: &StageNest<'_>) -> Vec<Temps> {
        let (loops, mut temps) = (&stage.loops, Vec::new());
        let Some(lane) = loops.lane else { return temps };
        self.each_row(|nest| {
            for &fold in &stage.folds {
                nest.open_lane_temps(fold, lane, loops.scanned.is_none(), &mut temps);
                if loops.cross.is_some() {
                    nest.open_block_temps(fold, &mut temps);
                }
            }
        });
        temps
    }

    /// The loops around the one over the lanes: over tiles and the rows of a tile, or none.
    fn around_lanes(&mut self, stage: &StageNest<'_>, body: &mut dyn FnMut(&mut Self)) {
        match (stage.loops.cross, stage.loops.lane) {
            (Some(cross), Some(along)) => {
                self.open_tiles(cross, along);
                self.rows_of_tile(&stage.folds, cross, body);
                self.close_tiles();
            }
            _ => body(self),
        }
    }
}
