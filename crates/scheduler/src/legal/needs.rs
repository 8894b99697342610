//! The folds and scans that each node of a group depends on.

use ir::graph::{Fusion, Graph, Node, TensorOp};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use space::Space;

/// Folds, by number, ascending.
type Folds = SmallVec<[u32; 4]>;

/// A set of folds, by number: most nodes share theirs with others.
type FoldSet = u32;

/// The set of no folds.
const NONE: FoldSet = 0;

/// What the nodes of a group need, by position.
pub(super) struct Needs {
    /// The folds of the group, in order.
    all_folds: Vec<Node>,
    /// The nearest folds that each fold depends on.
    before: Vec<FoldSet>,
    /// The nearest folds that a value depends on: a fold stands for those before it.
    folds: Vec<FoldSet>,
    /// A scan that a value depends on other than through a fold; `None` where the group scans nothing.
    scans: Vec<Option<Node>>,
    sets: FoldSets,
}

impl Needs {
    /// What the nodes of a group need.
    pub fn of(graph: &Graph, view: &Fusion, space: &Space) -> Needs {
        let count = view.order().len();
        let mut needs = Needs {
            all_folds: Vec::new(),
            before: Vec::new(),
            folds: Vec::with_capacity(count),
            scans: if space.has_scans() { vec![None; count] } else { Vec::new() },
            sets: FoldSets { sets: vec![Folds::new()], unions: FxHashMap::default() },
        };
        for (position, &node) in view.order().iter().enumerate() {
            let data = graph.node(node);
            let makers = (0..data.operands.len()).filter_map(|k| space.maker(position, k));
            let nearest = makers.clone().fold(NONE, |set, maker| needs.sets.union(set, needs.folds[maker]));
            let is_fold = data.op.is_fold();
            if let (false, false) = (is_fold, needs.scans.is_empty()) {
                let is_scan = matches!(data.op, TensorOp::Scan { .. });
                let before = || makers.filter_map(|maker| needs.scans[maker]).min();
                needs.scans[position] = if is_scan { Some(node) } else { before() };
            }
            let own = if is_fold { needs.add_fold(node, nearest) } else { nearest };
            needs.folds.push(own);
        }
        needs
    }

    /// The set of a fold alone, which depends on these.
    fn add_fold(&mut self, node: Node, nearest: FoldSet) -> FoldSet {
        let number = self.all_folds.len() as u32;
        self.all_folds.push(node);
        self.before.push(nearest);
        self.sets.add(SmallVec::from_slice(&[number]))
    }

    /// The folds of the group.
    pub fn all_folds(&self) -> &[Node] {
        &self.all_folds
    }

    /// The nearest folds that the fold with a number depends on.
    pub fn before_fold(&self, number: usize) -> &[u32] {
        self.sets.of(self.before[number])
    }

    /// The nearest folds that the node at a position depends on.
    pub fn folds(&self, position: usize) -> &[u32] {
        self.sets.of(self.folds[position])
    }

    /// A scan that the node at a position depends on other than through a fold.
    pub fn scan(&self, position: usize) -> Option<Node> {
        self.scans.get(position).copied().flatten()
    }
}

/// Sets of folds by number, and the unions that were asked for.
struct FoldSets {
    sets: Vec<Folds>,
    unions: FxHashMap<(FoldSet, FoldSet), FoldSet>,
}

impl FoldSets {
    fn of(&self, set: FoldSet) -> &[u32] {
        &self.sets[set as usize]
    }

    fn add(&mut self, folds: Folds) -> FoldSet {
        self.sets.push(folds);
        self.sets.len() as FoldSet - 1
    }

    fn union(&mut self, a: FoldSet, b: FoldSet) -> FoldSet {
        if a == b || b == NONE {
            return a;
        }
        if a == NONE {
            return b;
        }
        if let Some(&known) = self.unions.get(&(a, b)) {
            return known;
        }
        let mut folds: Folds = self.of(a).iter().chain(self.of(b)).copied().collect();
        folds.sort_unstable();
        folds.dedup();
        let union = match self.sets.iter().position(|set| *set == folds) {
            Some(known) => known as FoldSet,
            None => self.add(folds),
        };
        self.unions.insert((a, b), union);
        union
    }
}
