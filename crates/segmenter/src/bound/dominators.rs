//! The paths on which the ops of a fusion ask for a node: the node that all of them go through, and their index maps.
//!
//! The tree is the dominator tree of the graph of uses, from what is stored and folded to the inputs (Cooper, Harvey and
//! Kennedy, 2001). Between a node and its dominator the index maps of each path are a `Course`, as in `scheduler::legal`.

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::FxHashMap;
use space::{Passage, Step, Steps, is_slice};

use super::forced::Forced;
use crate::cost::{Amounts, part};

/// The most courses from a node to its dominator that are distinguished.
const MAX_COURSES: usize = 32;

/// Only nodes count whose values have at least this part of the bytes of the largest; smaller ones are taken as kept.
const MIN_PART_OF_LARGEST: u64 = 16;

/// The index maps on a path from a node to one that it asks for.
type Course = Vec<Step>;

/// Courses, each with the multiple of a value's elements that it asks for.
type Courses = Vec<(Course, f64)>;

/// A node of a fusion, by its position in the order; one more stands for all that is stored and folded.
pub(super) type Position = usize;

/// The tree of the uses of a fusion's nodes.
pub(super) struct UseDominators {
    /// The node that all uses of each go through; `None` where nothing uses it.
    pub dominators: Vec<Option<Position>>,
    /// The nodes that ask for each node.
    pub users: Vec<Vec<Position>>,
    /// How often the elements of each are computed for its dominator, per computation of that.
    pub times: Vec<f64>,
    /// The smallest part of the elements of each that a path from its dominator asks for.
    pub parts: Vec<f64>,
}

/// A tree under construction.
struct Builder<'a> {
    amounts: &'a Amounts<'a>,
    fusion: &'a Fusion,
    positions: FxHashMap<Node, Position>,
    steps: Steps,
    /// The last node so far that reads an operand with each step.
    last_with: FxHashMap<Step, Position>,
    depths: Vec<usize>,
    courses: Vec<Courses>,
    /// Whether the last index map on some path to each node is a slice.
    ends_in_slice: Vec<bool>,
    /// Bytes below which values do not count.
    small: u64,
    tree: UseDominators,
}

impl UseDominators {
    pub(super) fn of(amounts: &Amounts<'_>, fusion: &Fusion, forced: &Forced) -> UseDominators {
        let root = fusion.order().len();
        let tree = UseDominators {
            dominators: vec![None; root + 1],
            users: vec![Vec::new(); root],
            times: vec![1.0; root],
            parts: vec![1.0; root],
        };
        let positions = fusion.order().iter().enumerate().map(|(position, &node)| (node, position)).collect();
        let (steps, depths, courses) = (Steps::default(), vec![0; root + 1], vec![Vec::new(); root + 1]);
        let ends_in_slice = vec![false; root + 1];
        let bytes = fusion.order().iter().map(|&node| amounts.of(node.into()).bytes);
        let small = bytes.max().unwrap_or(0) / MIN_PART_OF_LARGEST;
        let mut builder = Builder {
            amounts,
            fusion,
            positions,
            steps,
            last_with: FxHashMap::default(),
            depths,
            courses,
            ends_in_slice,
            small,
            tree,
        };
        (0..root).rev().for_each(|position| builder.add(position, forced));
        builder.tree
    }

    /// The position that stands for all that is stored and folded.
    pub(super) fn root(&self) -> Position {
        self.users.len()
    }
}

impl Builder<'_> {
    fn graph(&self) -> &Graph {
        self.amounts.graph
    }

    /// Adds a node whose users are in the tree.
    fn add(&mut self, position: Position, forced: &Forced) {
        let uses = self.uses(position, forced);
        let Some(dominator) = uses.iter().map(|&(user, _)| user).reduce(|a, b| self.common(a, b)) else {
            return;
        };
        let mut courses: Courses = Vec::new();
        for (user, step) in &uses {
            for (course, part) in self.between(dominator, *user) {
                self.extend(&mut courses, course, part, *step);
            }
        }
        self.tree.times[position] = self.times(dominator, &courses);
        // A course that is left out may ask for any part.
        let is_complete = courses.len() < MAX_COURSES;
        let smallest = courses.iter().map(|(_, part)| *part).fold(1.0, f64::min);
        self.tree.parts[position] = if is_complete { smallest } else { 0.0 };
        self.ends_in_slice[position] = courses.iter().any(|(course, _)| match course.last() {
            Some(step) => is_slice(*step),
            None => self.ends_in_slice[dominator],
        });
        self.tree.dominators[position] = Some(dominator);
        self.depths[position] = self.depths[dominator] + 1;
        self.courses[position] = courses;
        self.tree.users[position] = uses.into_iter().map(|(user, _)| user).collect();
    }

    /// The nodes that ask for a node, each with the index map and the part of the elements. Those that read it from memory
    /// do not ask.
    fn uses(&mut self, position: Position, forced: &Forced) -> Vec<(Position, Option<(Step, f64)>)> {
        let (node, root) = (self.fusion.order()[position], self.fusion.order().len());
        let fusion = self.fusion;
        let mut uses = Vec::new();
        // The result of a fold stays, and small values are cheap to recompute.
        let is_small = self.amounts.of(node.into()).bytes < self.small;
        if is_small || self.graph().node(node).op.is_fold() {
            return uses;
        }
        for val in self.graph().results(node) {
            if forced.written.contains(&val) {
                uses.push((root, None));
            }
            if forced.sources.contains(&val) {
                continue;
            }
            for &user in fusion.uses(val) {
                match self.graph().node(user).op {
                    TensorOp::Fold { .. } => uses.push((root, None)),
                    TensorOp::External(_) => {}
                    _ => uses.extend(self.steps_of(user, val)),
                }
            }
        }
        uses
    }

    /// The paths on which a user that counts asks for a value.
    fn steps_of(&mut self, user: Node, val: Val) -> Vec<(Position, Option<(Step, f64)>)> {
        let position = self.positions[&user];
        if self.tree.dominators[position].is_none() {
            return Vec::new();
        }
        let operands = self.graph().node(user).operands.iter().enumerate();
        let asked: Vec<usize> = operands.filter(|(_, operand)| **operand == val).map(|(k, _)| k).collect();
        asked.into_iter().map(|k| (position, self.step(position, k))).collect()
    }

    /// The index map with which a node reads an operand, if it reads it at other indices than the loops'.
    fn step(&mut self, position: Position, k: usize) -> Option<(Step, f64)> {
        let (graph, node) = (self.amounts.graph, self.fusion.order()[position]);
        let Passage::Moved(step) = self.steps.passage(graph, node, k) else { return None };
        let last = self.last_with.entry(step).or_insert(position);
        *last = position.max(*last);
        Some((step, part(self.amounts, node, k)))
    }

    /// The courses from a node to one below it in the tree.
    fn between(&self, above: Position, below: Position) -> Courses {
        let mut courses: Courses = vec![(Vec::new(), 1.0)];
        let mut position = below;
        while position != above {
            let mut longer: Courses = Vec::new();
            for (first, first_part) in &self.courses[position] {
                for (then, part) in &courses {
                    let course = first.iter().chain(then).copied().collect();
                    self.insert(&mut longer, course, first_part * part);
                }
            }
            courses = longer;
            position = self.tree.dominators[position].expect("a position below another");
        }
        courses
    }

    fn extend(&self, courses: &mut Courses, mut course: Course, part: f64, step: Option<(Step, f64)>) {
        course.extend(step.map(|(step, _)| step));
        self.insert(courses, course, part * step.map_or(1.0, |(_, part)| part));
    }

    /// Adds a new course if there is room for it: leaving one out counts less.
    fn insert(&self, courses: &mut Courses, mut course: Course, part: f64) {
        course.chunk_by_mut(|a, b| is_slice(*a) && is_slice(*b)).for_each(<[Step]>::sort_unstable);
        if courses.len() < MAX_COURSES && courses.iter().all(|(known, _)| *known != course) {
            courses.push((course, part));
        }
    }

    /// How often a node's elements are computed for its dominator. Only one course counts if, continued by these, two of the
    /// dominator's may be the same: slices that are read through slices swap, and steps may repeat.
    fn times(&self, dominator: Position, courses: &Courses) -> f64 {
        let may_commute = self.ends_in_slice[dominator]
            && courses.iter().any(|(course, _)| course.first().is_some_and(|step| is_slice(*step)));
        let parts = courses.iter().map(|(_, part)| *part);
        if may_commute || self.may_repeat(dominator, courses) {
            parts.fold(0.0, f64::max)
        } else {
            parts.sum()
        }
    }

    /// Whether two courses of the dominator may become equal when these continue them: one by a short course, the other by a
    /// longer one with the same end. Then the first ends in the rest of the longer one, whose last step is a step above.
    fn may_repeat(&self, dominator: Position, courses: &Courses) -> bool {
        let is_above = |step: &Step| self.last_with.get(step).is_some_and(|&last| last > dominator);
        let is_ambiguous = |shorter: &Course, longer: &Course| {
            longer.strip_suffix(&shorter[..]).and_then(<[Step]>::last).is_some_and(is_above)
        };
        courses.iter().any(|(longer, _)| courses.iter().any(|(shorter, _)| is_ambiguous(shorter, longer)))
    }

    /// The nearest node that is both nodes, or above both.
    fn common(&self, mut a: Position, mut b: Position) -> Position {
        while a != b {
            let lower = if self.depths[a] >= self.depths[b] { &mut a } else { &mut b };
            *lower = self.tree.dominators[*lower].expect("a position below the root");
        }
        a
    }
}
