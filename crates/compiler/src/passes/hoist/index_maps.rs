//! Consecutive index maps that read one value: slices, pads and cats.

use index::{Expr, Facts};
use ir::graph::{Fusion, Graph, Node, NodeData, Shape, TensorOp, Val};
use ops::{Scalar, ScalarOp};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// For each axis of a value the corresponding axis of the mapped value, if elements move along that.
pub(super) type Along = SmallVec<[Option<u8>; 6]>;

/// The most index maps that are moved together.
const MAX_INDEX_MAPS: usize = 64;

/// Index maps downstream of one value.
pub(super) struct IndexMaps {
    /// The value that they map.
    pub source: Val,
    /// Operands first.
    nodes: Vec<Node>,
    /// The axes along which some element has another index than before.
    moved: Vec<bool>,
    /// The sizes after them.
    sizes: Shape,
    /// The value that they pad with.
    fill: Option<Val>,
}

/// Whether a node is an index map whose result something other than an index map reads.
pub(super) fn is_last(graph: &Graph, fusion: &Fusion, node: Node) -> bool {
    let is_read = |val: Val| {
        fusion.is_output(val) || fusion.uses(val).iter().any(|&user| !is_index_map(&graph.node(user).op))
    };
    is_index_map(&graph.node(node).op) && is_read(node.into())
}

fn is_index_map(op: &TensorOp) -> bool {
    matches!(op, TensorOp::Slice { .. } | TensorOp::Pad { .. } | TensorOp::Cat(_))
}

impl IndexMaps {
    /// All index maps that end in `last`; `None` if they map several values, or pad with several.
    pub fn behind(graph: &Graph, fusion: &Fusion, last: Node) -> Option<IndexMaps> {
        let (mut nodes, mut waiting, mut sources) = (Vec::new(), vec![Val::from(last)], Vec::new());
        let mut fills = Vec::new();
        while let Some(val) = waiting.pop() {
            let op = &graph.node(val.node).op;
            if fusion.is_input(val) || !is_index_map(op) {
                sources.push(val);
            } else if !nodes.contains(&val.node) {
                nodes.push(val.node);
                let operands = graph.operands(val);
                let (mapped, fill) =
                    operands.split_at(if matches!(op, TensorOp::Pad { .. }) { 1 } else { operands.len() });
                waiting.extend(mapped);
                fills.extend(fill);
            }
            if nodes.len() > MAX_INDEX_MAPS {
                return None;
            }
        }
        let is_one = |vals: &[Val]| vals.iter().all(|val| *val == vals[0]);
        let (&source, fill) = (sources.first()?, fills.first().copied());
        if !is_one(&sources) || !is_one(&fills) {
            return None;
        }
        // A node's number is larger than its operands'.
        nodes.sort_unstable();
        let shape = graph.shape(source);
        let moved: Vec<bool> =
            (0..shape.len()).map(|axis| nodes.iter().any(|&node| moves(graph, node, axis))).collect();
        // An axis of size 1 may have been broadcast.
        let is_clear = |(axis, size): (usize, &Expr)| !moved[axis] || !size.is_one();
        let is_clear = shape.iter().enumerate().all(is_clear);
        is_clear.then(|| IndexMaps { source, nodes, moved, sizes: graph.shape(last.into()).clone(), fill })
    }

    /// The corresponding axes of the mapped value itself.
    pub fn axes(&self) -> Along {
        let axis = |(axis, moved): (usize, &bool)| moved.then_some(axis as u8);
        self.moved.iter().enumerate().map(axis).collect()
    }

    /// A node's op for the sizes after the index maps.
    pub fn resized(&self, graph: &Graph, node: Node, along: &Along) -> TensorOp {
        match &graph.node(node).op {
            TensorOp::Expand(sizes) => {
                let size = |(size, &along): (&Expr, &Option<u8>)| match along {
                    Some(axis) if !size.is_one() => self.sizes[usize::from(axis)].clone(),
                    _ => size.clone(),
                };
                TensorOp::Expand(sizes.iter().zip(along).map(size).collect())
            }
            op => op.clone(),
        }
    }

    /// These index maps for another value, padded with zeros.
    pub fn applied(&self, graph: &mut Graph, facts: &mut Facts, val: Val, along: &Along) -> Option<Val> {
        let fill = Scalar::zero(graph.dtype(val));
        self.applied_with(graph, facts, val, along, fill)
    }

    fn applied_with(
        &self,
        graph: &mut Graph,
        facts: &mut Facts,
        val: Val,
        along: &Along,
        fill: Scalar,
    ) -> Option<Val> {
        // An axis of size 1 is broadcast.
        let own = |(size, &along): (&Expr, &Option<u8>)| along.filter(|_| !size.is_one());
        let own: Along = graph.shape(val).iter().zip(along).map(own).collect();
        let chosen = |of: &Shape, other: &Shape| -> Shape {
            let size = |(own, other): (&Option<u8>, &Expr)| {
                own.map_or(other.clone(), |axis| of[usize::from(axis)].clone())
            };
            own.iter().zip(other).map(size).collect()
        };
        let zeros: Shape = own.iter().map(|_| Expr::zero()).collect();
        let mut became: FxHashMap<Val, Val> = FxHashMap::from_iter([(self.source, val)]);
        for &node in &self.nodes {
            let NodeData { op, operands, .. } = graph.node(node).clone();
            let operands: SmallVec<[Val; 3]> =
                operands.iter().filter_map(|val| became.get(val).copied()).collect();
            let first = operands[0];
            let made = match op {
                TensorOp::Slice { starts, sizes } => {
                    let whole = graph.shape(first);
                    let (starts, sizes) = (chosen(&starts, &zeros), chosen(&sizes, whole));
                    let is_whole = starts == zeros && sizes == *whole;
                    if is_whole {
                        first
                    } else {
                        add(graph, facts, TensorOp::Slice { starts, sizes }, &[first])?
                    }
                }
                TensorOp::Pad { before, after } => {
                    let (before, after) = (chosen(&before, &zeros), chosen(&after, &zeros));
                    let fill = add(graph, facts, TensorOp::Constant(fill), &[])?;
                    add(graph, facts, TensorOp::Pad { before, after }, &[first, fill])?
                }
                TensorOp::Cat(axis) => match own.iter().position(|&own| own == Some(axis)) {
                    Some(axis) => add(graph, facts, TensorOp::Cat(axis as u8), &operands)?,
                    None if operands.iter().all(|val| *val == first) => first,
                    None => return None,
                },
                _ => return None,
            };
            became.insert(node.into(), made);
        }
        let last = Val::from(*self.nodes.last()?);
        became.get(&last).copied()
    }

    /// A value at the indices after the maps, with their fill where they pad.
    pub fn filled(&self, graph: &mut Graph, facts: &mut Facts, val: Val) -> Option<Val> {
        let Some(fill) = self.fill else { return Some(val) };
        let inside = self.inside(graph, facts)?;
        let dtype = graph.dtype(val);
        if !dtype.is_storage_only() {
            return add(graph, facts, TensorOp::Map(ScalarOp::Where), &[inside, val, fill]);
        }
        let wide = match graph.op(val) {
            TensorOp::Cast(_) if graph.dtype(graph.operands(val)[0]) == dtype.compute() => {
                graph.operands(val)[0]
            }
            _ => add(graph, facts, TensorOp::Cast(dtype.compute()), &[val])?,
        };
        let fill = add(graph, facts, TensorOp::Cast(dtype.compute()), &[fill])?;
        let filled = add(graph, facts, TensorOp::Map(ScalarOp::Where), &[inside, wide, fill])?;
        add(graph, facts, TensorOp::Cast(dtype), &[filled])
    }

    /// True at elements of the mapped value, false at those of the padding.
    fn inside(&self, graph: &mut Graph, facts: &mut Facts) -> Option<Val> {
        let size = |(size, moved): (&Expr, &bool)| if *moved { size.clone() } else { Expr::one() };
        let sizes: Shape = graph.shape(self.source).iter().zip(&self.moved).map(size).collect();
        let [yes, no] = [true, false].map(Scalar::from_bool);
        let inside = add(graph, facts, TensorOp::Constant(yes), &[])?;
        let axes = TensorOp::Broadcast(sizes.iter().map(|_| true).collect());
        let inside = add(graph, facts, axes, &[inside])?;
        let inside = add(graph, facts, TensorOp::Expand(sizes), &[inside])?;
        self.applied_with(graph, facts, inside, &self.axes(), no)
    }
}

/// A node's first result; `None` where the graph has no such node.
fn add(graph: &mut Graph, facts: &mut Facts, op: TensorOp, operands: &[Val]) -> Option<Val> {
    graph.add(op, operands, facts).ok().map(Val::from)
}

/// Whether some element of a value has another index than before.
pub(super) fn move_any_of(graph: &Graph, val: Val, along: &Along) -> bool {
    graph.shape(val).iter().zip(along).any(|(size, along)| !size.is_one() && along.is_some())
}

/// Whether a node changes the indices of elements along an axis, or drops some.
fn moves(graph: &Graph, node: Node, axis: usize) -> bool {
    match &graph.node(node).op {
        TensorOp::Slice { starts, sizes } => {
            let operand = graph.operands(node.into())[0];
            starts[axis] != Expr::zero() || sizes[axis] != graph.shape(operand)[axis]
        }
        TensorOp::Pad { before, after } => [before, after].iter().any(|widths| widths[axis] != Expr::zero()),
        TensorOp::Cat(along) => usize::from(*along) == axis,
        _ => false,
    }
}
