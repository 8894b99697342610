//! A flow network with weights at its vertices, and its minimum cut by blocking flows on shortest paths (Dinitz, 1970): which
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
        let end = exit(sink);
        let mut distances = self.distances(end);
        while self.augment(end, &distances) {
            distances = self.distances(end);
        }
        let is_behind = |place: usize| distances[place] != NONE;
        (0..self.last.len() / 2).filter(|&v| is_behind(exit(v)) && !is_behind(entrance(v))).collect()
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

    /// For each place the fewest edges on which flow can be added from there to `end`; `NONE` where there are no such.
    fn distances(&self, end: usize) -> Vec<u32> {
        let mut distances = vec![NONE; self.last.len()];
        distances[end] = 0;
        let mut queue = VecDeque::from([end]);
        while let Some(place) = queue.pop_front() {
            for edge in self.edges(place).filter(|&edge| self.capacity[edge ^ 1] > 0) {
                let before = self.head[edge] as usize;
                if distances[before] == NONE {
                    distances[before] = distances[place] + 1;
                    queue.push_back(before);
                }
            }
        }
        distances
    }

    /// Adds flow on shortest paths from each source to `end` until all of them are full; returns whether there were any.
    fn augment(&mut self, end: usize, distances: &[u32]) -> bool {
        let mut is_longer = false;
        // The edges that were not tried yet from each place: no path leads on by the others.
        let mut next = self.last.clone();
        for source in self.sources.clone() {
            let start = entrance(source);
            let mut path: Vec<usize> = Vec::new();
            loop {
                let place = path.last().map_or(start, |&edge| self.head[edge] as usize);
                if place == end {
                    let first_full = self.fill(&path);
                    path.truncate(first_full);
                    is_longer = true;
                    continue;
                }
                match self.step(place, &mut next[place], distances) {
                    Some(edge) => path.push(edge),
                    None => {
                        let Some(edge) = path.pop() else { break };
                        let before = self.head[edge ^ 1] as usize;
                        next[before] = self.before[edge];
                    }
                }
            }
        }
        is_longer
    }

    /// The first edge from `next` on by which a path comes nearer to its end; `next` is that edge then.
    fn step(&self, place: usize, next: &mut u32, distances: &[u32]) -> Option<usize> {
        while *next != NONE {
            let edge = *next as usize;
            let is_nearer = distances[place] != NONE
                && distances[self.head[edge] as usize].wrapping_add(1) == distances[place];
            if is_nearer && self.capacity[edge] > 0 {
                return Some(edge);
            }
            *next = self.before[edge];
        }
        None
    }

    /// Adds all flow that fits on a path; returns the place in the path of the first edge that is full then.
    fn fill(&mut self, path: &[usize]) -> usize {
        let flow = path.iter().map(|&edge| self.capacity[edge]).min().unwrap_or(0);
        for &edge in path {
            self.capacity[edge] = self.capacity[edge].saturating_sub(flow);
            self.capacity[edge ^ 1] = self.capacity[edge ^ 1].saturating_add(flow);
        }
        path.iter().position(|&edge| self.capacity[edge] == 0).expect("the edge with the smallest capacity")
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
