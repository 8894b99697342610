//! Strided stores of a loop over lanes that together fill memory: to `2*x` and `2*x + 1` of one buffer, as in a rotary
//! embedding of pairs. Their vectors are interleaved and stored as one; each alone would be a scatter.

use std::collections::BTreeMap;

use index::{Expr, Sym};
use kernel::{Buffer, Kernel, Place, Stmt, Value};

/// The strides that shuffles handle; lanes whose elements are further apart take them one by one.
const STRIDES: std::ops::RangeInclusive<i64> = 2..=4;

/// The stride of an index along the lanes, if shuffles handle it.
pub(crate) fn short_stride(coefficient: &Expr) -> Option<u32> {
    coefficient.as_const().filter(|stride| STRIDES.contains(stride)).map(|stride| stride as u32)
}

/// Stores of a body whose elements interleave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interleaved {
    /// The stored values, in memory order.
    pub values: Vec<Value>,
    /// The index of the first.
    pub first: Expr,
    /// The index of the body's last store.
    pub last: Expr,
}

/// The interleaved stores of a kernel.
#[derive(Default)]
pub(crate) struct InterleavedStores {
    groups: Vec<Interleaved>,
    /// The group of each store, by its destination.
    of: BTreeMap<(Buffer, Expr), usize>,
}

impl InterleavedStores {
    /// Those of a kernel.
    pub(crate) fn of(kernel: &Kernel) -> InterleavedStores {
        let mut found = InterleavedStores::default();
        found.body(kernel, &kernel.body);
        found
    }

    /// The group that a store belongs to.
    pub(crate) fn group(&self, place: Place, index: &Expr) -> Option<&Interleaved> {
        let Place::Buffer(buffer) = place else { return None };
        self.of.get(&(buffer, index.clone())).map(|&group| &self.groups[group])
    }

    fn body(&mut self, kernel: &Kernel, body: &[Stmt]) {
        for statement in body {
            if let Stmt::For(for_loop) = statement {
                if for_loop.kind.is_over_lanes() {
                    self.lanes(kernel, &for_loop.body, for_loop.var);
                }
                self.body(kernel, &for_loop.body);
            }
        }
    }

    fn lanes(&mut self, kernel: &Kernel, body: &[Stmt], lane: Sym) {
        let mut stores: Vec<Store<'_>> = Vec::new();
        for statement in body {
            let Stmt::Store { place: Place::Buffer(buffer), index, value, guard: None } = statement else {
                continue;
            };
            let Some((coefficient, rest)) = index.split_linear(lane) else { continue };
            if let Some(stride) = short_stride(&coefficient) {
                stores.push(Store { buffer: *buffer, index, rest, stride, value: *value });
            }
        }
        for first in &stores {
            let members: Option<Vec<&Store<'_>>> =
                (0..first.stride).map(|by| first.shifted(by, &stores)).collect();
            let same_type = |members: &Vec<&Store<'_>>| {
                members.iter().all(|store| kernel.values[store.value] == kernel.values[first.value])
            };
            if let Some(members) = members.filter(same_type) {
                self.add(&stores, &members);
            }
        }
    }

    fn add(&mut self, stores: &[Store<'_>], members: &[&Store<'_>]) {
        let is_member = |store: &&Store<'_>| members.iter().any(|member| std::ptr::eq(*member, *store));
        let Some(last) = stores.iter().rfind(is_member) else { return };
        let key = |store: &Store<'_>| (store.buffer, store.index.clone());
        if members.iter().any(|store| self.of.contains_key(&key(store))) {
            return;
        }
        let values = members.iter().map(|store| store.value).collect();
        let (first, last) = (members[0].index.clone(), last.index.clone());
        self.of.extend(members.iter().map(|store| (key(store), self.groups.len())));
        self.groups.push(Interleaved { values, first, last });
    }
}

/// A store of a loop over lanes.
struct Store<'k> {
    buffer: Buffer,
    index: &'k Expr,
    /// The part of the index that does not depend on the lane.
    rest: Expr,
    stride: u32,
    value: Value,
}

impl Store<'_> {
    /// The only one of these stores whose elements lie `by` elements after this one's.
    fn shifted<'s, 'k>(&self, by: u32, stores: &'s [Store<'k>]) -> Option<&'s Store<'k>> {
        let is_it = |store: &&Store<'_>| {
            let distance = (&store.rest - &self.rest).as_const();
            store.buffer == self.buffer && store.stride == self.stride && distance == Some(i64::from(by))
        };
        let mut found = stores.iter().filter(is_it);
        found.next().filter(|_| found.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use kernel::parse;

    use super::*;

    /// The values that the stores of a kernel leave in turn, of which these indices are of two.
    fn groups(indices: [&str; 2]) -> usize {
        let text =
            include_str!("interleave.kernel").replace("FIRST", indices[0]).replace("SECOND", indices[1]);
        InterleavedStores::of(&parse(&text).expect("it is a kernel")).groups.len()
    }

    #[test]
    fn stores_that_fill_memory_are_one() {
        assert_eq!(groups(["2*x", "2*x + 1"]), 1);
        assert_eq!(groups(["2*x + 1", "2*x"]), 1);
        assert_eq!(groups(["2*x + 3", "2*x + 2"]), 1);
    }

    #[test]
    fn others_are_not() {
        assert_eq!(groups(["2*x", "2*x + 2"]), 0);
        assert_eq!(groups(["2*x", "2*x"]), 0);
        assert_eq!(groups(["3*x", "3*x + 1"]), 0);
        assert_eq!(groups(["x", "x + 1"]), 0);
    }
}
