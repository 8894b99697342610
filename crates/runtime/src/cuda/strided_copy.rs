//! Copies between tensors of a GPU that lie differently: by bytes where both are packed alike, else element by element.

use std::sync::{Arc, OnceLock};

use codegen::cuda::NVRTC_OPTIONS;
use cuda::{DeviceBuffer, Function, LaunchShape, Module, Stream};

use super::CudaDevice;
use super::tensor::Place;
use crate::Error;

/// What each thread does: it copies the element of its number in row-major order. `table` holds for each axis its size and the
/// strides of both tensors, in elements.
const COPY: &str = "\
template <class T>
__device__ void copy(T* to, const T* from, const long long* table, long long rank, long long count) {
  long long place = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (place >= count) return;
  for (long long axis = rank; axis-- > 0;) {
    const long long* row = table + 3 * axis;
    long long index = place % row[0];
    place /= row[0];
    to += index * row[1];
    from += index * row[2];
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
    let kernel = |(name, element)| {
        let parameters = format!(
            "{element}* to, const {element}* from, const long long* table, long long rank, long long count"
        );
        format!(
            "extern \"C\" __global__ void {name}({parameters}) {{\n  copy(to, from, table, rank, count);\n}}\n"
        )
    };
    KERNELS.into_iter().map(kernel).fold(COPY.to_owned(), |text, kernel| text + &kernel)
}

/// Threads of a block.
const THREADS: u32 = 256;

/// The kernels, compiled when they are first needed.
#[derive(Debug, Default)]
pub(super) struct StridedCopy {
    functions: OnceLock<[Function; 4]>,
}

impl StridedCopy {
    /// Gives a copy to a stream. Both places have the same dtype and sizes, and do not overlap.
    pub fn copy(
        &self,
        device: &CudaDevice,
        stream: &Arc<Stream>,
        to: &Place,
        from: &Place,
    ) -> Result<(), Error> {
        let (Some((to_start, bytes)), Some((from_start, _))) = (to.stretch(), from.stretch()) else {
            return Ok(());
        };
        if to.is_packed() && from.layout.strides == to.layout.strides {
            // SAFETY: both places are of tensors that live as long as the call, and have as many bytes.
            return Ok(unsafe { stream.copy(to_start, from_start, bytes) }?);
        }
        let axes = to.layout.sizes.iter().zip(to.layout.strides.iter().zip(&from.layout.strides));
        // A pair of real numbers is copied as two of them.
        let (width, parts) =
            if to.dtype.size() > 8 { (8, to.dtype.size() / 8) } else { (to.dtype.size(), 1) };
        let parts = parts as i64;
        let row = |(&size, (&to, &from)): (&usize, (&isize, &isize))| {
            [size as i64, parts * to as i64, parts * from as i64]
        };
        let mut table: Vec<i64> = axes.flat_map(row).collect();
        table.extend([parts, 1, 1]);
        let count = to.layout.sizes.iter().product::<usize>() as u64 * parts as u64;
        self.launch(device, stream, width, [to.start(), from.start()], &table, count)
    }

    fn launch(
        &self,
        device: &CudaDevice,
        stream: &Arc<Stream>,
        width: usize,
        [to, from]: [u64; 2],
        table: &[i64],
        count: u64,
    ) -> Result<(), Error> {
        let bytes: Vec<u8> = table.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let mut on_device = DeviceBuffer::allocate(stream, bytes.len())?;
        // SAFETY: a vector is in pageable memory.
        unsafe { on_device.upload(&bytes) }?;
        let too_large =
            || Error::TooLargeLaunch { kernel: "copy".to_owned(), what: "2^31 blocks or more".to_owned() };
        let blocks = i32::try_from(count.div_ceil(THREADS.into())).map_err(|_| too_large())?;
        let shape = LaunchShape { blocks: blocks as u32, threads: THREADS, shared_bytes: 0 };
        let parameters = [to, from, on_device.address(), table.len() as u64 / 3, count];
        let function = &self.functions(device)?[width.ilog2() as usize];
        // SAFETY: the kernel takes these five words; both tensors live as long as the call and have the elements that the table
        // reaches; the table is freed by the stream after this.
        unsafe { function.launch(stream, shape, &parameters) }?;
        Ok(())
    }

    fn functions(&self, device: &CudaDevice) -> Result<&[Function; 4], cuda::Error> {
        if let Some(functions) = self.functions.get() {
            return Ok(functions);
        }
        let cubin = device.nvrtc().compile(&text(), &device.gpu().architecture(), &NVRTC_OPTIONS)?;
        let module = Module::load(device.gpu(), &cubin.bytes)?;
        let [one, two, four, eight] =
            ["copy_1", "copy_2", "copy_4", "copy_8"].map(|name| module.function(name));
        Ok(self.functions.get_or_init(|| [one, two, four, eight].map(|function| function.expect("compiled"))))
    }
}
