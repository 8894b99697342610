//! Products with the algorithm that cuBLASLt chose for them, and how they are enqueued on a stream.
//!
//! Our matrices are row-major and cuBLASLt's are column-major, so it is given the transposed product, `Dᵀ = Bᵀ Aᵀ`, in which
//! every matrix keeps its layout.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;

use super::CublasLtHandle;
use super::shape::{MatmulShape, MatrixLayout, MatrixType};
use crate::cublaslt::NOT_SUPPORTED;
use crate::cublaslt::functions::{
    Algorithm, EPILOGUE_BIAS, HeuristicResult, REDUCE_IN_COMPUTE_TYPE, TRANSPOSED, compute, data_type,
    layout_attribute, matmul_attribute, preference_attribute,
};
use crate::driver::Handle;
use crate::error::Error;
use crate::memory::DeviceBuffer;
use crate::stream::Stream;

/// The most bytes of workspace that an algorithm may use, as NVIDIA advises for its newest devices.
const WORKSPACE_BYTES: usize = 32 << 20;

/// A product that is ready to run, with any addresses of its alignments.
#[derive(Debug)]
pub struct Matmul {
    handle: Arc<CublasLtHandle>,
    shape: MatmulShape,
    /// That of a product without a bias, whose address is a part of it.
    description: Option<Descriptor>,
    /// Of cuBLASLt's first and second operand and of its result, which are `Bᵀ`, `Aᵀ` and `Dᵀ`.
    layouts: [Descriptor; 3],
    algorithm: Algorithm,
    workspace_bytes: usize,
}

/// An object of the library that is destroyed with this.
#[derive(Debug)]
struct Descriptor {
    raw: Handle,
    destroy: unsafe extern "C" fn(Handle) -> c_int,
}

// SAFETY: a descriptor is memory that only functions of the library read once it is set, which any thread may call.
unsafe impl Send for Descriptor {}
// SAFETY: as above.
unsafe impl Sync for Descriptor {}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: it was made by the library and is destroyed once.
        unsafe { (self.destroy)(self.raw) };
    }
}

/// How the library takes an attribute.
type Set = unsafe extern "C" fn(Handle, c_int, *const c_void, usize) -> c_int;

impl CublasLtHandle {
    /// Asks the library for the algorithm that it considers fastest, with a bias at an address aligned like this.
    ///
    /// # Errors
    /// That it has none, or what it says.
    pub fn matmul(self: &Arc<Self>, shape: &MatmulShape, bias: Option<u64>) -> Result<Matmul, Error> {
        let _entered = self.device.enter()?;
        let description = self.description(shape, bias)?;
        let &MatmulShape { rows, columns, depth, batch, .. } = shape;
        let stored = |matrix: MatrixLayout, [rows, columns]: [usize; 2]| match matrix.is_column_major {
            false => (columns, rows, matrix.leading),
            true => (rows, columns, matrix.leading),
        };
        let layouts = [
            self.layout(shape.operands, stored(shape.b, [depth, columns]), batch.count, batch.b)?,
            self.layout(shape.operands, stored(shape.a, [rows, depth]), batch.count, batch.a)?,
            self.layout(shape.result, (columns, rows, shape.result_row), batch.count, batch.result)?,
        ];
        let found = self.heuristic(shape, &description, &layouts)?;
        Ok(Matmul {
            handle: Arc::clone(self),
            shape: *shape,
            description: bias.is_none().then_some(description),
            layouts,
            algorithm: found.algorithm,
            workspace_bytes: found.workspace_bytes,
        })
    }

    fn description(&self, shape: &MatmulShape, bias: Option<u64>) -> Result<Descriptor, Error> {
        let functions = &self.library.functions;
        // Scalars are of the type that sums are accumulated in.
        let (compute, scale) = match shape.operands {
            MatrixType::F64 => (compute::F64, data_type::R_64F),
            _ => (compute::F32, data_type::R_32F),
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the function has this type; the handle outlives the call.
        let code = unsafe { (functions.cublasLtMatmulDescCreate)(&mut raw, compute, scale) };
        self.library.check("cublasLtMatmulDescCreate", code)?;
        let description = Descriptor { raw, destroy: functions.cublasLtMatmulDescDestroy };
        let (set, call) = (functions.cublasLtMatmulDescSetAttribute, "cublasLtMatmulDescSetAttribute");
        let transposed =
            [(matmul_attribute::TRANSA, shape.b), (matmul_attribute::TRANSB, shape.a)].into_iter();
        for (attribute, _) in transposed.filter(|(_, matrix)| matrix.is_column_major) {
            self.set(set, call, &description, attribute, TRANSPOSED)?;
        }
        if let Some(address) = bias {
            self.set(set, call, &description, matmul_attribute::EPILOGUE, EPILOGUE_BIAS)?;
            self.set(set, call, &description, matmul_attribute::BIAS_POINTER, address)?;
        }
        Ok(description)
    }

    /// A column-major matrix, or several.
    fn layout(
        &self,
        kind: MatrixType,
        (rows, columns, leading): (usize, usize, i64),
        count: usize,
        stride: i64,
    ) -> Result<Descriptor, Error> {
        let functions = &self.library.functions;
        let mut raw = ptr::null_mut();
        // SAFETY: the function has this type; the handle outlives the call.
        let code = unsafe {
            let create = functions.cublasLtMatrixLayoutCreate;
            create(&mut raw, kind.data_type(), rows as u64, columns as u64, leading)
        };
        self.library.check("cublasLtMatrixLayoutCreate", code)?;
        let layout = Descriptor { raw, destroy: functions.cublasLtMatrixLayoutDestroy };
        if count > 1 {
            let (set, call) =
                (functions.cublasLtMatrixLayoutSetAttribute, "cublasLtMatrixLayoutSetAttribute");
            let count = c_int::try_from(count).unwrap_or(c_int::MAX);
            self.set(set, call, &layout, layout_attribute::BATCH_COUNT, count)?;
            self.set(set, call, &layout, layout_attribute::STRIDED_BATCH_OFFSET, stride)?;
        }
        Ok(layout)
    }

    fn heuristic(
        &self,
        shape: &MatmulShape,
        description: &Descriptor,
        [first, second, result]: &[Descriptor; 3],
    ) -> Result<HeuristicResult, Error> {
        let preference = self.preference(shape)?;
        let (mut found, mut count) = (HeuristicResult::default(), 0);
        // SAFETY: the function has this type; the descriptors live, and there is room for one result and their number.
        let code = unsafe {
            (self.library.functions.cublasLtMatmulAlgoGetHeuristic)(
                self.raw,
                description.raw,
                first.raw,
                second.raw,
                result.raw,
                result.raw,
                preference.raw,
                1,
                &mut found,
                &mut count,
            )
        };
        self.library.check("cublasLtMatmulAlgoGetHeuristic", code)?;
        let state = if count == 0 { NOT_SUPPORTED } else { found.state };
        self.library.check("cublasLtMatmulAlgoGetHeuristic", state).map(|()| found)
    }

    fn preference(&self, shape: &MatmulShape) -> Result<Descriptor, Error> {
        let functions = &self.library.functions;
        let mut raw = ptr::null_mut();
        // SAFETY: the function has this type; the handle outlives the call.
        let code = unsafe { (functions.cublasLtMatmulPreferenceCreate)(&mut raw) };
        self.library.check("cublasLtMatmulPreferenceCreate", code)?;
        let preference = Descriptor { raw, destroy: functions.cublasLtMatmulPreferenceDestroy };
        let (set, call) =
            (functions.cublasLtMatmulPreferenceSetAttribute, "cublasLtMatmulPreferenceSetAttribute");
        self.set(set, call, &preference, preference_attribute::MAX_WORKSPACE_BYTES, WORKSPACE_BYTES)?;
        let reduction = preference_attribute::REDUCTION_SCHEME_MASK;
        self.set(set, call, &preference, reduction, REDUCE_IN_COMPUTE_TYPE)?;
        let [a, b, result] = shape.alignments;
        for (number, alignment) in (0..).zip([b, a, result, result]) {
            let attribute = preference_attribute::MIN_ALIGNMENT_A_BYTES + number;
            self.set(set, call, &preference, attribute, alignment)?;
        }
        Ok(preference)
    }

    /// Sets an attribute, whose type is the header's.
    fn set<T>(
        &self,
        set: Set,
        call: &'static str,
        of: &Descriptor,
        attribute: c_int,
        value: T,
    ) -> Result<(), Error> {
        // SAFETY: the function has this type, and copies as many bytes as the value has; the descriptor lives.
        let code = unsafe { set(of.raw, attribute, (&raw const value).cast(), size_of::<T>()) };
        self.library.check(call, code)
    }
}

impl Matmul {
    /// Enqueues the product on a stream. Its workspace comes from the stream's pool.
    ///
    /// # Safety
    /// The addresses are of matrices of the shape and of its alignments, in memory of the stream's device that may be read, and
    /// written at `result`, when the stream comes to it; so is that of the bias, if the shape has one, of as many elements as the
    /// result has columns. The result overlaps no operand.
    ///
    /// # Errors
    /// What library and driver say.
    pub unsafe fn run(
        &self,
        stream: &Arc<Stream>,
        [a, b]: [u64; 2],
        bias: Option<u64>,
        result: u64,
    ) -> Result<(), Error> {
        assert_eq!(bias.map(MatmulShape::alignment), self.shape.bias, "a bias as the shape has it");
        let workspace = match self.workspace_bytes {
            0 => None,
            bytes => Some(DeviceBuffer::allocate(stream, bytes)?),
        };
        let workspace = workspace.as_ref().map_or(ptr::null_mut(), |workspace| pointer(workspace.address()));
        let (one, zero) = ((1.0_f32, 1.0_f64), (0.0_f32, 0.0_f64));
        let scalar = |(single, double): &(f32, f64)| match self.shape.result {
            MatrixType::F64 => ptr::from_ref(double).cast::<c_void>(),
            _ => ptr::from_ref(single).cast(),
        };
        let [of_first, of_second, of_result] = &self.layouts;
        let _entered = self.handle.device.enter()?;
        let own = match &self.description {
            Some(_) => None,
            None => Some(self.handle.description(&self.shape, bias)?),
        };
        let description = own.as_ref().or(self.description.as_ref()).expect("one of the two");
        // SAFETY: the function has this type; descriptors and scalars live, the workspace has as many bytes as the algorithm
        // asked for and is freed by the stream after this; the rest is the caller's.
        let code = unsafe {
            (self.handle.library.functions.cublasLtMatmul)(
                self.handle.raw,
                description.raw,
                scalar(&one),
                pointer(b),
                of_first.raw,
                pointer(a),
                of_second.raw,
                scalar(&zero),
                pointer(result),
                of_result.raw,
                pointer(result),
                of_result.raw,
                &raw const self.algorithm,
                workspace,
                self.workspace_bytes,
                stream.raw(),
            )
        };
        self.handle.library.check("cublasLtMatmul", code)
    }
}

/// An address of the device's, which the host does not follow.
fn pointer(address: u64) -> *mut c_void {
    ptr::without_provenance_mut(address as usize)
}
