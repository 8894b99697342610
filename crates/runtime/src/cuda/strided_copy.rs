//! Copies between tensors of a GPU that lie differently: by bytes where both are packed alike, else element by element.

use std::sync::OnceLock;

use codegen_c::cuda::NVRTC_OPTIONS;
use cuda::{Function, LaunchShape, Module, Stream};
use ir::array::Layout;

use super::CudaDevice;
use super::tensor::Place;
use crate::Error;

/// The most axes of a launch; those before them are walked by the host.
const AXES: usize = 8;

/// What each thread does: it copies the element of its number in row-major order. Each axis has its size and the strides of both
/// tensors, in elements, the last one first. All are parameters, so that a captured launch has them.
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

/// The kernels, compiled when they are first needed.
#[derive(Debug, Default)]
pub(crate) struct StridedCopy {
    functions: OnceLock<[Function; 4]>,
}

impl StridedCopy {
    /// Gives a copy to a stream. Both places have the same dtype and sizes, and do not overlap.
    pub fn copy(&self, device: &CudaDevice, stream: &Stream, to: &Place, from: &Place) -> Result<(), Error> {
        let (Some((to_start, bytes)), Some((from_start, _))) = (to.stretch(), from.stretch()) else {
            return Ok(());
        };
        if to.is_packed() && from.layout.strides == to.layout.strides {
            // SAFETY: both places are of tensors that live as long as the call, and have as many bytes.
            return Ok(unsafe { stream.copy(to_start, from_start, bytes) }?);
        }
        // A pair of real numbers is copied as two of them.
        let (width, parts) =
            if to.dtype.size() > 8 { (8, to.dtype.size() / 8) } else { (to.dtype.size(), 1) };
        let axes = merged(&to.layout, &from.layout, parts as i64);
        let (outer, inner) = axes.split_at(axes.len().saturating_sub(AXES));
        let element = width as i64;
        for place in 0..outer.iter().map(|axis| axis.size).product() {
            let mut rest = place;
            let [mut to, mut from] = [to.start(), from.start()];
            for axis in outer.iter().rev() {
                let index = rest % axis.size;
                rest /= axis.size;
                to = to.wrapping_add_signed(index * axis.to * element);
                from = from.wrapping_add_signed(index * axis.from * element);
            }
            self.launch(device, stream, width, [to, from], inner)?;
        }
        Ok(())
    }

    fn launch(
        &self,
        device: &CudaDevice,
        stream: &Stream,
        width: usize,
        [to, from]: [u64; 2],
        axes: &[Axis],
    ) -> Result<(), Error> {
        let count: i64 = axes.iter().map(|axis| axis.size).product();
        let too_large =
            || Error::TooLargeLaunch { kernel: "copy".to_owned(), what: "2^31 blocks or more".to_owned() };
        let blocks = i32::try_from((count as u64).div_ceil(THREADS.into())).map_err(|_| too_large())?;
        let shape = LaunchShape { blocks: blocks as u32, threads: THREADS, shared_bytes: 0 };
        let rest = std::iter::repeat_n([1, 0, 0], AXES - axes.len());
        let rows = axes.iter().rev().map(|axis| [axis.size, axis.to, axis.from]).chain(rest);
        let words = rows.flatten().map(|number| number as u64);
        let parameters: Vec<u64> =
            [to, from, count as u64, axes.len() as u64].into_iter().chain(words).collect();
        let function = &self.functions(device)?[width.ilog2() as usize];
        // SAFETY: the kernel takes these words; both tensors live as long as the call and have the elements that the axes reach.
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

/// An axis of both tensors: its size and their strides, in elements.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    size: i64,
    to: i64,
    from: i64,
}

/// The axes of two tensors of the same sizes, whose elements have so many parts: none of size 1, neighbours joined where one stride
/// serves both in either.
fn merged(to: &Layout, from: &Layout, parts: i64) -> Vec<Axis> {
    let sizes = to.sizes.iter().map(|&size| size as i64);
    let strides = to.strides.iter().zip(&from.strides).map(|(&to, &from)| [to as i64, from as i64]);
    let axes = sizes.zip(strides).map(|(size, [to, from])| Axis { size, to: parts * to, from: parts * from });
    let mut merged: Vec<Axis> = Vec::new();
    for axis in axes.chain([Axis { size: parts, to: 1, from: 1 }]).filter(|axis| axis.size != 1) {
        let joins = |outer: &Axis| (outer.to, outer.from) == (axis.to * axis.size, axis.from * axis.size);
        match merged.last_mut() {
            Some(outer) if joins(outer) => *outer = Axis { size: outer.size * axis.size, ..axis },
            _ => merged.push(axis),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_joined_where_both_tensors_allow_it() {
        let dense = Layout::dense(&[2, 3, 1, 4]);
        let axis = |size, to, from| Axis { size, to, from };
        assert_eq!(merged(&dense, &dense, 1), [axis(24, 1, 1)]);
        assert_eq!(merged(&dense, &dense, 2), [axis(48, 1, 1)]);
        let other = Layout::dense(&[3, 2, 1, 4]).permuted([1, 0, 2, 3]);
        assert_eq!(merged(&dense, &other, 1), [axis(2, 12, 4), axis(3, 4, 8), axis(4, 1, 1)]);
        assert_eq!(merged(&Layout::dense(&[]), &Layout::dense(&[]), 1), []);
    }
}
