//! Atoms: where a reshape splits an axis or merges several, both sides are expressed in the finer axes, so that a value
//! of shape `[N, C, H, W]` and one of shape `[N, G, C/G, H, W]` share loops over N, G, C/G, H and W.
//!
//! An index along an axis of several atoms is their row-major combination. Sizes that do not line up, as in a reshape
//! from `[6, 4]` to `[4, 6]`, stay apart: such a reshape is an index map with divisions.

use index::Expr;
use ir::graph::{Fusion, Graph, Node, TensorOp, Val};

use super::axes::{AxisSets, Place, operand_place};
use super::sizes::Sizes;

impl AxisSets {
    /// Splits axes until both sides of each reshape have the same atoms, as far as their sizes line up.
    pub(super) fn refine(&mut self, graph: &Graph, view: &Fusion, sizes: &mut Sizes<'_>) {
        let is_reshape = |node: &&Node| matches!(graph.node(**node).op, TensorOp::Reshape(_));
        let reshapes: Vec<Node> = view.order().iter().filter(is_reshape).copied().collect();
        let mut is_changed = true;
        while is_changed {
            // A step for one reshape may make another possible for an earlier one.
            is_changed = false;
            for &node in &reshapes {
                while self.refine_reshape(graph, view, node, sizes) {
                    is_changed = true;
                }
            }
        }
    }

    /// One step for one reshape; whether there was one to make.
    fn refine_reshape(&mut self, graph: &Graph, view: &Fusion, node: Node, sizes: &mut Sizes<'_>) -> bool {
        let operand = graph.node(node).operands[0];
        let from = self.all_atoms(graph, operand_place(graph, view, node, 0), operand);
        let to = self.all_atoms(graph, Place::Computed(node.into()), node.into());
        from != to && self.line_up(&from, &to, sizes)
    }

    fn all_atoms(&self, graph: &Graph, place: Place, val: Val) -> Vec<usize> {
        (0..graph.ty(val).rank() as u8).flat_map(|axis| self.atoms(place, axis)).collect()
    }

    /// Unites two axes of one size, atom by atom, unless some value would then have an atom twice.
    pub(super) fn unite_if_free(&mut self, left: (Place, u8), right: (Place, u8), sizes: &mut Sizes<'_>) {
        loop {
            let (from, to) = (self.atoms(left.0, left.1), self.atoms(right.0, right.1));
            let changed = match (&from[..], &to[..]) {
                ([a], [b]) => self.join_if_free(*a, *b),
                _ => self.line_up(&from, &to, sizes),
            };
            if !changed {
                return;
            }
        }
    }

    /// One step towards making two lists of atoms that hold the same elements one list; whether there was one to make.
    fn line_up(&mut self, from: &[usize], to: &[usize], sizes: &mut Sizes<'_>) -> bool {
        let sizes_of =
            |atoms: &[usize]| atoms.iter().map(|&atom| self.sizes[atom].clone()).collect::<Vec<Expr>>();
        let groups = sizes.axis_groups(sizes_of(from), sizes_of(to));
        groups.iter().any(|group| {
            let (from, to) = (&from[group.from.clone()], &to[group.to.clone()]);
            match (from, to) {
                ([a], [b]) => sizes.are_equal(&self.sizes[*a], &self.sizes[*b]) && self.join_if_free(*a, *b),
                ([whole], parts @ [_, _, ..]) | (parts @ [_, _, ..], [whole]) => {
                    self.split_if_free(*whole, parts, sizes)
                }
                _ => false,
            }
        })
    }

    fn join_if_free(&mut self, a: usize, b: usize) -> bool {
        let free = a != b && self.places[a].is_disjoint(&self.places[b]);
        if free {
            self.join(a, b);
        }
        free
    }

    /// Makes an atom stand for parts of it, unless some value would then have an atom twice, or a scan walks it.
    fn split_if_free(&mut self, whole: usize, parts: &[usize], sizes: &mut Sizes<'_>) -> bool {
        let product = parts.iter().fold(Expr::one(), |n, &part| n * self.sizes[part].clone());
        let free = parts.iter().all(|&part| self.places[part].is_disjoint(&self.places[whole]));
        if !free || self.is_scanned(whole) || !sizes.are_equal(&self.sizes[whole], &product) {
            return false;
        }
        let places = std::mem::take(&mut self.places[whole]);
        parts.iter().for_each(|&part| self.places[part].extend(places.iter().copied()));
        self.parts[whole] = parts.to_vec();
        true
    }
}
