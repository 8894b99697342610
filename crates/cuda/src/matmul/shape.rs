//! Shapes of products: sizes, types, and the layouts of matrices.

use std::ffi::c_int;

use crate::cublaslt::functions::data_type;

/// The largest alignment that algorithms ask for, in bytes.
const ALIGNMENT: u64 = 256;

/// Types of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixType {
    F16,
    Bf16,
    F32,
    F64,
}

/// The layout of a matrix: one of its axes has a stride of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixLayout {
    /// Whether that is the axis of rows and not of columns.
    pub(super) is_column_major: bool,
    /// The stride of the other axis.
    pub(super) leading: i64,
}

/// The matrices of a batch: how many, and the strides from one to the next of each operand and of the result, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    /// At least 1.
    pub count: usize,
    pub a: i64,
    pub b: i64,
    pub result: i64,
}

/// Everything that the choice of an algorithm depends on: `rows` x `depth` by `depth` x `columns`, none of them 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatmulShape {
    pub rows: usize,
    pub columns: usize,
    pub depth: usize,
    pub operands: MatrixType,
    pub result: MatrixType,
    pub a: MatrixLayout,
    pub b: MatrixLayout,
    /// The stride of the result's rows, whose elements are neighbours.
    pub result_row: i64,
    pub batch: Batch,
    /// The alignment of the vector, of the result's type, that is added to each row of the result, if there is one.
    pub bias: Option<u32>,
    /// The alignments of the operands and of the result: a power of two, at most 256. See [`MatmulShape::alignment`].
    pub alignments: [u32; 3],
}

impl MatrixType {
    /// Its `cudaDataType`.
    pub(super) fn data_type(self) -> c_int {
        match self {
            MatrixType::F16 => data_type::R_16F,
            MatrixType::Bf16 => data_type::R_16BF,
            MatrixType::F32 => data_type::R_32F,
            MatrixType::F64 => data_type::R_64F,
        }
    }
}

impl MatrixLayout {
    /// The layout of a matrix of `rows` rows and `columns` columns with these strides; `None` where cuBLASLt cannot read it,
    /// as where neither axis has a stride of one element, or elements are repeated.
    pub fn of([rows, columns]: [usize; 2], [row, column]: [isize; 2]) -> Option<MatrixLayout> {
        // The stride of an axis of one element is irrelevant.
        let leading = |inner: usize, inner_stride: isize, outer: usize, outer_stride: isize| {
            let outer_stride = if outer <= 1 { inner.max(1) as isize } else { outer_stride };
            let fits =
                (inner <= 1 || inner_stride == 1) && outer_stride >= inner as isize && outer_stride > 0;
            fits.then_some(outer_stride as i64)
        };
        let by_rows = leading(columns, column, rows, row);
        let by_columns = || leading(rows, row, columns, column);
        let row_major = by_rows.map(|leading| MatrixLayout { is_column_major: false, leading });
        row_major.or_else(|| by_columns().map(|leading| MatrixLayout { is_column_major: true, leading }))
    }
}

impl MatmulShape {
    /// The alignment that an algorithm may assume of an address.
    pub fn alignment(address: u64) -> u32 {
        1 << (ALIGNMENT | address).trailing_zeros()
    }
}
