//! How much code a group is as one kernel, in statements, counted before it is lowered.
//!
//! Takes a group and what legality found of it; gives a count that follows what lowering shares and what it computes again:
//! each stage asks for its values anew, up to the folds before it, and an index map asks for its operand at other indices, so
//! that what two of them read is computed twice. The unit is a statement that is one instruction on a register; what is more
//! counts by the lines of LLVM IR that it becomes. Reads no clock: libLLVM takes about 0.25 ms for a unit as long as there
//! are no more than [`MAX_STATEMENTS`], and ever more beyond (`bench/first_call`).

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::cpu_code::{ACCESS, of_fold, weight};
use super::nests::Nests;
use super::witness::{Fold, Store};
use crate::space::Space;
use target::cpu::MAX_STATEMENTS;

/// The statements that a group is as one kernel; what is beyond [`MAX_STATEMENTS`] is not counted to its end.
pub(super) fn statements(
    graph: &Graph,
    view: &Fusion,
    space: &Space,
    folds: &[Fold],
    stores: &[Store],
) -> u64 {
    let nests = Nests::of(graph, folds, stores);
    let begun =
        folds.iter().map(|fold| of_fold(graph, fold.node)).sum::<u64>() + stores.len() as u64 * ACCESS;
    let of_node = |node| weight(graph, node);
    let weights = || Weights { node: &of_node, access: ACCESS, part: &whole };
    let nest_by_nest = || {
        let mut count = Count::new(graph, view, space, weights());
        nests.roots().fold(begun, |sum, roots| {
            if sum > MAX_STATEMENTS {
                sum
            } else {
                sum.saturating_add(count.nest(roots, MAX_STATEMENTS - sum))
            }
        })
    };
    let at_once = nests.without_index_maps(graph, view, space, &weights()).map(|sum| begun + sum);
    debug_assert!(
        at_once.is_none_or(|sum| sum.min(MAX_STATEMENTS + 1) == nest_by_nest().min(MAX_STATEMENTS + 1))
    );
    at_once.unwrap_or_else(nest_by_nest)
}

/// The statements for these values of a group, in one loop nest.
pub fn statements_for(graph: &Graph, view: &Fusion, space: &Space, vals: &[Val]) -> u64 {
    let of_node = |node| weight(graph, node);
    Count::new(graph, view, space, Weights { node: &of_node, access: ACCESS, part: &whole })
        .nest(vals, MAX_STATEMENTS)
}

/// What a course is made of: an index map that was passed, by number.
type Step = u32;

/// The index maps between what the loops ask for and a value, by number: under equal courses a value has equal indices.
type Course = u32;

/// The course of what is asked for where the loops stand.
const HERE: Course = 0;

/// The courses seen so far.
struct Courses {
    steps: Vec<Vec<Step>>,
    /// How many times a value's elements each asks for.
    parts: Vec<f64>,
    known: FxHashMap<Vec<Step>, Course>,
}

impl Default for Courses {
    fn default() -> Courses {
        Courses {
            steps: vec![Vec::new()],
            parts: vec![1.0],
            known: FxHashMap::from_iter([(Vec::new(), HERE)]),
        }
    }
}

/// An op with what else says at which index an operand is read.
type Move = (TensorOp, usize, Option<Val>);

/// What each part of a nest counts as.
pub struct Weights<'a> {
    /// A node, each time it is computed, without its operands.
    pub node: &'a dyn Fn(Node) -> u64,
    /// A load of an input.
    pub access: u64,
    /// How many times an operand's elements an index map asks for.
    pub part: &'a dyn Fn(Node, usize) -> f64,
}

/// All of an operand: its code is the same however many elements it computes.
fn whole(_: Node, _: usize) -> f64 {
    1.0
}

/// A count in progress.
pub struct Count<'a> {
    graph: &'a Graph,
    view: &'a Fusion,
    space: &'a Space,
    weights: Weights<'a>,
    steps: FxHashMap<Move, Step>,
    courses: Courses,
    /// The courses under which each node of the group is asked for, by position, ascending. Empty between nests.
    asked: Vec<SmallVec<[Course; 2]>>,
}

impl<'a> Count<'a> {
    /// A count over the nodes of a group with this space.
    pub fn new(graph: &'a Graph, view: &'a Fusion, space: &'a Space, weights: Weights<'a>) -> Count<'a> {
        let asked = vec![SmallVec::new(); view.order().len()];
        let (steps, courses) = (FxHashMap::default(), Courses::default());
        Count { graph, view, space, weights, steps, courses, asked }
    }

    /// What a loop nest that asks for these values counts as, as far as that is no more than so much.
    pub fn nest(&mut self, roots: &[Val], most: u64) -> u64 {
        let mut loaded: FxHashSet<(Val, Course)> = FxHashSet::default();
        let mut sum = 0_u64;
        for &val in roots {
            let maker = if self.view.is_input(val) { None } else { self.space.position(val.node) };
            sum += self.ask(val, maker, HERE, &mut loaded);
        }
        let mut courses: SmallVec<[Course; 2]> = SmallVec::new();
        // Users come behind their operands, so all courses of the last node are known.
        for position in (0..self.asked.len()).rev() {
            if self.asked[position].is_empty() {
                continue;
            }
            if sum > most {
                self.asked[position].clear();
                continue;
            }
            std::mem::swap(&mut courses, &mut self.asked[position]);
            let node = self.view.order()[position];
            let parts: f64 = courses.iter().map(|&course| self.courses.parts[course as usize]).sum();
            sum = sum.saturating_add(((self.weights.node)(node) as f64 * parts) as u64);
            for (k, &operand) in self.graph.node(node).operands.iter().enumerate() {
                let maker = self.space.maker(position, k);
                for &course in &courses {
                    let beyond = self.beyond(node, k, operand, course);
                    sum = sum.saturating_add(self.ask(operand, maker, beyond, &mut loaded));
                }
            }
            courses.clear();
        }
        sum
    }

    /// Asks for a value that the node at a position makes, or memory has; what that counts as at once.
    fn ask(
        &mut self,
        val: Val,
        maker: Option<usize>,
        course: Course,
        loaded: &mut FxHashSet<(Val, Course)>,
    ) -> u64 {
        match maker {
            None => {
                let is_first = self.weights.access > 0 && loaded.insert((val, course));
                if is_first { self.weights.access } else { 0 }
            }
            Some(_) if matches!(self.graph.op(val), TensorOp::Fold { .. }) => 0,
            Some(position) => {
                let asked = &mut self.asked[position];
                if let Err(place) = asked.binary_search(&course) {
                    asked.insert(place, course);
                }
                0
            }
        }
    }

    /// The course under which a node that is asked for under one asks for an operand.
    fn beyond(&mut self, node: Node, k: usize, operand: Val, course: Course) -> Course {
        let data = self.graph.node(node);
        let is_pointwise = matches!(data.op, TensorOp::Map(_) | TensorOp::Cast(_) | TensorOp::Fold { .. });
        let is_scalar = || self.graph.ty(operand).rank() == 0;
        if (is_pointwise && course == HERE) || is_scalar() {
            return HERE;
        }
        let trip_count = matches!(
            data.op,
            TensorOp::Permute(_)
                | TensorOp::Broadcast(_)
                | TensorOp::Expand(_)
                | TensorOp::Squeeze(_)
                | TensorOp::Reshape(_)
        );
        let is_moved = self.space.moves(self.graph, node, k) || (trip_count && course != HERE);
        if !is_moved {
            return course;
        }
        let index = matches!(data.op, TensorOp::Gather(_)).then(|| data.operands[1]);
        let place = if matches!(data.op, TensorOp::Cat(_)) { k } else { 0 };
        let next = self.steps.len() as Step * 2;
        // Slices add up in any order; their numbers are odd.
        let is_slice = matches!(data.op, TensorOp::Slice { .. });
        let step = *self.steps.entry((data.op.clone(), place, index)).or_insert(next + Step::from(is_slice));
        let part = (self.weights.part)(node, k);
        self.courses.after(course, step, part)
    }
}

impl Courses {
    fn after(&mut self, course: Course, step: Step, part: f64) -> Course {
        let before = course;
        let mut steps = self.steps[before as usize].clone();
        steps.push(step);
        let run = steps.iter().rev().take_while(|step| **step % 2 == 1).count();
        let begin = steps.len() - run;
        steps[begin..].sort_unstable();
        if let Some(&known) = self.known.get(&steps) {
            return known;
        }
        let course = self.steps.len() as Course;
        self.known.insert(steps.clone(), course);
        self.steps.push(steps);
        self.parts.push(self.parts[before as usize] * part);
        course
    }
}
