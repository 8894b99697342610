//! Subranges: the parts of an axis in which index maps do not change, and how much code each of them has.
//!
//! Takes a group and its space, returns indices over the sizes of the graph. Within a subrange a cat is one of its operands
//! and a pad its operand or its fill value, so a loop that is cut there needs no predicate per element. An axis is cut level
//! by level: first at the ends of the cats and pads that its loop reads directly, then at those behind the shifts of these,
//! as rolls of rolls have them.

use index::{Expr, Facts};
use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::indices::{At, Index, Indices, at_loops};
use super::{Atoms, Axis, Space};

/// An axis, cut into subranges.
#[derive(Clone, Debug)]
pub struct CutAxis {
    /// The first index of each subrange but the first, ascending.
    pub breakpoints: Vec<Expr>,
    /// What the code of all subranges counts as.
    pub code: u64,
    /// What that of the uncut axis counts as.
    pub uncut: u64,
    /// Whether some index map along the axis is a pad.
    pub has_pads: bool,
}

impl CutAxis {
    /// The number of subranges.
    pub fn subranges(&self) -> usize {
        self.breakpoints.len() + 1
    }

    /// The code of all subranges, as a multiple of that of the uncut axis.
    pub fn growth(&self) -> f64 {
        self.code as f64 / self.uncut.max(1) as f64
    }
}

/// What code counts as.
pub struct CodeSize<'a> {
    /// A node at an index, without its operands.
    pub node: &'a dyn Fn(Node) -> u64,
    /// A load of an input.
    pub load: u64,
    /// A loop.
    pub subrange: u64,
}

impl Space {
    /// The axis of a group cut level by level, uncut first, into no more than `most` subranges. Breakpoints whose order does
    /// not follow from the facts are left out.
    pub fn cuts<'a>(
        &'a self,
        graph: &'a Graph,
        view: &'a Fusion,
        axis: Axis,
        size: CodeSize<'a>,
        most: usize,
    ) -> impl Iterator<Item = CutAxis> + use<'a> {
        let is_cut = |&node: &Node| matches!(graph.op(node.into()), TensorOp::Cat(_) | TensorOp::Pad { .. });
        let whole = (Expr::zero(), self.size(axis).clone());
        let has_ends = self.has_index_maps() && view.order().iter().any(is_cut);
        let mut walk = Walk { graph, view, space: self, axis, size, indices: Indices::default() };
        let mut next = has_ends.then(|| vec![whole]);
        let mut uncut = None;
        std::iter::from_fn(move || {
            let level = next.take().filter(|level| level.len() <= most)?;
            let walked: Vec<Walked> = level.iter().map(|range| walk.range(range)).collect();
            let breakpoints = level[1..].iter().map(|(begin, _)| begin.clone()).collect();
            let code = walked.iter().fold(0_u64, |sum, walked| sum.saturating_add(walked.code));
            if walked.iter().any(|walked| !walked.ends.is_empty()) {
                next = Some(
                    level.iter().zip(&walked).flat_map(|(range, walked)| split(range, walked)).collect(),
                );
            }
            let has_pads = walked.iter().any(|walked| walked.has_pads);
            Some(CutAxis { breakpoints, code, uncut: *uncut.get_or_insert(code), has_pads })
        })
    }
}

/// A part of an axis: its first index and one past its last.
type Range = (Expr, Expr);

/// What a subrange computes.
#[derive(Default)]
struct Walked {
    code: u64,
    /// The indices within it at which the index maps that it reaches first change, ascending.
    ends: Vec<Expr>,
    has_pads: bool,
}

/// The parts of a range between the indices at which index maps change.
fn split((begin, end): &Range, walked: &Walked) -> Vec<Range> {
    let begins = std::iter::once(begin).chain(&walked.ends).cloned();
    begins.zip(walked.ends.iter().chain([end]).cloned()).collect()
}

/// A walk from what the loops of a group ask for to what that reads.
struct Walk<'a> {
    graph: &'a Graph,
    view: &'a Fusion,
    space: &'a Space,
    axis: Axis,
    size: CodeSize<'a>,
    indices: Indices,
}

/// What is asked for in a walk.
struct Asked {
    /// The indices of each node of the group, by position.
    nodes: Vec<SmallVec<[Index; 1]>>,
    loads: FxHashSet<(Val, Index)>,
}

/// What a node reads of its operands at an index.
enum Reads {
    /// All of them.
    All,
    /// This one.
    One(usize),
    /// These operands of a cat, between which each element chooses.
    Some(std::ops::Range<usize>),
}

impl Walk<'_> {
    fn range(&mut self, range: &Range) -> Walked {
        let order = self.view.order();
        let nodes = vec![SmallVec::new(); order.len()];
        let mut asked = Asked { nodes, loads: FxHashSet::default() };
        self.ask_for_roots(&mut asked);
        let mut walked = Walked { code: self.size.subrange, ..Walked::default() };
        // Users come after their operands, so all indices of the last node are known.
        for position in (0..order.len()).rev() {
            let indices = std::mem::take(&mut asked.nodes[position]);
            let (node, is_first) = (order[position], walked.ends.is_empty());
            for index in &indices {
                let ends = if is_first { &mut walked.ends } else { &mut Vec::new() };
                let reads = self.reads(node, index, range, ends);
                walked.has_pads |= self.pads(node, index);
                let own = (self.size.node)(node);
                let operands = self.graph.node(node).operands.len();
                let (own, read) = match reads {
                    Reads::All => (own, 0..operands),
                    Reads::One(k) => (0, k..k + 1),
                    Reads::Some(read) => (own * read.len() as u64 / operands as u64, read),
                };
                walked.code = walked.code.saturating_add(own);
                for k in read {
                    let at = self.indices.of_operand(self.graph, self.view, self.space, (position, k), index);
                    asked.ask(self.view, self.space, (position, k), self.graph.node(node).operands[k], at);
                }
            }
        }
        walked.code = walked.code.saturating_add(asked.loads.len() as u64 * self.size.load);
        walked
    }

    /// Asks for what loops over the axis fold, scan and store.
    fn ask_for_roots(&self, asked: &mut Asked) {
        let walks = |axes: &[Atoms]| axes.iter().flatten().any(|&own| own == self.axis);
        for made in self.space.made() {
            let axes = self.space.axes_of_made(made);
            if walks(axes) {
                asked.node(made.position, at_loops(axes));
            }
        }
        for (position, &node) in self.view.order().iter().enumerate() {
            let data = self.graph.node(node);
            if !matches!(data.op, TensorOp::Fold { .. } | TensorOp::Scan { .. }) {
                continue;
            }
            for (k, &operand) in data.operands.iter().enumerate() {
                let axes = self.space.axes_of_operand(node, k);
                if walks(axes) {
                    asked.ask(self.view, self.space, (position, k), operand, at_loops(axes));
                }
            }
        }
    }

    /// Whether a node pads the axis at an index.
    fn pads(&self, node: Node, index: &Index) -> bool {
        let TensorOp::Pad { before, after } = self.graph.op(node.into()) else { return false };
        let is_padded = |place: usize| !before[place].is_zero() || !after[place].is_zero();
        (0..before.len()).any(|place| self.shift(&index[place]).is_some() && is_padded(place))
    }

    /// What a node reads at an index within a range. The indices at which that changes are added to the ends.
    fn reads(&mut self, node: Node, index: &Index, range: &Range, ends: &mut Vec<Expr>) -> Reads {
        let (graph, data) = (self.graph, self.graph.node(node));
        let size = |k: usize, place: usize| graph.shape(data.operands[k])[place].clone();
        match &data.op {
            TensorOp::Cat(place) => {
                let place = usize::from(*place);
                let Some(shift) = self.shift(&index[place]) else { return Reads::All };
                let bounds = self.indices.bounds_of_cat(self.graph, self.view, node);
                self.parts(&bounds, shift, range, ends)
            }
            TensorOp::Pad { before, after } => {
                let is_changed = |&place: &usize| !before[place].is_zero() || !after[place].is_zero();
                let mut reads = Reads::One(0);
                for place in (0..before.len()).filter(is_changed) {
                    let Some(shift) = self.shift(&index[place]) else {
                        reads = Reads::All;
                        continue;
                    };
                    let (low, high) = (before[place].clone(), before[place].clone() + size(0, place));
                    match self.parts(&[low.clone(), high.clone()], shift, range, ends) {
                        Reads::One(_) => {}
                        _ if self.is_outside(range, shift, &low, &high) => return Reads::One(1),
                        _ => reads = Reads::All,
                    }
                }
                reads
            }
            TensorOp::Fold { .. } | TensorOp::Scan { .. } => Reads::Some(0..0),
            _ => Reads::All,
        }
    }

    /// The parts between bounds that an index of the range and a shift may be in. What is a bound itself needs no proof.
    fn parts(&self, bounds: &[Expr], shift: &Expr, range: &Range, ends: &mut Vec<Expr>) -> Reads {
        let facts = self.view.facts();
        let [begin, end] = [&range.0, &range.1].map(|at| facts.normalize(&(at + shift)));
        let parts = bounds.len() - 1;
        let place = |at: &Expr| bounds.iter().position(|bound| bound == at);
        if let (Some(begun), Some(ended)) = (place(&begin), place(&end)) {
            for bound in &bounds[(begun + 1).min(ended)..ended] {
                insert_within(facts, range, ends, &(bound.clone() - shift.clone()));
            }
            return if ended == begun + 1 { Reads::One(begun) } else { Reads::Some(begun..ended.max(begun)) };
        }
        let begun = bounds[..parts].partition_point(|bound| facts.prove_le(bound, &begin));
        if begun > 0 && facts.prove_le(&end, &bounds[begun]) {
            return Reads::One(begun - 1);
        }
        let ended = bounds[1..].partition_point(|bound| facts.prove_le(bound, &begin));
        let first_after = bounds[..parts].iter().position(|bound| facts.prove_le(&end, bound));
        for bound in bounds {
            insert_within(facts, range, ends, &(bound.clone() - shift.clone()));
        }
        Reads::Some(ended.min(parts)..first_after.unwrap_or(parts).max(ended))
    }

    fn is_outside(&self, (begin, end): &Range, shift: &Expr, low: &Expr, high: &Expr) -> bool {
        let facts = self.view.facts();
        facts.prove_le(high, &(begin + shift)) || facts.prove_le(&(end + shift), low)
    }

    /// The shift of an index that follows the loop of the axis.
    fn shift<'i>(&self, at: &'i At) -> Option<&'i Expr> {
        match at {
            At::Loops(atoms, shift) if atoms.as_slice() == [self.axis] => Some(shift),
            _ => None,
        }
    }
}

impl Asked {
    /// Asks for operand `k` of the node at a position.
    fn ask(&mut self, view: &Fusion, space: &Space, (position, k): (usize, usize), val: Val, index: Index) {
        match space.maker(position, k) {
            Some(maker) => self.node(maker, index),
            None if view.is_input(val) => drop(self.loads.insert((val, index))),
            None => {}
        }
    }

    fn node(&mut self, position: usize, index: Index) {
        let indices = &mut self.nodes[position];
        if !indices.contains(&index) {
            indices.push(index);
        }
    }
}

/// Adds an index to ascending ones, if it is provably within a range and equal to none.
fn insert_within(facts: &Facts, (begin, end): &Range, known: &mut Vec<Expr>, at: &Expr) {
    let at = facts.normalize(at);
    let is_before = |known: &Expr| facts.prove_le(known, &at);
    // The ends of a cat come in order.
    let place = match known.last() {
        Some(last) if is_before(last) => known.len(),
        _ => known.iter().take_while(|known| is_before(known)).count(),
    };
    let low = place.checked_sub(1).map_or(begin, |low| &known[low]);
    let high = known.get(place).unwrap_or(end);
    let is_within = facts.prove_le(low, &at) && facts.prove_le(&at, high);
    if is_within && !facts.prove_eq(low, &at) && !facts.prove_eq(&at, high) {
        known.insert(place, at);
    }
}
