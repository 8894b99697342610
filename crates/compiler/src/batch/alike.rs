//! What segments share before they have kernels: those of one structure are made adjacent. If they only map elements, the
//! schedule of the largest serves all, with known sizes that differ as arguments.
//!
//! Takes segments, returns an order of them and shared schedules. Folds share no schedules: under another one they round in
//! other places.

use index::Expr;
use ir::graph::{Fusion, Graph, TensorOp, Val};
use rustc_hash::{FxHashMap, FxHashSet};
use scheduler::hints::Hints;
use scheduler::schedule::Schedule;

use super::MOST_ADDED;
use segmenter::{Lifetimes, Structure};

/// A schedule for all segments of a structure.
#[derive(Debug)]
pub(crate) struct Shared {
    pub schedule: Schedule,
    /// Whether known sizes are arguments of the kernel, because they are not the same in all of them.
    pub general: bool,
}

/// The structures of segments, in order.
#[derive(Debug)]
pub(crate) struct Structures(Vec<Structure>);

impl Structures {
    /// Those of segments.
    pub fn new(structures: impl Iterator<Item = Structure>) -> Structures {
        Structures(structures.collect())
    }

    /// The segments in an order in which those that one launch may run are adjacent if possible: when one runs, so do the
    /// others that could run as well. They have one structure; folds have the same sizes too, as they share no schedule. The
    /// order as it is, if the new one takes much more memory, or more than the limit.
    pub fn gathered(
        &self,
        graph: &Graph,
        views: &[Fusion],
        fusion: &Fusion,
        hints: &Hints,
        bytes: impl Fn(Val) -> u64,
        limit: Option<u64>,
    ) -> Vec<usize> {
        let given: Vec<usize> = (0..views.len()).collect();
        let overwriting = overwriting(views, fusion);
        let lifetimes = Lifetimes::of(fusion, views.iter(), bytes);
        let own_sizes = |view: &Fusion| (!only_maps(graph, view)).then(|| expected_sizes(graph, view, hints));
        let alike: Vec<_> = self.0.iter().zip(views.iter().map(own_sizes)).collect();
        let order =
            lifetimes.order_beside(|one, other| alike[one] == alike[other] && !overwriting.contains(&other));
        let most = limit.unwrap_or_else(|| lifetimes.peak(&given).saturating_add(MOST_ADDED));
        if lifetimes.peak(&order) > most { given } else { order }
    }

    /// The schedules that segments share, by structure: `choose` returns that of the largest.
    pub fn shared(
        self,
        graph: &Graph,
        views: &[Fusion],
        hints: &Hints,
        choose: impl Fn(usize) -> Option<Schedule>,
    ) -> FxHashMap<Structure, Shared> {
        let mut members: FxHashMap<Structure, Vec<usize>> = FxHashMap::default();
        for (number, structure) in self.0.into_iter().enumerate() {
            members.entry(structure).or_default().push(number);
        }
        members.retain(|_, members| members.len() > 1 && only_maps(graph, &views[members[0]]));
        let shared = |(structure, members): (Structure, Vec<usize>)| {
            let elements = |&number: &usize| hints.value(&made(graph, &views[number]));
            let largest = members.iter().copied().max_by_key(elements)?;
            let schedule = choose(largest)?;
            let known = known_sizes(graph, &views[largest]);
            let general = members.iter().any(|&number| known_sizes(graph, &views[number]) != known);
            Some((structure, Shared { schedule, general }))
        };
        members.into_iter().filter_map(shared).collect()
    }
}

/// The segments that write to an input which others read: run earlier, they could not store in place.
fn overwriting(views: &[Fusion], fusion: &Fusion) -> FxHashSet<usize> {
    let aliased = fusion.outputs().iter().filter_map(|output| {
        let input = fusion.inputs()[output.alias? as usize];
        let maker = views.iter().position(|view| view.is_output(output.val))?;
        let mut others = views.iter().enumerate().filter(|(number, _)| *number != maker);
        others.any(|(_, view)| view.is_input(input)).then_some(maker)
    });
    aliased.collect()
}

/// Whether a segment does nothing but map elements of whole tensors.
pub(crate) fn only_maps(graph: &Graph, view: &Fusion) -> bool {
    let maps = |op: &TensorOp| {
        op.is_view() || matches!(op, TensorOp::Map(_) | TensorOp::Cast(_) | TensorOp::Constant(_))
    };
    view.order().iter().all(|&node| maps(graph.op(node.into())))
}

/// The number of elements that a segment makes.
fn made(graph: &Graph, view: &Fusion) -> Expr {
    view.outputs().iter().fold(Expr::zero(), |sum, output| sum + graph.ty(output.val).numel())
}

/// The sizes of the values that a segment reads and makes.
fn sizes<'a>(graph: &'a Graph, view: &'a Fusion) -> impl Iterator<Item = &'a Expr> {
    let outputs = view.outputs().iter().map(|output| output.val);
    view.inputs().iter().copied().chain(outputs).flat_map(|val| graph.shape(val))
}

/// Those that are known numbers.
fn known_sizes(graph: &Graph, view: &Fusion) -> Vec<i64> {
    sizes(graph, view).filter_map(|size| view.facts().normalize(size).as_const()).collect()
}

/// All of them, as expected.
fn expected_sizes(graph: &Graph, view: &Fusion, hints: &Hints) -> Vec<u64> {
    sizes(graph, view).map(|size| hints.value(size)).collect()
}
