//! How often a kernel recomputes a value that has fewer axes than the loops around it: a function of weights for each row, a
//! table of positions for each head. A value that lacks the inner axes of a loop nest is computed outside of them; one that
//! lacks outer axes is recomputed in each of their iterations.

use cranelift_entity::SecondaryMap;
use ir::graph::{Fusion, Node};
use scheduler::legal::Witness;
use space::{Axis, Space};
use target::Processor;

use super::amounts::Amounts;

/// The fewest cycles per element for which recomputed ops count, together with the ops that only they need. Fewer are hidden
/// by the memory traffic of the kernel.
const MIN_COSTLY_CYCLES: u64 = 7;

/// A set of axes, by the places of their loops.
type Axes = u64;

/// How often each node of a kernel is computed per element, by its position: once if the list is empty.
#[derive(Default)]
pub(super) struct Repeats {
    times: Vec<u64>,
}

impl Repeats {
    /// The repetitions of a kernel's nodes. Cheap nodes that not only costly ones need count once.
    pub fn of(amounts: &Amounts<'_>, view: &Fusion, witness: &Witness) -> Repeats {
        if witness.order.len() > Axes::BITS as usize {
            return Repeats::default();
        }
        let loops = Loops::of(amounts, view, witness);
        let made = witness.space.of_results(|axes| loops.set(axes.iter().flatten().copied()));
        if !loops.has_costly(amounts, view, &made) {
            return Repeats::default();
        }
        let around = loops.around(amounts, view, &made);
        let times = view.order().iter().zip(made.iter().zip(around)).map(|(&node, (&made, around))| {
            let own = if is_fold(amounts, node) { 0 } else { made };
            let outer = own.checked_ilog2().map_or(0, |innermost| (1 << innermost) - 1);
            let missing = loops.axes(around & !own & outer);
            missing.map(|axis| amounts.hints.value(witness.space.size(axis))).fold(1, u64::saturating_mul)
        });
        let mut repeats = Repeats { times: times.collect() };
        repeats.keep_costly(amounts, view, &witness.space);
        repeats
    }

    /// Makes cheap nodes that not only costly ones need count once.
    fn keep_costly(&mut self, amounts: &Amounts<'_>, view: &Fusion, space: &Space) {
        let times = &mut self.times;
        let cycles = cycles_of_chains(amounts, view, space, |position| times[position] > 1);
        let mut is_costly: Vec<bool> = cycles.iter().map(|&cycles| cycles >= MIN_COSTLY_CYCLES).collect();
        for (position, &node) in view.order().iter().enumerate().rev() {
            if is_costly[position] {
                makers(amounts, space, position, node).for_each(|maker| is_costly[maker] = true)
            } else {
                times[position] = 1
            }
        }
    }

    /// Cycles of the node at a position, for all elements and repetitions.
    pub fn cycles(&self, amounts: &Amounts<'_>, position: usize, node: Node) -> u64 {
        let times = self.times.get(position).copied().unwrap_or(1);
        amounts.cycles(node).saturating_mul(times)
    }
}

fn is_fold(amounts: &Amounts<'_>, node: Node) -> bool {
    amounts.graph.node(node).op.is_fold()
}

/// The positions of the nodes of a kernel that make the operands of one.
fn makers(amounts: &Amounts<'_>, space: &Space, position: usize, node: Node) -> impl Iterator<Item = usize> {
    let operands = 0..amounts.graph.node(node).operands.len();
    operands.filter_map(move |k| space.maker(position, k))
}

/// Cycles per element of each node in a set, with those of the set's nodes that it is computed from.
fn cycles_of_chains(
    amounts: &Amounts<'_>,
    view: &Fusion,
    space: &Space,
    is_in: impl Fn(usize) -> bool,
) -> Vec<u64> {
    let mut cycles = vec![0; view.order().len()];
    for (position, &node) in view.order().iter().enumerate().filter(|&(position, _)| is_in(position)) {
        let own = amounts.cycles(node) / amounts.of(node.into()).elements.max(1);
        let before = makers(amounts, space, position, node).map(|maker| cycles[maker]);
        cycles[position] = before.fold(own, u64::saturating_add);
    }
    cycles
}

/// The loops of a kernel: outside those that blocks divide, inside those of its stages. If no stage waits for a fold, the
/// lanes take the contiguous axis and are innermost, except for an axis of few indices that is unrolled within them on a
/// CPU.
struct Loops<'w> {
    witness: &'w Witness,
    order: Vec<Axis>,
    places: SecondaryMap<Axis, Option<u32>>,
}

impl<'w> Loops<'w> {
    fn of(amounts: &Amounts<'_>, view: &Fusion, witness: &'w Witness) -> Loops<'w> {
        let lane = witness.last_axis().filter(|_| !witness.stages_wait());
        let unrolls = matches!(amounts.target.processor, Processor::Cpu(_));
        let few = lane.filter(|_| unrolls).and_then(|lane| match witness.order.last() {
            Some(&last) if last != lane => Some(last),
            _ => witness.sliced_axis(amounts.graph, view, lane),
        });
        let is_few = |axis: &Axis| Some(*axis) == few;
        let is_outer = |axis: &Axis| witness.workers.contains(axis) && Some(*axis) != lane && !is_few(axis);
        let (mut order, mut inner): (Vec<Axis>, Vec<Axis>) =
            witness.order.iter().partition(|axis| is_outer(axis));
        inner.sort_by_key(is_few);
        order.extend(inner);
        let mut places = SecondaryMap::with_capacity(order.len());
        order.iter().zip(0..).for_each(|(&axis, place)| places[axis] = Some(place));
        Loops { witness, order, places }
    }

    fn set(&self, axes: impl Iterator<Item = Axis>) -> Axes {
        axes.filter_map(|axis| self.places[axis]).fold(0, |set, place| set | 1 << place)
    }

    fn axes(&self, set: Axes) -> impl Iterator<Item = Axis> + '_ {
        let order = self.order.iter().enumerate();
        order.filter(move |(place, _)| set >> place & 1 == 1).map(|(_, &axis)| axis)
    }

    /// Whether values that lack axes of the loops may be costly.
    fn has_costly(&self, amounts: &Amounts<'_>, view: &Fusion, made: &[Axes]) -> bool {
        let all = self.set(self.order.iter().copied());
        let may_repeat = |position: usize| made[position] != all && !is_fold(amounts, view.order()[position]);
        let cycles = cycles_of_chains(amounts, view, &self.witness.space, may_repeat);
        cycles.into_iter().any(|cycles| cycles >= MIN_COSTLY_CYCLES)
    }

    /// The axes of the loops in which each node is computed: its own, and those of its users, up to folds, whose results
    /// stay, and to index maps, which are counted separately.
    fn around(&self, amounts: &Amounts<'_>, view: &Fusion, made: &[Axes]) -> Vec<Axes> {
        let Witness { space, folds, .. } = self.witness;
        let mut around = made.to_vec();
        let mut inside: Vec<Option<Axes>> = vec![None; made.len()];
        for fold in folds {
            if let Some(position) = space.position(fold.node) {
                inside[position] = Some(self.set(fold.domain()));
            }
        }
        for (position, &node) in view.order().iter().enumerate().rev() {
            let inside = inside[position].unwrap_or(around[position]);
            for k in 0..amounts.graph.node(node).operands.len() {
                let maker = space.maker(position, k).filter(|_| !space.moves(position, k));
                if let Some(maker) = maker {
                    around[maker] |= inside;
                }
            }
        }
        around
    }
}
