//! Maxima and minima of half types, which are folded as integers: zeros of both signs, infinities, and NaN of both signs, at
//! every position.

use ops::DType;
use reference::interpret::DenseMemory;

use crate::harness::{check, compile, kernel, runnable};

const SIZES: [usize; 7] = [0, 1, 5, 16, 33, 64, 200];

fn text(dtype: &str, lanes: u32) -> String {
    format!(
        "kernel ends(n) lanes {lanes} {{
  symbols n, block, x0, x1
  blocks block in 0 .. 1
  read b0: {dtype} x
  write b1: f32 largest
  write b2: f32 smallest
  write b3: f32 above_zero
  v0: f32 = const -inf
  v1: f32 = const inf
  v2: f32 = const -0.0
  acc a0: f32 = v0
  acc a1: f32 = v1
  acc a2: f32 = v2
  for x0 in 0 .. n lanes {{
    v3: {dtype} = load b0[x0]
    v4: f32 = cast v3
    v5: f32 = get a0
    v6: f32 = maximum v5, v4
    set a0 = v6
    v7: f32 = get a1
    v8: f32 = minimum v4, v7
    set a1 = v8
  }}
  for x1 in 0 .. n lanes {{
    v9: {dtype} = load b0[x1]
    v10: f32 = cast v9
    v11: f32 = get a2
    v12: f32 = maximum v10, v11
    set a2 = v12
  }}
  v13: f32 = reduce max a0
  v14: f32 = reduce min a1
  v15: f32 = reduce max a2
  store b1[0] = v13
  store b2[0] = v14
  store b3[0] = v15
}}"
    )
}

/// Elements of either sign, with `special` in place of the one at `at`.
fn elements(dtype: DType, count: usize, sign: u16, special: Option<u16>, at: usize) -> DenseMemory {
    let mut bits: Vec<u16> = (0..count).map(|i| (0x3c00 + (i * 37 % 512) as u16) ^ sign).collect();
    if let (Some(special), Some(place)) = (special, bits.get_mut(at)) {
        *place = special;
    }
    DenseMemory::from_bytes(dtype, bits.iter().flat_map(|bits| bits.to_le_bytes()).collect())
        .expect("two bytes each")
}

#[test]
fn ends_of_half_types_are_those_of_f32() {
    for target in runnable() {
        for (name, dtype, infinity) in [("bf16", DType::BF16, 0x7f80), ("f16", DType::F16, 0x7c00)] {
            let specials = [0, 1, infinity, infinity + 1, 0x7fff].map(|bits| [bits, bits | 0x8000]);
            for lanes in [1, 8, 32, 64] {
                let kernel = kernel(&text(name, lanes));
                let compiled = compile(&kernel, target);
                assert!(compiled.ir.contains("llvm.smax."), "keys are folded");
                for count in SIZES {
                    for sign in [0, 0x8000] {
                        for special in specials.iter().flatten().map(|&bits| Some(bits)).chain([None]) {
                            for at in [0, 17, 199] {
                                let x = elements(dtype, count, sign, special, at);
                                let out = || DenseMemory::zeros(DType::F32, 1);
                                check(&kernel, &compiled, &[count as i64], &[x, out(), out(), out()], 0.0);
                            }
                        }
                    }
                }
            }
        }
    }
}
