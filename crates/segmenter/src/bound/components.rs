//! Connected components of a fusion without its scalars: for instance the tensors of each parameter, if all are scaled by a
//! common norm. What segments move of one component is nothing that they move of another, so their bounds add up.

use ir::graph::{Fusion, Node, Val};
use rustc_hash::FxHashSet;

use crate::cost::Amounts;
use crate::disjoint_sets::DisjointSets;

/// A component, by its smallest value.
pub(super) type Component = Val;

/// The components that values of a fusion belong to. Scalars belong to none, unless there is only one.
pub(super) struct Components<'a> {
    amounts: &'a Amounts<'a>,
    sets: DisjointSets,
    /// Set if there is only one.
    only: Option<Component>,
}

impl<'a> Components<'a> {
    pub(super) fn of(fusion: &Fusion, amounts: &'a Amounts<'a>) -> Components<'a> {
        let mut components = Components { amounts, sets: DisjointSets::default(), only: None };
        for &node in fusion.order() {
            let mut vals = components.tensors_of(node);
            if let Some(first) = vals.next() {
                let others: Vec<Val> = vals.collect();
                others.into_iter().for_each(|other| components.sets.unite(first, other));
            }
        }
        let roots: FxHashSet<Component> =
            fusion.order().iter().filter_map(|&node| components.of_node(node)).collect();
        components.only = roots.iter().next().copied().filter(|_| roots.len() == 1);
        components
    }

    /// The component that a value belongs to.
    pub(super) fn of_val(&self, val: Val) -> Option<Component> {
        let is_scalar = self.amounts.of(val).elements <= 1;
        self.only.or_else(|| (!is_scalar).then(|| self.sets.root(val)))
    }

    /// The component of the values that a node makes or takes.
    pub(super) fn of_node(&self, node: Node) -> Option<Component> {
        let of_tensors = || Some(self.sets.root(self.tensors_of(node).next()?));
        self.only.or_else(of_tensors)
    }

    /// The values that a node makes and takes, without scalars.
    fn tensors_of(&self, node: Node) -> impl Iterator<Item = Val> + 'a {
        let amounts = self.amounts;
        let operands = amounts.graph.node(node).operands.iter().copied();
        operands.chain(amounts.graph.results(node)).filter(|&val| amounts.of(val).elements > 1)
    }
}
