//! Copies between tensors of a GPU with different layouts: by bytes if both are packed alike, otherwise element by element.

use codegen_c::cuda::NVRTC_OPTIONS;
use cuda::{CopyAxis, Stream, StridedCopy};
use ir::array::Layout;

use super::CudaDevice;
use super::tensor::Place;
use crate::Error;

impl CudaDevice {
    /// Enqueues a copy on a stream. Both places have the same dtype and sizes, and do not overlap.
    pub(crate) fn copy(&self, stream: &Stream, to: &Place, from: &Place) -> Result<(), Error> {
        let (Some((to_start, bytes)), Some((from_start, _))) = (to.stretch(), from.stretch()) else {
            return Ok(());
        };
        if to.is_packed() && from.layout.strides == to.layout.strides {
            // SAFETY: both places are of tensors that live as long as the call, and have as many bytes.
            return Ok(unsafe { stream.copy(to_start, from_start, bytes) }?);
        }
        // A complex number is copied as two real ones.
        let (width, parts) =
            if to.dtype.size() > 8 { (8, to.dtype.size() / 8) } else { (to.dtype.size(), 1) };
        let axes = merged(&to.layout, &from.layout, parts as i64);
        // The host walks the axes that a launch has no room for.
        let (outer, inner) = axes.split_at(axes.len().saturating_sub(StridedCopy::MAX_AXES));
        if inner.iter().map(|axis| axis.size).product::<i64>() > StridedCopy::MAX_ELEMENTS {
            let what = "2^31 blocks or more".to_owned();
            return Err(Error::TooLargeLaunch { kernel: "copy".to_owned(), what });
        }
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
            // SAFETY: both tensors live as long as the call and have the elements that the axes reach.
            unsafe { self.copies().launch(stream, &NVRTC_OPTIONS, width, [to, from], inner) }?;
        }
        Ok(())
    }
}

/// The axes of two tensors of the same sizes, whose elements have `parts` parts each. None is of size 1; neighbours are
/// joined where one stride serves both in either tensor.
fn merged(to: &Layout, from: &Layout, parts: i64) -> Vec<CopyAxis> {
    let sizes = to.sizes.iter().map(|&size| size as i64);
    let strides = to.strides.iter().zip(&from.strides).map(|(&to, &from)| [to as i64, from as i64]);
    let axes =
        sizes.zip(strides).map(|(size, [to, from])| CopyAxis { size, to: parts * to, from: parts * from });
    let mut merged: Vec<CopyAxis> = Vec::new();
    for axis in axes.chain([CopyAxis { size: parts, to: 1, from: 1 }]).filter(|axis| axis.size != 1) {
        let joins = |outer: &CopyAxis| (outer.to, outer.from) == (axis.to * axis.size, axis.from * axis.size);
        match merged.last_mut() {
            Some(outer) if joins(outer) => *outer = CopyAxis { size: outer.size * axis.size, ..axis },
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
        let axis = |size, to, from| CopyAxis { size, to, from };
        assert_eq!(merged(&dense, &dense, 1), [axis(24, 1, 1)]);
        assert_eq!(merged(&dense, &dense, 2), [axis(48, 1, 1)]);
        let other = Layout::dense(&[3, 2, 1, 4]).permuted([1, 0, 2, 3]);
        assert_eq!(merged(&dense, &other, 1), [axis(2, 12, 4), axis(3, 4, 8), axis(4, 1, 1)]);
        assert_eq!(merged(&Layout::dense(&[]), &Layout::dense(&[]), 1), []);
    }
}
