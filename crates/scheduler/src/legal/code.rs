//! How much code a group is as one kernel, in statements, counted before it is lowered.
//!
//! Takes a group and what legality found about it; returns a count that follows what lowering shares and what it recomputes:
//! each stage recomputes its values, up to the folds before it, and an index map asks for its operand at other indices, so
//! an operand that two of them read is computed twice. The unit is a statement that is one instruction on a register; others
//! count by the lines of LLVM IR that they become. Reads no clock: libLLVM takes about 0.25 ms for a unit up to
//! [`MAX_STATEMENTS`], and more and more beyond (`bench/first_call`).

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::cpu_code::{ACCESS, of_fold, weight};
use super::nests::Nests;
use super::witness::{Fold, Store};
use space::{Axis, CodeSize, CutAxis, Passage, Space, Step, is_slice};
use target::cpu::{LOOP_STATEMENTS, MAX_CONCATENATED, MAX_SUBRANGES};
use target::limits::{MAX_PARTITIONED_STATEMENTS, MAX_STATEMENTS};

/// The most statements of a group as one kernel: more where many tensors are concatenated, but so few that loops are cut into
/// subranges, each with little code.
pub(super) fn max_statements(graph: &Graph, view: &Fusion, space: &Space) -> u64 {
    if !space.has_index_maps() {
        return MAX_STATEMENTS;
    }
    let is_cat = |node: Node| matches!(graph.node(node).op, TensorOp::Cat(_));
    let cats = view.order().iter().filter(|&&node| is_cat(node));
    let operands = cats.flat_map(|&node| &graph.node(node).operands);
    let concatenated = operands.filter(|operand| view.is_input(**operand) || !is_cat(operand.node)).count();
    let is_partitioned = (MAX_SUBRANGES + 1..=MAX_CONCATENATED).contains(&concatenated);
    if is_partitioned { MAX_PARTITIONED_STATEMENTS } else { MAX_STATEMENTS }
}

/// The statements of a group as one kernel. Counting stops beyond `most`.
pub(super) fn statements(
    graph: &Graph,
    view: &Fusion,
    space: &Space,
    (folds, stores): (&[Fold], &[Store]),
    most: u64,
) -> u64 {
    let nests = Nests::of(graph, folds, stores);
    let begun =
        folds.iter().map(|fold| of_fold(graph, fold.node)).sum::<u64>() + stores.len() as u64 * ACCESS;
    let of_node = |node| weight(graph, node);
    let weights = || Weights { node: &of_node, access: ACCESS, part: &whole };
    let nest_by_nest = || {
        let mut count = Count::new(graph, view, space, weights());
        nests.roots().fold(begun, |sum, roots| {
            if sum > most { sum } else { sum.saturating_add(count.nest(roots, most - sum)) }
        })
    };
    let at_once = nests.without_index_maps(graph, view, space, &weights()).map(|sum| begun + sum);
    debug_assert!(at_once.is_none_or(|sum| sum.min(most + 1) == nest_by_nest().min(most + 1)));
    at_once.unwrap_or_else(nest_by_nest)
}

/// An axis of a group cut at the index maps along it, also behind their shifts as long as the code stays short. None where
/// no index map changes along it.
pub fn cut(graph: &Graph, view: &Fusion, space: &Space, axis: Axis) -> Option<CutAxis> {
    let of_node = |node| weight(graph, node);
    let size = CodeSize { node: &of_node, load: ACCESS, subrange: LOOP_STATEMENTS };
    let is_short = |cut: &CutAxis| {
        let most = if cut.growth() <= 1.0 { MAX_CONCATENATED } else { MAX_SUBRANGES };
        cut.subranges() <= most && cut.code <= MAX_PARTITIONED_STATEMENTS.max(2 * cut.uncut)
    };
    space.cuts(graph, view, axis, size, MAX_CONCATENATED).skip(1).take_while(is_short).last()
}

/// Whether loops that ask for these values are short enough to be cut at all index maps, as far as one count tells: each
/// course to a value may change at an index of its own. Where they are not, elements choose between operands by predicates.
pub fn is_short_when_cut(graph: &Graph, view: &Fusion, space: &Space, vals: &[Val]) -> bool {
    let of_node = |node: Node| match graph.op(node.into()) {
        TensorOp::Cat(_) | TensorOp::Pad { .. } => 0,
        _ => weight(graph, node),
    };
    let weights = Weights { node: &of_node, access: ACCESS, part: &whole };
    let mut count = Count::new(graph, view, space, weights);
    let code = count.nest(vals, MAX_PARTITIONED_STATEMENTS) + LOOP_STATEMENTS;
    let subranges = count.most_courses + 1;
    subranges <= MAX_SUBRANGES && code.saturating_mul(subranges as u64) <= MAX_PARTITIONED_STATEMENTS
}

/// A sequence of index maps between the loops and a value, by number: under equal courses a value has equal indices.
type Course = u32;

/// The course of values at the indices of the loops themselves.
const HERE: Course = 0;

/// The courses seen so far, each an earlier one and one step more.
struct Courses {
    last: Vec<Option<(Course, Step)>>,
    /// The multiple of a value's elements that each course asks for.
    parts: Vec<f64>,
    known: FxHashMap<(Course, Step), Course>,
}

impl Default for Courses {
    fn default() -> Courses {
        Courses { last: vec![None], parts: vec![1.0], known: FxHashMap::default() }
    }
}

impl Courses {
    /// The course with one more step, which asks for `part` times an operand's elements.
    fn after(&mut self, before: Course, step: Step, part: &dyn Fn() -> f64) -> Course {
        if let Some(&known) = self.known.get(&(before, step)) {
            return known;
        }
        // Consecutive slices are put in one order, whichever comes first.
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

    /// The course that is another one and one step more.
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
    /// The multiple of an operand's elements that an index map asks for.
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
    /// The most courses to one node.
    most_courses: usize,
}

impl<'a> Count<'a> {
    /// A count over the nodes of a group with this space.
    pub fn new(graph: &'a Graph, view: &'a Fusion, space: &'a Space, weights: Weights<'a>) -> Count<'a> {
        let asked = vec![SmallVec::new(); view.order().len()];
        Count { graph, view, space, weights, courses: Courses::default(), asked, most_courses: 0 }
    }

    /// What a loop nest that asks for these values counts as; counting stops above `most`.
    pub fn nest(&mut self, roots: &[Val], most: u64) -> u64 {
        let mut loaded: FxHashSet<(Val, Course)> = FxHashSet::default();
        let mut sum = 0_u64;
        for &val in roots {
            let maker = if self.view.is_input(val) { None } else { self.space.position(val.node) };
            sum += self.ask(val, maker, HERE, &mut loaded);
        }
        let mut courses: SmallVec<[Course; 2]> = SmallVec::new();
        // Users come after their operands, so all courses of the last node are known.
        for position in (0..self.asked.len()).rev() {
            if self.asked[position].is_empty() {
                continue;
            }
            if sum > most {
                self.asked[position].clear();
                continue;
            }
            std::mem::swap(&mut courses, &mut self.asked[position]);
            self.most_courses = self.most_courses.max(courses.len());
            let node = self.view.order()[position];
            let parts: f64 = courses.iter().map(|&course| self.courses.parts[course as usize]).sum();
            // Rounded up: lower bounds of costs are rounded down.
            sum = sum.saturating_add(((self.weights.node)(node) as f64 * parts).ceil() as u64);
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

    /// Asks for a value that a node at a position makes or that lies in memory; returns what counts at once.
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
            Some(_) if self.graph.op(val).is_fold() => 0,
            Some(position) => {
                let asked = &mut self.asked[position];
                if let Err(place) = asked.binary_search(&course) {
                    asked.insert(place, course);
                }
                0
            }
        }
    }

    /// The course under which a node asks for operand `k`, if the node itself is asked for under `course`.
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
