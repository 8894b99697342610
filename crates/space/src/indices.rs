//! Indices of the values of a group, as the loops of its space ask for them: those of loops, shifted by index maps.

use std::rc::Rc;

use index::{Expr, Facts};
use ir::graph::{Fusion, Graph, Node, TensorOp};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Atoms, Passage, Space, Step};

/// The index of a value along one of its axes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum At {
    /// That of loops over these axes, in row-major order, and a shift.
    Loops(Atoms, Expr),
    /// Another one, by number: equal numbers are equal indices.
    Other(u32),
}

/// The index of a value.
pub(super) type Index = SmallVec<[At; 4]>;

/// What is known of indices.
#[derive(Default)]
pub(super) struct Indices {
    /// The number of each that is no shift: that at which a step asks for an axis of its operand.
    others: FxHashMap<(Step, Index, usize), u32>,
    /// The bounds of the operands of each cat.
    bounds: FxHashMap<Node, Rc<[Expr]>>,
}

impl Indices {
    /// Where each operand of a cat begins along its axis, and where the last one ends.
    pub fn bounds_of_cat(&mut self, graph: &Graph, view: &Fusion, node: Node) -> Rc<[Expr]> {
        let TensorOp::Cat(axis) = graph.op(node.into()) else { panic!("a cat") };
        let bounds = self.bounds.entry(node).or_insert_with(|| {
            let mut bounds = vec![Expr::zero()];
            for &operand in &graph.node(node).operands {
                let end = &bounds[bounds.len() - 1] + &graph.shape(operand)[usize::from(*axis)];
                bounds.push(view.facts().normalize(&end));
            }
            bounds.into()
        });
        Rc::clone(bounds)
    }

    /// The index of operand `k` of the node at a position, if the node is asked for at an index.
    pub fn of_operand(
        &mut self,
        graph: &Graph,
        view: &Fusion,
        space: &Space,
        (position, k): (usize, usize),
        index: &Index,
    ) -> Index {
        let node = view.order()[position];
        let data = graph.node(node);
        let rank = graph.shape(data.operands[k]).len();
        let step = match space.passage(position, k) {
            Passage::Scalar => return Index::new(),
            Passage::Along if rank == index.len() => return index.clone(),
            Passage::Along => return Index::new(),
            Passage::Moved(step) | Passage::Renamed(step) => step,
        };
        let facts = view.facts();
        match &data.op {
            TensorOp::Slice { starts, .. } => self.shifted(step, index, facts, |place| starts[place].clone()),
            TensorOp::Pad { before, .. } => {
                self.shifted(step, index, facts, |place| Expr::zero() - before[place].clone())
            }
            TensorOp::Cat(axis) => {
                let along = usize::from(*axis);
                let by = Expr::zero() - self.bounds_of_cat(graph, view, node)[k].clone();
                self.shifted(
                    step,
                    index,
                    facts,
                    |place| if place == along { by.clone() } else { Expr::zero() },
                )
            }
            TensorOp::Permute(order) => {
                let mut permuted: SmallVec<[Option<At>; 4]> = SmallVec::from_elem(None, rank);
                for (at, &from) in index.iter().zip(order) {
                    permuted[usize::from(from)] = Some(at.clone());
                }
                permuted.into_iter().map(|at| at.expect("a permutation has every axis")).collect()
            }
            TensorOp::Broadcast(is_new) => {
                index.iter().zip(is_new).filter(|(_, is_new)| !**is_new).map(|(at, _)| at.clone()).collect()
            }
            TensorOp::Squeeze(axes) => {
                let mut kept = index.iter().cloned();
                let mut at = |place: usize| {
                    let own = if axes.contains(&(place as u8)) { None } else { kept.next() };
                    own.unwrap_or_else(first)
                };
                (0..rank).map(&mut at).collect()
            }
            TensorOp::Expand(_) => {
                let shape = graph.shape(data.operands[k]);
                let at = |(at, size): (&At, &Expr)| if size.is_one() { first() } else { at.clone() };
                index.iter().zip(shape).map(at).collect()
            }
            _ if *index == at_loops(space.axes_of(node.into())) && !space.moves(position, k) => {
                at_loops(space.axes_of_operand(node, k))
            }
            _ => (0..rank).map(|place| self.other(step, index, place)).collect(),
        }
    }

    /// An index shifted along each axis.
    fn shifted(&mut self, step: Step, index: &Index, facts: &Facts, by: impl Fn(usize) -> Expr) -> Index {
        let shifted = |(place, at): (usize, &At)| match (at, by(place)) {
            (_, by) if by.is_zero() => at.clone(),
            (At::Loops(atoms, shift), by) => At::Loops(atoms.clone(), facts.normalize(&(shift.clone() + by))),
            (At::Other(_), _) => self.other(step, index, place),
        };
        index.iter().enumerate().map(shifted).collect()
    }

    /// The index along an axis of the operand of a step that is no shift.
    fn other(&mut self, step: Step, index: &Index, place: usize) -> At {
        let next = self.others.len() as u32;
        At::Other(*self.others.entry((step, index.clone(), place)).or_insert(next))
    }
}

/// The index that loops over these axes walk.
pub(super) fn at_loops(axes: &[Atoms]) -> Index {
    axes.iter().map(|atoms| At::Loops(atoms.clone(), Expr::zero())).collect()
}

/// Index 0.
fn first() -> At {
    At::Loops(Atoms::new(), Expr::zero())
}
