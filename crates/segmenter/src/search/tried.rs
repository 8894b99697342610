//! Moves that did not pay, by the segments around which they were tried: where equal segments are connected in the same
//! way, as in a network of equal layers, they do not pay either.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use ir::graph::{Node, TensorOp, Val};
use rustc_hash::FxHashSet;

use super::segment::Segment;
use super::state::State;

/// Moves that change given segments, and what others read of them.
#[derive(Clone, Copy)]
pub(super) enum LocalMove {
    Join,
    Exchange,
    KeepStatistics,
    Transfer,
    Keep,
}

/// What distinguishes tried moves from each other.
type Neighbourhood = Box<[u32]>;

/// The moves that did not pay.
#[derive(Default)]
pub(super) struct Tried {
    moves: RefCell<FxHashSet<Neighbourhood>>,
    /// The segments around which a move is tried.
    around: RefCell<Vec<usize>>,
    /// Whether nothing else decides about it.
    is_local: Cell<bool>,
}

impl Tried {
    /// A change may touch segments.
    pub fn note_touched(&self, touched: &[usize], segments: usize) {
        let around = self.around.borrow();
        let is_around = |place: &usize| *place >= segments || around.contains(place);
        self.is_local.set(self.is_local.get() && touched.iter().all(is_around));
    }

    /// A change was rejected because segments would have no order, which depends on all of them.
    pub fn note_without_order(&self) {
        self.is_local.set(false);
    }
}

/// Nodes that segments compute together at most where moves around them are remembered.
const MAX_NODES: usize = 256;

impl State<'_> {
    /// Tries a move around segments, of a value if one is given, which the first of them computes; returns whether it was
    /// made. It is not tried where an equal one did not pay.
    pub(super) fn attempt(
        &mut self,
        kind: LocalMove,
        around: &[usize],
        val: Option<Val>,
        try_move: impl Fn(&mut Self) -> bool,
    ) -> bool {
        if self.problem.is_small() || !self.problem.constraints.is_empty() {
            return try_move(self);
        }
        let around = self.with_sharing(around);
        let Some(neighbourhood) = self.neighbourhood(kind, &around, val) else { return try_move(self) };
        let tried = Rc::clone(&self.tried);
        if tried.moves.borrow().contains(&neighbourhood) {
            debug_assert!(
                self.segments.len() > MAX_NODES || !try_move(&mut self.clone()),
                "an equal move did not pay"
            );
            return false;
        }
        *tried.around.borrow_mut() = around;
        tried.is_local.set(true);
        let is_made = try_move(self);
        #[cfg(test)]
        tests::IN_VAIN.with(|count| count.set(count.get() + usize::from(!is_made)));
        if !is_made && tried.is_local.get() {
            tried.moves.borrow_mut().insert(neighbourhood);
        }
        is_made
    }

    /// These segments, then others that compute nodes of them too: those change if a value of such a node is kept.
    fn with_sharing(&self, around: &[usize]) -> Vec<usize> {
        let nodes = around.iter().flat_map(|&place| self.segments[place].order()).copied();
        let shared = nodes.filter(|&node| self.others_compute(around, node) && !self.is_of_constants(node));
        let mut sharing: Vec<usize> = shared.flat_map(|node| self.places.computing(node)).copied().collect();
        sharing.retain(|place| !around.contains(place));
        sharing.sort_unstable();
        sharing.dedup();
        [around, &sharing].concat()
    }

    /// What a move around segments depends on: their classes, how they are connected, and what others do with what they
    /// make or compute. `None` if that takes as long to find as a move.
    fn neighbourhood(&self, kind: LocalMove, around: &[usize], val: Option<Val>) -> Option<Neighbourhood> {
        let segments: Vec<&Segment> = around.iter().map(|&place| &*self.segments[place]).collect();
        if segments.iter().map(|segment| segment.order().len()).sum::<usize>() > MAX_NODES {
            return None;
        }
        let mut code = vec![kind as u32, around.len() as u32];
        if let Some(val) = val {
            let number = segments.first()?.order().binary_search(&val.node).ok()?;
            code.extend([number as u32, val.result.into()]);
        }
        for (number, segment) in segments.iter().enumerate() {
            code.push(segment.class(&self.problem).number());
            code.extend(segment.inputs().iter().flat_map(|&input| origin(&segments, number, input)));
            let nodes = (0..).zip(segment.order());
            code.extend(nodes.filter(|(_, node)| self.others_compute(around, **node)).map(|(node, _)| node));
            code.push(u32::MAX);
            code.extend(segment.made.iter().flat_map(|&made| self.users_elsewhere(around, made)));
        }
        Some(code.into())
    }

    /// Whether a node takes only constants. Many segments may compute it; few moves keep it.
    fn is_of_constants(&self, node: Node) -> bool {
        let data = self.problem.graph.node(node);
        let is_constant = matches!(data.op, TensorOp::Constant(_) | TensorOp::Size(_) | TensorOp::Iota(_));
        let is_in_memory = |val: Val| self.problem.fusion.is_input(val) || self.kept.contains(&val);
        let is_of_constants = |val: &Val| !is_in_memory(*val) && self.is_of_constants(val.node);
        is_constant || (!data.operands.is_empty() && data.operands.iter().all(is_of_constants))
    }

    /// Whether segments in other places than these compute a node that one of these does.
    fn others_compute(&self, around: &[usize], node: Node) -> bool {
        let places = self.places.computing(node);
        places.len() > 1 && places.iter().any(|place| !around.contains(place))
    }

    /// How many nodes use a value that none of these segments computes, how many other segments read it, and whether it is
    /// an output.
    fn users_elsewhere(&self, around: &[usize], val: Val) -> [u32; 3] {
        let (fusion, places) = (self.problem.fusion, &self.places);
        let is_elsewhere =
            |user: &&Node| !places.computing(**user).iter().any(|place| around.contains(place));
        let uses = fusion.uses(val).iter().filter(is_elsewhere).count();
        let readers = places.readers(val).iter().filter(|place| !around.contains(place)).count();
        [uses as u32, readers as u32, fusion.is_output(val).into()]
    }
}

/// Where an input of the segment with a number is made or read before it among these segments.
fn origin(segments: &[&Segment], number: usize, input: Val) -> [u32; 3] {
    let places = segments.iter().enumerate().find_map(|(other, segment)| {
        let made = segment.made.iter().position(|&val| val == input).map(|made| [1, other, made]);
        let is_before = other < number;
        let read = || segment.inputs().iter().position(|&val| val == input).map(|read| [2, other, read]);
        made.or_else(|| if is_before { read() } else { None })
    });
    places.unwrap_or_default().map(|place| place as u32)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use crate::search::tests::searched;

    thread_local! {
        /// Moves that were tried and did not pay.
        pub static IN_VAIN: Cell<usize> = const { Cell::new(0) };
    }

    /// Moves that do not pay for a network of so many equal layers, and its segments.
    fn in_vain(layers: usize) -> (usize, usize) {
        let layer = [
            "    s = fd.ops.rsqrt(fd.ops.mean(fd.ops.mul(x, x), dims=[1], keepdim=True))\n",
            "    x = fd.ops.add(fd.ops.segment_set(fd.ops.exp(fd.ops.mul(x, s))), x)\n",
        ];
        let input = "    x = fd.define_tensor(shape=[-1, -1], contiguity=True)\n";
        let source = format!("def net(fd):\n{input}{}    fd.add_output(x)\n", layer.concat().repeat(layers));
        let before = IN_VAIN.with(Cell::get);
        let (segmentation, _) = searched(&source);
        (IN_VAIN.with(Cell::get) - before, segmentation.segments.len())
    }

    #[test]
    fn moves_that_do_not_pay_are_tried_around_one_of_equal_layers() {
        let [(few, short), (many, long)] = [12, 24].map(in_vain);
        assert!(few > 0 && long >= short + 12, "{few} moves, {short} and {long} segments");
        assert!(many <= few, "{few} moves around 12 layers, {many} around 24");
    }
}
