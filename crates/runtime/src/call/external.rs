//! A step that a library of the machine does.

use ir::array::{Array, ArrayView, Layout};
use ops::{DType, Scalar};
use reference::evaluate::EvaluateError;

use super::Call;
use crate::Error;
use crate::cpu::external;
use crate::error::IndexFault;
use crate::memory::SlotContents;
use crate::plan::{Change, ExternalStep, Slot, SlotSource, ViewedSlot};

impl<'a> Call<'a> {
    /// Results are taken out while they are written, since operands are read meanwhile.
    pub(super) fn external(&mut self, step: &ExternalStep) -> Result<(), Error> {
        let mut results: Vec<SlotContents<'a>> = step
            .results
            .iter()
            .map(|&slot| std::mem::replace(&mut self.memory[slot], SlotContents::Nothing))
            .collect();
        let scalars =
            step.operands.iter().map(|operand| self.scalar(operand.source)).collect::<Result<Vec<_>, _>>()?;
        let operands: Vec<ArrayView<'_>> = step
            .operands
            .iter()
            .zip(&scalars)
            .map(|(operand, scalar)| self.viewed(operand, scalar.as_ref()))
            .collect();
        let views = results.iter_mut().map(|memory| memory.view_mut()).collect();
        let workers = self.workers();
        let ran = external::run(&step.op, &operands, views, step.val, &workers);
        drop(operands);
        for (&slot, memory) in step.results.iter().zip(results) {
            self.memory[slot] = memory;
        }
        match ran {
            Err(EvaluateError::Index { val, at }) => {
                self.note(IndexFault { val: self.plan.origin(val), at });
                self.clear(&step.results)
            }
            ran => Ok(ran?),
        }
    }

    /// Puts zeros where a step that found an index out of range leaves elements without meaning.
    pub(super) fn clear(&mut self, slots: &[Slot]) -> Result<(), Error> {
        slots.iter().try_for_each(|&slot| self.fill(slot, Scalar::zero(self.plan.slots[slot].dtype)))
    }

    /// A scalar operand in memory.
    fn scalar(&self, source: SlotSource) -> Result<Option<Array>, Error> {
        let scalar = match source {
            SlotSource::Slot(_) => return Ok(None),
            SlotSource::Constant(scalar) => scalar,
            SlotSource::Size(formula) => Scalar::from_i64(DType::I64, self.extents.formulas[formula]),
        };
        let mut array = Array::zeros(scalar.dtype(), &[])?;
        array.fill(scalar);
        Ok(Some(array))
    }

    /// An operand as a view of a tensor.
    fn viewed<'m>(&'m self, operand: &ViewedSlot, scalar: Option<&'m Array>) -> ArrayView<'m> {
        let view = match (operand.source, scalar) {
            (SlotSource::Slot(slot), _) => self.memory[slot].view(),
            (_, Some(array)) => array.view(),
            (_, None) => unreachable!("a scalar was put in memory"),
        };
        let change = |layout: Layout, change: &Change| change.of(&layout, &self.extents.formulas);
        let layout = operand.changes.iter().fold(view.layout().clone(), change);
        view.relaid(layout).expect("view ops reach no further")
    }
}
