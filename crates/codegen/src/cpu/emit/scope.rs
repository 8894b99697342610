//! The context of the code: the kernel and its analyses, the bound values and symbols, and the lanes of the loop that the
//! code is in.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use index::Sym;
use kernel::{Kernel, Value};

use super::hoist::Hoisted;
use super::operand::{Element, Operand, Type};
use super::outline::Outlined;
use super::writer::Writer;
use crate::cpu::Isa;
use crate::cpu::analyses::Analyses;

/// The loop over lanes that code is in.
#[derive(Clone, Copy)]
pub(super) struct Lane {
    /// Its variable, which is bound to the iteration of lane 0.
    pub(super) variable: Sym,
    /// How many lanes an iteration of the loop takes.
    pub(super) count: u32,
    /// Which of them have an iteration; `None` if all have.
    pub(super) mask: Option<Operand>,
    /// The same for the elements of neighbours in memory, whose order may be another.
    pub(super) in_memory: Option<Operand>,
    /// How many lanes these are, the first ones; `None` if all have an iteration.
    pub(super) left: Option<Operand>,
    /// Whether non-temporal stores may write a part of a cache line in an iteration: another one fills it soon.
    pub(super) fills_lines: bool,
}

impl Lane {
    /// Lanes that all have an iteration.
    pub(super) fn all(variable: Sym, count: u32, fills_lines: bool) -> Lane {
        Lane { variable, count, mask: None, in_memory: None, left: None, fills_lines }
    }
}

/// Writes code that depends on values and symbols alone: constants, indices.
pub(super) struct Scope<'k> {
    pub(super) w: Writer<'k>,
    pub(super) kernel: &'k Kernel,
    pub(super) analyses: Analyses,
    pub(super) symbols: BTreeMap<Sym, Operand>,
    pub(super) hoisted: Hoisted,
    values: SecondaryMap<Value, Option<Operand>>,
    pub(super) lane: Option<Lane>,
}

impl<'k> Scope<'k> {
    pub(super) fn new(kernel: &'k Kernel, isa: &'k Isa) -> Scope<'k> {
        let mut w = Writer::new(isa);
        w.outlined = Outlined::of(&kernel.body);
        Scope {
            w,
            kernel,
            analyses: Analyses::of(kernel, isa),
            symbols: BTreeMap::new(),
            hoisted: Hoisted::default(),
            values: SecondaryMap::new(),
            lane: None,
        }
    }

    /// A value that is already computed.
    pub(super) fn value(&self, value: Value) -> Operand {
        self.values[value].expect("the kernel was verified: values are defined before they are used")
    }

    pub(super) fn bind(&mut self, value: Value, operand: Operand) {
        self.values[value] = Some(operand);
    }

    /// Elements of a vector here.
    pub(super) fn lanes(&self) -> u32 {
        self.lane.map_or(self.kernel.lanes, |lane| lane.count)
    }

    /// A value with a copy for each lane, if it is uniform.
    pub(super) fn splat(&mut self, value: Operand) -> Operand {
        let lanes = self.lanes();
        self.w.splat(value, lanes)
    }

    /// The vector type with an element per lane.
    pub(super) fn vector(&self, element: Element) -> Type {
        Type { element, lanes: Some(self.lanes()) }
    }
}
