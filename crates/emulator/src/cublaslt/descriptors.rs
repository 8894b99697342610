//! What handles stand for: matrices, products, and what is asked of an algorithm.

use std::ffi::c_int;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::attributes::Attribute;
use super::status::{CublasResult, CublasStatus};
use crate::driver::{ElementType, Handle, Registry};

/// All that there is.
#[derive(Debug)]
pub struct Descriptors {
    /// The context of each handle of the library.
    pub handles: Registry<Handle>,
    pub descriptions: Registry<Description>,
    pub layouts: Registry<Layout>,
    pub preferences: Registry<Preference>,
}

/// A product: how sums are accumulated, which operands are transposed, and what is added.
#[derive(Clone, Copy, Debug, Default)]
pub struct Description {
    /// Whether sums and scalars are f64, not f32.
    pub is_double: bool,
    pub transposed: [bool; 2],
    /// Whether a vector is added to each column of the result.
    pub adds_bias: bool,
    /// The address of that vector; 0 before it is set.
    pub bias: u64,
}

/// Column-major matrices.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub kind: ElementType,
    pub rows: usize,
    pub columns: usize,
    pub leading: usize,
    pub count: usize,
    pub stride: usize,
}

/// What an algorithm may use and assume.
#[derive(Clone, Copy, Debug)]
pub struct Preference {
    pub workspace_bytes: usize,
    /// Alignments of the addresses of A, B, C and D, in bytes.
    pub alignments: [u32; 4],
}

impl Descriptors {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.handles.len() + self.descriptions.len() + self.layouts.len() + self.preferences.len()
    }
}

/// All descriptors, locked for the calling thread.
pub fn descriptors() -> MutexGuard<'static, Descriptors> {
    static ALL: LazyLock<Mutex<Descriptors>> = LazyLock::new(|| {
        Mutex::new(Descriptors {
            handles: Registry::new("a handle of cuBLASLt", 16),
            descriptions: Registry::new("a matmul descriptor", 17),
            layouts: Registry::new("a matrix layout", 18),
            preferences: Registry::new("a matmul preference", 19),
        })
    });
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The type of a `cudaDataType`.
fn element_type(kind: c_int) -> CublasResult<ElementType> {
    match kind {
        0 => Ok(ElementType::F32),
        1 => Ok(ElementType::F64),
        2 => Ok(ElementType::F16),
        14 => Ok(ElementType::Bf16),
        other => {
            Err(CublasStatus::NOT_SUPPORTED.because(format!("the stand-in has no cudaDataType {other}")))
        }
    }
}

fn positive(what: &str, number: i64) -> CublasResult<usize> {
    let number = usize::try_from(number).ok().filter(|&number| number > 0);
    number.ok_or_else(|| CublasStatus::INVALID_VALUE.because(format!("{what} must be positive")))
}

impl Description {
    /// Sums in f32 with scalars of f32, or both in f64.
    pub fn new(compute: c_int, scale: c_int) -> CublasResult<Description> {
        const COMPUTE_F32: c_int = 68;
        const COMPUTE_F64: c_int = 70;
        match (compute, element_type(scale)?) {
            (COMPUTE_F32, ElementType::F32) => Ok(Description::default()),
            (COMPUTE_F64, ElementType::F64) => Ok(Description { is_double: true, ..Description::default() }),
            (compute, scale) => Err(CublasStatus::NOT_SUPPORTED
                .because(format!("the stand-in has no compute type {compute} with scalars of {scale:?}"))),
        }
    }

    /// Sets an attribute of `cublasLtMatmulDescAttributes_t`.
    pub fn set(&mut self, attribute: Attribute) -> CublasResult {
        const TRANSA: c_int = 3;
        const TRANSB: c_int = 4;
        const EPILOGUE: c_int = 7;
        const BIAS_POINTER: c_int = 8;
        match attribute.number {
            EPILOGUE => {
                self.adds_bias = match attribute.word()? {
                    1 => false,
                    4 => true,
                    other => {
                        let text = format!("the stand-in has no epilogue {other}");
                        return Err(CublasStatus::NOT_SUPPORTED.because(text));
                    }
                };
                Ok(())
            }
            BIAS_POINTER => {
                self.bias = attribute.long()? as u64;
                Ok(())
            }
            TRANSA | TRANSB => {
                let is_transposed = match attribute.word()? {
                    0 => false,
                    1 => true,
                    other => {
                        return Err(
                            CublasStatus::NOT_SUPPORTED.because(format!("no cublasOperation_t {other}"))
                        );
                    }
                };
                self.transposed[(attribute.number - TRANSA) as usize] = is_transposed;
                Ok(())
            }
            _ => attribute.unknown("a product"),
        }
    }
}

impl Layout {
    /// One matrix.
    pub fn new(kind: c_int, rows: u64, columns: u64, leading: i64) -> CublasResult<Layout> {
        let (rows, columns) = (positive("rows", rows as i64)?, positive("columns", columns as i64)?);
        let leading = positive("the leading dimension", leading)?;
        if leading < rows {
            let text = format!("a leading dimension of {leading} is less than {rows} rows");
            return Err(CublasStatus::INVALID_VALUE.because(text));
        }
        Ok(Layout { kind: element_type(kind)?, rows, columns, leading, count: 1, stride: 0 })
    }

    /// Sets an attribute of `cublasLtMatrixLayoutAttribute_t`.
    pub fn set(&mut self, attribute: Attribute) -> CublasResult {
        const BATCH_COUNT: c_int = 5;
        const STRIDED_BATCH_OFFSET: c_int = 6;
        match attribute.number {
            BATCH_COUNT => self.count = positive("the count of a batch", attribute.word()?.into())?,
            STRIDED_BATCH_OFFSET => {
                let stride = usize::try_from(attribute.long()?);
                self.stride = stride
                    .map_err(|_| CublasStatus::NOT_SUPPORTED.because("a negative stride of a batch"))?;
            }
            _ => return attribute.unknown("a matrix"),
        }
        Ok(())
    }
}

impl Default for Preference {
    fn default() -> Preference {
        Preference { workspace_bytes: 0, alignments: [256; 4] }
    }
}

impl Preference {
    /// Sets an attribute of `cublasLtMatmulPreferenceAttributes_t`.
    pub fn set(&mut self, attribute: Attribute) -> CublasResult {
        const MAX_WORKSPACE_BYTES: c_int = 1;
        const REDUCTION_SCHEME_MASK: c_int = 3;
        const MIN_ALIGNMENT: std::ops::RangeInclusive<c_int> = 5..=8;
        match attribute.number {
            MAX_WORKSPACE_BYTES => self.workspace_bytes = attribute.long()? as usize,
            REDUCTION_SCHEME_MASK => drop(attribute.word()?),
            number if MIN_ALIGNMENT.contains(&number) => {
                let alignment = attribute.word()? as u32;
                if !alignment.is_power_of_two() {
                    return Err(
                        CublasStatus::INVALID_VALUE.because(format!("an alignment of {alignment} bytes"))
                    );
                }
                self.alignments[(number - MIN_ALIGNMENT.start()) as usize] = alignment;
            }
            _ => return attribute.unknown("a preference"),
        }
        Ok(())
    }
}
