//! Indices out of range: the first one in the order of the definition is the call's error.

use smallvec::SmallVec;

use super::Call;
use crate::Error;
use crate::device::{CheckedIndex, Device, SlotContents};
use crate::error::IndexFault;
use execution::{Checked, FaultWords, Slot};

impl<D: Device> Call<'_, '_, D> {
    /// Notes an index out of range. Later steps work on meaningless elements; faults that they find with these come later in
    /// the definition.
    pub(super) fn note(&mut self, fault: IndexFault) {
        if self.fault.is_none_or(|first| fault.val < first.val) {
            self.fault = Some(fault);
        }
    }

    pub(super) fn look_for_faults(&mut self) -> Result<(), Error> {
        let armed = |faults: &&FaultWords| !matches!(self.memory[faults.slot], SlotContents::Nothing);
        let armed: SmallVec<[&FaultWords; 2]> = self.plan.faults.iter().filter(armed).collect();
        for faults in armed {
            let checked = self.checked(faults);
            if let Some(fault) = self.device.fault(self.memory[faults.slot].view(), &checked)? {
                self.note(fault);
            }
        }
        Ok(())
    }

    /// Gives a segment's kernels their fault words.
    pub(super) fn init_faults(&mut self, slot: Slot) -> Result<(), Error> {
        let faults = self.plan.faults.iter().find(|faults| faults.slot == slot).expect("it is one of them");
        self.memory[slot] = self.device.fault_words(&self.checked(faults))?;
        Ok(())
    }

    fn checked(&self, faults: &FaultWords) -> SmallVec<[CheckedIndex; 2]> {
        let size = |checked: &Checked| self.extents.formulas[checked.size];
        let of_word = |word: &Checked| CheckedIndex { val: word.val, axis: word.axis, size: size(word) };
        faults.words.iter().map(of_word).collect()
    }
}
