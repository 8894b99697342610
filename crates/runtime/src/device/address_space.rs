//! The kinds of tensors in one memory: those of the host, and those of a GPU, whose addresses mean nothing to the host.

use ir::array::Layout;
use ops::DType;

use ir::array::Footprint;

/// The kinds of tensors in one memory, that of the host or of a GPU.
pub(crate) trait AddressSpace: Sized + 'static {
    /// A tensor for reading.
    type View<'m>;
    /// A tensor for writing.
    type ViewMut<'m>;
    /// A tensor of the call's own.
    type Tensor;
    /// An argument that may be written to.
    type Argument<'a>;

    /// The alignment of a tensor that kernels write to.
    fn alignment(dtype: DType) -> usize;

    /// Element type and layout.
    fn form<'v>(view: &'v Self::View<'_>) -> (DType, &'v Layout);

    /// Element type and layout of a tensor for writing.
    fn form_mut<'v>(view: &'v Self::ViewMut<'_>) -> (DType, &'v Layout);

    /// Element type and layout of a tensor.
    fn tensor_form(tensor: &Self::Tensor) -> (DType, &Layout);

    /// The same elements through another layout, which reaches no further.
    fn relaid<'m>(view: &Self::View<'m>, layout: Layout) -> Self::View<'m>;

    /// A view for a shorter time.
    fn shortened<'m>(view: &'m Self::View<'_>) -> Self::View<'m>;

    /// A tensor for writing, read meanwhile.
    fn read<'m>(view: &'m Self::ViewMut<'_>) -> Self::View<'m>;

    /// A tensor for writing, for a shorter time.
    fn reborrowed<'m>(view: &'m mut Self::ViewMut<'_>) -> Self::ViewMut<'m>;

    /// A tensor for reading.
    fn view(tensor: &Self::Tensor) -> Self::View<'_>;

    /// A tensor for writing.
    fn view_mut(tensor: &mut Self::Tensor) -> Self::ViewMut<'_>;

    /// A tensor through another layout, which reaches no further.
    fn tensor_relaid(tensor: Self::Tensor, layout: Layout) -> Self::Tensor;

    /// An argument for reading.
    fn argument_view<'m>(argument: &'m Self::Argument<'_>) -> Self::View<'m>;

    /// The same memory, for a call within the one that this is an argument of.
    fn again<'m>(argument: &'m Self::Argument<'_>) -> Self::Argument<'m>;

    /// The same memory through another layout, which reaches no further, as an argument that is only read.
    fn argument_relaid<'m>(argument: &'m Self::Argument<'_>, layout: Layout) -> Self::Argument<'m>;

    /// A tensor through another layout, which reaches no further, as an argument that is only read.
    fn shared(tensor: &Self::Tensor, layout: Layout) -> Self::Argument<'_>;

    /// The address and the bytes of a tensor's memory.
    fn piece(tensor: &Self::Tensor) -> (usize, usize);

    /// Where an argument is.
    fn footprint<'m>(argument: &'m Self::Argument<'_>) -> Footprint<'m>;

    /// Whether an argument may be written to.
    fn is_writable(argument: &Self::Argument<'_>) -> bool;

    /// An argument for writing.
    ///
    /// # Safety
    /// It is writable, and nothing may read through a view of these elements, or of an argument that overlaps, what is written
    /// through this one and is expected to be old.
    unsafe fn open<'m>(argument: &'m Self::Argument<'_>) -> Self::ViewMut<'m>;
}
