//! Loops over lanes that read bf16 deinterleaved: a 32-bit word holds two neighbours, and a shift and a mask make an f32 of
//! each, whereas widening them in order takes a permutation and a shift of every register.
//!
//! Lanes go in groups of two registers of f32. In such a loop the first half of a group has its even elements, the second
//! half its odd ones. 16-bit values stay in memory order: only casts use them, and casts change the order. All others are
//! deinterleaved: loaded from memory through a shuffle, from scratch as they are, because all loops that access such a
//! scratch array are deinterleaved. This file finds those loops and arrays.

use std::collections::{BTreeMap, BTreeSet};

use index::{Expr, Sym};
use kernel::{Kernel, Loop, LoopKind, Place, Scratch, Stmt, Value, strip_length};
use ops::DType;

use super::integer_min_max::IntegerMinMax;

/// Register instructions saved per group by widening and rounding deinterleaved vectors.
const WIDENED: i64 = 2;
const ROUNDED: i64 = -1;
/// The most values that a loop widens: with several jammed rows registers run out, and it was no faster.
const MOST_WIDENED: usize = 8;
/// Elements in another order in memory are shuffled.
const SHUFFLED: i64 = -2;

/// The deinterleaved loops and arrays of a kernel.
#[derive(Default)]
pub(crate) struct Deinterleaved {
    /// The variables of the loops.
    loops: BTreeSet<Sym>,
    /// Those of them whose remainder is in memory order: by single registers, where a group takes two. Not if some rows are
    /// walked as a remainder as a whole: their lanes must fold and store to scratch the same elements as elsewhere.
    in_order_at_end: BTreeSet<Sym>,
    scratch: BTreeSet<Scratch>,
}

impl Deinterleaved {
    /// The loops that are cheaper deinterleaved, and those that must follow because of the scratch arrays that they share,
    /// where a group has `group` lanes.
    pub(crate) fn of(kernel: &Kernel, group: u32, integer_min_max: &IntegerMinMax) -> Deinterleaved {
        if !kernel.lanes.is_multiple_of(group) {
            return Deinterleaved::default();
        }
        let mut survey = Survey {
            kernel,
            integer_min_max,
            loops: BTreeMap::new(),
            barred: BTreeSet::new(),
            has_short_loops: false,
        };
        survey.body(&kernel.body);
        survey.choose()
    }

    /// Whether a loop's lanes are deinterleaved.
    pub(crate) fn takes(&self, for_loop: &Loop) -> bool {
        self.loops.contains(&for_loop.var)
    }

    /// Whether the remainder is deinterleaved as well.
    pub(crate) fn takes_remainder_of(&self, for_loop: &Loop) -> bool {
        self.takes(for_loop) && !self.in_order_at_end.contains(&for_loop.var)
    }

    /// Whether an array's elements are deinterleaved.
    pub(crate) fn holds(&self, scratch: Scratch) -> bool {
        self.scratch.contains(&scratch)
    }
}

/// A loop over lanes.
struct Candidate<'k> {
    for_loop: &'k Loop,
    /// Whether its code can be deinterleaved.
    fits: bool,
    gain: i64,
    widened: usize,
    /// Whether lanes keep a value from one iteration to the next.
    keeps: bool,
    /// Whether they keep a deinterleaved value.
    folds: bool,
    scratch: BTreeSet<Scratch>,
}

struct Survey<'k> {
    kernel: &'k Kernel,
    integer_min_max: &'k IntegerMinMax,
    loops: BTreeMap<Sym, Candidate<'k>>,
    /// Scratch that code outside of loops over lanes accesses.
    barred: BTreeSet<Scratch>,
    /// Whether some rows are walked by loops of few iterations, whose lanes must fold the same elements as elsewhere.
    has_short_loops: bool,
}

impl<'k> Survey<'k> {
    fn body(&mut self, body: &'k [Stmt]) {
        for statement in body {
            match statement {
                Stmt::For(for_loop) if for_loop.kind.is_over_lanes() => {
                    let mut candidate = self.candidate(for_loop);
                    // A variable of two loops does not distinguish them.
                    if let Some(namesake) = self.loops.remove(&for_loop.var) {
                        candidate.fits = false;
                        candidate.scratch.extend(namesake.scratch);
                    }
                    self.loops.insert(for_loop.var, candidate);
                }
                Stmt::For(for_loop) if for_loop.kind != LoopKind::Transpose => {
                    self.has_short_loops |= for_loop.kind == LoopKind::Remainder;
                    self.body(&for_loop.body);
                }
                _ => touched(std::slice::from_ref(statement), &mut self.barred),
            }
        }
    }

    fn candidate(&self, for_loop: &'k Loop) -> Candidate<'k> {
        let (fits, scratch) = (true, BTreeSet::new());
        let mut candidate =
            Candidate { for_loop, fits, gain: 0, widened: 0, keeps: false, folds: false, scratch };
        let mut defined = BTreeSet::new();
        for statement in &for_loop.body {
            candidate.fits &= self.take(statement, &defined, &mut candidate);
            defined.extend(statement.defined());
        }
        candidate.fits &= candidate.widened <= MOST_WIDENED;
        candidate.folds &= for_loop.body.iter().any(has_order);
        candidate
    }

    /// Counts a statement of a loop over lanes; returns whether it can be deinterleaved.
    fn take(&self, statement: &Stmt, defined: &BTreeSet<Value>, candidate: &mut Candidate<'_>) -> bool {
        let full = |dtype: DType| !dtype.is_storage_only();
        let dtype = |value: &Value| self.kernel.values[*value];
        match statement {
            Stmt::Apply { value, args, .. } => args.iter().chain([value]).all(|value| full(dtype(value))),
            Stmt::Cast { value, arg } => {
                if dtype(arg) == DType::BF16 && !self.integer_min_max.is_idle(*value) {
                    candidate.gain += WIDENED;
                    candidate.widened += 1;
                } else if dtype(value) == DType::BF16 {
                    candidate.gain += ROUNDED;
                }
                [value, arg].into_iter().all(|value| full(dtype(value)) || dtype(value) == DType::BF16)
            }
            Stmt::Get { value, .. } | Stmt::Set { value, .. } if self.integer_min_max.is_idle(*value) => {
                candidate.keeps = true;
                true
            }
            Stmt::Get { accumulator, .. }
            | Stmt::Set { accumulator, .. }
            | Stmt::Open { accumulator, .. } => {
                (candidate.keeps, candidate.folds) = (true, true);
                full(self.kernel.accumulators[*accumulator])
            }
            Stmt::Const { .. } | Stmt::Prefetch { .. } => true,
            Stmt::Load { value, place, index, guard } => {
                let varies = index.mentions(candidate.for_loop.var);
                let access = Access { place: *place, dtype: dtype(value), index };
                let same = !varies && matches!(place, Place::Buffer(_));
                (same || access.count(candidate)) && !guard.is_some_and(|guard| defined.contains(&guard))
            }
            Stmt::Store { place, index, value, guard } => {
                let access = Access { place: *place, dtype: dtype(value), index };
                access.count(candidate) && !guard.is_some_and(|guard| defined.contains(&guard))
            }
            _ => {
                touched(std::slice::from_ref(statement), &mut candidate.scratch);
                false
            }
        }
    }

    fn choose(&self) -> Deinterleaved {
        let mut chosen = Deinterleaved::default();
        let mut gain = 0;
        let mut next: Vec<&Candidate<'_>> =
            self.loops.values().filter(|candidate| candidate.fits && candidate.gain > 0).collect();
        while let Some(candidate) = next.pop() {
            if !chosen.loops.insert(candidate.for_loop.var) {
                continue;
            }
            if !self.has_short_loops || !candidate.keeps && candidate.scratch.is_empty() {
                chosen.in_order_at_end.insert(candidate.for_loop.var);
            }
            gain += candidate.gain;
            for scratch in &candidate.scratch {
                let sharing = self.loops.values().filter(|other| other.scratch.contains(scratch));
                let sharing: Vec<&Candidate<'_>> = sharing.collect();
                let alike = sharing
                    .iter()
                    .all(|other| other.fits && self.same_iterations(candidate.for_loop, other.for_loop));
                if !alike || self.barred.contains(scratch) {
                    return Deinterleaved::default();
                }
                chosen.scratch.insert(*scratch);
                next.extend(sharing);
            }
        }
        let ordered =
            |candidate: &Candidate<'_>| candidate.folds && !chosen.loops.contains(&candidate.for_loop.var);
        let differs = self.has_short_loops && self.loops.values().any(ordered);
        if gain > 0 && !differs { chosen } else { Deinterleaved::default() }
    }

    /// Whether two loops walk the same groups whenever they run, perhaps in strips of whole vectors.
    fn same_iterations(&self, a: &Loop, b: &Loop) -> bool {
        match (self.lasts(a), self.lasts(b)) {
            (true, true) => a.begin == b.begin && a.end == b.end,
            (true, false) => self.is_strip(b, a),
            (false, true) => self.is_strip(a, b),
            (false, false) => self.are_same_strips(a, b),
        }
    }

    /// Whether a loop has the same bounds whenever it runs.
    fn lasts(&self, for_loop: &Loop) -> bool {
        let mut lasting = true;
        for bound in [&for_loop.begin, &for_loop.end] {
            bound.visit_symbols(&mut |symbol| lasting &= self.kernel.arguments.contains(&symbol));
        }
        lasting
    }

    /// The symbol that numbers the strips, if a loop walks one of them.
    fn strip_number(&self, for_loop: &Loop) -> Option<Sym> {
        let own = |symbol: &Sym| !self.kernel.arguments.contains(symbol);
        let mut numbers = for_loop.begin.symbols().into_iter().filter(own);
        numbers.next().filter(|_| numbers.next().is_none())
    }

    /// Whether a loop walks a strip of another's iterations that begins a multiple of whole vectors after their beginning.
    fn is_strip(&self, strip: &Loop, whole: &Loop) -> bool {
        let Some(number) = self.strip_number(strip) else { return false };
        let length = strip_length(number, [&strip.begin, &strip.end], [&whole.begin, &whole.end]);
        length
            .and_then(|length| length.as_const())
            .is_some_and(|length| length % i64::from(self.kernel.lanes) == 0)
    }

    /// Whether strips of the same number have the same bounds.
    fn are_same_strips(&self, a: &Loop, b: &Loop) -> bool {
        let (Some(of_a), Some(of_b)) = (self.strip_number(a), self.strip_number(b)) else { return false };
        let renamed = |bound: &Expr| bound.substitute(&|symbol| (symbol == of_b).then(|| Expr::sym(of_a)));
        a.begin == renamed(&b.begin) && a.end == renamed(&b.end)
    }
}

/// Whether a statement of a loop over lanes may depend on which lane has which iteration. Statements on kept values do not.
fn has_order(statement: &Stmt) -> bool {
    !matches!(
        statement,
        Stmt::Get { .. } | Stmt::Set { .. } | Stmt::Const { .. } | Stmt::Apply { .. } | Stmt::Cast { .. }
    )
}

/// The scratch arrays that statements access.
fn touched(body: &[Stmt], found: &mut BTreeSet<Scratch>) {
    for statement in body {
        match statement {
            Stmt::Load { place: Place::Scratch(scratch), .. }
            | Stmt::Store { place: Place::Scratch(scratch), .. } => {
                found.insert(*scratch);
            }
            Stmt::For(for_loop) => touched(&for_loop.body, found),
            _ => {}
        }
    }
}

/// A load or a store of neighbours.
struct Access<'k> {
    place: Place,
    dtype: DType,
    index: &'k Expr,
}

impl Access<'_> {
    /// Counts it; returns whether it can be deinterleaved. In scratch an element's place follows from its lane's number.
    fn count(&self, candidate: &mut Candidate<'_>) -> bool {
        let Some((step, rest)) = self.index.split_linear(candidate.for_loop.var) else { return false };
        match self.place {
            Place::Scratch(scratch) if self.dtype != DType::BF16 => {
                candidate.scratch.insert(scratch);
                step.is_one() && rest.as_const() == Some(0) && !self.dtype.is_storage_only()
            }
            _ => {
                candidate.gain += if self.dtype == DType::BF16 { 0 } else { SHUFFLED };
                step.is_one() && (self.dtype == DType::BF16 || !self.dtype.is_storage_only())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::parse;

    use super::*;

    fn deinterleaved(read: &str) -> bool {
        let text = include_str!("deinterleave.kernel").replace("READ", read);
        let kernel = parse(&text).expect("it is a kernel");
        let Some(Stmt::For(for_loop)) = kernel.body.last() else { panic!("a loop is the last statement") };
        let found = |group| Deinterleaved::of(&kernel, group, &IntegerMinMax::of(&kernel)).takes(for_loop);
        assert!(!found(32), "fewer lanes than a group has");
        found(16)
    }

    #[test]
    fn loops_that_widen_gain() {
        assert!(deinterleaved("bf16"));
        assert!(!deinterleaved("f16"));
    }
}
