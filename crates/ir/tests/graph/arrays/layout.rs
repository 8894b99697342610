//! Layouts: the order of places, and views that keep it.

use ferrofuse_ir::array::Layout;

/// The place of each element, in row-major order.
fn places(layout: &Layout) -> Vec<isize> {
    let mut places = Vec::new();
    layout.runs(0, layout.numel().unwrap_or_default(), |place, stride, count| {
        places.extend((0..count as isize).map(|k| place + k * stride));
    });
    places
}

#[test]
fn runs_visit_row_major_from_any_start() {
    let layout = Layout {
        offset: 23,
        sizes: [2, 3, 4].into_iter().collect(),
        strides: [-12, 4, -1].into_iter().collect(),
    };
    let expected: Vec<isize> = (0..24).map(|n| 23 - n / 12 * 12 + n / 4 % 3 * 4 - n % 4).collect();
    assert_eq!(places(&layout), expected);
    for start in 0..24 {
        let mut found = Vec::new();
        layout.runs(start, 24 - start, |p, s, run| found.extend((0..run as isize).map(|k| p + k * s)));
        assert_eq!(found, expected[start..]);
    }
    assert_eq!(places(&Layout::dense(&[])), [0]);
    assert_eq!(places(&Layout::dense(&[3, 0, 2])), [] as [isize; 0]);
}

#[test]
fn nested_axes_step_over_each_other() {
    let of = |sizes: &[usize], strides: &[isize]| Layout {
        offset: 0,
        sizes: sizes.into(),
        strides: strides.into(),
    };
    assert!(of(&[3, 4], &[4, 1]).is_nested() && of(&[3, 4], &[-1, 3]).is_nested());
    assert!(of(&[3, 1], &[2, 0]).is_nested() && Layout::dense(&[]).is_nested());
    assert!(!of(&[3, 4], &[3, 1]).is_nested() && !of(&[3, 4], &[4, 0]).is_nested());
}

#[test]
fn merging_and_reshaping_keep_the_order() {
    let base = Layout::dense(&[4, 1, 6, 5]);
    for layout in [base.clone(), base.permuted([2, 0, 1, 3]), base.sliced(&[1, 0, 2, 0], &[2, 1, 3, 5])] {
        assert_eq!(places(&layout.merged()), places(&layout));
        let flat = [layout.numel().unwrap()];
        if let Some(reshaped) = layout.reshaped(&flat) {
            assert_eq!(places(&reshaped), places(&layout));
        }
    }
    assert_eq!(places(&base.reshaped(&[2, 2, 3, 10]).unwrap()), places(&base));
    assert_eq!(base.permuted([2, 0, 1, 3]).reshaped(&[24, 5]), None);
    let column = Layout::dense(&[4, 1]).expanded(&[4, 6]);
    assert_eq!(places(&column.reshaped(&[2, 2, 3, 2]).unwrap()), places(&column));
}

#[test]
fn spans_and_sizes_beyond_the_machine() {
    let layout =
        Layout { offset: 5, sizes: [3, 2].into_iter().collect(), strides: [-2, 1].into_iter().collect() };
    assert_eq!(layout.span(), Some((1, 6)));
    assert_eq!(Layout::dense(&[usize::MAX, 3]).numel(), None);
    assert_eq!(Layout::dense(&[usize::MAX, 3, 0]).numel(), Some(0));
    assert_eq!(Layout::dense(&[0, 4]).span(), None);
}
