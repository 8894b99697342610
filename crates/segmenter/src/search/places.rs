//! Where a segmentation makes and reads values and computes nodes: the places of the segments.

use cranelift_entity::SecondaryMap;
use ir::graph::{Node, Val};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::segment::Segment;

/// Places, ascending.
type Ascending = SmallVec<[usize; 2]>;

/// The places of the segments that make and read each value and compute each node.
#[derive(Clone, Default)]
pub(super) struct Places {
    makers: FxHashMap<Val, usize>,
    readers: FxHashMap<Val, Ascending>,
    computing: SecondaryMap<Node, Ascending>,
}

impl Places {
    /// That of the segment which makes a value.
    pub fn maker(&self, val: Val) -> Option<usize> {
        self.makers.get(&val).copied()
    }

    /// Those of segments that read a value, ascending.
    pub fn readers(&self, val: Val) -> &[usize] {
        self.readers.get(&val).map_or(&[], |places| places)
    }

    /// Those of segments that compute a node, ascending.
    pub fn computing(&self, node: Node) -> &[usize] {
        &self.computing[node]
    }

    /// There is a segment in a place.
    pub fn add(&mut self, place: usize, segment: &Segment) {
        self.makers.extend(segment.made.iter().map(|&val| (val, place)));
        segment.inputs().iter().for_each(|&val| insert(self.readers.entry(val).or_default(), place));
        segment.order().iter().for_each(|&node| insert(&mut self.computing[node], place));
    }

    /// This segment is no longer in a place.
    pub fn remove(&mut self, place: usize, segment: &Segment) {
        segment.made.iter().for_each(|val| {
            self.makers.remove(val);
        });
        segment.inputs().iter().for_each(|val| remove(self.readers.entry(*val).or_default(), place));
        segment.order().iter().for_each(|&node| remove(&mut self.computing[node], place));
    }
}

fn insert(places: &mut Ascending, place: usize) {
    let at = places.binary_search(&place).unwrap_err();
    places.insert(at, place);
}

fn remove(places: &mut Ascending, place: usize) {
    let at = places.binary_search(&place).expect("it was added");
    places.remove(at);
}
