//! Which arguments of a call share memory.

use std::collections::HashSet;

use ferrofuse_ir::array::{Footprint, Layout, shared};
use ops::DType;

/// Numbers below a limit.
fn draws() -> impl FnMut(u64) -> u64 {
    let mut state = 1_u64;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    }
}

/// The bytes that a footprint covers.
fn bytes(footprint: &Footprint<'_>) -> HashSet<isize> {
    let (mut bytes, width) = (HashSet::new(), footprint.dtype.size() as isize);
    footprint.layout.runs(0, footprint.layout.numel().expect("few"), |place, stride, count| {
        let starts = (0..count as isize).map(|k| footprint.base as isize + (place + k * stride) * width);
        bytes.extend(starts.flat_map(|start| start..start + width));
    });
    bytes
}

/// The part of a row-major matrix that begins at an element.
fn part(offset: isize, sizes: &[usize], strides: &[isize]) -> Layout {
    Layout { offset, sizes: sizes.iter().copied().collect(), strides: strides.iter().copied().collect() }
}

#[test]
fn what_shares_a_byte_overlaps() {
    let mut draw = draws();
    let (mut apart, mut told) = (0, 0);
    for _ in 0..20_000 {
        let mut layout = |rank: u64| Layout {
            offset: draw(8) as isize,
            sizes: (0..rank).map(|_| draw(4) as usize).collect(),
            strides: (0..rank).map(|_| draw(17) as isize - 8).collect(),
        };
        let layouts = [layout(2), layout(3)];
        let dtypes = [DType::F32, DType::F64, DType::BF16];
        let [one, other] =
            layouts.each_ref().map(|layout| Footprint { base: 64, dtype: dtypes[draw(3) as usize], layout });
        let shares = !bytes(&one).is_disjoint(&bytes(&other));
        let overlaps = one.overlaps(&other);
        assert_eq!(overlaps, other.overlaps(&one));
        assert!(overlaps || !shares, "{one:?}, {other:?}");
        apart += usize::from(!shares);
        told += usize::from(!overlaps);
    }
    assert!(told * 10 > apart * 8, "{told} of {apart} that are apart are told");
}

#[test]
fn parts_of_one_array_do_not_overlap() {
    let parts = [
        ("columns", part(0, &[4], &[6]), part(5, &[4], &[6])),
        ("halves of rows", part(0, &[4, 3], &[6, 1]), part(3, &[4, 3], &[6, 1])),
        ("even and odd", part(0, &[12], &[2]), part(1, &[12], &[2])),
        ("even and odd, backwards", part(0, &[12], &[2]), part(23, &[12], &[-2])),
        ("quarters", part(0, &[2, 3], &[12, 1]), part(9, &[2, 3], &[12, 1])),
        ("channels", part(0, &[2, 4], &[12, 3]), part(2, &[2, 4], &[12, 3])),
    ];
    for (name, one, other) in &parts {
        let footprint = |layout| Footprint { base: 400, dtype: DType::F32, layout };
        assert!(!footprint(one).overlaps(&footprint(other)), "{name}");
        assert!(footprint(one).overlaps(&footprint(one)), "{name}");
    }
}

#[test]
fn shared_is_what_pairs_say() {
    let mut draw = draws();
    for _ in 0..2_000 {
        let layouts: Vec<Layout> = (0..draw(6)).map(|_| Layout::dense(&[draw(4) as usize])).collect();
        let footprints: Vec<Footprint<'_>> = layouts
            .iter()
            .map(|layout| Footprint { base: 4 * draw(12) as usize, dtype: DType::F32, layout })
            .collect();
        let overlaps = |place: usize| {
            let others = footprints.iter().enumerate().filter(|(other, _)| *other != place);
            others.into_iter().any(|(_, other)| footprints[place].overlaps(other))
        };
        let expected: Vec<bool> = (0..footprints.len()).map(overlaps).collect();
        assert_eq!(shared(footprints.iter().copied().map(Some)).to_vec(), expected);
    }
}
