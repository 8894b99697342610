//! The places of a group that have axes, by number: each use of a value read from memory, and each value that is computed.
//! A value read from memory can be read at any index, so each use of it has axes of its own.

use cranelift_entity::SecondaryMap;
use ir::graph::{Fusion, Graph, Node, Val};

/// A place, by number.
pub(super) type Place = u32;

/// Stands for no node.
const NONE: u32 = u32::MAX;

/// The positions of the nodes of one group at a time: room that is used again for the next.
#[derive(Debug, Default)]
pub(super) struct Positions {
    /// The number of the group.
    group: u32,
    /// The last group that a node was in, with its position.
    of: SecondaryMap<Node, (u32, u32)>,
}

impl Positions {
    /// From now on those of these nodes.
    fn set(&mut self, nodes: &[Node]) {
        self.group += 1;
        for (position, &node) in nodes.iter().enumerate() {
            self.of[node] = (self.group, position as u32);
        }
    }

    fn of(&self, node: Node) -> Option<usize> {
        let (group, position) = self.of[node];
        (group == self.group).then_some(position as usize)
    }
}

/// The places of a group, in the order of its nodes, the uses of a node before what it computes.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The nodes, ascending.
    nodes: Box<[Node]>,
    /// The number of each node's first operand, and that of all.
    first_operand: Vec<u32>,
    /// The place of each operand.
    operands: Vec<Place>,
    /// The position of the node that makes each operand; none where memory has it.
    makers: Vec<u32>,
    /// The place of each node's first result.
    first_result: Vec<Place>,
    /// The uses of values that are read from memory, in order.
    pub uses: Vec<(Val, Place)>,
    /// How many there are.
    pub count: u32,
}

impl Places {
    /// Those of a group.
    pub fn of(graph: &Graph, view: &Fusion, positions: &mut Positions) -> Places {
        positions.set(view.order());
        let nodes: Box<[Node]> = view.order().into();
        let mut places = Places {
            first_operand: Vec::with_capacity(nodes.len() + 1),
            operands: Vec::with_capacity(2 * nodes.len()),
            makers: Vec::with_capacity(2 * nodes.len()),
            first_result: Vec::with_capacity(nodes.len()),
            uses: Vec::new(),
            count: 0,
            nodes,
        };
        for position in 0..places.nodes.len() {
            places.add(graph, view, position, positions);
        }
        places.first_operand.push(places.operands.len() as u32);
        places
    }

    fn add(&mut self, graph: &Graph, view: &Fusion, position: usize, positions: &Positions) {
        let data = graph.node(self.nodes[position]);
        self.first_operand.push(self.operands.len() as u32);
        for &val in &data.operands {
            // A node of the group has all results computed, but for those of several that are read.
            let is_read = || graph.node(val.node).results.len() > 1 && view.is_input(val);
            let maker = positions.of(val.node).filter(|_| !is_read());
            let place = match maker {
                Some(maker) => self.first_result[maker] + u32::from(val.result),
                None => {
                    self.uses.push((val, self.count));
                    self.count += 1;
                    self.count - 1
                }
            };
            self.operands.push(place);
            self.makers.push(maker.map_or(NONE, |maker| maker as u32));
        }
        self.first_result.push(self.count);
        self.count += data.results.len() as u32;
    }

    /// The nodes of the group, in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The position of a node in the group.
    pub fn position(&self, node: Node) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    /// The place of a value that the group computes.
    pub fn computed(&self, val: Val) -> Option<Place> {
        let position = self.position(val.node)?;
        Some(self.first_result[position] + u32::from(val.result))
    }

    /// The place of operand `k` of the node at a position.
    pub fn operand(&self, position: usize, k: usize) -> Place {
        self.operands[self.first_operand[position] as usize + k]
    }

    /// The position of the node that makes operand `k` of the node at a position; none where memory has it.
    pub fn maker(&self, position: usize, k: usize) -> Option<usize> {
        let maker = self.makers[self.first_operand[position] as usize + k];
        (maker != NONE).then_some(maker as usize)
    }

    /// The place of the first result of the node at a position.
    pub fn result(&self, position: usize) -> Place {
        self.first_result[position]
    }

    /// What to call a place: the value that is read or computed there.
    pub fn val(&self, graph: &Graph, place: Place) -> Val {
        match self.uses.iter().find(|(_, own)| *own == place) {
            Some(&(val, _)) => val,
            None => {
                let position = self.first_result.partition_point(|&first| first <= place) - 1;
                let result = place - self.first_result[position];
                let mut results = graph.results(self.nodes[position]);
                results.nth(result as usize).expect("a place of the group")
            }
        }
    }
}
