//! Values on their way through the evaluator: strided views on shared memory.

use std::sync::Arc;

use ir::array::{Array, ArrayError, ArrayView, Layout, Part};
use ops::DType;

use super::EvaluateError;
use super::memory::{Meter, Metered};
use super::workers::Resources;

/// Memory of the caller or of the evaluator.
#[derive(Clone, Debug)]
enum Storage<'a> {
    Given(ArrayView<'a>),
    Made(Arc<Metered>),
}

/// Memory seen through a layout. Cheap to clone; clones share the memory.
#[derive(Clone, Debug)]
pub(super) struct Strided<'a> {
    storage: Storage<'a>,
    layout: Layout,
}

impl<'a> Strided<'a> {
    pub(super) fn given(view: &ArrayView<'a>) -> Strided<'a> {
        Strided { layout: view.layout().clone(), storage: Storage::Given(view.clone()) }
    }

    pub(super) fn made(array: Metered) -> Strided<'a> {
        let layout = Layout::dense(array.array().sizes());
        Strided { layout, storage: Storage::Made(Arc::new(array)) }
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The same memory through a layout made from this one's.
    pub(super) fn relaid(&self, layout: Layout) -> Strided<'a> {
        Strided { layout, storage: self.storage.clone() }
    }

    pub(super) fn view(&self) -> ArrayView<'_> {
        self.view_as(self.layout.clone())
    }

    /// One part of complex elements: a view of the caller's memory, a copy of our own.
    pub(super) fn part(&self, part: Part, resources: &Resources<'_>) -> Result<Strided<'a>, EvaluateError> {
        match &self.storage {
            Storage::Given(view) => {
                let view = view.relaid(self.layout.clone())?;
                Ok(Strided::given(&view.part(part)))
            }
            Storage::Made(_) => {
                let view = self.view();
                let mut copy = resources.unwritten(view.dtype().real(), view.sizes())?;
                resources.copy(&mut copy.array_mut().view_mut(), &view.part(part))?;
                Ok(Strided::made(copy))
            }
        }
    }

    /// The memory through another layout made from this one's.
    pub(super) fn view_as(&self, layout: Layout) -> ArrayView<'_> {
        let whole = match &self.storage {
            Storage::Given(view) => view.clone(),
            Storage::Made(array) => array.array().view(),
        };
        whole.relaid(layout).expect("changes of layout never reach further")
    }

    /// A dense copy in new memory.
    pub(super) fn copied(&self, resources: &Resources<'_>) -> Result<Strided<'a>, EvaluateError> {
        let view = self.view();
        let mut copy = resources.unwritten(view.dtype(), view.sizes())?;
        resources.copy(&mut copy.array_mut().view_mut(), &view)?;
        Ok(Strided::made(copy))
    }

    /// The memory, if it is our own and nobody else holds it.
    pub(super) fn sole_memory(&self) -> Option<&Array> {
        match &self.storage {
            Storage::Made(array) if Arc::strong_count(array) == 1 => Some(array.array()),
            _ => None,
        }
    }

    /// The memory, taken over if it is our own and nobody else holds it.
    pub(super) fn into_memory(self) -> Option<Metered> {
        match self.storage {
            Storage::Made(array) => Arc::into_inner(array),
            Storage::Given(_) => None,
        }
    }

    /// The elements as an owned array, without a copy if nobody else holds the memory.
    pub(super) fn into_array(self, resources: &Resources<'_>) -> Result<Array, EvaluateError> {
        let whole = self.sole_memory().is_some_and(|array| self.layout == Layout::dense(array.sizes()));
        let copy = if whole { self } else { self.copied(resources)? };
        Ok(copy.into_memory().expect("held once, as just seen").into_array())
    }
}

/// A value: its elements, and how far a compiled execution may be from each of them.
#[derive(Clone, Debug)]
pub(super) struct BoundedValue<'a> {
    pub(super) data: Strided<'a>,
    /// f32 of the same sizes, for complex elements c64 of the bounds of the parts; absent where every bound is zero.
    pub(super) bound: Option<Strided<'a>>,
}

impl<'a> BoundedValue<'a> {
    pub(super) fn exact(data: Strided<'a>) -> BoundedValue<'a> {
        BoundedValue { data, bound: None }
    }

    /// The same change of layout for elements and bounds.
    pub(super) fn relaid(&self, change: impl Fn(&Layout) -> Layout) -> BoundedValue<'a> {
        let apply = |strided: &Strided<'a>| strided.relaid(change(strided.layout()));
        BoundedValue { data: apply(&self.data), bound: self.bound.as_ref().map(apply) }
    }

    pub(super) fn sizes(&self) -> &[usize] {
        &self.data.layout().sizes
    }
}

/// An error bound per element, with the sizes of the value it belongs to; repeated bounds may share memory.
#[derive(Clone, Debug)]
pub struct Bound(Strided<'static>);

impl Bound {
    /// The bounds, of dtype f32; of complex values c64, a bound for each part.
    pub fn view(&self) -> ArrayView<'_> {
        self.0.view()
    }

    /// Bounds from an array, of dtype f32, or c64 for a complex value, with the sizes of the value.
    ///
    /// # Errors
    /// [`ArrayError::Mismatch`] for another dtype.
    pub fn new(array: Array) -> Result<Bound, ArrayError> {
        if array.dtype().real() != DType::F32 {
            return Err(ArrayError::Mismatch {
                expected_dtype: DType::F32,
                expected: array.sizes().to_vec(),
                given_dtype: array.dtype(),
                given: array.sizes().to_vec(),
            });
        }
        Ok(Bound(Strided::made(Meter::new(usize::MAX).counted(array))))
    }

    /// Bounds are always the evaluator's own memory, which outlives the inputs.
    pub(super) fn of(bound: &Strided<'_>) -> Option<Bound> {
        match &bound.storage {
            Storage::Made(array) => {
                let storage = Storage::Made(Arc::clone(array));
                Some(Bound(Strided { storage, layout: bound.layout.clone() }))
            }
            Storage::Given(_) => None,
        }
    }
}
