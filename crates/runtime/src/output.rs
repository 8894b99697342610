//! Outputs of a call: tensors in memory of their own, and views of the inputs.

use std::ops::Deref;

use ir::array::{Array, ArrayError, ArrayView};
use ops::DType;

use crate::Tensor;

/// An output of a call.
#[derive(Debug)]
pub enum Output<'a> {
    /// In memory of its own.
    Made(Tensor),
    /// In the memory of an input.
    View {
        /// The number of the input.
        input: usize,
        /// The elements.
        view: ArrayView<'a>,
    },
}

impl Output<'_> {
    /// The elements.
    pub fn view(&self) -> ArrayView<'_> {
        match self {
            Output::Made(tensor) => tensor.view(),
            Output::View { view, .. } => view.clone(),
        }
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        match self {
            Output::Made(tensor) => tensor.dtype(),
            Output::View { view, .. } => view.dtype(),
        }
    }

    /// Sizes of the axes.
    pub fn sizes(&self) -> &[usize] {
        match self {
            Output::Made(tensor) => tensor.sizes(),
            Output::View { view, .. } => view.sizes(),
        }
    }

    /// Strides of the axes, in elements; zero where an axis repeats elements.
    pub fn strides(&self) -> &[isize] {
        match self {
            Output::Made(tensor) => tensor.strides(),
            Output::View { view, .. } => view.strides(),
        }
    }

    /// A dense copy in memory of its own.
    ///
    /// # Errors
    /// [`ArrayError::Memory`].
    pub fn to_array(&self) -> Result<Array, ArrayError> {
        self.view().to_array()
    }

    /// The number of the input in whose memory it is, if any.
    pub fn input(&self) -> Option<usize> {
        match self {
            Output::Made(_) => None,
            Output::View { input, .. } => Some(*input),
        }
    }
}

/// The outputs of a call, in the order of the definition, less those that the call wrote into its inputs.
#[derive(Debug)]
pub struct Outputs<'a> {
    pub(crate) outputs: Vec<Output<'a>>,
}

impl<'a> Deref for Outputs<'a> {
    type Target = [Output<'a>];

    fn deref(&self) -> &[Output<'a>] {
        &self.outputs
    }
}

impl<'a> IntoIterator for Outputs<'a> {
    type Item = Output<'a>;
    type IntoIter = std::vec::IntoIter<Output<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.outputs.into_iter()
    }
}

impl<'o, 'a> IntoIterator for &'o Outputs<'a> {
    type Item = &'o Output<'a>;
    type IntoIter = std::slice::Iter<'o, Output<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.outputs.iter()
    }
}
