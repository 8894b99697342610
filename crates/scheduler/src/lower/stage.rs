//! A stage: loop nests for the folds that it feeds, the stores that it makes and the values that it keeps for later
//! stages. What walks the same axes shares a nest.

use std::collections::BTreeMap;

use index::Expr;
use ir::graph::{Node, Val};
use ir::kernel::{LoopKind, Scratch, Value};

use super::fold::{OpenFold, Temps};
use super::knobs::OfRow;
use super::nest::Nest;
use super::scan::Loops;
use crate::legal::{Store, When};
use crate::space::Axis;

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

/// Values that a nest stores for later stages, of each row: the array and its axes.
type Kept = Vec<(OfRow<Val>, (Scratch, Vec<Axis>))>;

impl<'a> Nest<'a> {
    /// One stage: what needs the folds of earlier stages and no later ones.
    pub fn stage(&mut self, level: u32) {
        let witness = self.witness();
        self.level = level;
        if level == 0 {
            self.knobs.reads.clear();
        }
        let inner =
            witness.folds.iter().enumerate().filter(|(_, fold)| fold.level == level && !fold.terminal);
        let inner: Vec<usize> = inner.map(|(number, _)| number).collect();
        self.open_folds(&inner, usize::MAX);
        for (axes, roots) in self.nests(level) {
            self.stage_nest(&axes, &roots);
        }
        let inner = |open: &&OpenFold| !witness.folds[open.fold].terminal;
        let closing: Vec<OpenFold> = self.folds.open.iter().filter(inner).cloned().collect();
        self.folds.open.retain(|open| witness.folds[open.fold].terminal);
        self.close_folds(&closing);
    }

    /// The roots of a stage by the axes that are still to be walked for them, in loop order.
    fn nests(&self, level: u32) -> Vec<(Vec<Axis>, Vec<Root>)> {
        let witness = self.witness();
        let mut nests: BTreeMap<Vec<Axis>, Vec<Root>> = BTreeMap::new();
        let mut add = |domain: Vec<Axis>, root: Root| {
            let closed = self.closed_loops(domain);
            let inner = self.emitter.group.schedule.inner.iter();
            let axes = inner.filter(|axis| closed.contains(axis)).copied().collect();
            nests.entry(axes).or_default().push(root);
        };
        for (number, fold) in witness.folds.iter().enumerate().filter(|(_, fold)| fold.level == level) {
            add(fold.domain().collect(), Root::Fold(number));
        }
        for (number, store) in witness.stores.iter().enumerate() {
            if store.when == When::Level(level) {
                add(store.domain().collect(), Root::Store(number));
            }
        }
        for (number, val) in self.emitter.group.schedule.persistent.iter().enumerate() {
            if witness.stage_of(val.node) == Some(level) {
                add(self.axes_of(*val), Root::Persist(number));
            }
        }
        nests.into_iter().collect()
    }

    /// One loop nest of a stage. Folds whose array does not have the lane axis collect per lane first.
    fn stage_nest(&mut self, axes: &[Axis], roots: &[Root]) {
        let private = self.is_private(axes);
        if !private && roots.iter().any(|root| matches!(root, Root::Persist(_))) {
            self.iteration_barrier();
        }
        let scans = self.scans_of(roots.iter().flat_map(|root| self.root_vals(*root)).collect());
        let shares = |lane, scanned| roots.iter().any(|root| self.shares(*root, lane, scanned));
        let loops = self.loops(axes, &scans, shares);
        let folds: Vec<usize> = roots.iter().filter_map(Root::fold).collect();
        let mut kept = Vec::new();
        self.in_blocks(&folds, &loops, &mut |nest, within, block| {
            nest.each_subrange(within, LoopKind::Serial, &mut |nest| {
                nest.lane_nest(&loops, &scans, block, (roots, axes), &mut kept);
            });
        });
        if !kept.is_empty() {
            if !private {
                self.barrier();
            }
            self.knobs.persistent.extend(kept);
        }
    }

    /// The loops of a nest within the serial ones, around what a stage produces along these axes.
    fn lane_nest(
        &mut self,
        loops: &Loops,
        scans: &[Node],
        block: &[Temps],
        (roots, axes): (&[Root], &[Axis]),
        kept: &mut Kept,
    ) {
        let folds: Vec<usize> = roots.iter().filter_map(Root::fold).collect();
        let lanes = &mut |nest: &mut Nest<'a>| {
            nest.lane_loop((&folds, loops), scans, block, (roots, axes), kept);
        };
        self.around_lanes(loops, &folds, lanes);
    }

    /// The loop over the lanes, and the scanned one within it.
    fn lane_loop(
        &mut self,
        (folds, loops): (&[usize], &Loops),
        scans: &[Node],
        block: &[Temps],
        (roots, axes): (&[Root], &[Axis]),
        kept: &mut Kept,
    ) {
        let Loops { lane, scanned, .. } = *loops;
        let temps = self.open_temps(folds, loops);
        let taking: Vec<&Temps> = block.iter().chain(&temps).collect();
        self.each_subrange(lane.as_slice(), LoopKind::Lanes, &mut |nest| {
            let walk = |nest: &mut Nest<'a>| {
                scanned.iter().for_each(|&axis| nest.open_axis(axis, LoopKind::Serial));
            };
            nest.run_scans(scans, walk, |nest| {
                nest.take_roots(roots, axes, (&taking, scanned.is_none()), kept);
            });
            scanned.iter().for_each(|&axis| nest.close_axis(axis));
        });
        temps.iter().for_each(|temps| self.close_temps(temps));
    }

    /// What a stage produces where all loops of a nest are open; folds take it into these, in blocks or not.
    fn take_roots(
        &mut self,
        roots: &[Root],
        axes: &[Axis],
        (temps, in_blocks): (&[&Temps], bool),
        kept: &mut Kept,
    ) {
        let mut held = Vec::new();
        self.each_row(|nest| {
            for &root in roots {
                match root {
                    Root::Fold(fold) => nest.feed(fold, temps, in_blocks, &mut held),
                    Root::Store(store) => nest.store(store),
                    Root::Persist(number) => nest.keep(number, axes, kept),
                }
            }
        });
        self.before_stores();
        held.into_iter().for_each(|held| self.put_back(held));
    }

    /// The values that a root asks for at the index where the loops stand.
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

    /// Stores a persistent value where the open loops stand; it is at hand when they have closed.
    fn keep(&mut self, number: usize, dims: &[Axis], kept: &mut Kept) {
        let group = self.emitter.group;
        let val = group.schedule.persistent[number];
        let index = self.index_of(group.witness.space.axes_of(val));
        let value = self.pull(val, &index, None);
        let key = (val, self.row());
        let known = kept.iter().find(|(known, _)| *known == key).map(|(_, (array, _))| *array);
        let array = known.unwrap_or_else(|| {
            let array = self.array(group.graph.dtype(val), dims, self.is_private(dims));
            kept.push((key, (array, dims.to_vec())));
            array
        });
        let at = self.dim_index(dims);
        self.emitter.builder.store(array, at, value);
    }

    /// A value that persists from an earlier stage, where the loops stand at this index of it.
    pub fn persistent_value(&mut self, val: Val, index: &[Expr]) -> Option<Value> {
        let (array, dims) = self.knobs.persistent.get(&(val, self.row()))?.clone();
        let group = self.emitter.group;
        let axes = group.witness.space.axes_of(val);
        self.stands_at(axes, index).then(|| {
            let at = self.dim_index(&dims);
            self.emitter.builder.load(array, at)
        })
    }

    fn axes_of(&self, val: Val) -> Vec<Axis> {
        let group = self.emitter.group;
        group.witness.space.axes_of(val).iter().flatten().copied().collect()
    }

    fn open_temps(&mut self, folds: &[usize], loops: &Loops) -> Vec<Temps> {
        let mut temps = Vec::new();
        let Some(lane) = loops.lane else { return temps };
        self.each_row(|nest| {
            for &fold in folds {
                nest.open_lane_temps(fold, lane, loops.scanned.is_none(), &mut temps);
                if loops.cross.is_some() {
                    nest.open_block_temps(fold, &mut temps);
                }
            }
        });
        temps
    }

    /// Computes a stored value where the open loops stand and stores it.
    pub fn store(&mut self, number: usize) {
        let store: &Store = &self.witness().stores[number];
        let index = self.index_of(&store.axes);
        self.store_value(number, store.val, &index);
    }

    /// Computes the stored value of this number at an index and stores it: a complex one as its two parts, side by side. What is
    /// prefetched is asked for in between.
    pub fn store_value(&mut self, number: usize, val: Val, index: &[Expr]) {
        let parts = self.pull_parts(val, index);
        self.before_stores();
        let (buffer, position) = self.emitter.store_address(number, val, index);
        for (place, part) in parts.into_iter().enumerate() {
            self.store_element(buffer, position.clone() + Expr::constant(place as i64), part);
        }
    }
}
