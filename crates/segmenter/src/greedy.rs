//! A simple, deterministic segmentation: the whole fusion if that is legal; otherwise producer and consumer pairs are merged
//! in topological order while the union is legal, as in nvFuser, but by our legality.
//!
//! Values computed from constants alone are recomputed wherever they are used. The optimizing search is in `search`.

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use ir::graph::{Fusion, Graph, Node, Tasks, Val};
use rustc_hash::FxHashSet;

use super::constraints::Constraints;
use super::free::free_nodes;
use super::group_classes::GroupRef;
use super::legality::{Legality, Verdict};
use super::ready_order::ready_order;
use super::segmentation::{Segmentation, segment_cone, segment_view};

/// Nodes beyond which a definition is long. With 512 `mixed_1000` of the corpus took 1.5 times as long.
const MAX_SHORT_NODES: usize = 1024;

/// Nodes up to which a group of a long definition grows by one at a time.
const MAX_GROWN_NODES: usize = 64;

/// The greedy segmentation of a fusion, with the groups of the user.
pub fn greedy(graph: &Graph, fusion: &Fusion, tasks: &Tasks) -> Segmentation {
    greedy_with(graph, fusion, &Constraints::new(graph, fusion, tasks), &Legality::default())
}

/// The same; its answers about groups stay in `legality`.
pub fn greedy_with(
    graph: &Graph,
    fusion: &Fusion,
    constraints: &Constraints,
    legality: &Legality,
) -> Segmentation {
    let mut outputs: Vec<Val> = fusion.outputs().iter().map(|output| output.val).collect();
    outputs.retain(|&val| !fusion.is_input(val));
    outputs.sort_unstable();
    outputs.dedup();
    if outputs.is_empty() {
        return Segmentation::default();
    }
    let whole = segment_view(graph, fusion, &outputs, |val| outputs.contains(&val));
    if constraints.allow(&[whole.order()], &[]) && legality.allows(graph, &whole) {
        return Segmentation::new(vec![outputs]);
    }
    let mut groups = Groups::smallest(graph, fusion, constraints, legality);
    let is_long = whole.order().len() > MAX_SHORT_NODES;
    while groups.merge_round(is_long) {}
    while is_long && groups.merge_neighbours() {}
    groups.segmentation()
}

/// No fusion at all, for comparison: each operation is a segment, except for those that the user keeps together.
pub fn unfused(graph: &Graph, fusion: &Fusion, tasks: &Tasks) -> Segmentation {
    let constraints = Constraints::new(graph, fusion, tasks);
    Groups::smallest(graph, fusion, &constraints, &Legality::default()).segmentation()
}

/// Some nodes of a fusion as one segment. One that was merged into another is left empty.
#[derive(Clone, Default)]
struct Group {
    /// The nodes that are in no other group, ascending.
    members: Vec<Node>,
    /// The nodes that it computes: its members, and those that are recomputed wherever they are used; ascending.
    order: Vec<Node>,
    /// The values that it reads, ascending.
    inputs: Vec<Val>,
    /// The values that others use or that are outputs of the fusion, ascending.
    made: Vec<Val>,
    /// The nodes outside of it that use its values.
    users: Vec<Node>,
    /// The nodes outside of it that make the values it reads.
    producers: Vec<Node>,
}

/// A partition of a fusion's nodes into groups.
struct Groups<'a> {
    graph: &'a Graph,
    fusion: &'a Fusion,
    constraints: &'a Constraints,
    legality: &'a Legality,
    /// Nodes that are recomputed wherever they are used.
    free: FxHashSet<Node>,
    /// Which group a node is in.
    group_of: SecondaryMap<Node, Option<usize>>,
    groups: Vec<Group>,
    /// Pairs of groups whose union was rejected; a group that grows gets a new number, so these stay valid.
    rejected: FxHashSet<(usize, usize)>,
    /// The groups that each can never be merged with, however both grow.
    apart: Vec<BTreeSet<usize>>,
}

impl<'a> Groups<'a> {
    /// Each node by itself, or with those that it must be with.
    fn smallest(
        graph: &'a Graph,
        fusion: &'a Fusion,
        constraints: &'a Constraints,
        legality: &'a Legality,
    ) -> Groups<'a> {
        let mut groups = Groups {
            graph,
            fusion,
            constraints,
            legality,
            free: free_nodes(graph, fusion, |_| false),
            group_of: SecondaryMap::new(),
            groups: Vec::new(),
            rejected: FxHashSet::default(),
            apart: Vec::new(),
        };
        let mut members: Vec<Vec<Node>> = Vec::new();
        for &node in fusion.order().iter().filter(|node| !groups.free.contains(node)) {
            if groups.group_of[node].is_some() {
                continue;
            }
            let together = constraints.together(node).map_or_else(|| vec![node], <[Node]>::to_vec);
            together.iter().for_each(|&member| groups.group_of[member] = Some(members.len()));
            members.push(together);
        }
        groups.apart = vec![BTreeSet::new(); members.len()];
        groups.groups = members.into_iter().map(|members| groups.group(members)).collect();
        groups
    }

    /// The group of these members.
    fn group(&self, members: Vec<Node>) -> Group {
        let is_member = |node: &Node| members.binary_search(node).is_ok();
        let leaves = |val: Val| {
            self.fusion.is_output(val) || self.fusion.uses(val).iter().any(|user| !is_member(user))
        };
        // One result of a node may be an input while others are computed again.
        let leaves = |&val: &Val| !self.fusion.is_input(val) && leaves(val);
        let results = || members.iter().flat_map(|&node| self.graph.results(node));
        let made: Vec<Val> = results().filter(leaves).collect();
        let (order, inputs) = self.order_and_inputs(&members, &made);
        let is_next = |node: &Node| self.group_of[*node].is_some() && !is_member(node);
        let users = results().flat_map(|val| self.fusion.uses(val)).copied().filter(is_next);
        let read = inputs.iter().filter(|val| !self.fusion.is_input(**val));
        let producers = sorted(read.map(|val| val.node).filter(is_next));
        Group { order, inputs, users: sorted(users), producers, made, members }
    }

    /// The nodes that make these values of members, and what they read.
    fn order_and_inputs(&self, members: &[Node], made: &[Val]) -> (Vec<Node>, Vec<Val>) {
        if let [node] = *members {
            let operands = &self.graph.node(node).operands;
            if !operands.iter().any(|val| self.free.contains(&val.node)) {
                return (vec![node], sorted(operands.iter().copied()));
            }
        }
        let is_kept = |val: Val| !self.free.contains(&val.node) && members.binary_search(&val.node).is_err();
        let cone = segment_cone(self.graph, self.fusion, made, is_kept);
        (cone.order().to_vec(), cone.inputs().to_vec())
    }

    /// The union of two groups.
    fn union(&self, producer: usize, consumer: usize) -> Group {
        let [left, right] = [producer, consumer].map(|group| &self.groups[group]);
        let members = merged(&left.members, &right.members);
        let is_member = |node: &Node| members.binary_search(node).is_ok();
        let outside = |one: &[Node], other: &[Node]| {
            let mut nodes = merged(one, other);
            nodes.retain(|node| !is_member(node));
            nodes
        };
        let mut inputs = merged(&left.inputs, &right.inputs);
        inputs.retain(|val| self.fusion.is_input(*val) || !is_member(&val.node));
        let mut made = merged(&left.made, &right.made);
        made.retain(|&val| {
            self.fusion.is_output(val) || self.fusion.uses(val).iter().any(|user| !is_member(user))
        });
        Group {
            order: merged(&left.order, &right.order),
            inputs,
            made,
            users: outside(&left.users, &right.users),
            producers: outside(&left.producers, &right.producers),
            members,
        }
    }

    /// One pass over all producer-consumer pairs in topological order; returns whether anything was merged. With `once`,
    /// groups that are no longer small merge once in a pass and so double, which asks legality about each node of a long
    /// definition only a few times.
    fn merge_round(&mut self, once: bool) -> bool {
        let mut merged = false;
        let first_new = self.groups.len();
        for &node in self.fusion.order() {
            for &operand in &self.graph.node(node).operands {
                let pair = (self.group_of[operand.node], self.group_of[node]);
                let (Some(producer), Some(consumer)) = pair else { continue };
                if !self.fusion.is_input(operand)
                    && producer != consumer
                    && !(once && [producer, consumer].iter().any(|&group| self.has_grown(group, first_new)))
                    && self.try_merge(producer, consumer)
                {
                    merged = true;
                }
            }
        }
        merged
    }

    /// Whether a group was made in this pass and is no longer small.
    fn has_grown(&self, group: usize, first_new: usize) -> bool {
        group >= first_new && self.groups[group].members.len() >= MAX_GROWN_NODES
    }

    fn try_merge(&mut self, producer: usize, consumer: usize) -> bool {
        if !self.may_unite(producer, consumer) || self.has_detour(producer, consumer) {
            return false;
        }
        self.unite(producer, consumer)
    }

    /// Merges groups that are adjacent in running order, pair by pair: many small results of a definition too long for one
    /// kernel need not be a kernel each. Returns whether anything was merged.
    fn merge_neighbours(&mut self) -> bool {
        let order = self.in_order();
        let mut merged = false;
        let mut left = order.into_iter().peekable();
        while let Some(first) = left.next() {
            let Some(&second) = left.peek() else { break };
            if self.share_operands(first, second)
                && self.may_unite(first, second)
                && self.unite(first, second)
            {
                merged = true;
                left.next();
            }
        }
        merged
    }

    /// Whether two groups read a common value.
    fn share_operands(&self, first: usize, second: usize) -> bool {
        let operands = |group: usize| {
            let operands =
                self.groups[group].members.iter().flat_map(|&node| &self.graph.node(node).operands);
            operands.copied().collect::<FxHashSet<Val>>()
        };
        !operands(first).is_disjoint(&operands(second))
    }

    /// Whether two groups are not known to be unmergeable.
    fn may_unite(&self, producer: usize, consumer: usize) -> bool {
        !self.rejected.contains(&(producer, consumer)) && !self.apart[producer].contains(&consumer)
    }

    /// Keeps two groups apart, and all that they grow into.
    fn keep_apart(&mut self, one: usize, other: usize) {
        self.apart[one].insert(other);
        self.apart[other].insert(one);
    }

    /// Merges two groups, if the result can run.
    fn unite(&mut self, producer: usize, consumer: usize) -> bool {
        let union = self.union(producer, consumer);
        #[cfg(test)]
        tests::ASKED.with(|asked| asked.set(asked.get() + union.members.len()));
        let parts = [producer, consumer].map(|group| self.groups[group].members.as_slice());
        if !self.constraints.allow(&[&union.members], &parts) {
            self.rejected.insert((producer, consumer));
            return false;
        }
        if let Verdict::Rejected { is_monotone } = self.verdict(&union) {
            self.rejected.insert((producer, consumer));
            if is_monotone {
                self.keep_apart(producer, consumer);
            }
            return false;
        }
        let number = self.groups.len();
        let apart = &std::mem::take(&mut self.apart[producer]) | &std::mem::take(&mut self.apart[consumer]);
        self.apart.push(BTreeSet::new());
        apart.into_iter().for_each(|other| self.keep_apart(number, other));
        union.members.iter().for_each(|&node| self.group_of[node] = Some(number));
        for group in [producer, consumer] {
            self.groups[group] = Group::default();
        }
        self.groups.push(union);
        true
    }

    /// Whether a group can be one step.
    fn verdict(&self, Group { order, inputs, made, .. }: &Group) -> Verdict {
        let is_kept = |val: Val| inputs.binary_search(&val).is_ok();
        let view = || segment_view(self.graph, self.fusion, made, is_kept);
        let group = GroupRef { facts: self.fusion.facts(), inputs, order, made };
        self.legality.verdict(self.graph, group, view)
    }

    /// Whether a path leads from one group to another through a third: merging them would make a cycle. Searches from both
    /// ends alternately, as one of them usually leads nowhere.
    fn has_detour(&self, from: usize, to: usize) -> bool {
        let mut downstream: Vec<usize> = self.users(from).into_iter().filter(|&group| group != to).collect();
        let mut behind: Vec<usize> = self.producers(to).into_iter().filter(|&group| group != from).collect();
        let (mut after, mut before) = (FxHashSet::default(), FxHashSet::default());
        loop {
            match (downstream.pop(), behind.pop()) {
                (None, _) | (_, None) => return false,
                (Some(next), Some(last)) if next == to || last == from => return true,
                (Some(next), Some(last)) => {
                    if after.insert(next) {
                        downstream.extend(self.users(next));
                    }
                    if before.insert(last) {
                        behind.extend(self.producers(last));
                    }
                }
            }
        }
    }

    /// The groups that use values of a group.
    fn users(&self, group: usize) -> Vec<usize> {
        sorted(self.groups[group].users.iter().filter_map(|&node| self.group_of[node]))
    }

    /// The groups that make the values a group reads.
    fn producers(&self, group: usize) -> Vec<usize> {
        sorted(self.groups[group].producers.iter().filter_map(|&node| self.group_of[node]))
    }

    /// The groups in an order in which each comes after those it needs, the one with the earliest number first.
    fn in_order(&self) -> Vec<usize> {
        let present: Vec<usize> =
            (0..self.groups.len()).filter(|&group| !self.groups[group].members.is_empty()).collect();
        let place = |group: usize| present.binary_search(&group).expect("nodes are in groups that are left");
        let makers: Vec<BTreeSet<usize>> =
            present.iter().map(|&group| self.producers(group).into_iter().map(place).collect()).collect();
        let order: Vec<usize> = ready_order(&makers).into_iter().map(|place| present[place]).collect();
        debug_assert_eq!(order.len(), present.len(), "the groups have no cycle");
        order
    }

    /// The values that each group makes, in that order.
    fn segmentation(&self) -> Segmentation {
        Segmentation::new(self.in_order().into_iter().map(|group| self.groups[group].made.clone()).collect())
    }
}

/// What two ascending lists contain, ascending, each once.
fn merged<T: Copy + Ord>(one: &[T], other: &[T]) -> Vec<T> {
    sorted(one.iter().chain(other).copied())
}

/// Some items in order, each once.
fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort();
    items.dedup();
    items
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// Nodes of the groups of which legality was asked.
        pub static ASKED: Cell<usize> = const { Cell::new(0) };
    }

    /// Nodes that legality was asked of for a chain of sums, with the segments that came of it.
    fn asked(sums: usize) -> (usize, usize) {
        let steps = "    y = fd.ops.add(y, y)\n".repeat(sums);
        let input = "    y = fd.define_tensor(shape=[-1], contiguity=True)\n";
        let source = format!("def chain(fd):\n{input}{steps}    fd.add_output(y)\n");
        let definition = frontend::text::parse(&source).expect("a definition").definition;
        let before = ASKED.with(Cell::get);
        let segmentation = greedy(&definition.graph, &definition.fusion, &definition.tasks);
        (ASKED.with(Cell::get) - before, segmentation.segments.len())
    }

    /// Groups that grow by a node at a time would be asked about a thousand times each.
    #[test]
    fn legality_is_asked_of_a_node_a_few_times() {
        let (nodes, segments) = asked(1200);
        assert!(nodes <= 48 * 1200, "{nodes} nodes");
        assert!(segments <= 3, "{segments} segments");
    }
}
