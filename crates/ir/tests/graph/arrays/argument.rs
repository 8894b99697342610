//! Which arguments of a call share memory.

use ferrofuse_ir::array::{Footprint, Layout, shared};
use ops::DType;

#[test]
fn shared_is_what_pairs_say() {
    let mut state = 1_u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
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
