//! Loads and stores: element by element, guarded, with strides, and at indices that are data.

use ops::DType;
use reference::interpret::DenseMemory;

use crate::harness::{check, compile, everywhere, kernel, noise, runnable, zeros};

/// `silu(a) * b` in bf16, in blocks of 256.
pub const SILU_MUL: &str = "kernel silu_mul(n) lanes LANES {
  symbols n, block, x
  blocks block in 0 .. (n + 255) // 256
  read b0: bf16 a
  read b1: bf16 b
  write b2: bf16 y
  for x in block*256 .. min(n, block*256 + 256) lanes {
    v0: bf16 = load b0[x]
    v1: f32 = cast v0
    v2: bf16 = load b1[x]
    v3: f32 = cast v2
    v4: f32 = neg v1
    v5: f32 = exp v4
    v6: f32 = const 1.0
    v7: f32 = add v5, v6
    v8: f32 = div v1, v7
    v9: f32 = mul v8, v3
    v10: bf16 = cast v9
    store b2[x] = v10
  }
}";

#[test]
fn silu_mul() {
    let buffers = |n: i64| {
        let input = |seed| noise(DType::BF16, n as usize, seed);
        vec![input(1), input(2), zeros(DType::BF16, n)]
    };
    everywhere(SILU_MUL, |n| vec![n], buffers, 1.0);
}

/// Two elements of padding before, three after, and the last element in place of all odd ones between.
const PAD: &str = "kernel pad(n) lanes LANES {
  symbols n, block, x
  blocks block in 0 .. 1
  read b0: f16 x
  write b1: f16 y
  write b2: f16 last
  v0: i64 = const 2
  v1: i64 = index n + 2
  v2: i64 = const 0
  v3: i64 = index n
  v4: bool = gt v3, v2
  for x in 0 .. n + 5 lanes {
    v5: i64 = index x
    v6: bool = ge v5, v0
    v7: bool = lt v5, v1
    v8: bool = logical_and v6, v7
    v9: f16 = load b0[x - 2] if v8
    v10: f16 = load b0[n - 1] if v4
    v11: i64 = index x % 2
    v12: bool = eq v11, v2
    v13: f16 = load b0[n - 1] if v8
    store b1[x] = v9
    store b2[x*2] = v10 if v12
    store b2[x*2 + 1] = v13
  }
}";

#[test]
fn guarded_pad() {
    let buffers = |n: i64| {
        vec![noise(DType::F16, n as usize, 7), zeros(DType::F16, n + 5), zeros(DType::F16, 2 * n + 10)]
    };
    everywhere(PAD, |n| vec![n], buffers, 0.0);
}

/// Loads and stores with strides, divisions and remainders: rows of 7, reversed, transposed to rows of n.
const TRANSPOSE: &str = "kernel transpose(n, stride) lanes LANES {
  symbols n, stride, block, x
  blocks block in 0 .. 1
  read b0: i32 x
  read b1: bool keep
  write b2: i32 y
  write b3: bool kept
  write b4: i64 number
  for x in 0 .. n*7 lanes {
    v0: i32 = load b0[stride*n*7 - stride*x - stride]
    v1: bool = load b1[x//7]
    store b2[x%7*n + x//7] = v0 if v1
    v2: bool = load b1[(x + n) // max(n, 1) % max(n, 1)]
    v3: bool = ne v2, v1
    store b3[min(x, 1000000)] = v3
    v4: i64 = index x//4*3 + x%8 - (2 - x)//3 + (1 - x)%5 + (x*x)%(n + 1) - (0 - x)//(n + 2) + (0 - x)%(n + 2)
    store b4[n*7 - x - 1] = v4
  }
}";

#[test]
fn strides_divisions_and_remainders() {
    let stride = 3;
    let buffers = |n: i64| {
        let numbers: Vec<f64> = (0..n * 7 * stride).map(|k| (k * k % 1009) as f64).collect();
        let keep: Vec<f64> = (0..n).map(|k| f64::from(k % 3 != 1)).collect();
        vec![
            DenseMemory::from_f64s(DType::I32, &numbers),
            DenseMemory::from_f64s(DType::Bool, &keep),
            zeros(DType::I32, n * 7),
            zeros(DType::Bool, n * 7),
            zeros(DType::I64, n * 7),
        ]
    };
    everywhere(TRANSPOSE, |n| vec![n, stride], buffers, 0.0);
}

/// A remainder by a divisor that only the caller knows; x86 traps on the smallest integer by -1.
#[test]
fn remainders_by_minus_one_do_not_trap() {
    let kernel = kernel(
        "kernel rest(n, d) lanes 1 {
           symbols n, d, block
           blocks block in 0 .. 1
           write b0: i64 out
           v0: i64 = index n % d
           store b0[0] = v0
         }",
    );
    for target in runnable() {
        let compiled = compile(&kernel, target);
        for (n, d) in [(i64::MIN, -1), (7, -1), (i64::MIN, 3), (-7, 2)] {
            check(&kernel, &compiled, &[n, d], &[zeros(DType::I64, 1)], 0.0);
        }
    }
}

/// Elements of rows at indices that are data, one index a lane and one a row, with faults reported. `b1` has an index a row.
pub const GATHER: &str = "kernel gather(rows, columns, classes) lanes LANES {
  symbols rows, columns, classes, row, x, at, own
  blocks row in 0 .. rows
  read b0: i32 index
  read b1: i64 chosen
  read b2: bf16 table
  faults b3: i64 faults
  write b4: bf16 y
  write b5: bf16 z
  v0: i64 = const 0
  v1: i64 = index classes
  v2: i64 = load b1[row]
  v3: bool = ge v2, v0
  v4: bool = lt v2, v1
  v5: bool = logical_and v3, v4
  v6: bool = logical_not v5
  fault b3[1] = v2 if v6
  v7: i64 = where v5, v2, v0
  bind own = v7
  for x in 0 .. columns lanes {
    v8: i32 = load b0[row*columns + x]
    v9: i64 = cast v8
    v10: bool = ge v9, v0
    v11: bool = lt v9, v1
    v12: bool = logical_and v10, v11
    v13: bool = logical_not v12
    fault b3[0] = v9 if v13
    v14: i64 = where v12, v9, v0
    bind at = v14
    v15: bf16 = load b2[row*classes + at] if v12
    store b4[row*columns + x] = v15
    v16: bf16 = load b2[own*columns + x] if v5
    store b5[row*columns + x] = v16
  }
}";

#[test]
fn gathers_and_their_faults() {
    // With these numbers of classes no, some or all indices are in range.
    for (rows, classes) in [(3, 50), (3, 37), (1, 0), (0, 4)] {
        let buffers = |columns: i64| {
            let (count, side) = ((rows * columns) as usize, columns.max(1) * 50);
            let index = |n: usize| ((n * n + 7 * n) % 50) as f64 - f64::from(n == 20);
            let index: Vec<f64> = (0..count).map(index).collect();
            vec![
                DenseMemory::from_f64s(DType::I32, &index),
                DenseMemory::from_f64s(DType::I64, &[49.0, -3.0, 40.0][..rows as usize]),
                noise(DType::BF16, (rows * classes).max(side) as usize, 3),
                DenseMemory::from_f64s(DType::I64, &[9.0e18, 9.0e18]),
                DenseMemory::zeros(DType::BF16, count),
                DenseMemory::zeros(DType::BF16, count),
            ]
        };
        everywhere(GATHER, |columns| vec![rows, columns, classes], buffers, 0.0);
    }
}
