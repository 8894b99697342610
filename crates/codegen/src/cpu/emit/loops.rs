//! Loops: counted ones, and the two bodies of a loop over lanes.
//!
//! A loop over lanes becomes a loop over whole vectors, without masks, and one over the remainder, a register at a time and
//! with a mask: its body is a copy of the other's, and libLLVM takes as long for each register. If all lanes are known to
//! have equal trip counts, there is no second one. Loops test before the first iteration and after each, so that invariant
//! code can move in front. In a loop of few iterations the second one runs all of them.

use kernel::{Accumulator, Loop, LoopKind, Stmt, stays_even};
use ops::CpuSpelling;

use super::interrupts::is_sequential;
use super::operand::{Element, Operand};
use super::scope::Lane;
use super::{EmitError, Emitter, deinterleave};

impl Emitter<'_> {
    pub(super) fn for_loop(&mut self, for_loop: &Loop) -> Result<(), EmitError> {
        let (begin, end) = (self.index(&for_loop.begin), self.index(&for_loop.end));
        match for_loop.kind {
            LoopKind::Serial if is_sequential(for_loop) => self.sequential_loop(for_loop, begin, end),
            LoopKind::Serial => {
                self.counted(begin, end, 1, |emitter, iteration| emitter.iteration(for_loop, iteration))
            }
            LoopKind::Remainder => {
                let outside = std::mem::replace(&mut self.in_remainder, true);
                self.counted(begin, end, 1, |emitter, iteration| emitter.iteration(for_loop, iteration))?;
                self.in_remainder = outside;
                Ok(())
            }
            LoopKind::Transpose => self.transpose(for_loop),
            LoopKind::Lanes | LoopKind::ExactLanes => self.over_lanes(for_loop, begin, end),
        }
    }

    pub(super) fn iteration(&mut self, for_loop: &Loop, iteration: Operand) -> Result<(), EmitError> {
        self.symbols.insert(for_loop.var, iteration);
        self.hoisted_body(&for_loop.body)
    }

    /// Iterations `begin, begin + step, …` below `end`.
    pub(super) fn counted(
        &mut self,
        begin: Operand,
        end: Operand,
        step: i64,
        body: impl FnOnce(&mut Self, Operand) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let (iteration, for_loop) = self.w.open_loop(begin, end);
        body(self, iteration)?;
        self.w.close_loop(for_loop, step);
        Ok(())
    }

    fn over_lanes(&mut self, for_loop: &Loop, begin: Operand, end: Operand) -> Result<(), EmitError> {
        let begin = if self.known_lanes_mislead(&for_loop.body) { self.unknown(begin) } else { begin };
        let deinterleaved = self.analyses.deinterleaved.takes(for_loop);
        let outside = std::mem::replace(&mut self.w.deinterleaved, deinterleaved);
        self.over_vectors(for_loop, begin, end)?;
        self.w.deinterleaved = outside;
        Ok(())
    }

    fn over_vectors(&mut self, for_loop: &Loop, begin: Operand, end: Operand) -> Result<(), EmitError> {
        let lanes = self.lanes();
        if self.in_remainder && lanes > 1 {
            let lanes = self.remainder_lanes();
            let kept = if lanes < self.lanes() { self.kept(&for_loop.body, touched) } else { Vec::new() };
            if kept.is_empty() {
                return self.remainder_loop(for_loop, begin, end, |_, _| {});
            }
            let whole = self.whole_vectors_end(begin, end);
            return self.remainder_loop(for_loop, begin, end, |emitter, iteration| {
                let within = emitter.w.compare("icmp slt", iteration, whole);
                kept.iter().for_each(|&accumulator| emitter.rotate(accumulator, lanes, within));
            });
        }
        // Equal to the end itself if trip counts are equal; but told so, libLLVM makes better code, and nothing is ever
        // beyond the end.
        let whole = self.whole_vectors_end(begin, end);
        let even = stays_even(self.kernel, for_loop, &self.kept(&for_loop.body, changed));
        let at_once = self.lanes_at_once(&for_loop.body);
        self.evenly(&even, &|emitter| {
            emitter.counted(begin, whole, i64::from(at_once), |emitter, iteration| {
                emitter.lane_iteration(
                    for_loop,
                    Lane::all(for_loop.var, at_once, emitter.fills_lines(for_loop)),
                    iteration,
                )
            })
        })?;
        if lanes == 1 || for_loop.kind == LoopKind::ExactLanes {
            return Ok(());
        }
        self.remainder_loop(for_loop, whole, end, |_, _| {})
    }

    /// Iterations of all lanes that leave these accumulators equal in all lanes if they were before: they are scalars
    /// meanwhile, and values computed from them alone are computed once for all lanes.
    fn evenly(
        &mut self,
        accumulators: &[Accumulator],
        body: &dyn Fn(&mut Self) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let differing: Vec<Operand> =
            accumulators.iter().map(|&accumulator| self.differs(accumulator)).collect();
        let Some(uneven) = differing.into_iter().reduce(|a, b| self.w.binary("or", a, b)) else {
            return body(self);
        };
        let (apart, together, done) = (self.w.label(), self.w.label(), self.w.label());
        self.w.branch_if(uneven, apart, together);
        self.w.begin(apart);
        body(self)?;
        self.w.branch(done);
        self.w.begin(together);
        let copies: Vec<_> = accumulators.iter().map(|&accumulator| self.unite(accumulator)).collect();
        body(self)?;
        for (&accumulator, slot) in accumulators.iter().zip(copies) {
            self.part_again(accumulator, slot);
        }
        self.w.branch(done);
        self.w.begin(done);
        Ok(())
    }

    /// How many lanes an iteration of whole vectors takes: all, if a value is kept from one iteration to the next, as
    /// dependences then wait less for one of many registers; otherwise as many as two registers of f32 hold, for less code,
    /// as the machine overlaps iterations.
    fn lanes_at_once(&self, body: &[Stmt]) -> u32 {
        let keeps = |statement: &Stmt| {
            matches!(statement, Stmt::Set { .. } | Stmt::Get { .. } | Stmt::Open { .. } | Stmt::For(_))
        };
        if body.iter().any(keeps) { self.lanes() } else { self.lanes().min(self.w.isa.group()) }
    }

    /// Whether libLLVM 19 must not know the numbers of lanes here. It loads all lanes of a register if it knows that a guard
    /// holds in none of them and that they are unused, even without memory there; and it divides wrongly by vectors of known
    /// numbers some of which are 1 or powers of two. Shifts, which have guards as well, are treated the same.
    fn known_lanes_mislead(&self, body: &[Stmt]) -> bool {
        body.iter().any(|statement| match statement {
            Stmt::Load { guard, .. } => guard.is_some(),
            Stmt::Apply { value, op, .. } => {
                let dtype = self.kernel.values[*value];
                dtype.is_int() && matches!(op.row().cpu.of(dtype), Some(CpuSpelling::Guarded(..)))
            }
            Stmt::For(for_loop) => self.known_lanes_mislead(&for_loop.body),
            _ => false,
        })
    }

    /// The same number, hidden from libLLVM.
    fn unknown(&mut self, number: Operand) -> Operand {
        let text = format!("call {} asm \"\", \"=r,0\"({})", number.ty, number.typed());
        self.w.instruction(number.ty, text)
    }

    /// The end of the last whole vector. The number of lanes is a power of two.
    fn whole_vectors_end(&mut self, begin: Operand, end: Operand) -> Operand {
        let count = self.w.binary("sub", end, begin);
        let count = self.w.overloaded("llvm.smax", count, &[Operand::integer(0, count.ty)]);
        let lanes = i64::from(self.lanes());
        let whole = self.w.binary("and", count, -lanes);
        self.w.binary("add", begin, whole)
    }

    /// As many lanes as a register has elements of f32; those of a group if deinterleaved.
    fn remainder_lanes(&self) -> u32 {
        let register = self.w.isa.vector_bits / 32;
        self.lanes().min(if self.w.deinterleaved { self.w.isa.group() } else { register })
    }

    /// Iterations with a mask, a register at a time. They go to the first lanes, and `after` each may rotate the lanes'
    /// states: a loop that runs all iterations does so for those of whole vectors, so that each lane folds the same elements
    /// as there and a row has the same bits wherever it is. Afterwards the states are in their original order: a vector is
    /// whole registers.
    fn remainder_loop(
        &mut self,
        for_loop: &Loop,
        begin: Operand,
        end: Operand,
        after: impl Fn(&mut Self, Operand),
    ) -> Result<(), EmitError> {
        let deinterleaved = self.analyses.deinterleaved.takes_remainder_of(for_loop);
        let deinterleaved = std::mem::replace(&mut self.w.deinterleaved, deinterleaved);
        let runs_seldom = std::mem::replace(&mut self.w.runs_seldom, true);
        let lanes = self.remainder_lanes();
        self.counted(begin, end, i64::from(lanes), |emitter, iteration| {
            let left = emitter.w.binary("sub", end, iteration);
            let left = emitter.w.overloaded("llvm.smin", left, &[Operand::integer(lanes.into(), left.ty)]);
            let left = emitter.w.convert("trunc", left, Element::I32);
            let in_memory = emitter.w.compare("icmp slt", Operand::iota(Element::I32, lanes), left);
            let mask = if emitter.w.deinterleaved {
                let numbers = deinterleave::numbers(&mut emitter.w, lanes);
                emitter.w.compare("icmp slt", numbers, left)
            } else {
                in_memory
            };
            let all = Lane::all(for_loop.var, lanes, false);
            let lane = Lane { mask: Some(mask), in_memory: Some(in_memory), left: Some(left), ..all };
            emitter.lane_iteration(for_loop, lane, iteration)?;
            after(emitter, iteration);
            Ok(())
        })?;
        (self.w.deinterleaved, self.w.runs_seldom) = (deinterleaved, runs_seldom);
        Ok(())
    }

    /// The accumulators with a copy per lane that statements of a body name and that the body does not open.
    fn kept(&self, body: &[Stmt], named: fn(&Stmt) -> Option<Accumulator>) -> Vec<Accumulator> {
        let (mut opened, mut kept) = (Vec::new(), Vec::new());
        let mut within = vec![body];
        while let Some(body) = within.pop() {
            for statement in body {
                kept.extend(named(statement));
                match statement {
                    Stmt::Open { accumulator, .. } => opened.push(*accumulator),
                    Stmt::For(for_loop) => within.push(&for_loop.body),
                    _ => {}
                }
            }
        }
        kept.sort_unstable();
        kept.dedup();
        kept.retain(|accumulator| self.per_lane[*accumulator] && !opened.contains(accumulator));
        kept
    }

    /// The body once, for these lanes, of which the first has this iteration.
    fn lane_iteration(&mut self, for_loop: &Loop, lane: Lane, iteration: Operand) -> Result<(), EmitError> {
        self.symbols.insert(for_loop.var, iteration);
        let outside = self.lane.replace(lane);
        self.body(&for_loop.body)?;
        self.lane = outside;
        Ok(())
    }
}

/// The accumulator that a statement changes.
fn changed(statement: &Stmt) -> Option<Accumulator> {
    match statement {
        Stmt::Set { accumulator, .. } => Some(*accumulator),
        _ => None,
    }
}

/// The accumulator that a statement reads or changes.
fn touched(statement: &Stmt) -> Option<Accumulator> {
    match statement {
        Stmt::Get { accumulator, .. } | Stmt::Set { accumulator, .. } => Some(*accumulator),
        _ => None,
    }
}
