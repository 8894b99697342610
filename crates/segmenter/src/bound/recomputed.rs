//! A lower bound of the time that a cut adds because ops read values through index maps: these are recomputed for each map,
//! or kept.
//!
//! If nothing is kept between a node and its dominator, through which all its uses go (`dominators`), the node is computed
//! once per index map between both, each time that the dominator is. So either these evaluations count, or one of the values
//! between is written and read. Nodes with the same choice of values to keep decide together, for all nodes from there to
//! the inputs.

use ir::graph::{Fusion, Node, Val};
use rustc_hash::{FxHashMap, FxHashSet};
use target::Processor;

use super::dominators::{Position, UseDominators};
use super::forced::Forced;
use super::moved::has_index_maps;
use crate::cost::{Amounts, ExpectedReads, needed_parts};
use crate::disjoint_sets::DisjointSets;

/// Nodes per node of a fusion that the search for paths between nodes may visit.
const VISITS_PER_NODE: usize = 32;

/// The most numbers of evaluations of a group that are distinguished.
const MAX_COUNTS: usize = 64;

/// The most members of a group of which each is considered as the one that is kept.
const MAX_MEMBERS: usize = 16;

/// Seconds that memory and computing take beyond those for computing each value once. None on a GPU, which recomputes values
/// while it waits for memory.
pub(super) fn seconds(amounts: &Amounts<'_>, fusion: &Fusion, forced: &Forced) -> f64 {
    if matches!(amounts.target.processor, Processor::Gpu(_)) || !has_index_maps(amounts.graph, fusion) {
        return 0.0;
    }
    Groups::of(amounts, fusion, forced).seconds()
}

/// Nodes of which either none is computed more often than its dominator, or one of the values between is kept.
struct Group {
    /// Users first.
    members: Vec<Position>,
    /// The node that all uses of the group go through.
    dominator: Position,
    /// For each member the seconds to write and read it.
    keeping: Vec<f64>,
    /// The groups whose dominator is a member, each with the number of the member.
    children: Vec<(usize, usize)>,
    /// The possible numbers of evaluations of its dominator, each with the seconds of the group and of all below it.
    seconds: Vec<(f64, f64)>,
}

impl Group {
    /// Adds a possible number of evaluations of its dominator, if it is new and there is room.
    fn ask(&mut self, times: f64) {
        if self.seconds.len() < MAX_COUNTS && self.seconds.iter().all(|&(known, _)| known != times) {
            self.seconds.push((times, 0.0));
        }
    }

    /// The seconds if its dominator is computed `times` times, or for the next lower known number.
    fn seconds(&self, times: f64) -> f64 {
        let less = self.seconds.iter().filter(|&&(known, _)| known <= times);
        less.max_by(|(a, _), (b, _)| a.total_cmp(b)).map_or(0.0, |&(_, seconds)| seconds)
    }
}

/// What may be kept of a group.
struct Case {
    /// How often each member is computed.
    computed: Vec<f64>,
    /// Seconds beyond computing each once.
    seconds: f64,
}

impl Case {
    /// With these seconds more.
    fn with(mut self, seconds: f64) -> Case {
        self.seconds += seconds;
        self
    }
}

/// The groups of a fusion, those of users first.
struct Groups<'a> {
    amounts: &'a Amounts<'a>,
    order: &'a [Node],
    tree: UseDominators,
    /// The part of each node that is computed in any case.
    once: Vec<f64>,
    groups: Vec<Group>,
    /// The group of each node, and its number there.
    of: Vec<Option<(usize, usize)>>,
}

impl<'a> Groups<'a> {
    fn of(amounts: &'a Amounts<'a>, fusion: &'a Fusion, forced: &Forced) -> Groups<'a> {
        let (order, tree) = (fusion.order(), UseDominators::of(amounts, fusion, forced));
        let needed = needed_parts(amounts, fusion);
        let once = order.iter().map(|node| needed[node]).collect();
        let of = vec![None; order.len()];
        let mut groups = Groups { amounts, order, tree, once, groups: Vec::new(), of };
        let sets = groups.unite();
        groups.collect(&sets, &Keeping::of(amounts, fusion, forced));
        groups
    }

    /// The sets of nodes that are in one group: those between which the same values may be kept.
    fn unite(&mut self) -> DisjointSets {
        let val = |position: Position| Val::from(self.order[position]);
        let mut sets = DisjointSets::default();
        let mut left = VISITS_PER_NODE * self.order.len();
        for position in (0..self.order.len()).rev() {
            let Some(dominator) = self.tree.dominators[position] else { continue };
            if self.tree.users[position].iter().all(|&user| user == dominator) {
                continue;
            }
            match self.between(position, dominator, &mut left) {
                Some(between) => between.into_iter().for_each(|other| sets.unite(val(position), val(other))),
                None => (self.tree.times[position], self.tree.parts[position]) = (0.0, 0.0),
            }
        }
        sets
    }

    /// The nodes on the paths to one from its dominator; none if that takes too many steps.
    fn between(
        &self,
        position: Position,
        dominator: Position,
        left: &mut usize,
    ) -> Option<FxHashSet<Position>> {
        let mut found: FxHashSet<Position> = FxHashSet::default();
        let mut stack = vec![position];
        while let Some(next) = stack.pop() {
            *left = left.checked_sub(1)?;
            let users = self.tree.users[next].iter().copied().filter(|&user| user != dominator);
            stack.extend(users.filter(|&user| found.insert(user)));
        }
        Some(found)
    }

    fn collect(&mut self, sets: &DisjointSets, keeping: &Keeping<'_>) {
        let mut numbers: FxHashMap<Val, usize> = FxHashMap::default();
        for (position, &node) in self.order.iter().enumerate().rev() {
            let Some(dominator) = self.tree.dominators[position] else { continue };
            let next = self.groups.len();
            let number = *numbers.entry(sets.root(node.into())).or_insert(next);
            if number == next {
                let (members, keeping, children, seconds) = Default::default();
                self.groups.push(Group { members, dominator, keeping, children, seconds });
                if let Some((above, member)) = self.of.get(dominator).copied().flatten() {
                    self.groups[above].children.push((member, number));
                }
            }
            let group = &mut self.groups[number];
            self.of[position] = Some((number, group.members.len()));
            group.members.push(position);
            group.keeping.push(keeping.seconds(node));
        }
    }

    /// Seconds of all groups: collects the questions to each, users first, then answers them in reverse order.
    fn seconds(mut self) -> f64 {
        for number in 0..self.groups.len() {
            if self.groups[number].dominator == self.tree.root() {
                self.groups[number].ask(1.0);
            }
            self.ask_children(number);
        }
        for number in (0..self.groups.len()).rev() {
            let asked = self.groups[number].seconds.clone();
            let answers = asked.into_iter().map(|(times, _)| (times, self.cheapest(number, times)));
            self.groups[number].seconds = answers.collect();
        }
        let first = self.groups.iter().filter(|group| group.dominator == self.tree.root());
        first.map(|group| group.seconds(1.0)).sum()
    }

    /// Asks the groups below one for their time in each case.
    fn ask_children(&mut self, number: usize) {
        let Group { ref children, ref seconds, .. } = self.groups[number];
        let cases = seconds.iter().flat_map(|&(times, _)| self.cases(number, times));
        let asked: Vec<Vec<f64>> = cases.map(|case| case.computed).collect();
        for (member, child) in children.clone() {
            asked.iter().for_each(|times| self.groups[child].ask(times[member]));
        }
    }

    /// Seconds of a group, and of all below it, if its dominator is computed `times` times.
    fn cheapest(&self, number: usize, times: f64) -> f64 {
        let children = &self.groups[number].children;
        let of_children = |times: &[f64]| -> f64 {
            children.iter().map(|&(member, child)| self.groups[child].seconds(times[member])).sum()
        };
        let cases = self.cases(number, times).into_iter();
        cases.map(|case| case.seconds + of_children(&case.computed)).fold(f64::INFINITY, f64::min)
    }

    /// What may be kept of a group whose dominator is computed `times` times: as many members as it takes, one, or nothing.
    /// Cases that are worse than another are left out.
    fn cases(&self, number: usize, times: f64) -> Vec<Case> {
        let Group { members, keeping, .. } = &self.groups[number];
        let mut smallest = keeping.clone();
        smallest.sort_unstable_by(f64::total_cmp);
        let is_each_considered = members.len() <= MAX_MEMBERS;
        let kept = if is_each_considered { 2.min(members.len()) } else { 1 };
        let some = self.case(number, self.once_each(number)).with(smallest[..kept].iter().sum());
        let mut others = vec![self.case(number, self.evaluations(number, times))];
        if is_each_considered {
            let beside = |kept| self.case(number, self.beside(number, times, kept)).with(keeping[kept]);
            others.extend((0..members.len()).map(beside));
        }
        others.retain(|case| case.seconds < some.seconds);
        others.push(some);
        others
    }

    /// A case in which the members are computed so often.
    fn case(&self, number: usize, computed: Vec<f64>) -> Case {
        let members = self.groups[number].members.iter().zip(&computed);
        let cycles = members.map(|(&position, times)| {
            let of_node = |times: f64| (self.amounts.cycles(self.order[position]) as f64 * times).floor();
            of_node(*times) - of_node(self.once[position])
        });
        let seconds = cycles.sum::<f64>() / self.amounts.target.throughput;
        Case { computed, seconds }
    }

    /// How often each member of a group is computed at least.
    fn once_each(&self, number: usize) -> Vec<f64> {
        self.groups[number].members.iter().map(|&position| self.once[position]).collect()
    }

    /// How often each member of a group is computed at least if one of them is kept: those that the dominator asks for past it
    /// for each of its computations.
    fn beside(&self, number: usize, times: f64, kept: usize) -> Vec<f64> {
        let Group { members, dominator, .. } = &self.groups[number];
        let mut is_asked: Vec<bool> = Vec::with_capacity(members.len());
        for (member, &position) in members.iter().enumerate() {
            let asks = |user: &Position| {
                let own = self.of.get(*user).copied().flatten().filter(|&(group, _)| group == number);
                user == dominator || own.is_some_and(|(_, member)| is_asked[member])
            };
            is_asked.push(member != kept && self.tree.users[position].iter().any(asks));
        }
        let of_member = |(&position, &is_asked): (&Position, &bool)| {
            let asked = if is_asked { times * self.tree.parts[position] } else { 0.0 };
            self.once[position].max(asked)
        };
        members.iter().zip(&is_asked).map(of_member).collect()
    }

    /// How often each member of a group is computed if none is kept.
    fn evaluations(&self, number: usize, times: f64) -> Vec<f64> {
        let Group { members, dominator, .. } = &self.groups[number];
        let mut computed: Vec<f64> = Vec::with_capacity(members.len());
        for &position in members {
            let of_dominator = match self.tree.dominators[position] {
                Some(above) if above == *dominator => times,
                // A member of another group is computed once at least.
                Some(above) => self.of[above]
                    .map_or(0.0, |(group, member)| if group == number { computed[member] } else { 0.0 }),
                None => 0.0,
            };
            computed.push(self.once[position].max(self.tree.times[position] * of_dominator));
        }
        computed
    }
}

/// The cost of keeping a value that could be recomputed.
struct Keeping<'a> {
    amounts: &'a Amounts<'a>,
    fusion: &'a Fusion,
    forced: &'a Forced,
    reads: ExpectedReads<'a>,
}

impl<'a> Keeping<'a> {
    fn of(amounts: &'a Amounts<'a>, fusion: &'a Fusion, forced: &'a Forced) -> Keeping<'a> {
        Keeping { amounts, fusion, forced, reads: ExpectedReads::of(amounts, fusion) }
    }

    /// Seconds to write one of a node's results, unless that happens in any case, and to read it: of the values between a
    /// node and its dominator, the last one that is kept is read for all its uses. Results without uses are not read.
    fn seconds(&self, node: Node) -> f64 {
        let used = self.amounts.graph.results(node).filter(|&val| !self.fusion.uses(val).is_empty());
        let bytes = used.map(|val| {
            let written = u64::from(!self.forced.views.contains(&val));
            let read = self.reads.bytes_for(val, self.fusion.uses(val));
            self.amounts.of(val).bytes.saturating_mul(written).saturating_add(read)
        });
        bytes.min().map_or(f64::INFINITY, |bytes| bytes as f64 / self.amounts.target.bandwidth)
    }
}
