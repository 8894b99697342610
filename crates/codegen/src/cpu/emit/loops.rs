//! Loops: counted ones, and the two bodies of a loop over lanes.
//!
//! A loop over lanes becomes a loop over whole vectors, without masks, and at most one vector more with a mask. Loops
//! test before the first turn and after each, so that what does not change can move in front.

use ir::kernel::{Loop, LoopKind};

use super::operand::{Element, Operand, Type};
use super::{EmitError, Emitter, Lane};

impl Emitter<'_> {
    pub(super) fn turns(&mut self, turns: &Loop) -> Result<(), EmitError> {
        let (begin, end) = (self.index(&turns.begin), self.index(&turns.end));
        match turns.kind {
            LoopKind::Serial => self.counted(begin, end, 1, |emitter, turn| {
                emitter.symbols.insert(turns.var, turn);
                emitter.body(&turns.body)
            }),
            LoopKind::Lanes => self.over_lanes(turns, begin, end),
        }
    }

    /// Turns `begin, begin + step, …` below `end`.
    pub(super) fn counted(
        &mut self,
        begin: Operand,
        end: Operand,
        step: i64,
        body: impl FnOnce(&mut Self, Operand) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let (head, latch, exit) = (self.w.label(), self.w.label(), self.w.label());
        let any = self.w.compare("icmp slt", begin, end);
        let before = self.w.current();
        self.w.branch_if(any, head, exit);
        self.w.begin(head);
        let (turn, next) = (self.w.register(begin.ty), self.w.register(begin.ty));
        self.w.define(turn, format_args!("phi i64 [{begin}, %{before}], [{next}, %{latch}]"));
        body(self, turn)?;
        self.w.branch(latch);
        self.w.begin(latch);
        self.w.define(next, format_args!("add nsw i64 {turn}, {step}"));
        let more = self.w.compare("icmp slt", next, end);
        self.w.branch_if(more, head, exit);
        self.w.begin(exit);
        Ok(())
    }

    fn over_lanes(&mut self, turns: &Loop, begin: Operand, end: Operand) -> Result<(), EmitError> {
        let lanes = i64::from(self.lanes());
        let whole = self.whole_vectors_end(begin, end);
        self.counted(begin, whole, lanes, |emitter, turn| emitter.lane_turn(turns, turn, None))?;
        if lanes > 1 { self.tail(turns, whole, end) } else { Ok(()) }
    }

    /// Where the last whole vector ends. The number of lanes is a power of two.
    fn whole_vectors_end(&mut self, begin: Operand, end: Operand) -> Operand {
        let count = self.w.binary("sub", end, begin);
        let count = self.w.overloaded("llvm.smax", count, &[Operand::integer(0, count.ty)]);
        let whole = self.w.binary("and", count, -i64::from(self.lanes()));
        self.w.binary("add", begin, whole)
    }

    /// The last turns, fewer than a vector.
    fn tail(&mut self, turns: &Loop, begin: Operand, end: Operand) -> Result<(), EmitError> {
        let (some, done) = (self.w.label(), self.w.label());
        let any = self.w.compare("icmp slt", begin, end);
        self.w.branch_if(any, some, done);
        self.w.begin(some);
        let rest = self.w.binary("sub", end, begin);
        let rest = self.w.convert("trunc", rest, Element::I32);
        let mask = self.w.compare("icmp slt", Operand::iota(Element::I32, self.lanes()), rest);
        self.lane_turn(turns, begin, Some(mask))?;
        self.w.branch(done);
        self.w.begin(done);
        Ok(())
    }

    /// The body once, for the lanes of the mask.
    fn lane_turn(&mut self, turns: &Loop, turn: Operand, mask: Option<Operand>) -> Result<(), EmitError> {
        self.symbols.insert(turns.var, turn);
        let outside = self.lane.replace(Lane { variable: turns.var, mask });
        self.body(&turns.body)?;
        self.lane = outside;
        Ok(())
    }

    /// Runs `body` only if a scalar condition holds.
    pub(super) fn only_if(&mut self, condition: Operand, body: impl FnOnce(&mut Self)) {
        let (then, done) = (self.w.label(), self.w.label());
        self.w.branch_if(condition, then, done);
        self.w.begin(then);
        body(self);
        self.w.branch(done);
        self.w.begin(done);
    }

    /// The vector type with an element per lane.
    pub(super) fn vector(&self, element: Element) -> Type {
        Type { element, lanes: Some(self.lanes()) }
    }
}
