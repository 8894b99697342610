//! Which segments wait for which: a segmentation in an order in which it runs, or the cycle that prevents one.

use std::collections::BTreeSet;

use ir::graph::{Fusion, Graph, Val};
use rustc_hash::FxHashMap;

use super::ready_order::ready_order;
use super::segmentation::Segmentation;

/// A segment that waits for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The number of the segment.
    pub segment: usize,
    /// What it reads.
    pub val: Val,
    /// The number of the segment that makes it.
    pub maker: usize,
}

impl Segmentation {
    /// The same segments, each after those that it reads from, otherwise in their present order.
    ///
    /// # Errors
    /// A cycle: each entry waits for the segment of the next, the last for that of the first.
    pub fn in_order(&self, graph: &Graph, fusion: &Fusion) -> Result<Segmentation, Vec<Wait>> {
        let waits = self.waits(graph, fusion);
        let makers: Vec<BTreeSet<usize>> =
            waits.iter().map(|waits| waits.iter().map(|wait| wait.maker).collect()).collect();
        let order = ready_order(&makers);
        if order.len() < waits.len() { Err(cycle(&waits, &order)) } else { Ok(self.permuted(&order)) }
    }

    /// The same segments in this order.
    pub fn permuted(&self, order: &[usize]) -> Segmentation {
        let segments = order.iter().map(|&number| self.segments[number].clone()).collect();
        let names = order.iter().filter_map(|&number| self.names.get(number).cloned()).collect();
        Segmentation { segments, names }
    }

    /// The values that each segment reads of others.
    fn waits(&self, graph: &Graph, fusion: &Fusion) -> Vec<Vec<Wait>> {
        let made = self.segments.iter().enumerate();
        let makers: FxHashMap<Val, usize> =
            made.flat_map(|(maker, made)| made.iter().map(move |&val| (val, maker))).collect();
        let of = |(segment, view): (usize, &Fusion)| {
            let wait = |&val: &Val| Some(Wait { segment, val, maker: *makers.get(&val)? });
            view.inputs().iter().filter_map(wait).collect()
        };
        self.views(graph, fusion).iter().enumerate().map(of).collect()
    }
}

/// A cycle among the segments that are not in order yet, each of which waits for another of them.
fn cycle(waits: &[Vec<Wait>], order: &[usize]) -> Vec<Wait> {
    let next = |segment: usize| {
        let waiting = waits[segment].iter().find(|wait| !order.contains(&wait.maker));
        *waiting.expect("what is not ready waits")
    };
    let first = (0..waits.len()).find(|segment| !order.contains(segment)).expect("some are not in order");
    let mut path = vec![next(first)];
    loop {
        let wait = next(path[path.len() - 1].maker);
        if let Some(start) = path.iter().position(|earlier| earlier.segment == wait.segment) {
            return path.split_off(start);
        }
        path.push(wait);
    }
}
