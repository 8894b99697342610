//! What the inputs of a call determine before it begins: sizes, and the variant for them.

use std::sync::Arc;

use ir::array::Layout;
use ir::graph::Sizes;
use ops::DType;
use smallvec::SmallVec;

use crate::compile::Variant;

/// What the inputs of a call determine by their layouts, whatever their elements are.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Element types of the inputs, with their sizes and strides.
    pub forms: SmallVec<[(DType, Layout); 4]>,
    /// The values of size symbols.
    pub sizes: Sizes,
    /// The variant for such calls.
    pub variant: Arc<Variant>,
    /// Whether nothing in the call is worth a second thread.
    pub is_short: bool,
}

impl Prepared {
    /// Whether it is for inputs with these layouts, wherever they begin.
    pub fn is_for<'v>(&self, inputs: impl ExactSizeIterator<Item = (DType, &'v Layout)>) -> bool {
        let alike = |(known, (dtype, layout)): (&(DType, Layout), (DType, &Layout))| {
            known.0 == dtype && known.1.sizes == layout.sizes && known.1.strides == layout.strides
        };
        self.forms.len() == inputs.len() && self.forms.iter().zip(inputs).all(alike)
    }
}
