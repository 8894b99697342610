//! The container: an append-only arena of immutable nodes, operands before users, equal nodes shared.
//!
//! No node ever changes and none points at a view, so nothing that one view does can break another. A graph knows
//! no inputs and outputs of its own; those belong to the views (`fusion.rs`) that look at it.

use std::sync::atomic::{AtomicU32, Ordering};

use cranelift_entity::PrimaryMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::fusion::Fusion;
use super::node::{Form, Node, NodeData, Shape, Type, Val};
use super::shape::{ShapeError, infer};
use crate::index::{Expr, Facts, Sym};
use crate::ops::Prim;
use crate::{DType, Scalar};

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
    known: FxHashMap<(Form, SmallVec<[Val; 3]>), Node>,
    symbols: PrimaryMap<Sym, SymbolSource>,
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
        }
    }

    /// A private copy with an epoch of its own, and a view moved to it. Ids mean the same in both until either grows.
    pub fn fork(&self, view: &Fusion) -> (Graph, Fusion) {
        view.assert_of(self);
        let graph = Graph { epoch: next_epoch(), ..self.clone() };
        let view = view.mapped(&graph, |val| val).expect("a closed view stays closed in a copy");
        (graph, view)
    }

    /// A number that tells graphs apart; views carry it, so that ids of one graph are not used on another.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Adds a node, or finds the equal one that is there.
    ///
    /// # Errors
    /// What the form's shape rule refuses. The graph is then unchanged.
    pub fn add(&mut self, form: Form, operands: &[Val], facts: &mut Facts) -> Result<Node, ShapeError> {
        let key = (form, SmallVec::from_slice(operands));
        if let Some(&node) = self.known.get(&key) {
            return Ok(node);
        }
        let results = {
            let types: SmallVec<[&Type; 3]> = operands.iter().map(|&val| self.ty(val)).collect();
            infer(&key.0, &types, facts)?
        };
        let node = self.nodes.push(NodeData { form: key.0.clone(), operands: key.1.clone(), results });
        self.known.insert(key, node);
        Ok(node)
    }

    /// A new size symbol.
    pub fn add_symbol(&mut self, source: SymbolSource) -> Sym {
        self.symbols.push(source)
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
    pub fn node(&self, node: Node) -> &NodeData {
        &self.nodes[node]
    }

    /// The form that defines a value.
    pub fn form(&self, val: Val) -> &Form {
        &self.nodes[val.node].form
    }

    /// The operands of the node that defines a value.
    pub fn operands(&self, val: Val) -> &[Val] {
        &self.nodes[val.node].operands
    }

    /// A value's type.
    pub fn ty(&self, val: Val) -> &Type {
        &self.nodes[val.node].results[val.result as usize]
    }

    /// A value's sizes.
    pub fn shape(&self, val: Val) -> &Shape {
        &self.ty(val).shape
    }

    /// A value's element type.
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

    /// The constant a value is, if it is one.
    pub fn as_constant(&self, val: Val) -> Option<Scalar> {
        match self.form(val) {
            Form::Constant(scalar) => Some(*scalar),
            _ => None,
        }
    }

    /// A scalar integer value as a size expression, where it is one: constants, sizes, integer inputs, and sums,
    /// differences and products of these.
    pub fn as_size(&self, val: Val) -> Option<Expr> {
        let operand = |k: usize| self.as_size(self.operands(val)[k]);
        if self.ty(val).rank() != 0 || !self.dtype(val).is_int() {
            return None;
        }
        match self.form(val) {
            Form::Constant(scalar) => Some(Expr::constant(scalar.as_i64())),
            Form::Size(size) => Some(size.clone()),
            Form::Cast(dtype) if dtype.is_int() => operand(0),
            Form::Map(Prim::Add) => Some(operand(0)? + operand(1)?),
            Form::Map(Prim::Sub) => Some(operand(0)? - operand(1)?),
            Form::Map(Prim::Mul) => Some(operand(0)? * operand(1)?),
            Form::Map(Prim::Neg) => Some(Expr::zero() - operand(0)?),
            Form::Input { ordinal, .. } => {
                let source = SymbolSource::ScalarInput { ordinal: *ordinal };
                self.symbols.iter().find(|(_, s)| **s == source).map(|(sym, _)| Expr::sym(sym))
            }
            _ => None,
        }
    }
}
