//! Axes that some group might walk by one loop, whatever group that is.
//!
//! A space unites the axes of one group. A bound must hold for all groups, so its classes are coarser than the axes of any:
//! all axes that a space could unite are in one class, including both sides of a reshape, and corresponding axes of values
//! of one shape. Two axes in different classes are two loops in every group.

use index::SizeTable;
use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::FxHashMap;
use space::kept_axes;

/// The most shapes of a rank that are distinguished.
const MAX_SHAPES: usize = 32;

/// A class of axes, by number.
pub(super) type Class = usize;

/// The class of each axis of each value of a fusion.
pub(super) struct AxisClasses {
    first: FxHashMap<Val, usize>,
    classes: Vec<Class>,
}

impl AxisClasses {
    /// The axis classes of a fusion.
    pub(super) fn of(graph: &Graph, fusion: &Fusion) -> AxisClasses {
        let mut classes = AxisClasses { first: FxHashMap::default(), classes: Vec::new() };
        let mut sizes = SizeTable::new(fusion.facts());
        fusion.inputs().iter().for_each(|&input| classes.declare(graph, input));
        for &node in fusion.order() {
            graph.results(node).for_each(|val| classes.declare(graph, val));
        }
        for &node in fusion.order() {
            classes.unite_node(graph, node, &mut sizes);
        }
        classes.unite_shapes(graph, &mut sizes);
        (0..classes.classes.len()).for_each(|id| classes.classes[id] = classes.root(id));
        classes
    }

    /// The classes of a value's axes, without those of size 1.
    pub(super) fn of_val<'a>(&'a self, graph: &'a Graph, val: Val) -> impl Iterator<Item = Class> + 'a {
        let first = self.first[&val];
        let shape = graph.shape(val).iter().enumerate();
        shape.filter(|(_, size)| !size.is_one()).map(move |(axis, _)| self.classes[first + axis])
    }

    /// The class of an axis of a value, unless its size is 1.
    pub(super) fn of_axis(&self, graph: &Graph, val: Val, axis: u8) -> Option<Class> {
        let is_one = graph.shape(val)[usize::from(axis)].is_one();
        (!is_one).then(|| self.classes[self.first[&val] + usize::from(axis)])
    }

    /// The classes of the axes of a fold's operand that it reduces, or that it keeps.
    pub(super) fn of_fold(&self, graph: &Graph, node: Node, reduced: bool) -> Vec<Class> {
        let data = graph.node(node);
        let TensorOp::Fold { axes, .. } = &data.op else { return Vec::new() };
        let operand = data.operands[0];
        let shape = graph.shape(operand).iter().enumerate();
        let wanted = shape.filter(|(axis, size)| !size.is_one() && axes.contains(&(*axis as u8)) == reduced);
        wanted.map(|(axis, _)| self.classes[self.first[&operand] + axis]).collect()
    }

    fn declare(&mut self, graph: &Graph, val: Val) {
        let first = self.classes.len();
        self.first.insert(val, first);
        self.classes.extend(first..first + graph.ty(val).rank());
    }

    fn unite_node(&mut self, graph: &Graph, node: Node, sizes: &mut SizeTable) {
        let data = graph.node(node);
        for result in graph.results(node) {
            for (k, &operand) in data.operands.iter().enumerate() {
                for (from, to) in kept_axes(graph, &data.op, k, operand, result, sizes) {
                    self.unite((operand, from), (result, to));
                }
            }
        }
        match data.op {
            TensorOp::Reshape(_) => self.unite_reshape(graph, node, sizes),
            TensorOp::Fold { .. } => {
                let first = data.operands[0];
                for &operand in &data.operands[1..] {
                    (0..graph.ty(operand).rank() as u8)
                        .for_each(|axis| self.unite((first, axis), (operand, axis)));
                }
            }
            _ => {}
        }
    }

    /// A space may split an axis of either side into those of the other.
    fn unite_reshape(&mut self, graph: &Graph, node: Node, sizes: &mut SizeTable) {
        let (operand, result) = (graph.node(node).operands[0], Val::from(node));
        let groups = sizes.axis_groups_of(graph.shape(operand), graph.shape(result));
        for group in groups.iter() {
            let from = group.from.clone().map(|axis| (operand, axis as u8));
            let to = group.to.clone().map(|axis| (result, axis as u8));
            let sides: Vec<(Val, u8)> = from.chain(to).collect();
            sides.windows(2).for_each(|pair| self.unite(pair[0], pair[1]));
        }
    }

    /// A space unites the axes of unconnected values of the same shape. Beyond a limit per rank all further shapes count as
    /// one, because comparing each pair takes a proof.
    fn unite_shapes(&mut self, graph: &Graph, sizes: &mut SizeTable) {
        let mut vals: Vec<Val> = self.first.keys().copied().collect();
        vals.sort_unstable();
        let mut shapes: FxHashMap<usize, Vec<Val>> = FxHashMap::default();
        for val in vals {
            let rank = graph.ty(val).rank();
            let shapes = shapes.entry(rank).or_default();
            let mut is_same = |other: Val| sizes.are_all_equal(graph.shape(val), graph.shape(other));
            let same = shapes.iter().copied().find(|&other| is_same(other));
            match same.or_else(|| shapes.get(MAX_SHAPES).copied()) {
                Some(other) => (0..rank as u8).for_each(|axis| self.unite((other, axis), (val, axis))),
                None => shapes.push(val),
            }
        }
    }

    fn unite(&mut self, left: (Val, u8), right: (Val, u8)) {
        let [left, right] = [left, right].map(|(val, axis)| self.root(self.first[&val] + usize::from(axis)));
        let (keep, drop) = (left.min(right), left.max(right));
        self.classes[drop] = keep;
    }

    fn root(&self, mut id: usize) -> usize {
        while self.classes[id] != id {
            id = self.classes[id];
        }
        id
    }
}
