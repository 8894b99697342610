//! Arrays of any strides that own their memory.

use super::{Array, ArrayError, ArrayView, ArrayViewMut, Layout};

/// Elements in their own memory, with a layout.
#[derive(Debug)]
pub struct StridedArray {
    storage: Array,
    layout: Layout,
}

impl StridedArray {
    /// The elements of `storage` through a layout.
    ///
    /// # Errors
    /// When the layout reaches outside the storage.
    pub fn new(storage: Array, layout: Layout) -> Result<StridedArray, ArrayError> {
        storage.view().relaid(layout.clone())?;
        Ok(StridedArray { storage, layout })
    }

    /// A copy of elements in their layout. What lies between them is not read, as others may write to it.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn copy_of(view: &ArrayView<'_>) -> Result<StridedArray, ArrayError> {
        let (first, elements) = match view.layout().span() {
            Some((first, last)) => (first as isize, (last - first + 1) as usize),
            None => (0, 0),
        };
        let layout = Layout { offset: view.layout().offset - first, ..view.layout().clone() };
        let storage = match view.relaid(Layout { offset: first, ..Layout::dense(&[elements]) }) {
            Ok(flat) => flat.to_array()?,
            Err(_) => {
                let mut storage = Array::zeros(view.dtype(), &[elements])?;
                storage
                    .view_mut()
                    .relaid(layout.distinct())?
                    .copy_from(&view.relaid(view.layout().distinct())?)?;
                storage
            }
        };
        Ok(StridedArray { storage, layout })
    }

    /// The elements that the layout refers to.
    pub fn storage(&self) -> &Array {
        &self.storage
    }

    /// All of it as a view.
    pub fn view(&self) -> ArrayView<'_> {
        self.storage.view().relaid(self.layout.clone()).expect("the layout was checked when this was made")
    }

    /// All of it as a view for writing.
    pub fn view_mut(&mut self) -> ArrayViewMut<'_> {
        self.storage
            .view_mut()
            .relaid(self.layout.clone())
            .expect("the layout was checked when this was made")
    }
}

impl From<Array> for StridedArray {
    fn from(storage: Array) -> StridedArray {
        let layout = Layout::dense(storage.sizes());
        StridedArray { storage, layout }
    }
}
