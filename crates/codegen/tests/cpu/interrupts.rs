//! Scans that end early.

use crate::harness::{compile, kernel, runnable};

/// The sums along a row for each of eight lanes, in the order of memory.
const SCAN: &str = "
kernel scan(i0) lanes 8 {
  symbols block, i0, x0, x1
  blocks block in 0 .. 1
  read b0: f32 n0
  write b1: f32 n1
  v0: f32 = const 0.0
  for x0 in 0 .. 8 lanes {
    acc a0: f32 = v0
    for x1 in 0 .. i0 {
      v1: f32 = load b0[8*x1 + x0]
      v2: f32 = get a0
      v3: f32 = add v2, v1
      set a0 = v3
      store b1[8*x1 + x0] = v3
    }
  }
}
";

fn sums(is_to_stop: u8) -> Vec<Vec<f32>> {
    let kernel = kernel(SCAN);
    let scanned = runnable().into_iter().map(|target| {
        let (mut ones, mut sums, mut is_to_stop) = (vec![1.0_f32; 800], vec![0.0_f32; 800], is_to_stop);
        let buffers = [ones.as_mut_ptr().cast(), sums.as_mut_ptr().cast(), &raw mut is_to_stop];
        // SAFETY: both arrays hold the 8 * 100 elements that the kernel reads and writes, and nobody else uses them.
        unsafe { compile(&kernel, target).call(&[100], &buffers, &[], 0, 0, 1) };
        sums
    });
    scanned.collect()
}

#[test]
fn a_scan_ends_where_the_caller_is_to_stop() {
    for sums in sums(0) {
        assert_eq!(sums[8 * 99], 100.0);
    }
    for sums in sums(1) {
        assert_eq!((sums[0], sums[8]), (1.0, 0.0));
    }
}
