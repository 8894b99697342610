//! The places of a group that have axes, by number: each use of a value read from memory, and each value that is computed. A
//! value read from memory can be read at any index, so each use of it has its own axes.

use cranelift_entity::SecondaryMap;
use ir::graph::{Fusion, Graph, Node, Val};

/// A place, by number.
pub(super) type Place = u32;

/// The sources of the values of one group at a time: memory that is reused for the next.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// The number of the group.
    group: u32,
    /// The last group that a node was in or made an input of, with its source there.
    of: SecondaryMap<Node, (u32, Source)>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The node at this position.
    Maker(u32),
    /// The input at this place.
    Input(u32),
}

impl Default for Source {
    fn default() -> Source {
        Source::Maker(0)
    }
}

impl Sources {
    /// From now on those of this group.
    fn set(&mut self, view: &Fusion) {
        self.group += 1;
        for (place, input) in view.inputs().iter().enumerate() {
            self.of[input.node] = (self.group, Source::Input(place as u32));
        }
        for (position, &node) in view.order().iter().enumerate() {
            self.of[node] = (self.group, Source::Maker(position as u32));
        }
    }

    /// The source of a value in the group. Of a node with several results some may be inputs while the others are computed.
    #[inline]
    fn of(&self, graph: &Graph, view: &Fusion, val: Val) -> Option<Source> {
        let (group, source) = self.of[val.node];
        if group != self.group {
            return None;
        }
        if graph.node(val.node).results.len() == 1 {
            return Some(source);
        }
        let input = || view.input_place(val).map(|place| Source::Input(place as u32));
        input().or(Some(source).filter(|source| matches!(source, Source::Maker(_))))
    }
}

/// An output that a group computes.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub val: Val,
    /// The position of its node.
    pub position: usize,
    pub(super) place: Place,
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
    /// Where each operand comes from.
    sources: Vec<Source>,
    /// The place of each node's first result.
    first_result: Vec<Place>,
    /// The uses of values that are read from memory, each with the place of that among the inputs, in order.
    pub uses: Vec<(u32, Place)>,
    /// The outputs that the group computes, each once, in order.
    pub made: Vec<Made>,
    /// How many places there are.
    pub count: u32,
}

impl Places {
    /// The places of a group.
    pub fn of(graph: &Graph, view: &Fusion, sources: &mut Sources) -> Places {
        sources.set(view);
        let nodes: Box<[Node]> = view.order().into();
        let mut places = Places {
            first_operand: Vec::with_capacity(nodes.len() + 1),
            operands: Vec::with_capacity(2 * nodes.len()),
            sources: Vec::with_capacity(2 * nodes.len()),
            first_result: Vec::with_capacity(nodes.len()),
            uses: Vec::with_capacity(nodes.len()),
            made: Vec::with_capacity(view.outputs().len()),
            count: 0,
            nodes,
        };
        for position in 0..places.nodes.len() {
            places.add(graph, view, position, sources);
        }
        places.first_operand.push(places.operands.len() as u32);
        places.add_made(graph, view, sources);
        places
    }

    fn add_made(&mut self, graph: &Graph, view: &Fusion, sources: &Sources) {
        let mut is_known = vec![false; self.count as usize];
        for val in view.outputs().iter().map(|output| output.val) {
            let Some(Source::Maker(position)) = sources.of(graph, view, val) else { continue };
            let place = self.first_result[position as usize] + u32::from(val.result);
            if !std::mem::replace(&mut is_known[place as usize], true) {
                self.made.push(Made { val, position: position as usize, place });
            }
        }
    }

    fn add(&mut self, graph: &Graph, view: &Fusion, position: usize, sources: &Sources) {
        let data = graph.node(self.nodes[position]);
        self.first_operand.push(self.operands.len() as u32);
        for &val in &data.operands {
            let source = sources.of(graph, view, val).expect("a group has what it reads");
            let place = match source {
                Source::Maker(maker) => self.first_result[maker as usize] + u32::from(val.result),
                Source::Input(input) => {
                    self.uses.push((input, self.count));
                    self.count += 1;
                    self.count - 1
                }
            };
            self.operands.push(place);
            self.sources.push(source);
        }
        self.first_result.push(self.count);
        self.count += data.results.len() as u32;
    }

    /// The nodes of the group, in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The position of a node in the group.
    #[inline]
    pub fn position(&self, node: Node) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    /// The place of a value that the group computes.
    #[inline]
    pub fn computed(&self, val: Val) -> Option<Place> {
        let position = self.position(val.node)?;
        Some(self.first_result[position] + u32::from(val.result))
    }

    /// The number of operand `k` of the node at a position among all.
    #[inline]
    pub fn operand_number(&self, position: usize, k: usize) -> usize {
        self.first_operand[position] as usize + k
    }

    /// The place of operand `k` of the node at a position.
    #[inline]
    pub fn operand(&self, position: usize, k: usize) -> Place {
        self.operands[self.operand_number(position, k)]
    }

    /// The position of the node that makes operand `k` of the node at a position; `None` if it is read from memory.
    #[inline]
    pub fn maker(&self, position: usize, k: usize) -> Option<usize> {
        match self.source(position, k) {
            Source::Maker(maker) => Some(maker as usize),
            Source::Input(_) => None,
        }
    }

    /// Where operand `k` of the node at a position comes from.
    #[inline]
    pub fn source(&self, position: usize, k: usize) -> Source {
        self.sources[self.operand_number(position, k)]
    }

    /// The place of the first result of the node at a position.
    #[inline]
    pub fn result(&self, position: usize) -> Place {
        self.first_result[position]
    }

    /// The value that is read or computed at a place.
    pub fn val(&self, graph: &Graph, view: &Fusion, place: Place) -> Val {
        match self.uses.iter().find(|(_, own)| *own == place) {
            Some(&(input, _)) => view.inputs()[input as usize],
            None => {
                let position = self.first_result.partition_point(|&first| first <= place) - 1;
                let result = place - self.first_result[position];
                let mut results = graph.results(self.nodes[position]);
                results.nth(result as usize).expect("a place of the group")
            }
        }
    }
}
