//! Union of axes: which axes of which values are walked by the same loop.
//!
//! A value computed inside a group has its axes united with those of its operands across elementwise ops, casts,
//! broadcasts, permutes and folds. A value read from memory can be read at any index, so each *use* of an input
//! has axes of its own; uses of one input are united afterwards wherever that makes no conflict, so that siblings
//! share one pass, and so are roots of one shape that nothing connects. Reshape, slice, pad, cat and gather unite only the
//! axes that they leave alone; what a reshape splits or merges is left to `refine`.

use index::Expr;
use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::sizes::Sizes;

/// Something that has axes: a value computed in the group, or one use of a value read from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Place {
    /// A value that the group computes.
    Computed(Val),
    /// Operand `1` of node `0`, read from memory.
    Use(Node, usize),
}

/// Disjoint sets of axes. A set that has parts stands for them in row-major order; one without is an *atom*.
pub(super) struct AxisSets {
    ids: FxHashMap<(Place, u8), usize>,
    keys: Vec<(Place, u8)>,
    parents: Vec<usize>,
    /// The size of each axis.
    pub(super) sizes: Vec<Expr>,
    /// The parts of each set, per representative; none of atoms.
    pub(super) parts: Vec<Vec<usize>>,
    /// Places that have an axis in the atom, alone or as a part, per representative.
    pub(super) places: Vec<FxHashSet<Place>>,
    /// Axes that scans walk in order, which stay whole.
    scanned: Vec<usize>,
}

impl AxisSets {
    /// The united axes of a group.
    pub fn of(graph: &Graph, view: &Fusion) -> AxisSets {
        let mut sets = AxisSets {
            ids: FxHashMap::default(),
            keys: Vec::new(),
            parents: Vec::new(),
            sizes: Vec::new(),
            parts: Vec::new(),
            places: Vec::new(),
            scanned: Vec::new(),
        };
        let mut sizes = Sizes::new(view.facts());
        for &node in view.order() {
            sets.declare(graph, view, node, &mut sizes);
        }
        for &node in view.order() {
            for ((left, i), (right, j)) in united_axes(graph, view, node, &mut sizes) {
                sets.unite((left, i), (right, j));
            }
        }
        sets.refine(graph, view, &mut sizes);
        sets.unite_uses(graph, view, &mut sizes);
        sets.unite_roots(graph, view, &mut sizes);
        sets
    }

    /// Numbers for the atoms of an axis, outermost first; none for axes of size 1, which no loop walks.
    pub fn atoms(&self, place: Place, axis: u8) -> SmallVec<[usize; 2]> {
        let mut atoms = SmallVec::new();
        if let Some(&id) = self.ids.get(&(place, axis)) {
            self.add_atoms(id, &mut atoms);
        }
        atoms
    }

    fn add_atoms(&self, id: usize, atoms: &mut SmallVec<[usize; 2]>) {
        let set = self.root(id);
        match &self.parts[set][..] {
            [] => atoms.push(set),
            parts => parts.iter().for_each(|&part| self.add_atoms(part, atoms)),
        }
    }

    /// How many axes there are.
    pub fn axes(&self) -> usize {
        self.keys.len()
    }

    /// Whether a scan walks an atom.
    pub fn is_scanned(&self, atom: usize) -> bool {
        self.scanned.iter().any(|&id| self.root(id) == atom)
    }

    /// The first value that has two axes in one set, if any: such a group cannot share loops.
    pub fn conflict(&self) -> Option<Place> {
        let mut seen = FxHashSet::default();
        let mut twice = |place: Place, axis: u8| {
            self.atoms(place, axis).into_iter().any(|atom| !seen.insert((place, atom)))
        };
        self.keys.iter().find(|(place, axis)| twice(*place, *axis)).map(|key| key.0)
    }

    fn declare(&mut self, graph: &Graph, view: &Fusion, node: Node, sizes: &mut Sizes<'_>) {
        let operands = graph.node(node).operands.iter().enumerate();
        let uses: Vec<(Place, Val)> = operands
            .filter(|(_, val)| view.is_input(**val))
            .map(|(k, &val)| (Place::Use(node, k), val))
            .collect();
        let results = graph.results(node).map(|val| (Place::Computed(val), val));
        for (place, val) in uses.into_iter().chain(results) {
            for (axis, size) in graph.shape(val).iter().enumerate() {
                if !size.is_one() {
                    let id = self.keys.len();
                    self.keys.push((place, axis as u8));
                    self.ids.insert((place, axis as u8), id);
                    self.parents.push(id);
                    self.sizes.push(sizes.simplest(size));
                    self.parts.push(Vec::new());
                    self.places.push([place].into_iter().collect());
                }
            }
        }
        if let TensorOp::Scan { axis, .. } = graph.node(node).op {
            self.scanned.extend(self.ids.get(&(Place::Computed(node.into()), axis)));
        }
    }

    fn root(&self, mut id: usize) -> usize {
        while self.parents[id] != id {
            id = self.parents[id];
        }
        id
    }

    fn unite(&mut self, left: (Place, u8), right: (Place, u8)) {
        let (Some(&left), Some(&right)) = (self.ids.get(&left), self.ids.get(&right)) else { return };
        let (left, right) = (self.root(left), self.root(right));
        if left != right {
            self.join(left, right);
        }
    }

    /// Makes two atoms one.
    pub(super) fn join(&mut self, left: usize, right: usize) {
        let (keep, drop) = (left.min(right), left.max(right));
        self.parents[drop] = keep;
        let moved = std::mem::take(&mut self.places[drop]);
        self.places[keep].extend(moved);
    }

    /// Unites the axes of all uses of one input, unless some value would then have two axes in one set.
    fn unite_uses(&mut self, graph: &Graph, view: &Fusion, sizes: &mut Sizes<'_>) {
        for &input in view.inputs() {
            let uses: Vec<Place> = uses_of(graph, view, input).collect();
            let Some((&first, others)) = uses.split_first() else { continue };
            for &other in others {
                for axis in 0..graph.ty(input).rank() as u8 {
                    self.unite_if_free((first, axis), (other, axis), sizes);
                }
            }
        }
    }

    /// Unites the axes of roots of one shape that nothing in the group connects, so that one loop serves both.
    fn unite_roots(&mut self, graph: &Graph, view: &Fusion, sizes: &mut Sizes<'_>) {
        let roots = roots(graph, view);
        let same = |a: Val, b: Val, sizes: &mut Sizes<'_>| {
            let (a, b) = (graph.shape(a), graph.shape(b));
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| sizes.are_equal(x, y))
        };
        for (number, &(root, val)) in roots.iter().enumerate() {
            for &(earlier, other) in &roots[..number] {
                if !same(val, other, sizes) {
                    continue;
                }
                for axis in 0..graph.ty(val).rank() as u8 {
                    self.unite_if_free((earlier, axis), (root, axis), sizes);
                }
            }
        }
    }
}

/// What a group iterates over: the operands of its folds, and its outputs. Each with its value.
fn roots(graph: &Graph, view: &Fusion) -> Vec<(Place, Val)> {
    let folds = view.order().iter().filter(|node| matches!(graph.node(**node).op, TensorOp::Fold { .. }));
    let operands = folds.map(|&node| (operand_place(graph, view, node, 0), graph.node(node).operands[0]));
    let outputs = view.outputs().iter().map(|output| output.val).filter(|val| !view.is_input(*val));
    operands.chain(outputs.map(|val| (Place::Computed(val), val))).collect()
}

/// The places where a group reads an input.
fn uses_of<'a>(graph: &'a Graph, view: &'a Fusion, input: Val) -> impl Iterator<Item = Place> + 'a {
    view.uses(input).iter().flat_map(move |&node| {
        let operands = graph.node(node).operands.iter().enumerate();
        operands.filter(move |(_, val)| **val == input).map(move |(k, _)| Place::Use(node, k))
    })
}

/// The place of operand `k` of a node.
pub(super) fn operand_place(graph: &Graph, view: &Fusion, node: Node, k: usize) -> Place {
    let val = graph.node(node).operands[k];
    if view.is_input(val) { Place::Use(node, k) } else { Place::Computed(val) }
}

type Pair = ((Place, u8), (Place, u8));

/// Pairs of axes that one node walks together.
fn united_axes(graph: &Graph, view: &Fusion, node: Node, sizes: &mut Sizes<'_>) -> Vec<Pair> {
    let data = graph.node(node);
    let results: Vec<Val> = graph.results(node).collect();
    let mut pairs = Vec::new();
    for (k, &operand) in data.operands.iter().enumerate() {
        // A ramp is made at any index where it is wanted, so rows and columns can be numbered by one. What folds or scans
        // a ramp walks its axis.
        let numbers =
            matches!(data.op, TensorOp::Broadcast(_)) && matches!(graph.op(operand), TensorOp::Iota(_));
        if numbers && !view.is_input(operand) {
            continue;
        }
        let place = operand_place(graph, view, node, k);
        for (from, to) in kept_axes(graph, &data.op, k, operand, results[0], sizes) {
            pairs.extend(results.iter().map(|&result| ((place, from), (Place::Computed(result), to))));
        }
        // What a fold reduces stands in none of its results.
        if k > 0 && matches!(data.op, TensorOp::Fold { .. }) {
            let first = operand_place(graph, view, node, 0);
            pairs.extend((0..graph.ty(operand).rank() as u8).map(|axis| ((first, axis), (place, axis))));
        }
    }
    pairs
}

/// Which axis of operand `k` is which axis of the result, for one op.
pub(crate) fn kept_axes(
    graph: &Graph,
    op: &TensorOp,
    k: usize,
    operand: Val,
    result: Val,
    known: &mut Sizes<'_>,
) -> Vec<(u8, u8)> {
    let rank = graph.ty(operand).rank() as u8;
    let same = || (0..rank).map(|axis| (axis, axis));
    match op {
        TensorOp::Map(_) if rank == 0 => Vec::new(),
        TensorOp::Map(_) | TensorOp::Cast(_) | TensorOp::Expand(_) | TensorOp::Scan { .. } => {
            same().collect()
        }
        TensorOp::Broadcast(new) => {
            let old = new.iter().enumerate().filter(|(_, new)| !**new).map(|(axis, _)| axis as u8);
            (0..rank).zip(old).collect()
        }
        TensorOp::Squeeze(axes) => (0..rank).filter(|axis| !axes.contains(axis)).zip(0..).collect(),
        TensorOp::Fold { axes, .. } => (0..rank).filter(|axis| !axes.contains(axis)).zip(0..).collect(),
        TensorOp::Permute(order) => order.iter().copied().zip(0..).collect(),
        TensorOp::Slice { starts, sizes } => same()
            .filter(|&(axis, _)| {
                let axis = axis as usize;
                starts[axis].is_zero() && known.are_equal(&sizes[axis], &graph.shape(operand)[axis])
            })
            .collect(),
        TensorOp::Pad { before, after } => same()
            .filter(|&(axis, _)| before[axis as usize].is_zero() && after[axis as usize].is_zero())
            .collect(),
        TensorOp::Gather(gathered) if k == 0 => same().filter(|(axis, _)| axis != gathered).collect(),
        TensorOp::Gather(_) => same().collect(),
        TensorOp::Cat(cat) => same().filter(|(axis, _)| axis != cat).collect(),
        TensorOp::Reshape(_) => {
            let groups = known.axis_groups(graph.shape(operand).to_vec(), graph.shape(result).to_vec());
            let single = groups.iter().filter(|group| group.from.len() == 1 && group.to.len() == 1);
            single.map(|group| (group.from.start as u8, group.to.start as u8)).collect()
        }
        TensorOp::Input { .. }
        | TensorOp::Constant(_)
        | TensorOp::Size(_)
        | TensorOp::Iota(_)
        | TensorOp::External(_) => Vec::new(),
    }
}
