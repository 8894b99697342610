//! Loops, conditions and selections between two branches.

use super::{Label, Writer};
use crate::cpu::emit::operand::{Element, Operand, Type};

/// A loop whose body is being written.
pub struct OpenLoop {
    iteration: Operand,
    next: Operand,
    end: Operand,
    head: Label,
    latch: Label,
    exit: Label,
}

impl Writer<'_> {
    /// Begins a loop of iterations from `begin` on below `end`; returns the number of the iteration, and the open loop for
    /// [`Writer::close_loop`]. Tests before the first iteration and after each.
    pub fn open_loop(&mut self, begin: Operand, end: Operand) -> (Operand, OpenLoop) {
        let [head, latch, exit] = [self.label(), self.label(), self.label()];
        let any = self.compare("icmp slt", begin, end);
        let before = self.current();
        self.branch_if(any, head, exit);
        self.begin(head);
        let (iteration, next) = (self.register(begin.ty), self.register(begin.ty));
        self.define(iteration, format_args!("phi {} [{begin}, %{before}], [{next}, %{latch}]", begin.ty));
        (iteration, OpenLoop { iteration, next, end, head, latch, exit })
    }

    /// Ends a loop whose iterations are `step` apart.
    pub fn close_loop(&mut self, open: OpenLoop, step: i64) {
        self.end_loop(open, step, |_, more| more);
    }

    /// The same, but the loop continues only if a condition holds after an iteration.
    pub fn close_loop_while(&mut self, condition: Operand, open: OpenLoop, step: i64) {
        self.end_loop(open, step, |w, more| w.binary("and", more, condition));
    }

    fn end_loop(&mut self, open: OpenLoop, step: i64, goes_on: impl FnOnce(&mut Self, Operand) -> Operand) {
        let OpenLoop { iteration, next, end, head, latch, exit } = open;
        self.branch(latch);
        self.begin(latch);
        self.define(next, format_args!("add nsw {}, {step}", iteration.typed()));
        let more = self.compare("icmp slt", next, end);
        let more = goes_on(self, more);
        self.branch_if(more, head, exit);
        self.begin(exit);
    }

    /// Runs `body` only if a scalar condition holds.
    pub fn only_if(&mut self, condition: Operand, body: impl FnOnce(&mut Self)) {
        let (then, done) = (self.label(), self.label());
        self.branch_if(condition, then, done);
        self.begin(then);
        body(self);
        self.branch(done);
        self.begin(done);
    }

    /// The value of one of two branches.
    pub fn either(
        &mut self,
        condition: Operand,
        then: impl FnOnce(&mut Self) -> Operand,
        otherwise: impl FnOnce(&mut Self) -> Operand,
    ) -> Operand {
        let (yes, no, join) = (self.label(), self.label(), self.label());
        self.branch_if(condition, yes, no);
        self.begin(yes);
        let (a, after_yes) = (then(self), self.current());
        self.branch(join);
        self.begin(no);
        let (b, after_no) = (otherwise(self), self.current());
        self.branch(join);
        self.begin(join);
        self.instruction(a.ty, format_args!("phi {} [{a}, %{after_yes}], [{b}, %{after_no}]", a.ty))
    }

    /// What `make` gives of a vector that is taken in pieces of `lanes` lanes, one after the other in a loop, through
    /// memory: few instructions, for what is seldom needed.
    pub fn by_pieces(
        &mut self,
        x: Operand,
        lanes: u32,
        to: Element,
        make: impl FnOnce(&mut Self, Operand) -> Operand,
    ) -> Operand {
        let result = x.ty.with(to);
        if x.ty.lanes.is_none_or(|all| all <= lanes) {
            return make(self, x);
        }
        // The alignment of the stack: more would take a register to align it.
        const ALIGN: &str = "align 16";
        let [given, made] = [x.ty, result].map(|ty| self.slot(format_args!("{ty}, {ALIGN}")));
        self.effect(format_args!("store {}, {}, {ALIGN}", x.typed(), given.typed()));
        let [begin, end] = [0, x.ty.lanes.unwrap_or(1)]
            .map(|lane| Operand::integer(lane.into(), Type::scalar(Element::I64)));
        let (iteration, open) = self.open_loop(begin, end);
        let piece = Type { lanes: Some(lanes), ..x.ty };
        let [given, place] =
            [(given, x.ty.element), (made, to)].map(|(slot, element)| self.address(element, slot, iteration));
        let x = self.instruction(piece, format_args!("load {piece}, {}, {ALIGN}", given.typed()));
        let y = make(self, x);
        self.effect(format_args!("store {}, {}, {ALIGN}", y.typed(), place.typed()));
        self.close_loop(open, lanes.into());
        self.instruction(result, format_args!("load {result}, {}, {ALIGN}", made.typed()))
    }
}
