//! The container: an append-only arena of immutable nodes, operands before users, equal nodes shared.
//!
//! No node ever changes and none points at a view, so no view can break another. A graph itself has no inputs and outputs;
//! those belong to its views (`fusion.rs`). Only the builder removes nodes, those of a call that it rejects, before any view
//! has them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cranelift_entity::{EntityRef, PrimaryMap};
use index::{Expr, Facts, Sym};
use ops::{DType, Scalar, ScalarOp};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::computed::ComputedSize;
use super::fusion::Fusion;
use super::node::{Node, NodeData, Shape, TensorOp, Type, Val};
use super::shape::{ShapeError, infer};

/// Where the value of a size symbol comes from when a fusion is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SymbolSource {
    /// The size of an axis of the input with this ordinal.
    InputSize {
        /// Which input.
        ordinal: u32,
        /// Which of its axes.
        axis: u8,
    },
    /// The value of the integer scalar input with this ordinal.
    ScalarInput {
        /// Which input.
        ordinal: u32,
    },
    /// A function of scalar inputs and sizes, which the call computes.
    Computed(Arc<ComputedSize>),
    /// The seed of the call's random numbers, its bits as a signed number.
    Seed,
    /// The offset in the seed's sequence where the call's draws begin.
    Offset,
}

fn next_epoch() -> u32 {
    static EPOCHS: AtomicU32 = AtomicU32::new(0);
    EPOCHS.fetch_add(1, Ordering::Relaxed)
}

/// The container of nodes and size symbols.
#[derive(Clone, Debug)]
pub struct Graph {
    epoch: u32,
    nodes: PrimaryMap<Node, NodeData>,
    known: FxHashMap<(TensorOp, SmallVec<[Val; 3]>), Node>,
    symbols: PrimaryMap<Sym, SymbolSource>,
    /// The first symbol of each source.
    symbol_of: FxHashMap<SymbolSource, Sym>,
    /// For each node, the size expression that its first result is.
    sizes: Vec<Option<Expr>>,
}

/// The state of a graph: how many nodes and symbols it has.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    nodes: usize,
    symbols: usize,
}

/// Keeps the first of a map's values.
pub(crate) fn truncate<K: EntityRef, V>(map: &mut PrimaryMap<K, V>, len: usize) {
    *map = std::mem::take(map).into_iter().take(len).map(|(_, value)| value).collect();
}

impl Default for Graph {
    fn default() -> Graph {
        Graph::new()
    }
}

impl Graph {
    /// An empty graph with an epoch of its own.
    pub fn new() -> Graph {
        Graph {
            epoch: next_epoch(),
            nodes: PrimaryMap::new(),
            known: FxHashMap::default(),
            symbols: PrimaryMap::new(),
            symbol_of: FxHashMap::default(),
            sizes: Vec::new(),
        }
    }

    /// A private copy with an epoch of its own, and a view moved to it. Ids mean the same in both until either grows.
    pub fn fork(&self, view: &Fusion) -> (Graph, Fusion) {
        view.assert_of(self);
        let graph = Graph { epoch: next_epoch(), ..self.clone() };
        let view = view.in_fork(&graph);
        (graph, view)
    }

    /// Whether it has all nodes of another graph, in their places: a copy that may have grown.
    pub fn begins_with(&self, other: &Graph) -> bool {
        let same = |(node, data): (Node, &NodeData)| self.nodes.get(node) == Some(data);
        other.nodes.iter().all(same)
    }

    /// A number that identifies the graph; its views have it too, so that ids of one graph are not used on another.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Adds a node, or finds an equal one.
    ///
    /// # Errors
    /// If the op's shape rule rejects it. The graph is then unchanged.
    pub fn add(&mut self, op: TensorOp, operands: &[Val], facts: &mut Facts) -> Result<Node, ShapeError> {
        let key = (op, SmallVec::from_slice(operands));
        if let Some(&node) = self.known.get(&key) {
            return Ok(node);
        }
        let results = {
            let types: SmallVec<[&Type; 3]> = operands.iter().map(|&val| self.ty(val)).collect();
            infer(&key.0, &types, facts)?
        };
        let size = self.size_of(&key.0, &key.1, &results[0], facts);
        self.sizes.push(size);
        let node = self.nodes.push(NodeData { op: key.0.clone(), operands: key.1.clone(), results });
        self.known.insert(key, node);
        Ok(node)
    }

    /// Its present state.
    pub fn mark(&self) -> Mark {
        Mark { nodes: self.nodes.len(), symbols: self.symbols.len() }
    }

    /// Removes the nodes and symbols that were added since and that no view has yet.
    pub fn truncate(&mut self, Mark { nodes, symbols }: Mark) {
        truncate(&mut self.nodes, nodes);
        self.known.retain(|_, node| node.index() < nodes);
        truncate(&mut self.symbols, symbols);
        self.symbol_of.retain(|_, symbol| symbol.index() < symbols);
        self.sizes.truncate(nodes);
    }

    /// A new size symbol.
    pub fn add_symbol(&mut self, source: SymbolSource) -> Sym {
        let symbol = self.symbols.push(source.clone());
        self.symbol_of.entry(source).or_insert(symbol);
        symbol
    }

    /// The symbol whose value comes from there, if one was added.
    pub fn symbol_of(&self, source: &SymbolSource) -> Option<Sym> {
        self.symbol_of.get(source).copied()
    }

    /// The nodes in order, operands before users.
    pub fn nodes(&self) -> impl Iterator<Item = (Node, &NodeData)> {
        self.nodes.iter()
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A node's data.
    #[inline]
    pub fn node(&self, node: Node) -> &NodeData {
        &self.nodes[node]
    }

    /// The op that defines a value.
    #[inline]
    pub fn op(&self, val: Val) -> &TensorOp {
        &self.nodes[val.node].op
    }

    /// The operands of the node that defines a value.
    #[inline]
    pub fn operands(&self, val: Val) -> &[Val] {
        &self.nodes[val.node].operands
    }

    /// The operand of the permutation that makes a value; `None` for other ops.
    pub fn permuted(&self, val: Val) -> Option<Val> {
        matches!(self.op(val), TensorOp::Permute(_)).then(|| self.operands(val)[0])
    }

    /// Whether it has the value.
    pub fn has(&self, val: Val) -> bool {
        self.nodes.get(val.node).is_some_and(|node| usize::from(val.result) < node.results.len())
    }

    /// A value's type.
    #[inline]
    pub fn ty(&self, val: Val) -> &Type {
        &self.nodes[val.node].results[val.result as usize]
    }

    /// A value's sizes.
    #[inline]
    pub fn shape(&self, val: Val) -> &Shape {
        &self.ty(val).shape
    }

    /// A value's element type.
    #[inline]
    pub fn dtype(&self, val: Val) -> DType {
        self.ty(val).dtype
    }

    /// The results of a node.
    pub fn results(&self, node: Node) -> impl Iterator<Item = Val> + use<> {
        (0..self.nodes[node].results.len() as u8).map(move |result| Val { node, result })
    }

    /// The size symbols and where their values come from.
    pub fn symbols(&self) -> &PrimaryMap<Sym, SymbolSource> {
        &self.symbols
    }

    /// The symbols whose values come from inputs, with what `size` returns for the input and the axis, or `None` for a
    /// scalar's value.
    pub fn sizes_of_inputs<S>(&self, size: impl Fn(usize, Option<usize>) -> Option<S>) -> Vec<(Sym, S)> {
        let of = |source: &SymbolSource| match *source {
            SymbolSource::InputSize { ordinal, axis } => size(ordinal as usize, Some(axis.into())),
            SymbolSource::ScalarInput { ordinal } => size(ordinal as usize, None),
            SymbolSource::Computed(_) | SymbolSource::Seed | SymbolSource::Offset => None,
        };
        self.symbols.iter().filter_map(|(symbol, source)| Some((symbol, of(source)?))).collect()
    }

    /// The constant a value is, if it is one.
    pub fn as_constant(&self, val: Val) -> Option<Scalar> {
        match self.op(val) {
            TensorOp::Constant(scalar) => Some(*scalar),
            _ => None,
        }
    }

    /// A scalar integer value as a size expression, if it is one: constants, sizes, integer inputs whose symbol was added
    /// before them, and sums, differences, products, extrema and exact quotients of these.
    pub fn as_size(&self, val: Val) -> Option<Expr> {
        let size = self.sizes.get(val.node.index())?;
        size.clone().filter(|_| val.result == 0)
    }

    /// The size expression of a new node, computed once from those of its operands, so that no chain is ever walked.
    fn size_of(&self, op: &TensorOp, operands: &[Val], result: &Type, facts: &Facts) -> Option<Expr> {
        if result.rank() != 0 || !result.dtype.holds_sizes() {
            return None;
        }
        // Arithmetic in i32 wraps where sizes do not.
        let wraps = matches!(op, TensorOp::Map(_) | TensorOp::Cast(_)) && result.dtype != DType::I64;
        if wraps {
            return None;
        }
        let sizes: Option<SmallVec<[Expr; 3]>> = operands.iter().map(|&val| self.as_size(val)).collect();
        match (op, &sizes?[..]) {
            (TensorOp::Constant(scalar), _) => Some(Expr::constant(scalar.as_i64())),
            (TensorOp::Size(size), _) => Some(size.clone()),
            (TensorOp::Input { ordinal, .. }, _) => {
                self.symbol_of(&SymbolSource::ScalarInput { ordinal: *ordinal }).map(Expr::sym)
            }
            (TensorOp::Cast(_), [x]) => Some(x.clone()),
            (TensorOp::Map(ScalarOp::Add), [x, y]) => Some(x + y),
            (TensorOp::Map(ScalarOp::Sub), [x, y]) => Some(x - y),
            (TensorOp::Map(ScalarOp::Mul), [x, y]) => Some(x * y),
            (TensorOp::Map(ScalarOp::Neg), [x]) => Some(-x),
            (TensorOp::Map(ScalarOp::Minimum), [x, y]) => Some(Expr::min(x, y)),
            (TensorOp::Map(ScalarOp::Maximum), [x, y]) => Some(Expr::max(x, y)),
            // Truncation equals the floor if neither side is negative and the divisor is not zero.
            (TensorOp::Map(ScalarOp::Div), [x, y]) => {
                let floors = facts.prove_le(&Expr::zero(), x) && facts.prove_lt(&Expr::zero(), y);
                floors.then(|| x.floor_div(y))
            }
            _ => None,
        }
    }
}
