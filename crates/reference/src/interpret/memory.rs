//! Elements of one dtype in consecutive bytes: what the interpreter runs on. No strides, no alignment, no sharing.

use ops::{DType, Scalar};

/// An array of elements in memory, each in its dtype's bytes, little end first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenseMemory {
    dtype: DType,
    bytes: Vec<u8>,
}

impl DenseMemory {
    /// `len` elements that are zero or false.
    pub fn zeros(dtype: DType, len: usize) -> Self {
        Self { dtype, bytes: vec![0; len * dtype.size()] }
    }

    /// Elements from their bytes; `None` unless they are a whole number of elements.
    pub fn from_bytes(dtype: DType, bytes: Vec<u8>) -> Option<Self> {
        bytes.len().is_multiple_of(dtype.size()).then_some(Self { dtype, bytes })
    }

    /// Numbers, each rounded to `dtype` as [`Scalar::from_f64`] does.
    pub fn from_f64s(dtype: DType, numbers: &[f64]) -> Self {
        let mut memory = Self::zeros(dtype, numbers.len());
        for (index, &number) in numbers.iter().enumerate() {
            memory.write(index, Scalar::from_f64(dtype, number));
        }
        memory
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.dtype.size()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All elements as doubles: exact except for integers beyond 2^53.
    pub fn to_f64s(&self) -> Vec<f64> {
        (0..self.len()).map(|index| self.read(index).as_f64()).collect()
    }

    /// The element at an index below [`len`](Self::len).
    pub fn read(&self, index: usize) -> Scalar {
        let size = self.dtype.size();
        let mut bits = [0; 8];
        bits[..size].copy_from_slice(&self.bytes[index * size..][..size]);
        match (self.dtype, u64::from_le_bytes(bits)) {
            (DType::Bool, byte) => Scalar::from_bool(byte != 0),
            (dtype, bits) => Scalar::from_bits(dtype, bits),
        }
    }

    /// Replaces the element at an index below [`len`](Self::len) by one of the same dtype.
    pub fn write(&mut self, index: usize, element: Scalar) {
        assert_eq!(element.dtype(), self.dtype, "an element of another dtype");
        let size = self.dtype.size();
        self.bytes[index * size..][..size].copy_from_slice(&element.bits().to_le_bytes()[..size]);
    }
}
