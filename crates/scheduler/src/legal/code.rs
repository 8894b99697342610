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
use super::witness::Witness;
use space::{Passage, Space, Step, is_slice};
use target::cpu::MAX_STATEMENTS;

/// The statements that a group is as one kernel; what is beyond [`MAX_STATEMENTS`] is not counted to its end.
pub(super) fn statements(graph: &Graph, view: &Fusion, witness: &Witness) -> u64 {
    let Witness { space, folds, stores, .. } = witness;
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

/// The index maps between what the loops ask for and a value, by number: under equal courses a value has equal indices.
type Course = u32;

/// The course of what is asked for where the loops stand.
const HERE: Course = 0;

/// The courses seen so far, each a step behind an earlier one.
struct Courses {
    last: Vec<Option<(Course, Step)>>,
    /// How many times a value's elements each asks for.
    parts: Vec<f64>,
    known: FxHashMap<(Course, Step), Course>,
}

impl Default for Courses {
    fn default() -> Courses {
        Courses { last: vec![None], parts: vec![1.0], known: FxHashMap::default() }
    }
}

impl Courses {
    /// The course with one more step, which asks for so much of an operand.
    fn after(&mut self, before: Course, step: Step, part: &dyn Fn() -> f64) -> Course {
        if let Some(&known) = self.known.get(&(before, step)) {
            return known;
        }
        // Slices that follow each other are in one order, whichever comes first.
        let course = match self.last[before as usize] {
            Some((earlier, last)) if is_slice(step) && is_slice(last) && last > step => {
                let earlier = self.after(earlier, step, part);
                self.behind(earlier, last, self.parts[before as usize] * part())
            }
            _ => self.behind(before, step, self.parts[before as usize] * part()),
        };
        self.known.insert((before, step), course);
        course
    }

    /// The course that ends with a step behind another.
    fn behind(&mut self, before: Course, step: Step, part: f64) -> Course {
        let next = self.last.len() as Course;
        let course = *self.known.entry((before, step)).or_insert(next);
        if course == next {
            self.last.push(Some((before, step)));
            self.parts.push(part);
        }
        course
    }
}

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
    courses: Courses,
    /// The courses under which each node of the group is asked for, by position, ascending. Empty between nests.
    asked: Vec<SmallVec<[Course; 2]>>,
}

impl<'a> Count<'a> {
    /// A count over the nodes of a group with this space.
    pub fn new(graph: &'a Graph, view: &'a Fusion, space: &'a Space, weights: Weights<'a>) -> Count<'a> {
        let asked = vec![SmallVec::new(); view.order().len()];
        Count { graph, view, space, weights, courses: Courses::default(), asked }
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
                    let beyond = self.beyond(position, k, course);
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

    /// The course under which the node at a position that is asked for under one asks for an operand.
    fn beyond(&mut self, position: usize, k: usize, course: Course) -> Course {
        match self.space.passage(position, k) {
            Passage::Scalar => HERE,
            Passage::Renamed(step) | Passage::Moved(step)
                if course != HERE || self.space.moves(position, k) =>
            {
                let part = || (self.weights.part)(self.view.order()[position], k);
                self.courses.after(course, step, &part)
            }
            _ => course,
        }
    }
}
