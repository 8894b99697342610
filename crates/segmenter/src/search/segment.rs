//! A segment of a segmentation that is being changed: what it makes, and the nodes that compute it. Its view and cost are
//! computed on demand: most changes are rejected before.

use std::cell::OnceCell;

use ir::graph::{Cone, Fusion, Node, Val};

use super::SearchProblem;
use super::pricing::{Minimum, Price, Pricing};
use crate::group_classes::{GroupClass, GroupRef};
use crate::segmentation::{segment_cone, view_of};

/// A segment. One that makes nothing any more stays as an empty entry.
pub(super) struct Segment {
    pub made: Vec<Val>,
    cone: Cone,
    view: OnceCell<Fusion>,
    class: OnceCell<GroupClass>,
    minimum: OnceCell<Minimum>,
    price: OnceCell<Price>,
}

impl Segment {
    /// The segment that makes these values while others are in memory.
    pub fn new(problem: &SearchProblem<'_>, mut made: Vec<Val>, is_kept: impl Fn(Val) -> bool) -> Segment {
        made.sort_unstable();
        let cone = segment_cone(problem.graph, problem.fusion, &made, is_kept);
        let (view, class, minimum, price) = Default::default();
        Segment { made, cone, view, class, minimum, price }
    }

    /// What it reads, ascending.
    pub fn inputs(&self) -> &[Val] {
        self.cone.inputs()
    }

    /// The nodes that it computes, operands before users.
    pub fn order(&self) -> &[Node] {
        self.cone.order()
    }

    /// What it reads, computes and makes.
    pub fn group<'s>(&'s self, problem: &SearchProblem<'s>) -> GroupRef<'s> {
        let (inputs, order) = (self.inputs(), self.order());
        GroupRef { facts: problem.fusion.facts(), inputs, order, made: &self.made }
    }

    /// Its class.
    pub fn class(&self, problem: &SearchProblem<'_>) -> GroupClass {
        *self.class.get_or_init(|| problem.legality.class_of(problem.graph, self.group(problem)))
    }

    /// Whether it reads a value.
    pub fn reads(&self, val: Val) -> bool {
        self.inputs().binary_search(&val).is_ok()
    }

    /// Whether it computes a node.
    pub fn contains(&self, node: Node) -> bool {
        let order = self.order();
        let may_contain = order.first() <= Some(&node) && Some(&node) <= order.last();
        may_contain && order.binary_search(&node).is_ok()
    }

    /// Whether it computes a value.
    pub fn computes(&self, val: Val) -> bool {
        self.contains(val.node) && !self.reads(val)
    }

    /// The segment as a view.
    pub fn view(&self, problem: &SearchProblem<'_>) -> &Fusion {
        self.view.get_or_init(|| view_of(problem.graph, problem.fusion, &self.made, self.cone.clone()))
    }

    /// What it costs.
    pub fn price(&self, problem: &SearchProblem<'_>, pricing: &Pricing<'_>) -> Price {
        *self.price.get_or_init(|| {
            let price = pricing.price(self.class(problem), || self.view(problem));
            let told = self.minimum.get().map_or(0, |minimum| minimum.price().rejected);
            debug_assert!(told <= price.rejected, "a group is legal that leaves no axis to workers");
            price
        })
    }

    /// A lower bound of its cost, whatever its kernel.
    pub fn minimum(&self, problem: &SearchProblem<'_>, pricing: &Pricing<'_>) -> Minimum {
        *self.minimum.get_or_init(|| pricing.minimum(&self.made, &self.cone, || self.view(problem)))
    }
}
