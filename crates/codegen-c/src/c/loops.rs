//! The loops of a kernel as lines of C: those over lanes, those of one iteration, and those whose iterations are unrolled so that
//! the loads of several are in flight together.

use index::Expr;
use kernel::{Loop, LoopKind, Stmt};

use super::EmitError;
use super::body::KernelWriter;
use super::dialect::LoopShape;
use super::statement::{Held, Statement};
use super::values::Reads;
use super::vectorized::only_strip;

impl KernelWriter<'_> {
    /// A loop and its contents.
    pub(super) fn for_loop(&mut self, for_loop: &Loop) -> Result<(), EmitError> {
        self.write_pending_where(Reads::is_any);
        if for_loop.width > 1 {
            return self.vectorized(for_loop);
        }
        let (begin, end) = (self.index(&for_loop.begin)?, self.index(&for_loop.end)?);
        let var = self.names.symbol(for_loop.var);
        if is_once(for_loop) {
            return self.only_iteration(for_loop);
        }
        if for_loop.kind.is_over_lanes() && self.scope.trip_count(for_loop, self.kernel.lanes) == Some(1) {
            return self.one_each(for_loop);
        }
        if let Some(lanes) = self.with_lanes_outside(for_loop) {
            return self.one_each(&lanes);
        }
        let iterations = self.unrolled(for_loop);
        if iterations > 1
            && let Some(strip) = only_strip(for_loop, self.kernel.lanes, &self.scope.facts)
            && self.scope.guarded != Some(strip.var)
        {
            return self.with_strip_outside(for_loop, strip);
        }
        if let Some(most) = self.scope.usual_count(for_loop, iterations) {
            return self.whole_or_part(for_loop, most);
        }
        // Compilers would also unroll a loop around an unrolled one, for which there are no registers.
        let says = iterations > 1 || self.scope.in_lanes && inner_loops(&for_loop.body).next().is_some();
        let pragma = says.then(|| (self.dialect.unrolling.pragma)(Some(iterations)));
        let (long, lane) = (self.dialect.index_type(), self.lane());
        let head = match for_loop.kind {
            // Compilers unroll such loops only if they see that the end does not change.
            LoopKind::Serial | LoopKind::Transpose if iterations > 1 && end.contains('(') => {
                format!("for ({long} {var} = {begin}, {var}_stop = {end}; {var} < {var}_stop; {var}++)")
            }
            LoopKind::Serial | LoopKind::Remainder | LoopKind::Transpose => {
                format!("for ({long} {var} = {begin}; {var} < {end}; {var}++)")
            }
            LoopKind::Lanes | LoopKind::ExactLanes => {
                let first = if for_loop.begin.is_zero() { String::new() } else { format!("{begin} + ") };
                let step = format!("{var} += {}", self.kernel.lanes);
                format!("for ({long} {var} = {first}{lane}; {var} < {end}; {step})")
            }
        };
        let trips = (for_loop.end.clone() - for_loop.begin.clone()).as_const();
        let trips = trips.map_or(iterations, |trips| iterations.min(trips.unsigned_abs()));
        let outside = self.in_flight.iterations;
        self.in_flight.iterations *= trips;
        match for_loop.kind.is_over_lanes() {
            true => self.in_flight.note_lanes(self.kernel, for_loop, &for_loop.body, 1),
            false => self.in_flight.note(self.kernel, &for_loop.body),
        }
        self.held(pragma, head, for_loop, &mut |writer| writer.body(&for_loop.body))?;
        self.in_flight.iterations = outside;
        Ok(())
    }

    /// A loop that contains only an iteration of each lane, with that moved outside: compilers may leave a load that has its
    /// own branch after the use of another, and here a branch is around them all.
    fn with_lanes_outside(&self, for_loop: &Loop) -> Option<Loop> {
        let [Stmt::For(inner)] = for_loop.body.as_slice() else { return None };
        let is_once = inner.kind.is_over_lanes()
            && inner.width == 1
            && self.scope.trip_count(inner, self.kernel.lanes) == Some(1);
        if !is_once || !is_same_lanes(for_loop, inner) {
            return None;
        }
        let outer = Loop { body: inner.body.clone(), ..for_loop.clone() };
        Some(Loop { body: vec![Stmt::For(outer)], ..inner.clone() })
    }

    /// How many iterations of a loop are unrolled, so that the loads of several are in flight together.
    fn unrolled(&self, for_loop: &Loop) -> u64 {
        if !matches!(for_loop.kind, LoopKind::Serial | LoopKind::Transpose) || !is_independent(&for_loop.body)
        {
            return 1;
        }
        let has_vectors = inner_loops(&for_loop.body).any(|inner| inner.width > 1);
        if has_vectors && only_strip(for_loop, self.kernel.lanes, &self.scope.facts).is_none() {
            // Compilers would not interleave the iterations of the inner loops: these are unrolled instead.
            return 1;
        }
        (self.dialect.unrolling.iterations)(&LoopShape {
            in_lanes: self.scope.in_lanes,
            is_once: inner_loops(&for_loop.body)
                .all(|it| it.width == 1 && self.scope.trip_count(it, self.kernel.lanes) == Some(1)),
            statements: size(&for_loop.body),
        })
    }

    /// A loop in two versions: with exactly this many iterations, so that compilers unroll it without a branch for each; and
    /// with fewer.
    fn whole_or_part(&mut self, for_loop: &Loop, most: i64) -> Result<(), EmitError> {
        let count = self.index(&(for_loop.end.clone() - for_loop.begin.clone()))?;
        let whole = Loop { end: for_loop.begin.clone() + most, ..for_loop.clone() };
        let part = Loop { kind: LoopKind::Remainder, ..for_loop.clone() };
        let condition = format!("{count} == {most}");
        let then = self.list(|writer| writer.for_loop(&whole))?;
        let otherwise = self.list(|writer| writer.for_loop(&part))?;
        self.lists.innermost().push(Statement::Either { condition, then, otherwise });
        Ok(())
    }

    /// A loop with at most one iteration for each lane.
    fn one_each(&mut self, for_loop: &Loop) -> Result<(), EmitError> {
        let (begin, end) = (self.index(&for_loop.begin)?, self.index(&for_loop.end)?);
        let var = self.names.symbol(for_loop.var).to_owned();
        let begin = if for_loop.begin.is_zero() { String::new() } else { format!("{begin} + ") };
        self.in_flight.note_lanes(self.kernel, for_loop, &for_loop.body, 1);
        let scope = self.list(|writer| {
            writer.line(&format!("const {} {var} = {begin}{};", writer.dialect.index_type(), writer.lane()));
            let head = format!("if ({var} < {end})");
            writer.held(None, head, for_loop, &mut |writer| writer.body(&for_loop.body))
        })?;
        self.lists.innermost().push(Statement::Scope(scope));
        Ok(())
    }

    /// A loop of one iteration, whose variable is its first value.
    fn only_iteration(&mut self, for_loop: &Loop) -> Result<(), EmitError> {
        let (var, begin) = (self.names.symbol(for_loop.var).to_owned(), self.index(&for_loop.begin)?);
        self.in_flight.note(self.kernel, &for_loop.body);
        if begin != var {
            self.line(&format!("const {} {var} = {begin};", self.dialect.index_type()));
        }
        self.enclosed(for_loop, &mut |writer| writer.body(&for_loop.body))
    }

    /// A head and the statements that `write` writes within a loop.
    pub(super) fn held(
        &mut self,
        pragma: Option<String>,
        head: String,
        for_loop: &Loop,
        write: &mut dyn FnMut(&mut Self) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let body = self.list(|writer| writer.enclosed(for_loop, write))?;
        self.lists.innermost().push(Statement::Held(Held { pragma, head, body }));
        Ok(())
    }

    /// The statements that `write` writes within a loop, given that the variable is at least its first value.
    pub(super) fn enclosed(
        &mut self,
        for_loop: &Loop,
        write: &mut dyn FnMut(&mut Self) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let outside = self.scope.enter(for_loop);
        self.lists.knows(for_loop.var, self.scope.in_lanes);
        write(self)?;
        self.scope.leave(outside);
        Ok(())
    }
}

/// Whether a loop in uniform code has exactly one iteration at any sizes.
pub(super) fn is_once(for_loop: &Loop) -> bool {
    !for_loop.kind.is_over_lanes() && (for_loop.end.clone() - for_loop.begin.clone()).is_one()
}

/// Statements of a body and of the loops in it.
fn size(body: &[Stmt]) -> usize {
    body.len() + inner_loops(body).map(|inner| size(&inner.body)).sum::<usize>()
}

fn inner_loops(body: &[Stmt]) -> impl Iterator<Item = &Loop> {
    body.iter().filter_map(|statement| if let Stmt::For(inner) = statement { Some(inner) } else { None })
}

/// Whether the lanes of a loop within another never wait for each other, and are the same in all iterations.
pub(super) fn is_same_lanes(outer: &Loop, inner: &Loop) -> bool {
    let varies = |bound: &Expr| bound.mentions(outer.var);
    is_independent(&outer.body) && !varies(&inner.begin) && !varies(&inner.end)
}

/// Whether lanes never wait for each other in a body, whose loops are over lanes.
fn is_independent(body: &[Stmt]) -> bool {
    body.iter().all(|statement| match statement {
        Stmt::Barrier | Stmt::Reduce { .. } => false,
        Stmt::For(inner) => inner.kind.is_over_lanes() && is_independent(&inner.body),
        _ => true,
    })
}
