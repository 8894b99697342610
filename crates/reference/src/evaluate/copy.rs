//! Elements of one array written to another by the threads of a parallel-for, which may be interrupted between two pieces.
//!
//! It takes views of one dtype and of the same sizes, and halves them until the pieces are small. It converts nothing.

use std::sync::{Mutex, PoisonError};

use ir::array::{ArrayError, ArrayView, ArrayViewMut, Layout};

use super::block::GRAIN;
use super::workers::{ParallelFor, each};

/// Copies elements to an array of the same dtype and sizes. Elements that may overlap are written by the calling thread.
///
/// # Errors
/// [`ArrayError::Mismatch`] when dtypes or sizes differ.
pub fn copy(
    to: &mut ArrayViewMut<'_>,
    from: &ArrayView<'_>,
    workers: &dyn ParallelFor,
) -> Result<(), ArrayError> {
    let is_large = from.sizes() == to.sizes() && from.numel() > GRAIN && to.view().layout().is_nested();
    if !is_large {
        return to.copy_from(from);
    }
    let (mut pieces, failed) = (Vec::new(), Mutex::new(Ok(())));
    halve(to.reborrow(), from.clone(), &mut pieces);
    each(workers, pieces.into_iter(), |_, (mut piece, from)| {
        if let Err(error) = piece.copy_from(&from) {
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Err(error);
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Cuts a target and its source into pieces of at most as many elements as a task takes.
fn halve<'t, 'f>(
    to: ArrayViewMut<'t>,
    from: ArrayView<'f>,
    pieces: &mut Vec<(ArrayViewMut<'t>, ArrayView<'f>)>,
) {
    if from.numel() <= GRAIN {
        return pieces.push((to, from));
    }
    let axis = farthest(to.view().layout(), from.layout());
    let (size, half) = (from.sizes()[axis], from.sizes()[axis] / 2);
    let part = |start: usize, count: usize| {
        let (mut starts, mut sizes) = (vec![0; from.sizes().len()], from.sizes().to_vec());
        (starts[axis], sizes[axis]) = (start, count);
        from.relaid(from.layout().sliced(&starts, &sizes)).expect("a part of the source")
    };
    let (front, back) = to.split_at(axis, half);
    halve(front, part(0, half), pieces);
    halve(back, part(half, size - half), pieces);
}

/// The axis with the largest strides on both sides, so that a piece takes whole cache lines; if each side is contiguous
/// along a different axis, the longer of these: pieces become squares.
fn farthest(to: &Layout, from: &Layout) -> usize {
    let stride = |layout: &Layout, axis: usize| match layout.strides[axis].unsigned_abs() {
        0 => usize::MAX,
        stride => stride,
    };
    let axes = (0..to.rank()).filter(|&axis| to.sizes[axis] > 1);
    let distance = |axis: usize| stride(to, axis).min(stride(from, axis));
    axes.max_by_key(|&axis| (distance(axis), to.sizes[axis])).expect("many elements")
}

#[cfg(test)]
mod tests {
    use ir::array::Array;
    use ops::DType;

    use super::super::Threads;
    use super::*;

    /// The sizes of the pieces of a copy from one layout to another.
    fn pieces(to: &[usize], from: &[usize]) -> Vec<Vec<usize>> {
        let sizes = [400, 300];
        let mut memory = Array::zeros(DType::F32, &sizes).expect("memory");
        let source = Array::zeros(DType::F32, &sizes).expect("memory");
        let ordered = |order: &[usize]| Layout::ordered(&sizes, order.iter().copied());
        let mut pieces = Vec::new();
        let from = source.view().relaid(ordered(from)).expect("fits");
        halve(memory.view_mut().relaid(ordered(to)).expect("fits"), from, &mut pieces);
        pieces.iter().map(|(piece, _)| piece.sizes().to_vec()).collect()
    }

    #[test]
    fn pieces_are_rows_where_both_have_rows_and_squares_where_one_is_transposed() {
        assert_eq!(pieces(&[0, 1], &[0, 1]), vec![vec![100, 300]; 4]);
        assert_eq!(pieces(&[1, 0], &[1, 0]), vec![vec![400, 75]; 4]);
        assert_eq!(pieces(&[0, 1], &[1, 0]), vec![vec![200, 150]; 4]);
    }

    #[test]
    fn each_element_is_copied_to_its_place() {
        let sizes = [70, 30, 50];
        let mut source = Array::zeros(DType::I32, &sizes).expect("memory");
        source.as_mut_slice::<i32>().iter_mut().zip(0..).for_each(|(element, number)| *element = number);
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let from = source.view().relaid(Layout::ordered(&sizes, order)).expect("fits");
            let mut target = Array::zeros(DType::I32, &sizes).expect("memory");
            copy(&mut target.view_mut(), &from, &Threads(3)).expect("alike");
            assert_eq!(target.as_bytes(), from.to_array().expect("memory").as_bytes(), "{order:?}");
        }
    }
}
