//! Indices out of range: the first one in the order of the definition is the call's error.

use ir::kernel::index_of_fault;
use reference::evaluate::OutOfRange;

use super::Call;
use crate::Error;
use crate::device::Device;
use crate::device::SlotContents;
use crate::error::IndexFault;
use crate::plan::{Checked, FaultWords};

impl<D: Device> Call<'_, '_, D> {
    /// Takes note of an index out of range. The steps that follow work on elements without meaning; what they find wrong
    /// with these comes later in the definition.
    pub(super) fn note(&mut self, fault: IndexFault) {
        if self.fault.is_none_or(|first| fault.val < first.val) {
            self.fault = Some(fault);
        }
    }

    pub(super) fn look_for_faults(&mut self) -> Result<(), Error> {
        let armed = |faults: &&FaultWords| !matches!(self.memory[faults.slot], SlotContents::Nothing);
        let armed: Vec<&FaultWords> = self.plan.faults.iter().filter(armed).collect();
        for FaultWords { slot, words } in armed {
            let told: Vec<i64> = self.device.on_host(&[self.memory[*slot].view()], |views| {
                (0..words.len()).map(|word| views[0].scalar(word).as_i64()).collect()
            })?;
            for (&Checked { val, axis, size }, word) in words.iter().zip(told) {
                if let Some(index) = index_of_fault(word) {
                    let at = OutOfRange { axis, size: self.extents.formulas[size], index };
                    self.note(IndexFault { val, at });
                }
            }
        }
        Ok(())
    }
}
