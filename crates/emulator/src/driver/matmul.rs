//! Products of matrices in stream order, as cuBLASLt enqueues them.

use std::ffi::c_int;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use half::{bf16, f16};

use super::ffi::{Address, Handle};
use super::result::{DriverResult, Failure, Status};
use super::state::{driver, finish};
use super::work::{Access, Work};

/// Handles and descriptors of cuBLASLt that were made and not destroyed.
pub(crate) static CUBLAS_OBJECTS: AtomicU64 = AtomicU64::new(0);

/// Types of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ElementType {
    F16,
    Bf16,
    F32,
    F64,
}

/// A column-major matrix in a device's memory, or several at equal distances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrices {
    pub address: Address,
    pub kind: ElementType,
    pub rows: usize,
    pub columns: usize,
    /// From one column to the next, in elements.
    pub leading: usize,
    pub count: usize,
    /// From one matrix to the next, in elements.
    pub stride: usize,
    /// Whether the product takes it transposed.
    pub is_transposed: bool,
}

/// `result = alpha * a @ b + beta * c + bias`.
#[derive(Clone, Debug)]
pub(crate) struct MatmulCall {
    pub a: Matrices,
    pub b: Matrices,
    pub c: Matrices,
    pub result: Matrices,
    pub alpha: f64,
    pub beta: f64,
    /// A column that is added to each column of the result.
    pub bias: Option<Matrices>,
    /// Where the algorithm may write, and how many bytes.
    pub workspace: (Address, usize),
}

impl ElementType {
    /// Bytes of an element.
    pub(crate) fn size(self) -> usize {
        match self {
            ElementType::F16 | ElementType::Bf16 => 2,
            ElementType::F32 => 4,
            ElementType::F64 => 8,
        }
    }
}

impl Matrices {
    fn access(&self, writes: bool) -> Access {
        let last = (self.count - 1) * self.stride + (self.columns - 1) * self.leading + self.rows;
        Access { address: self.address, bytes: last * self.kind.size(), own: true, writes }
    }

    /// The bytes of an element of a matrix, in the rows and columns that the product takes.
    fn place(&self, number: usize, row: usize, column: usize) -> Address {
        let (row, column) = if self.is_transposed { (column, row) } else { (row, column) };
        let element = number * self.stride + column * self.leading + row;
        self.address + (element * self.kind.size()) as Address
    }

    /// # Safety
    /// The memory of the matrices is there, and nobody writes to it.
    unsafe fn read(&self, number: usize, row: usize, column: usize) -> f64 {
        let place = self.place(number, row, column);
        // SAFETY: the caller's; cuBLASLt wants elements aligned, which was checked.
        unsafe {
            match self.kind {
                ElementType::F16 => f64::from(*(place as *const f16)),
                ElementType::Bf16 => f64::from(*(place as *const bf16)),
                ElementType::F32 => f64::from(*(place as *const f32)),
                ElementType::F64 => *(place as *const f64),
            }
        }
    }

    /// # Safety
    /// The memory of the matrices is there, and nobody else uses it.
    unsafe fn write(&self, number: usize, row: usize, column: usize, value: f64) {
        let place = self.place(number, row, column);
        // SAFETY: as above.
        unsafe {
            match self.kind {
                ElementType::F16 => *(place as *mut f16) = f16::from_f64(value),
                ElementType::Bf16 => *(place as *mut bf16) = bf16::from_f64(value),
                ElementType::F32 => *(place as *mut f32) = value as f32,
                ElementType::F64 => *(place as *mut f64) = value,
            }
        }
    }
}

impl MatmulCall {
    /// The memory that it uses.
    pub fn accesses(&self) -> Vec<Access> {
        let mut accesses = vec![self.a.access(false), self.b.access(false), self.result.access(true)];
        if self.beta != 0.0 {
            accesses.push(self.c.access(false));
        }
        accesses.extend(self.bias.map(|bias| bias.access(false)));
        let (address, bytes) = self.workspace;
        if bytes > 0 {
            accesses.push(Access { address, bytes, own: true, writes: true });
        }
        accesses
    }

    /// Multiplies, with sums in f64. The workspace is left with other bytes than it had.
    ///
    /// # Safety
    /// The memory that it uses is there, and nobody else uses it.
    pub unsafe fn run(&self) {
        let MatmulCall { a, b, c, result, alpha, beta, bias, workspace: (address, bytes) } = self;
        let depth = if a.is_transposed { a.rows } else { a.columns };
        // SAFETY: the caller's.
        unsafe {
            slice::from_raw_parts_mut(*address as *mut u8, *bytes).fill(0xAB);
            for number in 0..result.count {
                let column_of = |matrices: &Matrices, column| -> Vec<f64> {
                    (0..depth).map(|place| matrices.read(number, place, column)).collect()
                };
                let transposed = Matrices { is_transposed: !a.is_transposed, ..*a };
                let rows: Vec<Vec<f64>> = (0..result.rows).map(|row| column_of(&transposed, row)).collect();
                for column in 0..result.columns {
                    let of_b = column_of(b, column);
                    for (row, of_a) in rows.iter().enumerate() {
                        let sum: f64 = of_a.iter().zip(&of_b).map(|(a, b)| a * b).sum();
                        let added = if *beta == 0.0 { 0.0 } else { beta * c.read(number, row, column) };
                        let bias = bias.map_or(0.0, |bias| bias.read(0, row, 0));
                        result.write(number, row, column, alpha * sum + added + bias);
                    }
                }
            }
        }
    }
}

/// The current context of this thread.
pub(crate) fn current_context() -> DriverResult<Handle> {
    driver().current()
}

/// Enqueues a product on a stream of the current context.
pub(crate) fn give_matmul(stream: Handle, call: MatmulCall) -> DriverResult {
    let mut driver = driver();
    let stream = driver.stream(stream)?;
    if driver.streams.get(stream)?.context != driver.current()? {
        let text = "the stream is of another context than the current one";
        return Err(Status::ERROR_INVALID_HANDLE.because(text));
    }
    driver.give(stream, Work::Matmul(Arc::new(call))).map(|_| ())
}

/// Records why a function of another library failed, and returns its code.
pub(crate) fn failed(code: c_int, text: String) -> c_int {
    finish(Err(Failure { code: Status(code), text }))
}
