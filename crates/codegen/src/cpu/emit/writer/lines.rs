//! The text of a function body under construction: lines, registers, blocks.

use std::fmt::{self, Display, Write};

use crate::cpu::emit::operand::{Element, Operand, Type};

/// A basic block of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(u32);

impl Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block{}", self.0)
    }
}

/// Lines of a function, and the names that they may take.
pub(in crate::cpu::emit) struct Lines {
    text: String,
    /// Instructions that must stand in the entry block: stack slots.
    entry: String,
    registers: u32,
    labels: u32,
    current: Label,
}

impl Lines {
    /// The first block, empty.
    pub fn new() -> Lines {
        let (text, entry) = (String::new(), String::new());
        Lines { text, entry, registers: 0, labels: 1, current: Label(0) }
    }

    /// The body from the entry block on.
    pub fn finish(self) -> String {
        format!("entry:\n{}  br label %block0\nblock0:\n{}", self.entry, self.text)
    }

    /// A register that an instruction will define later, such as the next iteration of a loop variable.
    pub fn register(&mut self, ty: Type) -> Operand {
        self.registers += 1;
        Operand::register(self.registers - 1, ty)
    }

    /// Defines a register by an instruction.
    pub fn define(&mut self, register: Operand, instruction: impl Display) {
        writeln!(self.text, "  {register} = {instruction}").expect("writing to a string cannot fail");
    }

    /// An instruction with a result of type `ty`.
    pub fn instruction(&mut self, ty: Type, text: impl Display) -> Operand {
        let result = self.register(ty);
        self.define(result, text);
        result
    }

    /// An instruction without a result.
    pub fn effect(&mut self, text: impl Display) {
        writeln!(self.text, "  {text}").expect("writing to a string cannot fail");
    }

    /// An instruction without a result, in the entry block.
    pub fn entry_effect(&mut self, text: impl Display) {
        writeln!(self.entry, "  {text}").expect("writing to a string cannot fail");
    }

    /// A line for readers.
    pub fn comment(&mut self, text: impl Display) {
        self.effect(format_args!("; {text}"));
    }

    /// A stack slot that lives as long as the call. The passes promote those that are only loaded and stored to
    /// registers.
    pub fn slot(&mut self, ty: impl Display) -> Operand {
        let slot = self.register(Type::scalar(Element::Ptr));
        self.entry_effect(format_args!("{slot} = alloca {ty}"));
        slot
    }

    /// A fresh block, not yet begun.
    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    /// The block that instructions go to now.
    pub fn current(&self) -> Label {
        self.current
    }

    /// Begins a block; the one before it must have been ended by a branch.
    pub fn begin(&mut self, label: Label) {
        writeln!(self.text, "{label}:").expect("writing to a string cannot fail");
        self.current = label;
    }

    /// Ends the block by a jump.
    pub fn branch(&mut self, to: Label) {
        self.effect(format_args!("br label %{to}"));
    }

    /// Ends the block by a choice.
    pub fn branch_if(&mut self, condition: Operand, then: Label, otherwise: Label) {
        self.effect(format_args!("br {}, label %{then}, label %{otherwise}", condition.typed()));
    }
}
