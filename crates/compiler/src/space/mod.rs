//! The iteration space that the values of a group share: its axes, their sizes, and what walks them.
//!
//! Takes a view, gives its axes and for each value which of them it has. Decides nothing.

mod axes;
mod breakpoints;
mod index_maps;
mod refine;
mod reshape;
mod sizes;

use cranelift_entity::{PrimaryMap, entity_impl};
use index::Expr;
use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

pub(crate) use axes::kept_axes;
use axes::{AxisSets, Place, operand_place};
pub use breakpoints::breakpoints;
pub(crate) use breakpoints::concatenated;
pub(crate) use index_maps::{IndexMaps, Moved};
pub use reshape::{AxisGroup, axis_groups};
pub(crate) use sizes::Sizes;

/// An axis of the iteration space of a group.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Axis(u32);
entity_impl!(Axis, "x");

/// The axes that one axis of a value is made of, outermost first: none where its size is 1, several where a reshape in
/// the group splits it or made it. An index along it is their row-major combination.
pub type Atoms = SmallVec<[Axis; 1]>;

/// The axes of a group, and which axis of which value is made of which.
#[derive(Clone, Debug)]
pub struct Space {
    sizes: PrimaryMap<Axis, Expr>,
    places: FxHashMap<(Place, u8), Atoms>,
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
        let mut places = FxHashMap::default();
        places.reserve(sets.axes());
        let mut space = Space { sizes: PrimaryMap::new(), places };
        let mut known: FxHashMap<usize, Axis> = FxHashMap::default();
        for &node in view.order() {
            let results = graph.results(node).map(|val| (Place::Computed(val), val));
            let operands = graph.node(node).operands.iter().enumerate();
            let uses = operands.map(|(k, &val)| (operand_place(graph, view, node, k), val));
            for (place, val) in uses.chain(results) {
                for axis in 0..graph.ty(val).rank() as u8 {
                    let mut number = |atom: usize| {
                        *known.entry(atom).or_insert_with(|| space.sizes.push(sets.sizes[atom].clone()))
                    };
                    let atoms = sets.atoms(place, axis).into_iter().map(&mut number).collect();
                    space.places.insert((place, axis), atoms);
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

    /// The atoms of each axis of a value that the group computes, outermost first.
    pub fn axes_of(&self, graph: &Graph, val: Val) -> Vec<Atoms> {
        self.axes_at(graph, Place::Computed(val), val)
    }

    /// The atoms of each axis of operand `k` of a node, outermost first.
    pub fn axes_of_operand(&self, graph: &Graph, view: &Fusion, node: Node, k: usize) -> Vec<Atoms> {
        self.axes_at(graph, operand_place(graph, view, node, k), graph.node(node).operands[k])
    }

    fn axes_at(&self, graph: &Graph, place: Place, val: Val) -> Vec<Atoms> {
        let rank = graph.ty(val).rank() as u8;
        (0..rank).map(|axis| self.places.get(&(place, axis)).cloned().unwrap_or_default()).collect()
    }

    /// Whether a node reads operand `k` at another index than the loops stand at where its result is wanted. A reshape does
    /// not if both sides have the same atoms, nor does a cat of a single slice.
    pub fn moves(&self, graph: &Graph, view: &Fusion, node: Node, k: usize) -> bool {
        let data = graph.node(node);
        match &data.op {
            TensorOp::Slice { .. } | TensorOp::Pad { .. } => true,
            TensorOp::Cat(axis) => !graph.shape(data.operands[k])[*axis as usize].is_one(),
            TensorOp::Gather(_) => k == 0,
            TensorOp::Reshape(_) => {
                let (from, to) =
                    (self.axes_of_operand(graph, view, node, k), self.axes_of(graph, node.into()));
                !from.iter().flatten().eq(to.iter().flatten())
            }
            _ => false,
        }
    }
}
