//! Steps that are external ops.

use ir::array::Layout;
use ops::{DType, Scalar};
use reference::evaluate::EvaluateError;

use super::Call;
use crate::Error;
use crate::device::SlotContents;
use crate::device::{AddressSpace, Device, TensorOf, ViewOf};
use crate::error::IndexFault;
use execution::{ExternalStep, Slot, SlotSource, ViewOp, ViewedSlot};

impl<'c, D: Device> Call<'c, '_, D> {
    /// Results are taken out of memory's slots while they are written, since operands are read meanwhile.
    pub(super) fn external(&mut self, step: &ExternalStep) -> Result<(), Error> {
        let mut results: Vec<SlotContents<'c, D::Space>> = step
            .results
            .iter()
            .map(|&slot| std::mem::replace(&mut self.memory[slot], SlotContents::Nothing))
            .collect();
        let scalars =
            step.operands.iter().map(|operand| self.scalar(operand.source)).collect::<Result<Vec<_>, _>>()?;
        let operands: Vec<ViewOf<'_, D>> = step
            .operands
            .iter()
            .zip(&scalars)
            .map(|(operand, scalar)| self.viewed(operand, scalar.as_ref()))
            .collect();
        let views = results.iter_mut().map(|memory| memory.view_mut()).collect();
        let ran = self.device.external(&step.op, &operands, views, step.val);
        drop(operands);
        for (&slot, memory) in step.results.iter().zip(results) {
            self.memory[slot] = memory;
        }
        match ran {
            Err(Error::Evaluate(EvaluateError::Index { val, at })) => {
                self.note(IndexFault { val: self.plan.origin(val), at });
                self.clear(&step.results)
            }
            ran => ran,
        }
    }

    /// Writes zeros where a step that found an index out of range leaves meaningless elements.
    pub(super) fn clear(&mut self, slots: &[Slot]) -> Result<(), Error> {
        slots.iter().try_for_each(|&slot| self.fill(slot, Scalar::zero(self.plan.slots[slot].dtype)))
    }

    /// A scalar operand in memory.
    fn scalar(&self, source: SlotSource) -> Result<Option<TensorOf<D>>, Error> {
        let scalar = match source {
            SlotSource::Slot(_) => return Ok(None),
            SlotSource::Constant(scalar) => scalar,
            SlotSource::Size(formula) => Scalar::from_i64(DType::I64, self.extents.formulas[formula]),
        };
        let mut tensor = self.device.allocate(scalar.dtype(), Layout::dense(&[]))?;
        self.device.fill(D::Space::view_mut(&mut tensor), scalar)?;
        Ok(Some(tensor))
    }

    /// An operand as a view of a tensor.
    fn viewed<'m>(&'m self, operand: &ViewedSlot, scalar: Option<&'m TensorOf<D>>) -> ViewOf<'m, D> {
        let view = match (operand.source, scalar) {
            (SlotSource::Slot(slot), _) => self.memory[slot].view(),
            (_, Some(tensor)) => D::Space::view(tensor),
            (_, None) => unreachable!("a scalar was put in memory"),
        };
        let apply = |layout: Layout, view_op: &ViewOp| view_op.apply(&layout, &self.extents.formulas);
        let layout = operand.view_ops.iter().fold(D::Space::form(&view).1.clone(), apply);
        D::Space::relaid(&view, layout)
    }
}
