//! Loops over lanes that read bf16 deinterleaved: a word of 32 bits holds two neighbours, and a shift and a mask make an
//! f32 of each, where widening them in order takes a permutation and a shift of every register.
//!
//! Lanes go in groups of two registers of f32. In such a loop the first half of a group has its even elements, the second
//! half its odd ones. Values of 16 bits stay in memory's order: only casts touch them, and casts change the order. All
//! others come deinterleaved: from memory through a shuffle, from scratch as they are, because all loops that
//! touch such a scratch array are deinterleaved. This file says which loops and arrays those are, and shuffles.

use std::collections::{BTreeMap, BTreeSet};

use index::{Expr, Sym};
use ir::kernel::{Kernel, Loop, LoopKind, Place, Scratch, Stmt, Value, strip_length};
use ops::DType;

use super::Emitter;
use super::integer_min_max::IntegerMinMax;
use super::isa::Isa;
use super::operand::{Element, Operand};
use super::writer::Writer;

/// What widening and rounding deinterleaved vectors saves for each group, in instructions of a register.
const WIDENED: i64 = 2;
const ROUNDED: i64 = -1;
/// Values that a loop widens at most: where several rows are jammed registers run out, and it was no faster.
const MOST_WIDENED: usize = 8;
/// What is in another order in memory is shuffled.
const SHUFFLED: i64 = -2;

/// What is deinterleaved in a kernel.
#[derive(Default)]
pub(super) struct Deinterleaved {
    /// The variables of the loops.
    loops: BTreeSet<Sym>,
    /// Those of them where the remainder goes in memory's order: by single registers, where a group takes two. So it
    /// may unless some rows go that way as a whole, whose lanes must fold and leave in scratch what they do elsewhere.
    in_order_at_end: BTreeSet<Sym>,
    scratch: BTreeSet<Scratch>,
}

/// Lanes of a group: two registers of f32.
pub(super) fn group(isa: &Isa) -> u32 {
    2 * isa.vector_bits / 32
}

impl Deinterleaved {
    /// The loops that are cheaper deinterleaved, and those that must follow because of the scratch arrays that they share.
    pub(super) fn of(kernel: &Kernel, isa: &Isa, integer_min_max: &IntegerMinMax) -> Deinterleaved {
        if !kernel.lanes.is_multiple_of(group(isa)) {
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

    pub(super) fn takes(&self, for_loop: &Loop) -> bool {
        self.loops.contains(&for_loop.var)
    }

    /// Whether the remainder is deinterleaved as well.
    pub(super) fn takes_remainder_of(&self, for_loop: &Loop) -> bool {
        self.takes(for_loop) && !self.in_order_at_end.contains(&for_loop.var)
    }

    /// Whether an array's elements are deinterleaved.
    pub(super) fn holds(&self, scratch: Scratch) -> bool {
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
    /// Whether lanes keep something from one iteration to the next.
    keeps: bool,
    /// Whether they keep something deinterleaved.
    folds: bool,
    scratch: BTreeSet<Scratch>,
}

struct Survey<'k> {
    kernel: &'k Kernel,
    integer_min_max: &'k IntegerMinMax,
    loops: BTreeMap<Sym, Candidate<'k>>,
    /// Scratch that code outside of loops over lanes touches.
    barred: BTreeSet<Scratch>,
    /// Whether some rows go through loops of few iterations, where their lanes must fold what they fold elsewhere.
    has_short_loops: bool,
}

impl<'k> Survey<'k> {
    fn body(&mut self, body: &'k [Stmt]) {
        for statement in body {
            match statement {
                Stmt::For(for_loop) if for_loop.kind.is_over_lanes() => {
                    let mut candidate = self.candidate(for_loop);
                    // A variable that two loops have does not tell them apart.
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

    /// Counts a statement of a loop over lanes; whether it can be deinterleaved.
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

    /// Whether two loops go through the same groups whenever they run, be it in strips of whole vectors.
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

    /// The symbol that numbers the strips of which a loop walks one.
    fn strip_number(&self, for_loop: &Loop) -> Option<Sym> {
        let own = |symbol: &Sym| !self.kernel.arguments.contains(symbol);
        let mut numbers = for_loop.begin.symbols().into_iter().filter(own);
        numbers.next().filter(|_| numbers.next().is_none())
    }

    /// Whether a loop walks a strip of another's iterations, which begins a number of whole vectors behind theirs.
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

/// Whether a statement of a loop over lanes may speak of which iteration a lane has. One that speaks of what lanes keep
/// does not.
fn has_order(statement: &Stmt) -> bool {
    !matches!(
        statement,
        Stmt::Get { .. } | Stmt::Set { .. } | Stmt::Const { .. } | Stmt::Apply { .. } | Stmt::Cast { .. }
    )
}

/// The scratch arrays that statements touch.
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
    /// Counts it; whether it can be deinterleaved. In scratch an element lies where its lane's number says.
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

impl Emitter<'_> {
    /// Whether elements of this type lie at a place in another order than the lanes here have them.
    pub(super) fn is_shuffled(&self, place: Place, element: Element) -> bool {
        let in_order = matches!(place, Place::Scratch(scratch) if self.deinterleaved.holds(scratch));
        self.w.deinterleaved && element != Element::I16 && !in_order
    }
}

/// A vector in memory's order, deinterleaved.
pub(super) fn from_memory(w: &mut Writer<'_>, x: Operand) -> Operand {
    let half = group(w.isa) / 2;
    in_groups(w, x, &|lane| if lane < half { 2 * lane } else { 2 * (lane - half) + 1 })
}

/// Memory's order, of a deinterleaved vector.
pub(super) fn to_memory(w: &mut Writer<'_>, x: Operand) -> Operand {
    let half = group(w.isa) / 2;
    in_groups(w, x, &|lane| lane / 2 + if lane.is_multiple_of(2) { 0 } else { half })
}

/// The numbers of elements from a group's first, in deinterleaved order.
pub(super) fn numbers(w: &mut Writer<'_>, lanes: u32) -> Operand {
    let iota = Operand::iota(Element::I32, lanes);
    from_memory(w, iota)
}

fn in_groups(w: &mut Writer<'_>, x: Operand, pick: &dyn Fn(u32) -> u32) -> Operand {
    let group = group(w.isa);
    let lanes = 0..x.ty.lanes.unwrap_or(1);
    w.picked(x, lanes.map(|lane| lane / group * group + pick(lane % group)))
}

/// bf16 in memory's order as deinterleaved f32.
pub(super) fn widen(w: &mut Writer<'_>, x: Operand) -> Operand {
    let lanes = x.ty.lanes.unwrap_or(1);
    let half = group(w.isa) / 2;
    let words = w.reinterpret(x, Element::I32);
    let even = w.binary("shl", words, 16);
    let odd = w.binary("and", words, HIGH);
    let groups = (0..lanes / 2).step_by(half as usize).map(|from| {
        let (even, odd) = (w.slice(even, from, half), w.slice(odd, from, half));
        w.concatenate(even, odd)
    });
    let groups: Vec<Operand> = groups.collect();
    let all = w.joined(groups);
    w.convert("bitcast", all, Element::F32)
}

/// Bits of f32, of which the upper half is bf16, as that: deinterleaved order becomes memory's.
pub(super) fn upper_halves(w: &mut Writer<'_>, bits: Operand) -> Operand {
    let half = group(w.isa) / 2;
    let groups = (0..bits.ty.lanes.unwrap_or(1)).step_by(2 * half as usize).map(|from| {
        let (even, odd) = (w.slice(bits, from, half), w.slice(bits, from + half, half));
        let even = w.binary("lshr", even, 16);
        let odd = w.binary("and", odd, HIGH);
        w.binary("or", even, odd)
    });
    let groups: Vec<Operand> = groups.collect();
    let words = w.joined(groups);
    w.reinterpret(words, Element::I16)
}

/// The upper half of a word.
const HIGH: i64 = 0xffff_0000_u32 as i32 as i64;
