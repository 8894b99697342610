//! The contents of a call's slots, and the inputs that it writes to.

use cranelift_entity::PrimaryMap;
use ir::array::Layout;
use ops::DType;

use super::AddressSpace;
use crate::Error;
use execution::Slot;
use ir::array::Footprint;

/// The contents of all slots of a call.
pub(crate) type Memory<'a, S> = PrimaryMap<Slot, SlotContents<'a, S>>;

/// The contents of a slot at some moment of a call.
pub(crate) enum SlotContents<'a, S: AddressSpace> {
    /// Nothing, before it is allocated and after it is freed.
    Nothing,
    /// An input.
    Input(S::View<'a>),
    /// Memory of the call.
    Own(S::Tensor),
    /// The memory of an input, which the call writes.
    Target(S::ViewMut<'a>),
}

impl<S: AddressSpace> SlotContents<'_, S> {
    /// The elements.
    pub fn view(&self) -> S::View<'_> {
        match self {
            SlotContents::Input(view) => S::shortened(view),
            SlotContents::Own(tensor) => S::view(tensor),
            SlotContents::Target(view) => S::read(view),
            SlotContents::Nothing => unreachable!("a plan reads what it has allocated and not yet freed"),
        }
    }

    /// The elements for writing.
    pub fn view_mut(&mut self) -> S::ViewMut<'_> {
        match self {
            SlotContents::Own(tensor) => S::view_mut(tensor),
            SlotContents::Target(view) => S::reborrowed(view),
            _ => unreachable!("a plan writes what it has allocated and not yet freed"),
        }
    }

    /// Element type and layout.
    pub fn form(&self) -> (DType, &Layout) {
        match self {
            SlotContents::Input(view) => S::form(view),
            SlotContents::Own(tensor) => S::tensor_form(tensor),
            SlotContents::Target(view) => S::form_mut(view),
            SlotContents::Nothing => unreachable!("a plan touches what it has allocated and not yet freed"),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.form().1.sizes.contains(&0)
    }

    /// Bytes of the elements in memory: axes of stride 0 count once.
    pub fn bytes(&self) -> u64 {
        let (dtype, layout) = self.form();
        let sizes = layout.distinct().sizes;
        sizes.iter().fold(dtype.size() as u64, |bytes, &size| bytes.saturating_mul(size as u64))
    }
}

/// An input that outputs are written to.
pub(crate) struct WriteTarget<'a, S: AddressSpace> {
    argument: &'a S::Argument<'a>,
    /// Whether kernels may write there while the call runs: no other argument shares the memory, and no copy of the input is
    /// read instead.
    direct: bool,
}

impl<'a, S: AddressSpace> WriteTarget<'a, S> {
    /// An argument that outputs can be written to; `name` is for diagnostics.
    ///
    /// # Errors
    /// For memory that is for reading, or in which elements are repeated.
    pub fn checked(
        argument: &'a S::Argument<'a>,
        direct: bool,
        name: impl FnOnce() -> String,
    ) -> Result<WriteTarget<'a, S>, Error> {
        if !S::is_writable(argument) {
            return Err(Error::ReadOnly { input: name() });
        }
        if S::footprint(argument).repeats() {
            return Err(Error::Repeats { input: name() });
        }
        Ok(WriteTarget { argument, direct })
    }

    /// Where the argument is.
    pub fn footprint(&self) -> Footprint<'a> {
        S::footprint(self.argument)
    }

    /// Whether kernels may write there while the call runs.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// The memory for the kernel that makes an output in it.
    pub fn open_direct(&self) -> S::ViewMut<'_> {
        // SAFETY: the executable checked that the argument is writable and, where the target is direct, overlaps no other.
        // The plan lets a kernel store here only if no step after it reads the old contents, and the kernel itself loads
        // each element before it stores it.
        unsafe { S::open(self.argument) }
    }

    /// The memory for an output that is copied at the end.
    pub fn open_at_end(&self) -> S::ViewMut<'_> {
        // SAFETY: the executable checked that the argument is writable; nothing is read from inputs any more.
        unsafe { S::open(self.argument) }
    }
}
