//! Indices out of range: the first one in the order of the definition is the call's error.

use super::Call;
use crate::Error;
use crate::device::{CheckedIndex, Device, SlotContents};
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
            let size = |checked: &Checked| self.extents.formulas[checked.size];
            let checked: Vec<CheckedIndex> = words
                .iter()
                .map(|word| CheckedIndex { val: word.val, axis: word.axis, size: size(word) })
                .collect();
            if let Some(fault) = self.device.fault(self.memory[*slot].view(), &checked)? {
                self.note(fault);
            }
        }
        Ok(())
    }
}
