//! What the slots of a call hold, and the inputs that it writes to.

use ir::array::{ArrayView, ArrayViewMut};
use ops::DType;
use reference::evaluate::copy;

use crate::argument::Argument;
use crate::cpu::pool::Workers;
use crate::{Error, Tensor};

/// What a slot holds at some moment of a call.
#[derive(Debug)]
pub(crate) enum SlotContents<'a> {
    /// Nothing, before it is allocated and after it is freed.
    Nothing,
    /// An input.
    Input(ArrayView<'a>),
    /// Memory of the call.
    Own(Tensor),
    /// The memory of an input, which the call writes.
    Target(ArrayViewMut<'a>),
}

impl SlotContents<'_> {
    /// Element type, sizes and strides.
    fn form(&self) -> (DType, &[usize], &[isize]) {
        match self {
            SlotContents::Input(view) => (view.dtype(), view.sizes(), view.strides()),
            SlotContents::Own(tensor) => (tensor.dtype(), tensor.sizes(), tensor.strides()),
            SlotContents::Target(view) => (view.dtype(), view.sizes(), view.strides()),
            SlotContents::Nothing => unreachable!("a plan touches what it has allocated and not yet freed"),
        }
    }

    /// Strides of the axes, in elements.
    pub fn strides(&self) -> &[isize] {
        self.form().2
    }

    /// Bytes that the elements have in memory: axes of stride 0 are there once.
    pub fn bytes(&self) -> u64 {
        let (dtype, sizes, strides) = self.form();
        let size = |(&size, &stride): (&usize, &isize)| if stride == 0 { size.min(1) } else { size };
        let axes = sizes.iter().zip(strides).map(size);
        axes.fold(dtype.size() as u64, |bytes, size| bytes.saturating_mul(size as u64))
    }

    /// Where the element at index zero is, for reading.
    pub fn start(&self) -> *const u8 {
        match self {
            SlotContents::Input(view) => view.as_ptr(),
            SlotContents::Own(tensor) => tensor.as_ptr(),
            SlotContents::Target(view) => view.view().as_ptr(),
            SlotContents::Nothing => unreachable!("a plan reads what it has allocated and not yet freed"),
        }
    }

    /// Where the element at index zero is, for writing.
    pub fn start_mut(&mut self) -> *mut u8 {
        match self {
            SlotContents::Own(tensor) => tensor.as_mut_ptr(),
            SlotContents::Target(view) => view.as_mut_ptr(),
            _ => unreachable!("a plan writes what it has allocated and not yet freed"),
        }
    }

    /// The elements.
    pub fn view(&self) -> ArrayView<'_> {
        match self {
            SlotContents::Input(view) => view.clone(),
            SlotContents::Own(tensor) => tensor.view(),
            SlotContents::Target(view) => view.view(),
            SlotContents::Nothing => unreachable!("a plan reads what it has allocated and not yet freed"),
        }
    }

    /// The elements for writing.
    pub fn view_mut(&mut self) -> ArrayViewMut<'_> {
        match self {
            SlotContents::Own(tensor) => tensor.view_mut(),
            SlotContents::Target(view) => view.reborrow(),
            _ => unreachable!("a plan writes what it has allocated and not yet freed"),
        }
    }
}

/// An input that outputs are written to.
pub(crate) struct WriteTarget<'a> {
    argument: &'a Argument<'a>,
    /// Whether kernels may write there while the call runs: no other argument sees the same memory, and no copy of the
    /// input is read in its stead.
    direct: bool,
}

impl<'a> WriteTarget<'a> {
    /// An argument that outputs can be written to; `name` is for diagnostics.
    ///
    /// # Errors
    /// For memory that is for reading, or in which elements are repeated.
    pub fn checked(
        argument: &'a Argument<'a>,
        direct: bool,
        name: impl FnOnce() -> String,
    ) -> Result<WriteTarget<'a>, Error> {
        if !argument.is_writable() {
            return Err(Error::ReadOnly { input: name() });
        }
        if argument.repeats() {
            return Err(Error::Repeats { input: name() });
        }
        Ok(WriteTarget { argument, direct })
    }

    /// The argument.
    pub fn argument(&self) -> &'a Argument<'a> {
        self.argument
    }

    /// Whether kernels may write there while the call runs.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// The memory for the kernel that makes an output in it.
    pub fn open(&self) -> ArrayViewMut<'a> {
        // SAFETY: the executable checked that the argument is writable and, where the target is direct, overlaps no other.
        // The plan lets a kernel store here only if no step after it reads the old contents, and the kernel itself loads
        // each element before it stores it.
        unsafe { self.argument.view_mut() }
    }

    /// Writes an output when all steps are done.
    pub fn write(&self, output: &ArrayView<'_>, workers: &Workers<'_>) {
        // SAFETY: the executable checked that the argument is writable; nothing is read from inputs any more.
        let mut target = unsafe { self.argument.view_mut() };
        copy(&mut target, output, workers).expect("the signature checked the sizes of input and output");
    }
}
