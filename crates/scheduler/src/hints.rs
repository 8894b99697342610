//! The sizes that calls are expected to have: decisions are made for them.

use index::{Expr, Facts, Sym};
use ir::graph::{Fusion, Graph, Sizes, TensorOp, Type};
use rustc_hash::FxHashMap;

use target::cpu::{MAX_FEW, MAX_TWO_PASS_BYTES};
use target::gpu::MAX_KEPT_ROW;

/// A multiple of the lanes of every block on a CPU, and of the neighbours that a thread of a GPU takes at a time.
pub const ROW_MULTIPLE: i64 = 64;

/// A multiple of the neighbours that a thread of a GPU takes of elements of two bytes and wider.
const THREAD_MULTIPLE: i64 = 8;

/// What is known of the size of rows where variants are chosen by sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownRow {
    symbol: Sym,
    /// A divisor of it.
    multiple: i64,
    /// The largest that it may be, where knowing it pays.
    most: Option<i64>,
    /// The size, of rows of a few elements.
    exact: Option<i64>,
}

impl KnownRow {
    /// An axis of `size` elements in every call.
    pub fn of_size(symbol: Sym, size: i64) -> KnownRow {
        KnownRow { symbol, multiple: 1, most: None, exact: Some(size) }
    }

    /// Rows of `size` elements on a CPU, if they are whole vectors, or if a fold reduces them and has its result at once or
    /// by two passes.
    pub fn on_cpu(symbol: Sym, size: i64, is_folded: bool) -> Option<KnownRow> {
        let multiple = if size >= 0 && size % ROW_MULTIPLE == 0 { ROW_MULTIPLE } else { 1 };
        let exact = Some(size).filter(|size| is_folded && (1..=MAX_FEW).contains(size));
        let lengths = [4, 2].map(|bytes| MAX_TWO_PASS_BYTES as i64 / bytes);
        let most = lengths.into_iter().find(|&most| is_folded && size <= most);
        let is_known = multiple > 1 || most.is_some();
        is_known.then_some(KnownRow { symbol, multiple, most, exact })
    }

    /// Rows of `size` elements on a GPU, if they are whole vectors of a thread. Short rows have a bound too: the next power
    /// of two.
    pub fn on_gpu(symbol: Sym, size: i64) -> Option<KnownRow> {
        let short = u64::try_from(size).ok().filter(|&size| size <= MAX_KEPT_ROW);
        let most = short.map(|size| size.next_power_of_two() as i64);
        let multiple =
            [ROW_MULTIPLE, THREAD_MULTIPLE].into_iter().find(|multiple| size >= 0 && size % multiple == 0)?;
        Some(KnownRow { symbol, multiple, most, exact: None })
    }

    /// Adds it to what is known.
    pub fn assume(self, facts: &mut Facts) {
        let size = Expr::sym(self.symbol);
        facts.assume_multiple(&size, self.multiple);
        if let Some(most) = self.most {
            facts.assume_range(self.symbol, None, most);
        }
        if let Some(exact) = self.exact {
            // A contradiction is an error of all such calls.
            _ = facts.assume_equal(&size, &Expr::constant(exact));
        }
    }
}

/// The largest value that is expected of anything: more bytes than machines have, and few enough to be summed and
/// multiplied by small factors.
const MAX_EXPECTED: u64 = 1 << 48;

/// Sizes that the size symbols are expected to have. A symbol without one counts as 1024.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    sizes: FxHashMap<Sym, i64>,
    /// Values of symbols that equal expressions over others without a size.
    assumed: FxHashMap<Sym, i64>,
    limits: Option<Limits>,
}

/// Upper bounds on the sizes of every call that the decisions serve.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// The largest sizes.
    pub sizes: FxHashMap<Sym, i64>,
    /// The most elements of a value, where that is known.
    pub elements: Option<u64>,
}

impl Hints {
    /// Hints from known sizes.
    pub fn new(sizes: impl IntoIterator<Item = (Sym, i64)>) -> Hints {
        Hints { sizes: sizes.into_iter().collect(), ..Hints::default() }
    }

    /// These hints, with the sizes that equalities among facts determine. Symbols that equal expressions over others count as
    /// these expressions.
    pub fn with_implied(mut self, facts: &Facts) -> Hints {
        let mut known = Sizes::default();
        self.sizes.iter().for_each(|(&sym, &size)| known.set(sym, size));
        known.propagate(facts);
        self.sizes = known.known().collect();
        let others = facts.equalities().filter(|(sym, _)| known.get(*sym).is_none());
        let assumed =
            others.filter_map(|(sym, value)| Some((sym, self.expected(value).filter(|&size| size > 0)?)));
        self.assumed = assumed.collect();
        self
    }

    /// These hints, for calls within limits.
    pub fn within(self, limits: Limits) -> Hints {
        Hints { limits: Some(limits), ..self }
    }

    /// The fusion with what is expected of row sizes on a GPU as facts: multiples, and upper bounds of short rows. Its
    /// kernels state them as assumptions, and serve such calls only.
    pub fn with_gpu_rows(&self, graph: &Graph, fusion: &Fusion) -> Fusion {
        let mut facts = Facts::clone(fusion.facts());
        let sized = |sym: Sym| KnownRow::on_gpu(sym, *self.sizes.get(&sym)?);
        row_sizes(graph, fusion).into_iter().filter_map(sized).for_each(|row| row.assume(&mut facts));
        fusion.clone().with_facts(facts)
    }

    /// Whether every symbol of an expression has a size of its own.
    pub fn has_all(&self, expr: &Expr) -> bool {
        expr.symbols().iter().all(|sym| self.sizes.contains_key(sym))
    }

    /// An expression's expected value, from 0 to 2^48.
    pub fn value(&self, expr: &Expr) -> u64 {
        self.expected(expr).map_or(MAX_EXPECTED, |value| (value.max(0) as u64).min(MAX_EXPECTED))
    }

    fn expected(&self, expr: &Expr) -> Option<i64> {
        let size = |sym: Sym| self.sizes.get(&sym).or_else(|| self.assumed.get(&sym)).copied();
        expr.eval(&|sym| Some(size(sym).unwrap_or(1024))).ok()
    }

    /// The most that the number of elements of a value, or of a part of one, can be in any call, if that is known.
    pub fn most(&self, facts: &Facts, elements: &Expr) -> Option<u64> {
        let elements = facts.normalize(elements);
        let mut facts = Facts::clone(facts);
        let sizes = self.limits.iter().flat_map(|limits| &limits.sizes);
        sizes.for_each(|(&sym, &size)| facts.assume_range(sym, None, size));
        let most = facts.bounds(&elements).hi().and_then(|most| u64::try_from(most).ok());
        let of_value = self.limits.as_ref().and_then(|limits| limits.elements);
        most.into_iter().chain(of_value).min()
    }

    /// The expected number of elements of a shape, from 0 to 2^48.
    pub fn elements(&self, shape: &[Expr]) -> u64 {
        shape.iter().map(|size| self.value(size)).fold(1, u64::saturating_mul).min(MAX_EXPECTED)
    }

    /// The expected number of bytes of a dense tensor, from 0 to 2^48.
    pub fn bytes(&self, ty: &Type) -> u64 {
        self.elements(&ty.shape).saturating_mul(ty.dtype.size() as u64).min(MAX_EXPECTED)
    }
}

/// The symbols that are the size of a value's last axis, which lanes walk where they can; each once.
pub fn row_sizes(graph: &Graph, fusion: &Fusion) -> Vec<Sym> {
    let made = fusion.order().iter().flat_map(|&node| graph.results(node));
    let values = fusion.inputs().iter().copied().chain(made);
    let mut last: Vec<Sym> = values.filter_map(|val| graph.shape(val).last()?.as_sym()).collect();
    last.sort_unstable();
    last.dedup();
    last
}

/// The row sizes of axes that a fold reduces.
pub fn folded_row_sizes(graph: &Graph, fusion: &Fusion) -> Vec<Sym> {
    let mut folded: Vec<Sym> = Vec::new();
    for &node in fusion.order() {
        let TensorOp::Fold { axes, .. } = &graph.node(node).op else { continue };
        let shape = graph.shape(graph.node(node).operands[0]);
        let last = shape.last().filter(|_| axes.iter().any(|&axis| usize::from(axis) + 1 == shape.len()));
        folded.extend(last.and_then(|size| size.as_sym()));
    }
    folded.sort_unstable();
    folded.dedup();
    folded
}
