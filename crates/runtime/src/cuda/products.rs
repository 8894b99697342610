//! Products of matrices by cuBLASLt: those of a step in as few calls as their offsets allow, with algorithms cached by
//! shape.
//!
//! An operand in which no axis of the matrices has a stride of one element is copied first.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cuda::{Batch, CublasLtHandle, Matmul, MatmulShape, MatrixLayout, MatrixType, Stream};
use ir::array::Layout;
use ir::array::products::{Matrix, Product, ProductBatch};
use ops::DType;
use rustc_hash::FxHashMap;

use super::CudaDevice;
use super::tensor::{GpuTensor, Place};
use crate::Error;

/// The most algorithms that are cached; if sizes vary more, the library is asked again.
const MAX_CACHED_ALGORITHMS: usize = 1024;

/// cuBLASLt on a device, once it is needed, and the algorithms that it chose.
#[derive(Debug, Default)]
pub(super) struct Products {
    handle: OnceLock<Arc<CublasLtHandle>>,
    algorithms: Mutex<FxHashMap<MatmulShape, Arc<Matmul>>>,
}

impl Products {
    /// Enqueues products on a stream, as `batches` makes them from the operands' layouts. They write different elements of a
    /// dense result; its other elements become zero. A bias is a vector that is added to each row of every product.
    ///
    /// # Errors
    /// That the library is missing or cannot do it, and what the driver says.
    pub fn multiply(
        &self,
        device: &CudaDevice,
        stream: &Arc<Stream>,
        [a, b]: [&Place; 2],
        bias: Option<&Place>,
        result: &Place,
        batches: impl Fn(&Layout, &Layout) -> Vec<ProductBatch>,
    ) -> Result<(), Error> {
        let mut products = batches(&a.layout, &b.layout);
        let copy_of = |place: &Place, matrix: fn(&Product) -> &Matrix| {
            let is_readable = products.iter().all(|batch| layout(matrix(&batch.first)).is_some());
            (!is_readable).then(|| copied(device, stream, place)).transpose()
        };
        let copies = [copy_of(a, |product| &product.a)?, copy_of(b, |product| &product.b)?];
        let place = |copy: &Option<GpuTensor>, given: &Place| {
            copy.as_ref().map_or_else(|| given.clone(), GpuTensor::place)
        };
        let (a, b) = (place(&copies[0], a), place(&copies[1], b));
        if copies.iter().any(Option::is_some) {
            products = batches(&a.layout, &b.layout);
        }
        products.retain(|batch| !batch.first.is_empty());
        let elements = |batch: &ProductBatch| batch.count * batch.first.a.rows * batch.first.b.columns;
        let written: usize = products.iter().map(elements).sum();
        if written < result.layout.sizes.iter().product()
            && let Some((start, bytes)) = result.stretch()
        {
            // SAFETY: the result is of a tensor that lives as long as the call.
            unsafe { stream.clear(start, bytes) }?;
        }
        let copy = bias.filter(|bias| !bias.layout.is_dense()).map(|bias| dense(device, stream, bias));
        let copy = copy.transpose()?;
        let of_copy = copy.as_ref().map(GpuTensor::place);
        let bias = of_copy.as_ref().or(bias).map(|bias| bias.element(bias.layout.offset as i64));
        products.iter().try_for_each(|batch| self.run(device, stream, [&a, &b, result], bias, batch))
    }

    fn run(
        &self,
        device: &CudaDevice,
        stream: &Arc<Stream>,
        [a, b, result]: [&Place; 3],
        bias: Option<u64>,
        &ProductBatch { first, count, steps }: &ProductBatch,
    ) -> Result<(), Error> {
        let addresses = [
            a.element(first.a.offset as i64),
            b.element(first.b.offset as i64),
            result.element(result.layout.offset as i64 + first.first as i64),
        ];
        // Common to all matrices of the batch.
        let [of_a, of_b, of_result] = steps.map(|step| step as i64);
        let batch = Batch { count, a: of_a, b: of_b, result: of_result };
        let strides = [(a, of_a), (b, of_b), (result, of_result)];
        let strides = strides.map(|(place, stride)| stride as u64 * place.dtype.size() as u64);
        let alignments = [0, 1, 2].map(|number| MatmulShape::alignment(addresses[number] | strides[number]));
        let readable = "operands that no layout fits were copied";
        let shape = MatmulShape {
            rows: first.a.rows,
            columns: first.b.columns,
            depth: first.a.columns,
            operands: matrix_type(a.dtype),
            result: matrix_type(result.dtype),
            a: layout(&first.a).expect(readable),
            b: layout(&first.b).expect(readable),
            result_row: first.row as i64,
            batch,
            bias: bias.map(MatmulShape::alignment),
            alignments,
        };
        let matmul = self.algorithm(device, &shape, bias)?;
        let [a, b, result] = addresses;
        // SAFETY: operands and result are of tensors that live as long as the call, hold the matrices at these places, and lie
        // apart, a step's results being taken out while its operands are read. The bias is one of the operands, or a copy that
        // the stream frees after this.
        unsafe { matmul.run(stream, [a, b], bias, result) }?;
        Ok(())
    }

    fn algorithm(
        &self,
        device: &CudaDevice,
        shape: &MatmulShape,
        bias: Option<u64>,
    ) -> Result<Arc<Matmul>, cuda::Error> {
        let mut algorithms = self.algorithms.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = algorithms.get(shape) {
            return Ok(Arc::clone(known));
        }
        let found = Arc::new(self.handle(device)?.matmul(shape, bias)?);
        if algorithms.len() >= MAX_CACHED_ALGORITHMS {
            algorithms.clear();
        }
        algorithms.insert(*shape, Arc::clone(&found));
        Ok(found)
    }

    fn handle(&self, device: &CudaDevice) -> Result<&Arc<CublasLtHandle>, cuda::Error> {
        if let Some(handle) = self.handle.get() {
            return Ok(handle);
        }
        let made = CublasLtHandle::new(device.gpu(), device.cublaslt()?)?;
        Ok(self.handle.get_or_init(|| Arc::new(made)))
    }
}

/// A copy of an operand without gaps. Axes along which it repeats become axes of size 1, which products allow for batches.
fn copied(device: &CudaDevice, stream: &Arc<Stream>, place: &Place) -> Result<GpuTensor, Error> {
    let mut layout = place.layout.clone();
    let batches = layout.rank() - 2;
    for axis in 0..batches {
        if layout.strides[axis] == 0 && layout.sizes[axis] > 0 {
            layout.sizes[axis] = 1;
        }
    }
    let copy = GpuTensor::allocate(stream, place.dtype, Layout::dense(&layout.sizes))?;
    let from = place.relaid(layout);
    device.copy(stream, &copy.place(), &from)?;
    Ok(copy)
}

/// A copy without gaps.
fn dense(device: &CudaDevice, stream: &Arc<Stream>, place: &Place) -> Result<GpuTensor, Error> {
    let copy = GpuTensor::allocate(stream, place.dtype, Layout::dense(&place.layout.sizes))?;
    device.copy(stream, &copy.place(), place)?;
    Ok(copy)
}

fn layout(matrix: &Matrix) -> Option<MatrixLayout> {
    MatrixLayout::of([matrix.rows, matrix.columns], [matrix.row, matrix.column])
}

/// The library's type for a dtype that has products.
fn matrix_type(dtype: DType) -> MatrixType {
    match dtype {
        DType::F16 => MatrixType::F16,
        DType::BF16 => MatrixType::Bf16,
        DType::F32 => MatrixType::F32,
        DType::F64 => MatrixType::F64,
        other => unreachable!("products are of floats, not of {other}"),
    }
}

/// Products in order; consecutive ones at equal distances form a batch.
pub(super) fn batches(products: &[Product]) -> Vec<ProductBatch> {
    let mut batches: Vec<ProductBatch> = Vec::new();
    for product in products {
        match batches.last_mut().and_then(|batch| Some((extended(batch, product)?, batch))) {
            Some((longer, batch)) => *batch = longer,
            None => batches.push(ProductBatch { first: *product, count: 1, steps: [0; 3] }),
        }
    }
    batches
}

/// A batch with one more product, if that is at the distance of the others.
fn extended(batch: &ProductBatch, product: &Product) -> Option<ProductBatch> {
    let &ProductBatch { first, count, steps } = batch;
    let alike = |a: &Matrix, b: &Matrix| Matrix { offset: 0, ..*a } == Matrix { offset: 0, ..*b };
    if !alike(&first.a, &product.a) || !alike(&first.b, &product.b) || first.row != product.row {
        return None;
    }
    let places = |of: &Product| [of.a.offset, of.b.offset, of.first as isize];
    let (from, to, times) = (places(&first), places(product), count as isize);
    let step = |operand: usize| (to[operand] - from[operand]) / times;
    let found = [step(0), step(1), step(2)];
    let fits =
        (0..3).all(|operand| found[operand] >= 0 && found[operand] * times == to[operand] - from[operand]);
    (fits && (count == 1 || found == steps)).then_some(ProductBatch { first, count: count + 1, steps: found })
}

#[cfg(test)]
mod tests {
    use ir::array::products::of_groups;

    use super::*;

    #[test]
    fn groups_at_regular_distances_are_one_batch() {
        let (a, b) = (Layout::dense(&[8, 5]), Layout::dense(&[4, 5, 6]));
        let counts = |groups: &[(usize, usize)]| -> Vec<usize> {
            batches(&of_groups(&a, &b, 6, groups)).iter().map(|batch| batch.count).collect()
        };
        assert_eq!(counts(&[(0, 2), (2, 4), (4, 6), (6, 8)]), [4]);
        assert_eq!(counts(&[(0, 2), (2, 4), (4, 7), (7, 8)]), [2, 1, 1]);
        assert_eq!(counts(&[(0, 2), (1, 3), (4, 6), (6, 8)]), [2, 2]);
    }
}
