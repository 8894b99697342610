//! Memory accesses of warps: whole sectors and parts of them, bank conflicts, idle lanes.

use ferrofuse_reference::interpret::{Needed, WarpCounts, warp_counts};

use super::kernel;

/// The counts of block 0 of a kernel over 128 lanes with these loops.
fn counts(width: u32, scratch: &str, end: i64, body: &str) -> WarpCounts {
    let text = format!(
        "kernel k() lanes 128 {{\n  symbols block, x\n  blocks block in 0 .. 1\n  read b0: f32 T0 align 16\n  \
         write b1: f32 T1 align 16\n{scratch}  for x in 0 .. {end} lanes by {width} {{\n{body}  }}\n}}\n"
    );
    warp_counts(&kernel(&text), &[], 0).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

fn needed(taken: u64, min: u64) -> Needed {
    Needed { taken, min }
}

/// The counts of a copy.
fn copy(width: u32, end: i64, from: &str) -> WarpCounts {
    counts(width, "", end, &format!("    v0: f32 = load b0[{from}]\n    store b1[x] = v0\n"))
}

#[test]
fn neighbours_are_whole_sectors() {
    for width in [2, 4] {
        let found = copy(width, 1024, "x");
        assert_eq!(found.sectors, needed(256, 256));
        assert_eq!((found.bytes, found.iterations), (8192, needed(1024, 1024)));
    }
}

#[test]
fn strides_take_a_sector_for_each_element() {
    // 1024 loads of a sector each, where 128 would suffice, and as many sectors of stores as needed.
    assert_eq!(copy(2, 1024, "64*x").sectors, needed(1024 + 128, 128 + 128));
}

#[test]
fn a_shift_takes_a_sector_more_for_each_warp() {
    // A warp's 64 elements are eight sectors, if shifted nine: 16 warps.
    assert_eq!(copy(2, 1024, "x + 1").sectors, needed(16 * 9 + 128, 256));
}

#[test]
fn lanes_past_the_end_are_idle() {
    assert_eq!(copy(2, 1024 + 64, "x").iterations, needed(5 * 256, 1088));
}

#[test]
fn columns_of_a_square_array_share_a_bank() {
    let through = |index: &str| {
        let store = format!("    v0: f32 = load b0[x]\n    store w0[{index}] = v0\n");
        counts(2, "  scratch w0: f32[16384]\n", 256, &store).wavefronts
    };
    // Two neighbours that are stored separately: 4 warps, each twice.
    assert_eq!(through("32*x"), needed(8 * 32, 8));
    assert_eq!(through("33*x"), needed(8 * 2, 8));
    assert_eq!(through("x"), needed(8, 8));
}
