//! A flow network with weights at its vertices, and its minimum cut by shortest augmenting paths (Edmonds and Karp, 1972): which
//! vertices have the smallest total weight and lie on every path from a source to the sink.

use std::collections::VecDeque;

/// More than any sum of weights: the capacity of a vertex that cannot be cut.
const UNBOUNDED: u64 = u64::MAX;

/// Stands for no edge.
const NONE: u32 = u32::MAX;

/// A directed graph whose vertices have limited capacity.
#[derive(Debug, Default)]
pub struct FlowNetwork {
    /// The residual capacity of each edge; the edge after an even one is its reverse.
    capacity: Vec<u64>,
    /// Where each edge leads.
    head: Vec<u32>,
    /// For each edge the previous one that leaves the same place, or `NONE`.
    before: Vec<u32>,
    /// The last edge that leaves each place, or `NONE`. A vertex has two places: one where paths enter, one where they leave.
    last: Vec<u32>,
    /// The vertices at which paths begin.
    sources: Vec<usize>,
}

impl FlowNetwork {
    /// Adds a vertex and gives its number, from 0 on.
    pub fn vertex(&mut self, weight: u64) -> usize {
        let vertex = self.last.len() / 2;
        self.last.extend([NONE, NONE]);
        // So that a flow can be added to the residual capacity without overflow.
        self.edge(entrance(vertex), exit(vertex), weight.min(UNBOUNDED / 2));
        vertex
    }

    /// Paths begin at this vertex.
    pub fn source(&mut self, vertex: usize) {
        self.sources.push(vertex);
    }

    /// Paths go from one vertex to another.
    pub fn arc(&mut self, from: usize, to: usize) {
        self.edge(exit(from), entrance(to), UNBOUNDED);
    }

    /// The vertices of a minimum cut between the sources and `sink`, which may be among them. Of several minimum cuts, the one
    /// nearest to the sink.
    pub fn minimum_cut(mut self, sink: usize) -> Vec<usize> {
        while let Some(path) = self.augmenting_path(exit(sink)) {
            let flow = path.iter().map(|&edge| self.capacity[edge]).min().unwrap_or(0);
            for edge in path {
                self.capacity[edge] = self.capacity[edge].saturating_sub(flow);
                self.capacity[edge ^ 1] = self.capacity[edge ^ 1].saturating_add(flow);
            }
        }
        let behind = self.behind_the_cut(exit(sink));
        (0..self.last.len() / 2).filter(|&v| behind[exit(v)] && !behind[entrance(v)]).collect()
    }

    fn edge(&mut self, from: usize, to: usize, capacity: u64) {
        for (tail, head, capacity) in [(from, to, capacity), (to, from, 0)] {
            let edge = self.head.len() as u32;
            self.before.push(std::mem::replace(&mut self.last[tail], edge));
            self.head.push(head as u32);
            self.capacity.push(capacity);
        }
    }

    /// The edges that leave a place.
    fn edges(&self, place: usize) -> impl Iterator<Item = usize> {
        let edge = |edge: u32| (edge != NONE).then_some(edge as usize);
        std::iter::successors(edge(self.last[place]), move |&before| edge(self.before[before]))
    }

    /// The edges of a shortest augmenting path to `end`, searched from there: sources are near.
    fn augmenting_path(&self, end: usize) -> Option<Vec<usize>> {
        let mut is_source = vec![false; self.last.len()];
        self.sources.iter().for_each(|&vertex| is_source[entrance(vertex)] = true);
        // The edge by which a path leaves each place that was reached.
        let mut leaves_by = vec![NONE; self.last.len()];
        let mut reached = vec![false; self.last.len()];
        let mut queue = VecDeque::from([end]);
        reached[end] = true;
        let mut place = loop {
            let place = queue.pop_front()?;
            if is_source[place] {
                break place;
            }
            for edge in self.edges(place).map(|edge| edge ^ 1).filter(|&edge| self.capacity[edge] > 0) {
                let before = self.head[edge ^ 1] as usize;
                if !std::mem::replace(&mut reached[before], true) {
                    leaves_by[before] = edge as u32;
                    queue.push_back(before);
                }
            }
        };
        let mut path = Vec::new();
        while place != end {
            let edge = leaves_by[place] as usize;
            path.push(edge);
            place = self.head[edge] as usize;
        }
        Some(path)
    }

    /// The places from which more could flow to `end`.
    fn behind_the_cut(&self, end: usize) -> Vec<bool> {
        let mut behind = vec![false; self.last.len()];
        let mut stack = vec![end];
        behind[end] = true;
        while let Some(place) = stack.pop() {
            for edge in self.edges(place).filter(|&edge| self.capacity[edge ^ 1] > 0) {
                let before = self.head[edge] as usize;
                if !std::mem::replace(&mut behind[before], true) {
                    stack.push(before);
                }
            }
        }
        behind
    }
}

/// Where paths enter a vertex.
fn entrance(vertex: usize) -> usize {
    2 * vertex
}

/// Where paths leave a vertex.
fn exit(vertex: usize) -> usize {
    2 * vertex + 1
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// A graph with these weights and arcs, whose first vertex is the source.
    fn graph(weights: &[u64], arcs: &[(usize, usize)]) -> FlowNetwork {
        let mut network = FlowNetwork::default();
        weights.iter().for_each(|&weight| {
            network.vertex(weight);
        });
        arcs.iter().for_each(|&(from, to)| network.arc(from, to));
        network.source(0);
        network
    }

    #[test]
    fn two_light_vertices_are_less_than_a_heavy_one() {
        let network = graph(&[9, 2, 3, 8], &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        assert_eq!(network.minimum_cut(3), [1, 2]);
    }

    #[test]
    fn of_equal_cuts_the_last_is_taken() {
        assert_eq!(graph(&[4, 4, 4], &[(0, 1), (1, 2)]).minimum_cut(2), [2]);
    }

    #[test]
    fn nothing_is_cut_where_no_path_leads() {
        assert_eq!(graph(&[4, 4], &[]).minimum_cut(1), [] as [usize; 0]);
    }

    /// Whether vertices lie on every path from the first vertex to the last.
    fn separates(cut: usize, count: usize, arcs: &[(usize, usize)]) -> bool {
        let is_cut = |vertex: usize| cut >> vertex & 1 == 1;
        let mut reached = vec![false; count];
        reached[0] = !is_cut(0);
        for vertex in (0..count).filter(|&vertex| !is_cut(vertex)) {
            let comes_from = |&&(from, to): &&(usize, usize)| to == vertex && reached[from];
            reached[vertex] |= arcs.iter().any(|arc| comes_from(&arc));
        }
        !reached[count - 1]
    }

    proptest! {
        /// Of all sets of vertices that separate, none is lighter.
        #[test]
        fn the_cut_is_minimum(weights in vec(1_u64..9, 2..8), drawn in vec((0_usize..8, 0_usize..8), 0..16)) {
            let count = weights.len();
            let arcs: Vec<(usize, usize)> =
                drawn.into_iter().filter(|&(from, to)| from < to && to < count).collect();
            let cut = graph(&weights, &arcs).minimum_cut(count - 1);
            let set = cut.iter().fold(0, |set, &vertex| set | 1 << vertex);
            prop_assert!(separates(set, count, &arcs));
            let weight = |set: usize| (0..count).filter(|v| set >> v & 1 == 1).map(|v| weights[v]).sum::<u64>();
            let smallest = (0..1 << count).filter(|&set| separates(set, count, &arcs)).map(weight).min();
            prop_assert_eq!(Some(weight(set)), smallest);
        }
    }
}
