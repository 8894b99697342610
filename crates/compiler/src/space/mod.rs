//! The iteration space that the values of a group share: its axes, their sizes, and what walks them.
//!
//! Takes a view, gives its axes and for each value which of them it has. Decides nothing.

mod axes;
mod reshape;

use cranelift_entity::{PrimaryMap, entity_impl};
use ir::graph::{Fusion, Graph, Node, Val};
use ir::index::Expr;
use rustc_hash::FxHashMap;

use axes::{AxisSets, Place, operand_place};
pub use reshape::{AxisGroup, axis_groups};

/// An axis of the iteration space of a group.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Axis(u32);
entity_impl!(Axis, "x");

/// The axes of a group, and which axis of which value is which.
#[derive(Clone, Debug)]
pub struct Space {
    sizes: PrimaryMap<Axis, Expr>,
    places: FxHashMap<(Place, u8), Axis>,
}

/// Why values cannot share one iteration space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfMapped {
    /// The value that would need one axis twice.
    pub val: Val,
}

impl Space {
    /// The space of a group.
    ///
    /// # Errors
    /// When a value computed in the group has two axes that would be the same loop, as `x + transpose(x)` of a
    /// computed `x`.
    pub fn of(graph: &Graph, view: &Fusion) -> Result<Space, SelfMapped> {
        let sets = AxisSets::of(graph, view);
        if let Some(place) = sets.conflict() {
            let val = match place {
                Place::Computed(val) => val,
                Place::Use(node, k) => graph.node(node).operands[k],
            };
            return Err(SelfMapped { val });
        }
        let mut space = Space { sizes: PrimaryMap::new(), places: FxHashMap::default() };
        let mut known: FxHashMap<usize, Axis> = FxHashMap::default();
        for &node in view.order() {
            let results = graph.results(node).map(|val| (Place::Computed(val), val));
            let operands = graph.node(node).operands.iter().enumerate();
            let uses = operands.map(|(k, &val)| (operand_place(graph, view, node, k), val));
            for (place, val) in uses.chain(results) {
                for (axis, size) in graph.shape(val).iter().enumerate() {
                    if let Some(set) = sets.find(place, axis as u8) {
                        let size = view.facts().normalize(size);
                        let id = *known.entry(set).or_insert_with(|| space.sizes.push(size));
                        space.places.insert((place, axis as u8), id);
                    }
                }
            }
        }
        Ok(space)
    }

    /// The size of an axis.
    pub fn size(&self, axis: Axis) -> &Expr {
        &self.sizes[axis]
    }

    /// All axes.
    pub fn axes(&self) -> impl Iterator<Item = Axis> + use<> {
        self.sizes.keys()
    }

    /// The axes of a value that the group computes, outermost first; `None` where the size is 1.
    pub fn axes_of(&self, graph: &Graph, val: Val) -> Vec<Option<Axis>> {
        let rank = graph.ty(val).rank() as u8;
        (0..rank).map(|axis| self.places.get(&(Place::Computed(val), axis)).copied()).collect()
    }

    /// The axes of operand `k` of a node, outermost first; `None` where the size is 1.
    pub fn axes_of_operand(&self, graph: &Graph, view: &Fusion, node: Node, k: usize) -> Vec<Option<Axis>> {
        let place = operand_place(graph, view, node, k);
        let rank = graph.ty(graph.node(node).operands[k]).rank() as u8;
        (0..rank).map(|axis| self.places.get(&(place, axis)).copied()).collect()
    }
}
