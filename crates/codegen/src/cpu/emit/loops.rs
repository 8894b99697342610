//! Loops: counted ones, and the two bodies of a loop over lanes.
//!
//! A loop over lanes becomes a loop over whole vectors, without masks, and one over the remainder, a register at a time
//! and with a mask: its body is a copy of the other's, and libLLVM takes as long for each register. Where all lanes are
//! known to have equal trip counts there is no second. Loops test before the first iteration and after each, so that what
//! does not change can move in front. In a loop of few iterations the second does it all.

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
        // The end itself where trip counts are equal; but libLLVM, told so, makes better code, and nothing is ever beyond
        // the end.
        let whole = self.whole_vectors_end(begin, end);
        let even = stays_even(self.kernel, for_loop, &self.kept(&for_loop.body, changed));
        let at_once = self.lanes_at_once(&for_loop.body);
        self.evenly(&even, &|emitter| {
            emitter.counted(begin, whole, i64::from(at_once), |emitter, iteration| {
                emitter.lane_iteration(
                    for_loop,
                    Lane { variable: for_loop.var, count: at_once, mask: None, in_memory: None },
                    iteration,
                )
            })
        })?;
        if lanes == 1 || for_loop.kind == LoopKind::ExactLanes {
            return Ok(());
        }
        self.remainder_loop(for_loop, whole, end, |_, _| {})
    }

    /// Iterations of all lanes, which leave these accumulators the same in all lanes if they find them so: then they are
    /// scalars meanwhile, and what is computed of them alone is computed once for all lanes.
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

    /// How many lanes an iteration of whole vectors takes: all where something is kept from one to the next, which waits
    /// less for one of many registers; else what two registers of f32 hold, as the machine computes on in other iterations,
    /// for less code.
    fn lanes_at_once(&self, body: &[Stmt]) -> u32 {
        let keeps = |statement: &Stmt| {
            matches!(statement, Stmt::Set { .. } | Stmt::Get { .. } | Stmt::Open { .. } | Stmt::For(_))
        };
        if body.iter().any(keeps) { self.lanes() } else { self.lanes().min(deinterleave::group(self.w.isa)) }
    }

    /// Whether libLLVM 19 must not know the numbers of lanes here. It reads all lanes of a register where it knows that a
    /// guard holds in none of them and that nobody looks at them, be there memory or not; and it divides wrongly by vectors
    /// of known numbers of which some are 1 or powers of two. Shifts, which have guards as well, are not told apart.
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

    /// The same number, of which libLLVM knows nothing.
    fn unknown(&mut self, number: Operand) -> Operand {
        let text = format!("call {} asm \"\", \"=r,0\"({})", number.ty, number.typed());
        self.w.instruction(number.ty, text)
    }

    /// Where the last whole vector ends. The number of lanes is a power of two.
    fn whole_vectors_end(&mut self, begin: Operand, end: Operand) -> Operand {
        let count = self.w.binary("sub", end, begin);
        let count = self.w.overloaded("llvm.smax", count, &[Operand::integer(0, count.ty)]);
        let lanes = i64::from(self.lanes());
        let whole = self.w.binary("and", count, -lanes);
        self.w.binary("add", begin, whole)
    }

    /// As many lanes as a register has elements of f32; deinterleaved those of a group.
    fn remainder_lanes(&self) -> u32 {
        let register = self.w.isa.vector_bits / 32;
        self.lanes().min(if self.w.deinterleaved { deinterleave::group(self.w.isa) } else { register })
    }

    /// Iterations with a mask, a register at a time. They go to the first lanes, and `after` each it may let the lanes'
    /// states go round: a loop that does it all does so for the iterations of whole vectors, so that each lane folds what
    /// it folds there and a row has the same bits wherever it lies. After them the states stand as they did: a vector is
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
            let lane =
                Lane { variable: for_loop.var, count: lanes, mask: Some(mask), in_memory: Some(in_memory) };
            emitter.lane_iteration(for_loop, lane, iteration)?;
            after(emitter, iteration);
            Ok(())
        })?;
        (self.w.deinterleaved, self.w.runs_seldom) = (deinterleaved, runs_seldom);
        Ok(())
    }

    /// The accumulators with a copy per lane that statements of a body name and the body does not open.
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
