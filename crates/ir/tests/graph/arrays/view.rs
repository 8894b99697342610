//! Views of memory, with any strides, and copies between them.

use ferrofuse_ir::array::{Array, ArrayView, ArrayViewMut, Layout, StridedArray};
use ops::DType;

/// Rows and columns that are copied at a time where a tensor is transposed.
const SQUARE: usize = 16;

fn bytes(count: u8) -> Vec<u8> {
    (0..count).flat_map(|k| f32::from(k).to_ne_bytes()).collect()
}

fn elements(view: &ArrayView<'_>) -> Vec<f32> {
    view.to_array().unwrap().as_slice::<f32>().to_vec()
}

#[test]
fn strides_may_be_zero_negative_and_unaligned() {
    let mut odd = vec![0];
    odd.extend(bytes(6));
    let reversed = ArrayView::new(&odd, 21, DType::F32, &[2, 3], &[-3, -1]).unwrap();
    assert_eq!(elements(&reversed), [5.0, 4.0, 3.0, 2.0, 1.0, 0.0]);
    let repeated = ArrayView::new(&odd, 1, DType::F32, &[2, 3], &[0, 2]).unwrap();
    assert_eq!(elements(&repeated), [0.0, 2.0, 4.0, 0.0, 2.0, 4.0]);
    assert_eq!(repeated.scalar(4).as_f64(), 2.0);
}

#[test]
fn nothing_outside_is_reached() {
    let memory = bytes(6);
    let view = |start, sizes: &[usize], strides: &[isize]| {
        ArrayView::new(&memory, start, DType::F32, sizes, strides).map(|_| ())
    };
    assert_eq!(view(0, &[2, 3], &[3, 1]), Ok(()));
    assert_eq!(view(4, &[0, 9], &[100, 100]), Ok(()));
    assert!(view(1, &[6], &[1]).is_err());
    assert!(view(0, &[2], &[-1]).is_err());
    assert!(view(0, &[usize::MAX, usize::MAX], &[isize::MAX, isize::MIN]).is_err());
    let error = view(0, &[7], &[1]).unwrap_err();
    assert_eq!(error.to_string(), "sizes [7] with strides [1] reach outside the 6 elements that there are");
    let whole = ArrayView::new(&memory, 0, DType::F32, &[6], &[1]).unwrap();
    assert!(whole.relaid(Layout { offset: 1, ..Layout::dense(&[6]) }).is_err());
    assert!(whole.relaid(Layout { offset: 1, ..Layout::dense(&[5]) }).is_ok());
    let no_strides = Layout { sizes: [6, 1000].into_iter().collect(), ..Layout::dense(&[6]) };
    assert_eq!(whole.relaid(no_strides).unwrap_err().to_string(), "1 strides for 2 sizes");
}

#[test]
fn a_half_reaches_nothing_of_the_other() {
    let mut memory = Array::zeros(DType::F32, &[4, 6]).unwrap();
    let (left, right) = memory.view_mut().split_at(1, 2);
    let flat = Layout { offset: 0, ..Layout::dense(&[20]) };
    assert!(left.view().relaid(flat.clone()).is_err());
    assert!(left.relaid(flat).is_err());
    let half = right.layout().clone();
    for layout in [
        half.permuted([1, 0]),
        half.sliced(&[1, 2], &[2, 2]),
        half.reshaped(&[2, 2, 1, 4]).unwrap(),
        Layout {
            offset: half.offset + 18,
            sizes: half.sizes.clone(),
            strides: [-6, 1].into_iter().collect(),
        },
        half.sliced(&[0, 1], &[4, 1]).expanded(&[4, 3]),
        Layout {
            offset: half.offset + 1,
            sizes: [2, 2].into_iter().collect(),
            strides: [14, 2].into_iter().collect(),
        },
    ] {
        let reached = right.view().relaid(layout.clone()).is_ok();
        assert_eq!(reached, layout.strides[0] != 14, "{layout:?}");
    }
    let copy = StridedArray::copy_of(&right.view()).unwrap();
    assert_eq!(copy.view().strides(), [6, 1]);
}

/// As windows of a signal do.
#[test]
fn elements_that_overlap_cover_what_is_between_them() {
    let memory = bytes(12);
    let view = |sizes: &[usize], strides: &[isize]| {
        let view = ArrayView::new(&memory, 0, DType::F32, sizes, strides).unwrap();
        let (_, last) = view.layout().span().unwrap();
        view.relaid(Layout::dense(&[last as usize + 1])).is_ok()
    };
    assert!(view(&[5, 3], &[1, 1]));
    assert!(view(&[3, 4], &[2, 1]));
    assert!(view(&[2, 3, 3], &[0, 1, 3]));
    assert!(!view(&[3, 3], &[4, 1]));
    assert!(!view(&[3, 2], &[2, 4]));
}

#[test]
fn slices_are_viewed_without_a_copy() {
    let elements = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let view = ArrayView::from_slice(&[2, 3], &elements).unwrap();
    assert_eq!(
        (view.dtype(), view.strides(), view.as_ptr()),
        (DType::F32, &[3, 1][..], elements.as_ptr().cast())
    );
    let mut written = [0.0_f32; 6];
    ArrayViewMut::from_slice(&[2, 3], &mut written).unwrap().copy_from(&view).unwrap();
    assert_eq!(written, elements);
    let wrong = ArrayView::from_slice(&[4, 2], &elements).unwrap_err();
    assert_eq!(wrong.to_string(), "6 elements where the sizes [4, 2] need 8");
    assert!(ArrayView::from_slice(&[usize::MAX, 2], &elements).is_err());
    assert!(ArrayView::from_slice::<f32>(&[usize::MAX, 2, 0], &[]).is_ok());
}

#[test]
fn what_is_transposed_is_copied_in_tiles() {
    let (rows, columns) = (SQUARE + 5, 2 * SQUARE + 3);
    let elements: Vec<f32> = (0..2 * rows * columns).map(|k| k as f32).collect();
    let from = Array::from_slice(&[2, columns, rows], &elements).unwrap();
    let transposed = from.view().relaid(from.view().layout().permuted([0, 2, 1])).unwrap();
    let mut to = Array::zeros(DType::F32, &[2, rows, columns]).unwrap();
    to.view_mut().copy_from(&transposed).unwrap();
    assert_eq!(to.as_slice::<f32>(), elements_of(&transposed));
    let mut parts = Array::zeros(DType::F32, &[2, rows, columns]).unwrap();
    let (mut low, mut high) = parts.view_mut().split_at(1, 7);
    let part = |start: usize, count: usize| {
        transposed.relaid(transposed.layout().sliced(&[0, start, 0], &[2, count, columns])).unwrap()
    };
    low.copy_from(&part(0, 7)).unwrap();
    high.copy_from(&part(7, rows - 7)).unwrap();
    assert_eq!(parts.as_slice::<f32>(), to.as_slice::<f32>());
}

/// Arrays without elements may have axes that are longer than any loop should run.
#[test]
fn what_has_no_elements_is_copied_at_once() {
    let sizes = [1 << 20, 1 << 20, 0];
    let from = ArrayView::new(&[], 0, DType::F32, &sizes, &[1, 1 << 20, 1]).unwrap();
    let mut memory = [];
    let mut to = ArrayViewMut::new(&mut memory, 0, DType::F32, &sizes, &[1 << 20, 1, 1]).unwrap();
    to.copy_from(&from).unwrap();
}

fn elements_of(view: &ArrayView<'_>) -> Vec<f32> {
    (0..view.numel()).map(|number| view.scalar(number).as_f64() as f32).collect()
}

#[test]
fn writing_goes_through_the_layout() {
    let mut memory = bytes(12);
    let source = bytes(4);
    let from = ArrayView::new(&source, 0, DType::F32, &[2, 2], &[1, 2]).unwrap();
    let mut to = ArrayViewMut::new(&mut memory, 0, DType::F32, &[3, 4], &[4, 1]).unwrap();
    to.slice_mut(&[1, 2], &[2, 2]).unwrap().copy_from(&from).unwrap();
    assert!(to.slice_mut(&[2, 0], &[2, 1]).is_err());
    assert!(to.copy_from(&from).is_err());
    let written = elements(&to.view());
    assert_eq!(written[4..], [4.0, 5.0, 0.0, 2.0, 8.0, 9.0, 1.0, 3.0]);
}
