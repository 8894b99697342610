//! Products of matrices by cuBLASLt: those of a step in as few calls as their offsets allow, with algorithms kept by shape.
//!
//! An operand in which no axis of the matrices has a stride of one element is copied first.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cuda::{Batch, CublasLtHandle, Matmul, MatmulShape, MatrixLayout, MatrixType, Stream};
use ir::array::Layout;
use ir::array::products::{Matrix, Product};
use ops::DType;
use rustc_hash::FxHashMap;

use super::CudaDevice;
use super::tensor::{GpuTensor, Place};
use crate::Error;

/// The most algorithms that are kept; where sizes vary more, the library is asked again.
const KEPT: usize = 1024;

/// cuBLASLt on a device, once it is needed, and the algorithms that it chose.
#[derive(Debug, Default)]
pub(super) struct Products {
    handle: OnceLock<Arc<CublasLtHandle>>,
    algorithms: Mutex<FxHashMap<MatmulShape, Arc<Matmul>>>,
}

/// Matrices of one shape at regular distances.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: Product,
    batch: Batch,
}

impl Products {
    /// Gives products to a stream, as `listed` makes them of the operands' layouts. They write different elements of a dense
    /// result, all others of which become zero. A bias is a vector that is added to each row of every product.
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
        listed: impl Fn(&Layout, &Layout) -> Vec<Product>,
    ) -> Result<(), Error> {
        let mut products = listed(&a.layout, &b.layout);
        let copy_of = |place: &Place, matrix: fn(&Product) -> &Matrix| {
            let is_readable = products.iter().all(|product| layout(matrix(product)).is_some());
            (!is_readable).then(|| copied(device, stream, place)).transpose()
        };
        let copies = [copy_of(a, |product| &product.a)?, copy_of(b, |product| &product.b)?];
        let place = |copy: &Option<GpuTensor>, given: &Place| {
            copy.as_ref().map_or_else(|| given.clone(), GpuTensor::place)
        };
        let (a, b) = (place(&copies[0], a), place(&copies[1], b));
        if copies.iter().any(Option::is_some) {
            products = listed(&a.layout, &b.layout);
        }
        products.retain(|product| !product.is_empty());
        let written: usize = products.iter().map(|product| product.a.rows * product.b.columns).sum();
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
        runs(&products).iter().try_for_each(|run| self.run(device, stream, [&a, &b, result], bias, run))
    }

    fn run(
        &self,
        device: &CudaDevice,
        stream: &Arc<Stream>,
        [a, b, result]: [&Place; 3],
        bias: Option<u64>,
        &Run { first, batch }: &Run,
    ) -> Result<(), Error> {
        let addresses = [
            a.element(first.a.offset as i64),
            b.element(first.b.offset as i64),
            result.element(result.layout.offset as i64 + first.first as i64),
        ];
        // What holds of all matrices of the batch.
        let strides = [(a, batch.a), (b, batch.b), (result, batch.result)];
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
        if algorithms.len() >= KEPT {
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

/// A copy of an operand without gaps. Axes along which it repeats itself become ones of size 1, as products allow it of batches.
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
    device.copies().copy(device, stream, &copy.place(), &from)?;
    Ok(copy)
}

/// A copy without gaps.
fn dense(device: &CudaDevice, stream: &Arc<Stream>, place: &Place) -> Result<GpuTensor, Error> {
    let copy = GpuTensor::allocate(stream, place.dtype, Layout::dense(&place.layout.sizes))?;
    device.copies().copy(device, stream, &copy.place(), place)?;
    Ok(copy)
}

fn layout(matrix: &Matrix) -> Option<MatrixLayout> {
    MatrixLayout::of([matrix.rows, matrix.columns], [matrix.row, matrix.column])
}

/// The library's type for a type of which there are products.
fn matrix_type(dtype: DType) -> MatrixType {
    match dtype {
        DType::F16 => MatrixType::F16,
        DType::BF16 => MatrixType::Bf16,
        DType::F32 => MatrixType::F32,
        DType::F64 => MatrixType::F64,
        other => unreachable!("products are of floats, not of {other}"),
    }
}

/// Products in order, those together that follow each other at the same distances.
fn runs(products: &[Product]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for product in products {
        match runs.last_mut().and_then(|run| Some((run.extended(product)?, run))) {
            Some((batch, run)) => run.batch = batch,
            None => runs.push(Run { first: *product, batch: Batch { count: 1, a: 0, b: 0, result: 0 } }),
        }
    }
    runs
}

impl Run {
    /// The batch with one product more, if that is at the distance of the others.
    fn extended(&self, product: &Product) -> Option<Batch> {
        let Run { first, batch } = self;
        let alike = |a: &Matrix, b: &Matrix| Matrix { offset: 0, ..*a } == Matrix { offset: 0, ..*b };
        if !alike(&first.a, &product.a) || !alike(&first.b, &product.b) || first.row != product.row {
            return None;
        }
        let count = batch.count as i64;
        let step = |from: i64, to: i64| {
            let distance = to - from;
            (distance >= 0 && distance % count == 0).then_some(distance / count)
        };
        let extended = Batch {
            count: batch.count + 1,
            a: step(first.a.offset as i64, product.a.offset as i64)?,
            b: step(first.b.offset as i64, product.b.offset as i64)?,
            result: step(first.first as i64, product.first as i64)?,
        };
        (batch.count == 1 || Batch { count: extended.count, ..*batch } == extended).then_some(extended)
    }
}

#[cfg(test)]
mod tests {
    use ir::array::products::of_matmul;

    use super::*;

    fn counts(a: &Layout, b: &Layout, sizes: &[usize]) -> Vec<usize> {
        runs(&of_matmul(a, b, sizes)).iter().map(|run| run.batch.count).collect()
    }

    #[test]
    fn batches_at_regular_distances_are_one_call() {
        let dense = Layout::dense;
        assert_eq!(counts(&dense(&[3, 4, 5, 6]), &dense(&[3, 4, 6, 7]), &[3, 4, 5, 7]), [12]);
        assert_eq!(counts(&dense(&[3, 4, 5, 6]), &dense(&[1, 4, 6, 7]), &[3, 4, 5, 7]), [4, 4, 4]);
        // One matrix for all, and heads that lie between the rows.
        assert_eq!(counts(&dense(&[3, 4, 5, 6]), &dense(&[1, 1, 6, 7]), &[3, 4, 5, 7]), [1]);
        let heads = dense(&[3, 5, 4, 6]).permuted([0, 2, 1, 3]);
        assert_eq!(counts(&heads, &dense(&[3, 4, 6, 7]), &[3, 4, 5, 7]), [4, 4, 4]);
    }
}
