//! The structures that describe an array, in both directions. Their users keep the elements alive.

use std::ffi::c_void;
use std::fmt;

use ferrofuse::{Argument, ArrayView, DType};
use ir::array::{Dims, Layout, Strides};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;

use crate::arrays::Place;
use crate::arrays::memory::Exported;
use crate::errors;
use crate::gpu::OnGpu;

/// The numbers of kinds of devices: the CPU, NVIDIA GPUs, and managed memory.
const CPU: i32 = 1;
const CUDA: i32 = 2;
const CUDA_MANAGED: i32 = 13;

/// Host memory that a GPU can reach: the CPU reads it like its own.
const HOST_KINDS: [i32; 3] = [CPU, 3, 11];

/// Kinds that are not supported, with their names.
const OTHER_KINDS: [(i32, &str); 10] = [
    (4, "OpenCL"),
    (7, "Vulkan"),
    (8, "Metal"),
    (9, "VPI"),
    (10, "ROCm"),
    (12, "an extension's device"),
    (14, "oneAPI"),
    (15, "WebGPU"),
    (16, "Hexagon"),
    (17, "MAIA"),
];

/// The device of an array.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Device {
    kind: i32,
    number: i32,
}

impl Device {
    /// The CPU, or the GPU of a number.
    pub fn new(gpu: Option<usize>) -> Device {
        match gpu {
            None => Device { kind: CPU, number: 0 },
            Some(number) => Device { kind: CUDA, number: number as i32 },
        }
    }

    /// As the pair of numbers that Python uses.
    pub fn pair(self) -> (i32, i32) {
        (self.kind, self.number)
    }

    /// The number of an NVIDIA GPU.
    pub fn gpu(self) -> Option<usize> {
        let is_gpu = self.kind == CUDA || self.kind == CUDA_MANAGED;
        is_gpu.then(|| usize::try_from(self.number).ok()).flatten()
    }
}

impl fmt::Display for Device {
    /// Its name in `dlpack.h`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = OTHER_KINDS.iter().find(|(kind, _)| *kind == self.kind);
        match known {
            Some((_, name)) => write!(f, "{name}:{}", self.number),
            None => write!(f, "device {} of DLPack's type {}", self.number, self.kind),
        }
    }
}

impl From<(i32, i32)> for Device {
    fn from((kind, number): (i32, i32)) -> Device {
        Device { kind, number }
    }
}

#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// An array, without its owner.
#[repr(C)]
pub(super) struct Tensor {
    data: *mut c_void,
    device: Device,
    rank: i32,
    element: Element,
    sizes: *const i64,
    /// In elements; null if the tensor is row-major without gaps.
    strides: *const i64,
    byte_offset: u64,
}

/// Versions with this major number have these structures.
pub(super) const MAJOR: u32 = 1;

/// The version of a structure or a table.
#[repr(C)]
pub(super) struct Version {
    pub major: u32,
    pub minor: u32,
}

/// An array with its owner, since version 1.
#[repr(C)]
pub(super) struct Versioned {
    pub version: Version,
    pub context: *mut c_void,
    pub deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    pub flags: u64,
    pub tensor: Tensor,
}

/// Its flags: the consumer must not write; the consumer has a copy.
pub(super) const READ_ONLY: u64 = 1;
pub(super) const IS_COPIED: u64 = 2;

// Sizes and strides of a layout are borrowed without a copy.
const _: () = assert!(size_of::<usize>() == size_of::<i64>());

impl Tensor {
    /// The memory of an output, valid as long as `exported` lives and does not move.
    pub fn of(exported: &Exported) -> Tensor {
        let layout = &exported.layout;
        Tensor {
            data: exported.data.cast(),
            device: Device::new(exported.gpu),
            rank: layout.rank() as i32,
            element: element_of(exported.dtype),
            sizes: layout.sizes.as_ptr().cast(),
            strides: layout.strides.as_ptr().cast(),
            byte_offset: 0,
        }
    }

    fn layout(&self) -> Option<Layout> {
        let rank = usize::try_from(self.rank).ok()?;
        let slice = |pointer: *const i64| match rank {
            0 => &[][..],
            // SAFETY: sizes and strides have one entry per axis.
            _ => unsafe { std::slice::from_raw_parts(pointer, rank) },
        };
        let sizes: Option<Dims> = slice(self.sizes).iter().map(|&size| usize::try_from(size).ok()).collect();
        let sizes = sizes?;
        if self.strides.is_null() {
            return Some(Layout::dense(&sizes));
        }
        let strides: Strides = slice(self.strides).iter().map(|&stride| stride as isize).collect();
        Some(Layout { offset: 0, sizes, strides })
    }
}

/// The place of an imported array's elements.
pub(super) struct Elements {
    data: *mut u8,
    dtype: DType,
    layout: Layout,
    /// The number of the GPU whose memory they are in; `None` for host memory.
    gpu: Option<usize>,
}

impl Elements {
    /// The elements of an input.
    ///
    /// # Errors
    /// Dtypes and devices that are not supported, and arrays without memory.
    pub fn of(py: Python<'_>, tensor: &Tensor, place: Place<'_>) -> PyResult<Elements> {
        let gpu = tensor.device.gpu();
        if gpu.is_none() && !HOST_KINDS.contains(&tensor.device.kind) {
            let message = format!(
                "{place}: the array lies on {}, and only the CPU and NVIDIA's GPUs are supported",
                tensor.device
            );
            return Err(errors::input(py, message));
        }
        let Some(dtype) = dtype_of(tensor.element) else {
            let Element { code, bits, .. } = tensor.element;
            let message =
                format!("{place}: elements of {bits} bits and DLPack's type code {code} are not supported");
            return Err(errors::argument(py, message));
        };
        let layout =
            tensor.layout().ok_or_else(|| PyBufferError::new_err("a DLPack tensor with a negative size"))?;
        if tensor.data.is_null() && layout.sizes.iter().all(|&size| size > 0) {
            // torch exports its fake tensors, which have sizes but no elements, with a null address.
            return Err(errors::input(py, format!("{place}: the array has no memory")));
        }
        let data = tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize);
        Ok(Elements { data, dtype, layout, gpu })
    }

    /// Whether these are the same elements as the others.
    pub fn are(&self, others: &Elements) -> bool {
        let all =
            |elements: &Elements| (elements.data, elements.dtype, elements.layout.clone(), elements.gpu);
        all(self) == all(others)
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Where they are, if in the memory of a GPU.
    pub fn on_gpu(&self) -> Option<OnGpu> {
        let (dtype, layout) = (self.dtype, self.layout.clone());
        self.gpu.map(|ordinal| OnGpu { ordinal, address: self.data as u64, dtype, layout })
    }

    /// The elements, for reading and writing.
    ///
    /// # Safety
    /// The array is alive for `'a`, in the host's memory.
    pub unsafe fn argument<'a>(&self) -> Argument<'a> {
        // SAFETY: the exporter guarantees sizes and strides; DLPack shares memory for reading and writing, and arguments of
        // one call may overlap. A write during others' reads is the caller's own race, as with every function of the
        // library.
        unsafe { Argument::from_raw_parts(self.data, self.dtype, self.layout.clone()) }
    }

    /// The elements.
    ///
    /// # Safety
    /// As for `argument`.
    pub unsafe fn view<'a>(&self) -> ArrayView<'a> {
        // SAFETY: as for `argument`.
        unsafe { ArrayView::from_raw_parts(self.data, self.dtype, self.layout.clone()) }
    }
}

/// Type codes: 0 signed, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool, and one for each float of eight bits.
fn element_of(dtype: DType) -> Element {
    let code = match dtype {
        DType::Bool => 6,
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => 0,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => 1,
        DType::F16 | DType::F32 | DType::F64 => 2,
        DType::BF16 => 4,
        DType::C64 | DType::C128 => 5,
        DType::F8E4M3 => 10,
        DType::F8E5M2 => 12,
        DType::F8E8M0 => 14,
    };
    Element { code, bits: dtype.size() as u8 * 8, lanes: 1 }
}

fn dtype_of(element: Element) -> Option<DType> {
    DType::ALL.into_iter().find(|&dtype| element_of(dtype) == element)
}
