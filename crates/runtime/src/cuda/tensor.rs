//! Tensors in a GPU's memory. Their addresses are numbers to the host.

use std::marker::PhantomData;
use std::sync::Arc;

use cuda::{DeviceBuffer, Stream};
use ir::array::{Array, ArrayView, Footprint, Layout, StridedArray};
use ir::layout::LayoutClass;
use kernel::VECTOR_BYTES;
use ops::DType;

use crate::device::AddressSpace;
use crate::tensor::bytes_of;
use crate::{Error, Tensor};
use cpu::alloc::Allocator;

/// The memory of a GPU.
#[derive(Debug)]
pub(crate) struct GpuMemory;

/// A tensor without gaps in a GPU's memory, which goes back to the stream's pool when it is dropped. Expanded axes repeat one
/// element.
#[derive(Debug)]
pub struct GpuTensor {
    memory: Arc<DeviceBuffer>,
    /// Where it begins there.
    address: u64,
    bytes: usize,
    dtype: DType,
    layout: Layout,
}

/// The place of a tensor: an address, from which its layout counts, and its dtype and layout.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    base: u64,
    pub dtype: DType,
    pub layout: Layout,
}

/// A tensor for reading.
#[derive(Clone, Debug)]
pub(crate) struct GpuView<'m>(pub Place, PhantomData<&'m ()>);

/// A tensor for writing.
#[derive(Debug)]
pub(crate) struct GpuViewMut<'m>(pub Place, PhantomData<&'m mut ()>);

/// A tensor of the caller's in a GPU's memory, for reading or for writing too.
#[derive(Debug)]
pub struct GpuArgument<'a> {
    place: Place,
    writable: bool,
    lifetime: PhantomData<&'a mut ()>,
}

impl GpuArgument<'_> {
    /// A tensor at an address, from which its layout counts.
    ///
    /// # Safety
    /// Every element that some index of the layout reaches must lie in memory of the GPU of the call that it may read, and write
    /// where `writable` says so, until the work of the call is done. The stream of the call must be ordered after whatever makes
    /// the elements, and before whatever changes or frees them. Nothing else may touch what the call writes meanwhile, but through
    /// arguments of the same call.
    pub unsafe fn from_raw_parts(address: u64, dtype: DType, layout: Layout, writable: bool) -> Self {
        GpuArgument { place: Place { base: address, dtype, layout }, writable, lifetime: PhantomData }
    }

    /// Element type and layout.
    pub(crate) fn form(&self) -> (DType, &Layout) {
        (self.place.dtype, &self.place.layout)
    }

    /// The layout in which kernels read it: a tensor that is not aligned is copied.
    pub fn layout_class(&self) -> LayoutClass {
        match self.is_aligned() {
            true => LayoutClass::from(&self.place.layout),
            false => LayoutClass::from(&Layout::dense(&self.place.layout.sizes)),
        }
    }

    /// Zeros of its element type and sizes on the host, which take no memory: for decisions by sizes.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn shown(&self) -> Result<StridedArray, Error> {
        let Place { dtype, layout, .. } = &self.place;
        let repeated = Layout::dense(&[]).broadcast(&vec![true; layout.rank()]).expanded(&layout.sizes);
        Ok(StridedArray::new(Array::zeros(*dtype, &[])?, repeated)?)
    }

    /// Whether kernels can read it where it is.
    pub(crate) fn is_aligned(&self) -> bool {
        self.place.start().is_multiple_of(VECTOR_BYTES.into())
    }

    pub(crate) fn view(&self) -> GpuView<'_> {
        GpuView(self.place.clone(), PhantomData)
    }

    /// Where it is.
    pub(crate) fn footprint(&self) -> Footprint<'_> {
        let Place { base, dtype, layout } = &self.place;
        Footprint { base: *base as usize, dtype: *dtype, layout }
    }
}

impl GpuTensor {
    /// A tensor with unspecified contents, in a layout without gaps, for the work of a stream.
    pub(crate) fn allocate(stream: &Arc<Stream>, dtype: DType, layout: Layout) -> Result<GpuTensor, Error> {
        let bytes = bytes_of(dtype, &layout.sizes);
        let bytes = bytes.ok_or(Error::Memory { bytes: usize::MAX, limit: isize::MAX as usize })?;
        let memory = Arc::new(DeviceBuffer::allocate(stream, bytes)?);
        Ok(GpuTensor { address: memory.address(), memory, bytes, dtype, layout })
    }

    /// A tensor in a part of some memory, which it keeps; `None` where it does not fit there.
    pub(super) fn within(
        memory: &Arc<DeviceBuffer>,
        from: usize,
        dtype: DType,
        layout: Layout,
    ) -> Option<GpuTensor> {
        let bytes = bytes_of(dtype, &layout.sizes)?;
        let fits = from.checked_add(bytes)? <= memory.bytes();
        let address = memory.address() + from as u64;
        fits.then(|| GpuTensor { memory: Arc::clone(memory), address, bytes, dtype, layout })
    }

    /// The elements of an array of the host, one after the other.
    pub(crate) fn uploaded(stream: &Arc<Stream>, array: &Array) -> Result<GpuTensor, Error> {
        let tensor = GpuTensor::allocate(stream, array.dtype(), Layout::dense(&[array.numel()]))?;
        // SAFETY: the tensor has as many bytes; an array owns its elements, in pageable memory.
        unsafe { stream.upload(tensor.address, array.as_bytes()) }?;
        Ok(tensor)
    }

    /// The same on the host, once all work before is done.
    pub(crate) fn downloaded(&self, allocator: &Allocator) -> Result<Tensor, Error> {
        let elements = self.bytes / self.dtype.size();
        let mut tensor = Tensor::allocate(allocator, self.dtype, Layout::dense(&[elements]))?;
        // SAFETY: the memory lives, and has as many bytes.
        unsafe { self.stream().download(tensor.as_mut_bytes(), self.address) }?;
        Ok(tensor.relaid(self.layout.clone()))
    }

    /// A copy of an array of the host, in its layout, which is a copy of its own when the call returns.
    ///
    /// # Errors
    /// What the driver says.
    pub fn of_host(stream: &Arc<Stream>, view: &ArrayView<'_>) -> Result<GpuTensor, Error> {
        if view.numel() == 1 {
            return GpuTensor::of_number(stream, view);
        }
        let copy = StridedArray::copy_of(view)?;
        let tensor = GpuTensor::uploaded(stream, copy.storage())?;
        Ok(GpuTensor { layout: copy.view().layout().clone(), ..tensor })
    }

    /// A copy of an array of one element, by fills: that works in a captured graph too, which reads no memory of the host.
    fn of_number(stream: &Arc<Stream>, view: &ArrayView<'_>) -> Result<GpuTensor, Error> {
        const WORD: usize = 4;
        let array = view.to_array()?;
        let layout = Layout { offset: 0, ..view.layout().clone() };
        let bytes = array.as_bytes().len().next_multiple_of(WORD);
        let memory = Arc::new(DeviceBuffer::allocate(stream, bytes)?);
        let (address, dtype) = (memory.address(), array.dtype());
        for (number, bytes) in array.as_bytes().chunks(WORD).enumerate() {
            let mut word = [0; WORD];
            word[..bytes.len()].copy_from_slice(bytes);
            let to = address + (number * WORD) as u64;
            // SAFETY: the buffer has whole words, which begin at multiples of 4 bytes.
            unsafe { stream.fill(to, WORD, u32::from_ne_bytes(word)) }?;
        }
        Ok(GpuTensor { memory, address, bytes, dtype, layout })
    }

    /// The tensor as an argument of a call, which may write to it.
    pub fn argument(&mut self) -> GpuArgument<'_> {
        GpuArgument { place: self.place(), writable: true, lifetime: PhantomData }
    }

    /// The stream that its memory belongs to.
    pub fn stream(&self) -> &Arc<Stream> {
        self.memory.stream()
    }

    /// The address of the element at index zero.
    pub fn address(&self) -> u64 {
        self.place().start()
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes of the axes.
    pub fn sizes(&self) -> &[usize] {
        &self.layout.sizes
    }

    /// Strides of the axes, in elements.
    pub fn strides(&self) -> &[isize] {
        &self.layout.strides
    }

    /// Where it is.
    pub(super) fn place(&self) -> Place {
        Place { base: self.address, dtype: self.dtype, layout: self.layout.clone() }
    }
}

impl Place {
    /// The same memory through another layout.
    pub fn relaid(&self, layout: Layout) -> Place {
        Place { layout, ..self.clone() }
    }

    /// The address of the element at index zero.
    pub fn start(&self) -> u64 {
        self.element(self.layout.offset as i64)
    }

    /// Address and length in bytes of the stretch from the first element that some index reaches to the last; `None` without
    /// elements.
    pub fn stretch(&self) -> Option<(u64, usize)> {
        let (first, last) = self.layout.span()?;
        let bytes = (last - first + 1) as usize * self.dtype.size();
        Some((self.element(first as i64), bytes))
    }

    /// Whether there is nothing between the elements, each of which is reached once.
    pub fn is_packed(&self) -> bool {
        let elements: usize = self.layout.sizes.iter().product();
        self.stretch().is_none_or(|(_, bytes)| bytes == elements * self.dtype.size())
            && self.layout.is_nested()
    }

    /// The layout counted from the first element that some index reaches.
    pub fn layout_of_stretch(&self) -> Layout {
        let first = self.layout.span().map_or(0, |(first, _)| first);
        Layout { offset: self.layout.offset - first as isize, ..self.layout.clone() }
    }

    /// The address of an element, by its place from the base.
    pub fn element(&self, place: i64) -> u64 {
        self.base.wrapping_add_signed(place * self.dtype.size() as i64)
    }
}

impl GpuViewMut<'_> {
    /// Words of 64 bits.
    pub fn of_words(address: u64, words: usize) -> Self {
        GpuViewMut(Place { base: address, dtype: DType::I64, layout: Layout::dense(&[words]) }, PhantomData)
    }
}

impl AddressSpace for GpuMemory {
    type View<'m> = GpuView<'m>;
    type ViewMut<'m> = GpuViewMut<'m>;
    type Tensor = GpuTensor;
    type Argument<'a> = GpuArgument<'a>;

    fn alignment(_: DType) -> usize {
        VECTOR_BYTES as usize
    }

    fn form<'v>(view: &'v GpuView<'_>) -> (DType, &'v Layout) {
        (view.0.dtype, &view.0.layout)
    }

    fn form_mut<'v>(view: &'v GpuViewMut<'_>) -> (DType, &'v Layout) {
        (view.0.dtype, &view.0.layout)
    }

    fn tensor_form(tensor: &GpuTensor) -> (DType, &Layout) {
        (tensor.dtype, &tensor.layout)
    }

    fn relaid<'m>(view: &Self::View<'m>, layout: Layout) -> Self::View<'m> {
        GpuView(view.0.relaid(layout), PhantomData)
    }

    fn shortened<'m>(view: &'m GpuView<'_>) -> GpuView<'m> {
        GpuView(view.0.clone(), PhantomData)
    }

    fn read<'m>(view: &'m GpuViewMut<'_>) -> GpuView<'m> {
        GpuView(view.0.clone(), PhantomData)
    }

    fn reborrowed<'m>(view: &'m mut GpuViewMut<'_>) -> GpuViewMut<'m> {
        GpuViewMut(view.0.clone(), PhantomData)
    }

    fn view(tensor: &GpuTensor) -> GpuView<'_> {
        GpuView(tensor.place(), PhantomData)
    }

    fn view_mut(tensor: &mut GpuTensor) -> GpuViewMut<'_> {
        GpuViewMut(tensor.place(), PhantomData)
    }

    fn tensor_relaid(tensor: GpuTensor, layout: Layout) -> GpuTensor {
        GpuTensor { layout, ..tensor }
    }

    fn argument_view<'m>(argument: &'m GpuArgument<'_>) -> GpuView<'m> {
        argument.view()
    }

    fn again<'m>(argument: &'m GpuArgument<'_>) -> GpuArgument<'m> {
        GpuArgument { place: argument.place.clone(), writable: argument.writable, lifetime: PhantomData }
    }

    fn argument_relaid<'m>(argument: &'m GpuArgument<'_>, layout: Layout) -> GpuArgument<'m> {
        GpuArgument { place: argument.place.relaid(layout), writable: false, lifetime: PhantomData }
    }

    fn shared(tensor: &GpuTensor, layout: Layout) -> GpuArgument<'_> {
        GpuArgument { place: tensor.place().relaid(layout), writable: false, lifetime: PhantomData }
    }

    fn piece(tensor: &GpuTensor) -> (usize, usize) {
        (tensor.address() as usize, tensor.bytes)
    }

    fn footprint<'m>(argument: &'m GpuArgument<'_>) -> Footprint<'m> {
        argument.footprint()
    }

    fn is_writable(argument: &GpuArgument<'_>) -> bool {
        argument.writable
    }

    unsafe fn open<'m>(argument: &'m GpuArgument<'_>) -> GpuViewMut<'m> {
        GpuViewMut(argument.place.clone(), PhantomData)
    }
}
