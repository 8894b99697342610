//! A fusion: a view of a graph with inputs, outputs and facts about its sizes.
//!
//! A view contains the nodes that its outputs reach backward, up to its inputs. It is cheap to make; many share one graph,
//! and they may overlap. Order and uses are computed once and kept in the view.

use std::sync::Arc;

use index::Facts;
use thiserror::Error;

use super::cone::Cone;
use super::container::Graph;
use super::node::{Axes, Node, Val};

/// Why values do not make a view.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ViewError {
    /// The outputs need an argument that is not among the inputs.
    #[error("the outputs depend on {0}, which is an argument but not an input of this view")]
    Open(Val),
    /// The same value twice among the inputs.
    #[error("{0} is an input twice")]
    InputTwice(Val),
    /// An in-place output whose target is not an input.
    #[error("output {0} is written to an input that this view does not have")]
    Alias(usize),
}

/// An output of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub val: Val,
    /// For an in-place output, which input's memory it is written to.
    pub alias: Option<u32>,
    /// Its axes from the outermost in memory to the innermost; empty: row-major. An in-place output has the layout of its
    /// input.
    pub order: Axes,
}

impl From<Val> for Output {
    fn from(val: Val) -> Output {
        Output { val, alias: None, order: Axes::new() }
    }
}

impl Output {
    /// The same output of another view, where the value is this one.
    pub(super) fn moved(&self, val: Val) -> Output {
        Output { val, ..self.clone() }
    }
}

/// The nodes that use each value, in order.
#[derive(Clone, Debug)]
struct Uses {
    /// The values, ascending, each with the end of its users among all.
    vals: Vec<(Val, usize)>,
    users: Vec<Node>,
}

impl Uses {
    /// The values that these nodes use.
    fn of(graph: &Graph, order: &[Node]) -> Uses {
        let has_room = |node: &Node| node.as_u32() >> NODE_BITS == 0;
        assert!(order.last().is_none_or(has_room), "a graph has fewer than 2^{NODE_BITS} nodes");
        let mut uses: Vec<u64> = Vec::with_capacity(2 * order.len());
        for &node in order {
            uses.extend(graph.node(node).operands.iter().map(|&operand| packed(operand, node)));
        }
        uses.sort_unstable();
        uses.dedup();
        let users = uses.iter().map(|&using| user(using)).collect();
        let mut vals: Vec<(Val, usize)> = Vec::with_capacity(uses.len());
        for (place, using) in uses.into_iter().enumerate() {
            let val = used(using);
            match vals.last_mut() {
                Some((last, end)) if *last == val => *end = place + 1,
                _ => vals.push((val, place + 1)),
            }
        }
        Uses { vals, users }
    }

    fn of_val(&self, val: Val) -> &[Node] {
        match self.vals.binary_search_by_key(&val, |&(val, _)| val) {
            Ok(place) => {
                let begin = place.checked_sub(1).map_or(0, |before| self.vals[before].1);
                &self.users[begin..self.vals[place].1]
            }
            Err(_) => &[],
        }
    }
}

/// Bits of a node's number when a value and a user of it are packed into one number.
const NODE_BITS: u32 = 28;

/// A value and a user of it as one number, so that many are sorted fast.
fn packed(val: Val, user: Node) -> u64 {
    u64::from(val.node.as_u32()) << (NODE_BITS + 8)
        | u64::from(val.result) << NODE_BITS
        | u64::from(user.as_u32())
}

fn used(using: u64) -> Val {
    Val { node: Node::from_u32((using >> (NODE_BITS + 8)) as u32), result: (using >> NODE_BITS) as u8 }
}

fn user(using: u64) -> Node {
    Node::from_u32(using as u32 & ((1 << NODE_BITS) - 1))
}

/// The inputs of a view.
#[derive(Clone, Debug)]
struct Inputs {
    vals: Vec<Val>,
    /// The values, ascending, with their places.
    places: Vec<(Val, u32)>,
}

impl Inputs {
    fn of(vals: Vec<Val>) -> Result<Inputs, ViewError> {
        let mut inputs = Inputs::ascending(vals);
        inputs.places.sort_unstable();
        match inputs.places.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(ViewError::InputTwice(pair[0].0)),
            None => Ok(inputs),
        }
    }

    /// Those that are in order already, each once.
    fn ascending(vals: Vec<Val>) -> Inputs {
        let places = vals.iter().copied().zip(0..).collect();
        Inputs { vals, places }
    }

    fn place(&self, val: Val) -> Option<usize> {
        let found = self.places.binary_search_by_key(&val, |&(val, _)| val).ok()?;
        Some(self.places[found].1 as usize)
    }
}

/// The nodes of a view.
#[derive(Debug)]
struct Computed {
    /// Ascending, so operands before users.
    order: Vec<Node>,
    uses: Uses,
}

/// A view of a graph. Copies share what is long.
#[derive(Clone, Debug)]
pub struct Fusion {
    epoch: u32,
    inputs: Inputs,
    outputs: Vec<Output>,
    /// The values of the outputs, ascending.
    given: Vec<Val>,
    facts: Arc<Facts>,
    computed: Arc<Computed>,
}

impl Fusion {
    /// Makes a view. Inputs may be any values, arguments or intermediate ones.
    ///
    /// # Errors
    /// When the outputs reach an argument that is not an input, or an input is named twice.
    pub fn new(
        graph: &Graph,
        inputs: Vec<Val>,
        outputs: Vec<Output>,
        facts: Arc<Facts>,
    ) -> Result<Fusion, ViewError> {
        let inputs = Inputs::of(inputs)?;
        let beyond = |output: &Output| output.alias.is_some_and(|input| input as usize >= inputs.vals.len());
        if let Some(place) = outputs.iter().position(beyond) {
            return Err(ViewError::Alias(place));
        }
        let vals: Vec<Val> = outputs.iter().map(|output| output.val).collect();
        let (_, order) = Cone::of(graph, &vals, |val| inputs.place(val).is_some())?.into_parts();
        Ok(Fusion::of_parts(graph, inputs, outputs, order, facts))
    }

    /// The view of the nodes that compute these outputs; the cone is theirs.
    pub fn of_cone(graph: &Graph, cone: Cone, outputs: Vec<Output>, facts: Arc<Facts>) -> Fusion {
        let (inputs, order) = cone.into_parts();
        Fusion::of_parts(graph, Inputs::ascending(inputs), outputs, order, facts)
    }

    fn of_parts(
        graph: &Graph,
        inputs: Inputs,
        outputs: Vec<Output>,
        order: Vec<Node>,
        facts: Arc<Facts>,
    ) -> Fusion {
        let mut given: Vec<Val> = outputs.iter().map(|output| output.val).collect();
        given.sort_unstable();
        let uses = Uses::of(graph, &order);
        let computed = Arc::new(Computed { order, uses });
        Fusion { epoch: graph.epoch(), inputs, outputs, given, facts, computed }
    }

    /// Its inputs.
    pub fn inputs(&self) -> &[Val] {
        &self.inputs.vals
    }

    /// The inputs with the most axes.
    pub fn inputs_of_most_axes<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = Val> + 'a {
        let rank = |val: &Val| graph.ty(*val).rank();
        let most = self.inputs().iter().map(rank).max();
        self.inputs().iter().copied().filter(move |val| Some(rank(val)) == most)
    }

    /// Its outputs.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The facts about sizes.
    pub fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    /// The same view with more facts about sizes, or fewer.
    pub fn with_facts(self, facts: impl Into<Arc<Facts>>) -> Fusion {
        Fusion { facts: facts.into(), ..self }
    }

    /// The same view with other orders or targets of its outputs, whose values are the same.
    pub fn with_outputs(self, outputs: Vec<Output>) -> Fusion {
        debug_assert!(
            outputs.iter().map(|output| output.val).eq(self.outputs.iter().map(|output| output.val))
        );
        Fusion { outputs, ..self }
    }

    /// The nodes it computes, operands before users. Nodes of inputs are not among them.
    pub fn order(&self) -> &[Node] {
        &self.computed.order
    }

    /// The nodes of this view that use a value, each once, in order.
    pub fn uses(&self, val: Val) -> &[Node] {
        self.computed.uses.of_val(val)
    }

    /// Whether a value is one of the inputs.
    pub fn is_input(&self, val: Val) -> bool {
        self.inputs.place(val).is_some()
    }

    /// The place of a value among the inputs, if it is one.
    pub fn input_place(&self, val: Val) -> Option<usize> {
        self.inputs.place(val)
    }

    /// Whether a value is one of the outputs.
    pub fn is_output(&self, val: Val) -> bool {
        self.given.binary_search(&val).is_ok()
    }

    /// Whether the view computes a node.
    pub fn contains(&self, node: Node) -> bool {
        self.computed.order.binary_search(&node).is_ok()
    }

    /// The same outputs and facts under a map of values, in the graph that the map leads to.
    ///
    /// # Errors
    /// As [`Fusion::new`].
    pub fn mapped(&self, graph: &Graph, map: impl Fn(Val) -> Val) -> Result<Fusion, ViewError> {
        let outputs = self.outputs.iter().map(|o| o.moved(map(o.val))).collect();
        Fusion::new(graph, self.inputs().iter().map(|&val| map(val)).collect(), outputs, self.facts.clone())
    }

    /// The same view of a copy of its graph, in which ids mean the same.
    pub(super) fn in_fork(&self, graph: &Graph) -> Fusion {
        Fusion { epoch: graph.epoch(), ..self.clone() }
    }

    /// Panics if this view is used on another graph than the one it was made for: a bug.
    pub fn assert_of(&self, graph: &Graph) {
        debug_assert_eq!(self.epoch, graph.epoch(), "a view used on another graph than its own");
    }
}
