//! The cone of some values: the nodes that compute them, back to available values. A view also knows uses, so code that
//! considers many cones makes views of few.

use cranelift_entity::EntityRef;
use smallvec::{SmallVec, smallvec};

use super::container::Graph;
use super::fusion::ViewError;
use super::node::{Node, TensorOp, Val};

/// The nodes that compute some values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cone {
    inputs: Vec<Val>,
    order: Vec<Node>,
}

impl Cone {
    /// The cone of values back to available ones.
    ///
    /// # Errors
    /// If an argument is needed that is not available.
    pub fn of(graph: &Graph, vals: &[Val], is_at_hand: impl Fn(Val) -> bool) -> Result<Cone, ViewError> {
        let mut cone = Cone { inputs: Vec::with_capacity(8), order: Vec::with_capacity(32) };
        let nodes = vals.iter().map(|val| val.node.index() + 1).max().unwrap_or(0);
        let [mut seen, mut needed] = [NodeSet::below(nodes), NodeSet::below(nodes)];
        let mut visit = |inputs: &mut Vec<Val>, needed: &mut NodeSet, val: Val| {
            if val.result == 0 && !seen.insert(val.node) {
                return;
            }
            match is_at_hand(val) {
                true => inputs.push(val),
                false => drop(needed.insert(val.node)),
            }
        };
        vals.iter().for_each(|&val| visit(&mut cone.inputs, &mut needed, val));
        // Operands have smaller numbers than what uses them.
        while let Some(node) = needed.pop_last() {
            let data = graph.node(node);
            if let TensorOp::Input { .. } = data.op {
                return Err(ViewError::Open(node.into()));
            }
            cone.order.push(node);
            data.operands.iter().for_each(|&val| visit(&mut cone.inputs, &mut needed, val));
        }
        cone.order.reverse();
        cone.inputs.sort_unstable();
        cone.inputs.dedup();
        Ok(cone)
    }

    /// The available values that are used, or are among those whose cone it is, ascending.
    pub fn inputs(&self) -> &[Val] {
        &self.inputs
    }

    /// The nodes, ascending, so operands before users.
    pub fn order(&self) -> &[Node] {
        &self.order
    }

    /// Both.
    pub(super) fn into_parts(self) -> (Vec<Val>, Vec<Node>) {
        (self.inputs, self.order)
    }
}

/// A set of nodes, from which the last is taken first.
struct NodeSet {
    words: SmallVec<[u64; 16]>,
    /// How many words may have members.
    end: usize,
}

impl NodeSet {
    /// An empty set of nodes with smaller numbers than this.
    fn below(number: usize) -> NodeSet {
        let count = number.div_ceil(64);
        NodeSet { words: smallvec![0; count], end: count }
    }

    /// Whether a node was not a member.
    fn insert(&mut self, node: Node) -> bool {
        let (word, bit) = (node.index() / 64, 1_u64 << (node.index() % 64));
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }

    /// Removes the last member. Members added later must be before it.
    fn pop_last(&mut self) -> Option<Node> {
        while self.end > 0 && self.words[self.end - 1] == 0 {
            self.end -= 1;
        }
        let word = self.words[..self.end].last_mut()?;
        let bit = 63 - word.leading_zeros() as usize;
        *word ^= 1 << bit;
        Some(Node::new((self.end - 1) * 64 + bit))
    }
}
