//! Copies between places of a device with different layouts, element by element, by kernels that are compiled when they are
//! first needed.

use std::sync::OnceLock;

use crate::error::Error;
use crate::module::{Function, LaunchShape, Module};
use crate::stream::Stream;

/// The axes of a launch; a copy may have fewer.
const AXES: usize = 8;

/// Each thread copies the element of its number in row-major order. Each axis has its size and the strides of both tensors,
/// in elements, the last one first. All are parameters, so that a captured launch has them.
const COPY: &str = "\
template <class T>
__device__ void copy(T* to, const T* from, long long count, long long rank, const long long (&axes)[8][3]) {
  long long place = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (place >= count) return;
  #pragma unroll
  for (int axis = 0; axis < 8; axis++)
    if (axis < rank) {
      long long index = place % axes[axis][0];
      place /= axes[axis][0];
      to += index * axes[axis][1];
      from += index * axes[axis][2];
    }
  *to = *from;
}
";

/// The kernels, and the elements that they copy, by the logarithm of their bytes.
const KERNELS: [(&str, &str); 4] = [
    ("copy_1", "unsigned char"),
    ("copy_2", "unsigned short"),
    ("copy_4", "unsigned int"),
    ("copy_8", "unsigned long long"),
];

/// The text of all kernels.
fn text() -> String {
    let numbers = (0..3 * AXES).map(|number| format!("a{number}"));
    let parameters: String = numbers.clone().map(|name| format!(", long long {name}")).collect();
    let rows: Vec<String> = numbers.collect();
    let rows: Vec<String> = rows.chunks(3).map(|row| format!("{{{}}}", row.join(", "))).collect();
    let rows = rows.join(", ");
    let kernel = |(name, element)| {
        format!(
            "extern \"C\" __global__ void {name}({element}* to, const {element}* from, long long count, long long rank{parameters}) {{\n  \
             const long long axes[8][3] = {{{rows}}};\n  copy(to, from, count, rank, axes);\n}}\n"
        )
    };
    KERNELS.into_iter().map(kernel).fold(COPY.to_owned(), |text, kernel| text + &kernel)
}

/// Threads of a block.
const THREADS: u32 = 256;

/// An axis of both places: its size and their strides, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyAxis {
    pub size: i64,
    pub to: i64,
    pub from: i64,
}

/// The kernels, once they are compiled.
#[derive(Debug, Default)]
pub struct StridedCopy {
    functions: OnceLock<[Function; 4]>,
}

impl StridedCopy {
    /// The max number of axes of a copy.
    pub const MAX_AXES: usize = AXES;
    /// The max number of its elements.
    pub const MAX_ELEMENTS: i64 = i32::MAX as i64 * THREADS as i64;

    /// Enqueues a copy of elements of 1, 2, 4 or 8 bytes on a stream. NVRTC gets these options if the kernels are to be
    /// compiled.
    ///
    /// # Safety
    /// At both addresses there are the elements that the axes reach, which the device may read and write when the stream comes
    /// to it. They do not overlap.
    ///
    /// # Panics
    /// Where there are more axes or elements.
    ///
    /// # Errors
    /// What NVRTC and the driver say.
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        options: &[&str],
        width: usize,
        [to, from]: [u64; 2],
        axes: &[CopyAxis],
    ) -> Result<(), Error> {
        let count: i64 = axes.iter().map(|axis| axis.size).product();
        assert!(count <= StridedCopy::MAX_ELEMENTS, "a copy of {count} elements");
        let blocks = (count as u64).div_ceil(THREADS.into()) as u32;
        let shape = LaunchShape { blocks, threads: THREADS, shared_bytes: 0 };
        let rest = std::iter::repeat_n([1, 0, 0], AXES - axes.len());
        let rows = axes.iter().rev().map(|axis| [axis.size, axis.to, axis.from]).chain(rest);
        let words = rows.flatten().map(|number| number as u64);
        let parameters: Vec<u64> =
            [to, from, count as u64, axes.len() as u64].into_iter().chain(words).collect();
        let function = &self.functions(stream, options)?[width.ilog2() as usize];
        // SAFETY: the kernel takes these words; the rest is the caller's.
        unsafe { function.launch(stream, shape, &parameters) }
    }

    fn functions(&self, stream: &Stream, options: &[&str]) -> Result<&[Function; 4], Error> {
        if let Some(functions) = self.functions.get() {
            return Ok(functions);
        }
        let device = stream.device();
        let cubin = device.cuda.nvrtc.compile(&text(), &device.architecture(), options)?;
        let module = Module::load(device, &cubin.bytes)?;
        let functions = KERNELS.map(|(name, _)| module.function(name).expect("it was compiled"));
        Ok(self.functions.get_or_init(|| functions))
    }
}
