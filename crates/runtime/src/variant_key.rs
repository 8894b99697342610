//! Which calls share a variant: those whose inputs have the same layouts and, where the compiler saw sizes ahead of the
//! first call, the same known facts about rows. Where that is asked for, their sizes are also of one order of magnitude (on
//! a GPU, of one step of at most an eighth); where memory is limited, they are equal.
//!
//! Which axes blocks divide, how far, and how wide the lanes are follows from the sizes that the compiler expects. These may
//! be off by a factor of two; off by a hundred, workers stay idle, or nearly every row leaves partial results. On a GPU they
//! may be off by an eighth: if all blocks fit at once, that is twice as fast as with one block more. Rows of whole vectors
//! need no code for the remainder, a quarter of a kernel; of short ones moments are computed in two passes, and folds over a
//! few elements are unrolled. Sizes that a reshape replaces by numbers are known: each index would be divided by them. The
//! key depends on the call alone, and so does the answer to the last bit, whatever was called before.

use compiler::PlanOptions;
use index::{Expr, Facts, Sym};
use indexmap::IndexSet;
use ir::definition::Definition;
use ir::graph::{Fusion, Graph, Node, Shape, Sizes, TensorOp, Val};
use ir::layout::LayoutClass;
use rustc_hash::FxHashSet;
use scheduler::hints::{Hints, KnownRow, Limits, folded_row_sizes, row_sizes};
use smallvec::SmallVec;
use target::limits::MAX_SMALL_CALL_ELEMENTS;

use crate::inputs::declared_layouts;

/// A size up to which a GPU's calls may be small calls.
const MAX_SMALL_CALL_SIZE: i64 = 1024;

/// The size that is expected of all axes of small calls.
const EXPECTED_OF_FEW: i64 = 4;

/// The shapes of a definition's values, which decide whether calls are small.
#[derive(Debug)]
pub(crate) struct Shapes {
    /// Each once.
    shapes: IndexSet<Shape>,
    /// The symbols in them. Integers that are only values, such as a step's number, are not among them.
    symbols: Vec<Sym>,
    /// Those of them that are the size of a last axis, which lanes walk where they can.
    last: Vec<Sym>,
    /// And those of them that a fold reduces, if passes may change it.
    folded: Vec<Sym>,
    /// And those that a reshape replaces by numbers, likewise.
    regrouped: Vec<Sym>,
    /// Whether sizes of other orders of magnitude have other keys.
    by_order: bool,
    /// Whether keys contain the sizes themselves: a limit on memory must hold at those of each call.
    is_exact: bool,
    /// Whether they are for a GPU, where vectors are shorter, and rows that a block keeps have their own keys.
    on_gpu: bool,
}

impl Shapes {
    /// Of the inputs, and of all values that outputs depend on: results may be larger than all inputs.
    pub fn new(definition: &Definition, by_order: bool, plan: &PlanOptions, on_gpu: bool) -> Shapes {
        let Definition { graph, fusion, .. } = definition;
        let made = fusion.order().iter().flat_map(|&node| graph.results(node));
        let values = fusion.inputs().iter().copied().chain(made);
        let shapes: IndexSet<Shape> = values.map(|val| graph.shape(val).clone()).collect();
        let mut symbols: Vec<Sym> = shapes.iter().flatten().flat_map(|size| size.symbols()).collect();
        symbols.sort_unstable();
        symbols.dedup();
        // The user's schedule fits the unchanged definition.
        let is_scheduled = !plan.schedules.is_empty();
        let unless_scheduled = |of: fn(&Graph, &Fusion) -> Vec<Sym>| match is_scheduled {
            true => Vec::new(),
            false => of(graph, fusion),
        };
        let [folded, regrouped] = [folded_row_sizes, regrouped_sizes].map(unless_scheduled);
        let (last, is_exact) = (row_sizes(graph, fusion), plan.peak_memory.is_some());
        Shapes { shapes, symbols, last, folded, regrouped, by_order, is_exact, on_gpu }
    }

    /// Whether no value of a call of these sizes has many elements.
    fn are_few(&self, sizes: &Sizes) -> bool {
        let elements = |shape: &Shape| {
            // A size without a value, or below zero, is an error of the call.
            shape.iter().map(|size| sizes.size(size).unwrap_or(0)).fold(1, usize::saturating_mul)
        };
        // What a block of a GPU keeps of a long row must fit its memory, however small the call is.
        let is_short = |(_, size): (Sym, i64)| size <= MAX_SMALL_CALL_SIZE;
        self.shapes.iter().all(|shape| elements(shape) < MAX_SMALL_CALL_ELEMENTS)
            && (!self.on_gpu || self.known(sizes).all(is_short))
    }

    /// The symbols that have a value, with it.
    fn known(&self, sizes: &Sizes) -> impl Iterator<Item = (Sym, i64)> {
        self.symbols.iter().filter_map(|&sym| Some((sym, sizes.get(sym)?)))
    }

    /// What is known about the sizes of last axes and of reshapes. Small calls that share a variant for all orders know
    /// nothing.
    fn rows(&self, sizes: &Sizes) -> SmallVec<[KnownRow; 2]> {
        if self.by_order && self.are_few(sizes) {
            return SmallVec::new();
        }
        let known = |&sym: &Sym| match (sizes.get(sym)?, self.on_gpu) {
            (size, true) => KnownRow::on_gpu(sym, size),
            (size, false) => KnownRow::on_cpu(sym, size, self.folded.contains(&sym)),
        };
        let regrouped =
            self.regrouped.iter().filter_map(|&sym| Some(KnownRow::of_size(sym, sizes.get(sym)?)));
        let others = self.last.iter().filter(|sym| !self.regrouped.contains(sym));
        regrouped.chain(others.filter_map(known)).collect()
    }
}

/// The symbols that a reshape replaces by numbers, or that replace numbers: they divide these, so few sizes are possible.
fn regrouped_sizes(graph: &Graph, fusion: &Fusion) -> Vec<Sym> {
    let symbols = |val: Val| graph.shape(val).iter().flat_map(Expr::symbols).collect::<FxHashSet<Sym>>();
    let is_reshape = |node: &&Node| matches!(graph.node(**node).op, TensorOp::Reshape(_));
    let replaced = |&node: &Node| {
        let (before, after) = (symbols(graph.node(node).operands[0]), symbols(node.into()));
        let is_known = before.is_subset(&after) || after.is_subset(&before);
        before.symmetric_difference(&after).copied().filter(|_| is_known).collect::<Vec<Sym>>()
    };
    let mut found: Vec<Sym> = fusion.order().iter().filter(is_reshape).flat_map(replaced).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The common properties of the calls that share a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VariantKey {
    layouts: Vec<LayoutClass>,
    /// If variants are chosen by sizes.
    orders: Option<Orders>,
    /// Facts about rows, if variants are chosen by sizes.
    rows: SmallVec<[KnownRow; 2]>,
}

impl VariantKey {
    /// Of calls whose inputs have the declared layouts, whatever their sizes.
    pub fn declared(definition: &Definition) -> VariantKey {
        VariantKey { layouts: declared_layouts(definition), orders: None, rows: SmallVec::new() }
    }

    /// Of a call whose inputs have these layouts; also by its sizes, if there are shapes.
    pub fn of(layouts: Vec<LayoutClass>, sizes: &Sizes, shapes: Option<&Shapes>) -> VariantKey {
        let orders = shapes.filter(|shapes| shapes.by_order).map(|shapes| Orders::of(sizes, shapes));
        let rows = shapes.map(|shapes| shapes.rows(sizes)).unwrap_or_default();
        VariantKey { layouts, orders, rows }
    }

    /// The layouts of the inputs.
    pub fn layouts(&self) -> &[LayoutClass] {
        &self.layouts
    }

    /// A fusion of the definition, with the facts that hold in all such calls.
    pub fn known(&self, fusion: &Fusion) -> Fusion {
        let mut facts = Facts::clone(fusion.facts());
        self.rows.iter().for_each(|row| row.assume(&mut facts));
        fusion.clone().with_facts(facts)
    }

    /// The sizes to expect of such calls.
    pub fn expected(&self) -> Option<Hints> {
        self.orders.as_ref().map(Orders::hints)
    }
}

/// The expected sizes for all calls of the same orders of magnitude; the same for all small calls.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Orders {
    expected: SmallVec<[(Sym, i64); 4]>,
    are_few: bool,
    on_gpu: bool,
}

impl Orders {
    /// The orders of the sizes of a call.
    fn of(sizes: &Sizes, shapes: &Shapes) -> Orders {
        let are_few = !shapes.is_exact && shapes.are_few(sizes);
        let of_size = match (shapes.is_exact, shapes.on_gpu) {
            (true, _) => |size| size,
            (false, true) => expected_on_gpu,
            (false, false) => expected_on_cpu,
        };
        let expected = |size| if are_few { EXPECTED_OF_FEW } else { of_size(size) };
        let expected = shapes.known(sizes).map(|(sym, size)| (sym, expected(size))).collect();
        Orders { expected, are_few, on_gpu: shapes.on_gpu }
    }

    /// The sizes to expect of such calls, a few for small calls; on a GPU with their upper bounds.
    fn hints(&self) -> Hints {
        let hints = Hints::new(self.expected.iter().copied());
        if !self.on_gpu {
            return hints;
        }
        let limit =
            |&(sym, expected): &(Sym, i64)| (sym, if self.are_few { MAX_SMALL_CALL_SIZE } else { expected });
        let elements = self.are_few.then_some(MAX_SMALL_CALL_ELEMENTS as u64);
        hints.within(Limits { sizes: self.expected.iter().map(limit).collect(), elements })
    }
}

/// The power of four within half and double of a size.
fn expected_on_cpu(size: i64) -> i64 {
    let order = size.max(1).ilog2().div_ceil(2);
    1 << (2 * order).min(i64::BITS - 2)
}

/// The next number of at most four significant bits: the size or up to an eighth more.
fn expected_on_gpu(size: i64) -> i64 {
    let size = size.max(1) as u64;
    let expected = size.next_multiple_of(1 << size.ilog2().saturating_sub(3));
    i64::try_from(expected).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_cpu_powers_of_four_within_half_and_double_are_expected() {
        let sizes = [i64::MIN, 0, 1, 2, 7, 8, 31, 32, 127, 128, 512, 1000, 1024, 2047, 2048, 1 << 40];
        let expected = [1, 1, 1, 4, 4, 16, 16, 64, 64, 256, 1024, 1024, 1024, 1024, 4096, 1 << 40];
        assert_eq!(sizes.map(expected_on_cpu), expected);
        for size in 2..10_000 {
            let expected = expected_on_cpu(size);
            assert!(size <= 2 * expected && expected <= 2 * size, "{size}");
        }
        assert_eq!(expected_on_cpu(i64::MAX), 1 << 62);
    }

    #[test]
    fn on_a_gpu_up_to_an_eighth_more_is_expected() {
        let sizes = [i64::MIN, 0, 1, 9, 15, 16, 17, 1000, 1024, 1025, 8192, 50_257];
        let expected = [1, 1, 1, 9, 15, 16, 18, 1024, 1024, 1152, 8192, 53_248];
        assert_eq!(sizes.map(expected_on_gpu), expected);
        for size in 1..10_000 {
            let expected = expected_on_gpu(size);
            assert!(size <= expected && 8 * expected <= 9 * size, "{size}");
        }
        assert_eq!(expected_on_gpu(i64::MAX), i64::MAX);
    }
}
