//! Atoms: where a reshape splits an axis or merges several, both sides are expressed in the finer axes, so that a value
//! of shape `[N, C, H, W]` and one of shape `[N, G, C/G, H, W]` share loops over N, G, C/G, H and W.
//!
//! An index along an axis of several atoms is their row-major combination. Sizes that do not line up, as in a reshape
//! from `[6, 4]` to `[4, 6]`, stay apart: such a reshape is an index map with divisions.

use index::{Expr, SizeNumber, SizeTable};

use super::axes::{AxisId, AxisSets};
use super::places::Place;

impl AxisSets {
    /// Splits axes until both sides of each reshape have the same atoms, as far as their sizes line up.
    pub(super) fn refine(&mut self, sizes: &mut SizeTable) {
        let reshapes = std::mem::take(&mut self.reshapes);
        let mut is_changed = true;
        while is_changed {
            // A step for one reshape may make another possible for an earlier one.
            is_changed = false;
            for &position in &reshapes {
                while self.refine_reshape(position, sizes) {
                    is_changed = true;
                }
            }
        }
    }

    /// One step for one reshape; returns whether there was one.
    fn refine_reshape(&mut self, position: usize, sizes: &mut SizeTable) -> bool {
        let from = self.all_atoms(self.places.operand(position, 0));
        let to = self.all_atoms(self.places.result(position));
        from != to && self.line_up(&from, &to, sizes)
    }

    /// Unites two axes of one size, atom by atom, unless some value would then have an atom twice.
    pub(super) fn unite_if_free(&mut self, left: (Place, u8), right: (Place, u8), sizes: &mut SizeTable) {
        let [left, right] = [left, right].map(|(place, axis)| self.id(place, axis));
        while !self.have_same_atoms(left, right) {
            let (from, to) = (self.atoms_of(left), self.atoms_of(right));
            let changed = match (&from[..], &to[..]) {
                ([a], [b]) => self.join_if_free(*a, *b),
                (from, to) => self.line_up(from, to, sizes),
            };
            if !changed {
                return;
            }
        }
    }

    /// One step towards making two lists of atoms with the same elements equal; returns whether there was one.
    fn line_up(&mut self, from: &[AxisId], to: &[AxisId], sizes: &mut SizeTable) -> bool {
        let sizes_of =
            |atoms: &[AxisId]| atoms.iter().map(|&atom| self.size(atom)).collect::<Vec<SizeNumber>>();
        let groups = sizes.axis_groups(sizes_of(from), sizes_of(to));
        groups.iter().any(|group| {
            let (from, to) = (&from[group.from.clone()], &to[group.to.clone()]);
            match (from, to) {
                ([a], [b]) => sizes.are_equal(self.size(*a), self.size(*b)) && self.join_if_free(*a, *b),
                ([whole], parts @ [_, _, ..]) | (parts @ [_, _, ..], [whole]) => {
                    self.split_if_free(*whole, parts, sizes)
                }
                _ => false,
            }
        })
    }

    fn join_if_free(&mut self, a: AxisId, b: AxisId) -> bool {
        let free = a != b && self.are_apart(a, b);
        if free {
            self.join(a, b);
        }
        free
    }

    /// Makes an atom stand for parts of it, unless some value would then have an atom twice, or a scan walks it.
    fn split_if_free(&mut self, whole: AxisId, parts: &[AxisId], sizes: &mut SizeTable) -> bool {
        let free = parts.iter().all(|&part| self.are_apart(part, whole));
        if !free || self.is_scanned(whole) || !self.is_product(whole, parts, sizes) {
            return false;
        }
        self.add_members(whole, parts);
        self.parts.insert(whole, parts.to_vec());
        true
    }

    fn is_product(&self, whole: AxisId, parts: &[AxisId], sizes: &mut SizeTable) -> bool {
        let times = |n: Expr, &part: &AxisId| n * sizes.simplest(self.size(part)).clone();
        let product = parts.iter().fold(Expr::one(), times);
        let product = sizes.number(&product);
        sizes.are_equal(self.size(whole), product)
    }
}
