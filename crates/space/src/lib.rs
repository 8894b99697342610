//! The iteration space that the values of a group share: its axes, their sizes, and the values that have them.
//!
//! Takes a view, returns its axes and those of each value. Decides nothing.

mod axes;
mod index_maps;
mod indices;
mod node_axes;
mod passage;
mod places;
mod refine;
mod subranges;

use cranelift_entity::{PrimaryMap, entity_impl};
use index::Expr;
use ir::graph::{Fusion, Graph, Node, Val};
use smallvec::SmallVec;

use axes::{AxisSets, AxisTuple};

pub use index_maps::Moved;
pub use node_axes::{AxisTable, kept_axes};
use node_axes::{KnownNodes, Role};
pub use passage::{Passage, Step, Steps, is_index_map, is_slice};
pub use places::{Made, Source};
use places::{Place, Places};
pub use subranges::{CodeSize, CutAxis};

/// An axis of the iteration space of a group.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Axis(u32);
entity_impl!(Axis, "x");

/// The axes that one axis of a value is made of, outermost first: none where its size is 1, several where a reshape in
/// the group splits it or made it. An index along it is their row-major combination.
pub type Atoms = SmallVec<[Axis; 1]>;

/// The axes of a group, and those of each axis of its values.
#[derive(Clone, Debug)]
pub struct Space {
    sizes: PrimaryMap<Axis, Expr>,
    places: Places,
    /// The axes of each place, which many share.
    tuples: Vec<AxisTuple>,
    /// The first axis of each tuple, and the number of all.
    first_axis: Vec<u32>,
    /// The atoms of each axis of each tuple.
    atoms: Vec<Atoms>,
    has_scans: bool,
    /// How nodes read their operands, in order. Empty if none may read at other indices than the loops'.
    passages: Vec<Passage>,
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
        Space::with(graph, view, &mut AxisTable::new(view.facts()))
    }

    /// The same, for a fusion about which something is known already.
    pub fn with(graph: &Graph, view: &Fusion, table: &mut AxisTable) -> Result<Space, SelfMapped> {
        let sets = AxisSets::of(graph, view, table);
        let mut sizes: PrimaryMap<Axis, Expr> = PrimaryMap::new();
        let mut known: Vec<Option<Axis>> = vec![None; sets.axes()];
        let mut first_axis = Vec::with_capacity(sets.tuple_count() as usize + 1);
        let mut atoms: Vec<Atoms> = Vec::with_capacity(sets.axes());
        for tuple in 0..sets.tuple_count() {
            let begin = atoms.len();
            first_axis.push(begin as u32);
            for axis in 0..sets.rank_of(tuple) {
                let mut number = |atom: u32| {
                    let size = || sizes.push(table.sizes.simplest(sets.size(atom)).clone());
                    *known[atom as usize].get_or_insert_with(size)
                };
                let mut own = Atoms::new();
                sets.each_atom_of_tuple(tuple, axis, &mut |atom| own.push(number(atom)));
                atoms.push(own);
            }
            if has_twice(&atoms[begin..]) {
                return Err(SelfMapped { val: sets.places.val(graph, view, sets.place_of(tuple)) });
            }
        }
        first_axis.push(atoms.len() as u32);
        let (has_scans, has_index_maps) = (sets.has_scans, sets.has_index_maps);
        let (places, tuples) = sets.into_tuples();
        let passages = Vec::new();
        let mut space = Space { sizes, places, tuples, first_axis, atoms, has_scans, passages };
        if has_index_maps {
            space.passages = space.passages(&table.nodes);
        }
        Ok(space)
    }

    /// How nodes read their operands. A reshape reads at the same index if both sides have the same atoms.
    fn passages(&self, nodes: &KnownNodes) -> Vec<Passage> {
        let mut passages = Vec::new();
        for (position, node) in self.nodes().iter().map(|&node| nodes.of(node)).enumerate() {
            passages.extend(node.operands.iter().map(|operand| operand.passage));
            if let (Role::Reshape, Some(Passage::Renamed(step))) = (node.role, passages.last().copied()) {
                let from = self.axes_at(self.places.operand(position, 0)).iter().flatten();
                let to = self.axes_at(self.places.result(position)).iter().flatten();
                if !from.eq(to) {
                    passages.pop();
                    passages.push(Passage::Moved(step));
                }
            }
        }
        passages
    }

    /// The size of an axis.
    pub fn size(&self, axis: Axis) -> &Expr {
        &self.sizes[axis]
    }

    /// All axes.
    pub fn axes(&self) -> impl ExactSizeIterator<Item = Axis> + use<> {
        self.sizes.keys()
    }

    /// Whether some op may read an operand at other indices than the loops'.
    pub fn has_index_maps(&self) -> bool {
        !self.passages.is_empty()
    }

    /// Whether the group scans.
    pub fn has_scans(&self) -> bool {
        self.has_scans
    }

    /// The nodes of the group, in order.
    pub fn nodes(&self) -> &[Node] {
        self.places.nodes()
    }

    /// The position of a node of the group in its order.
    pub fn position(&self, node: Node) -> Option<usize> {
        self.places.position(node)
    }

    /// The position of the node that makes operand `k` of the node at a position; `None` if it is read from memory.
    pub fn maker(&self, position: usize, k: usize) -> Option<usize> {
        self.places.maker(position, k)
    }

    /// Where operand `k` of the node at a position comes from.
    pub fn source(&self, position: usize, k: usize) -> Source {
        self.places.source(position, k)
    }

    /// The atoms of each axis of a value that the group computes, outermost first.
    ///
    /// # Panics
    /// When it does not.
    pub fn axes_of(&self, val: Val) -> &[Atoms] {
        self.axes_at(self.places.computed(val).expect("a value that the group computes"))
    }

    /// The atoms of each axis of operand `k` of a node, outermost first.
    ///
    /// # Panics
    /// When the group does not compute the node.
    pub fn axes_of_operand(&self, node: Node, k: usize) -> &[Atoms] {
        let position = self.position(node).expect("a node of the group");
        self.axes_at(self.places.operand(position, k))
    }

    /// The value of a function of the axes of each node's first result, by position. It is called once for axes that many
    /// share.
    pub fn of_results<T: Copy>(&self, tell: impl Fn(&[Atoms]) -> T) -> Vec<T> {
        let of_tuple = |ends: &[u32]| tell(&self.atoms[ends[0] as usize..ends[1] as usize]);
        let known: Vec<T> = self.first_axis.windows(2).map(of_tuple).collect();
        let result = |position| known[self.tuples[self.places.result(position) as usize] as usize];
        (0..self.nodes().len()).map(result).collect()
    }

    fn axes_at(&self, place: Place) -> &[Atoms] {
        let tuple = self.tuples[place as usize] as usize;
        let [begin, end] = [tuple, tuple + 1].map(|tuple| self.first_axis[tuple] as usize);
        &self.atoms[begin..end]
    }

    /// How the node at a position reads operand `k`.
    pub fn passage(&self, position: usize, k: usize) -> Passage {
        if self.passages.is_empty() {
            Passage::Along
        } else {
            self.passages[self.places.operand_number(position, k)]
        }
    }

    /// Whether the node at a position reads operand `k` at other indices than the loops', if its result is computed at
    /// theirs.
    pub fn moves(&self, position: usize, k: usize) -> bool {
        matches!(self.passage(position, k), Passage::Moved(_))
    }

    /// The outputs that the group computes, each once, in order.
    pub fn made(&self) -> &[Made] {
        &self.places.made
    }

    /// The atoms of each axis of an output that the group computes.
    pub fn axes_of_made(&self, made: &Made) -> &[Atoms] {
        self.axes_at(made.place)
    }
}

/// Whether two axes of a value would be the same loop.
fn has_twice(axes: &[Atoms]) -> bool {
    let atoms = || axes.iter().flatten();
    atoms().enumerate().any(|(k, atom)| atoms().take(k).any(|other| other == atom))
}
