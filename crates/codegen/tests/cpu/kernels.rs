//! Whole kernels of every shape the schedules make, at sizes around the vector length.

use ir::DType;
use ir::kernel::Memory;

use crate::harness::{check, compile, kernel, noise, run, runnable};

const LANES: [u32; 5] = [1, 4, 8, 16, 32];
const SIZES: [i64; 8] = [0, 1, 3, 15, 16, 17, 64, 1000];

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

/// Softmax of rows, the exponentials kept in scratch memory.
pub const SOFTMAX: &str = "kernel softmax(rows, columns) lanes LANES {
  symbols rows, columns, row, x0, x1, x2
  blocks row in 0 .. rows
  read b0: f32 x
  write b1: f32 y
  scratch w0: f32[columns]
  v0: f32 = const -inf
  acc a0: f32 = v0
  for x0 in 0 .. columns lanes {
    v1: f32 = load b0[row*columns + x0]
    v2: f32 = get a0
    v3: f32 = maximum v2, v1
    set a0 = v3
  }
  v4: f32 = reduce max a0
  v5: f32 = const 0.0
  acc a1: f32 = v5
  for x1 in 0 .. columns lanes {
    v6: f32 = load b0[row*columns + x1]
    v7: f32 = sub v6, v4
    v8: f32 = exp v7
    store w0[x1] = v8
    v9: f32 = get a1
    v10: f32 = add v9, v8
    set a1 = v10
  }
  v11: f32 = reduce sum a1
  for x2 in 0 .. columns lanes {
    v12: f32 = load w0[x2]
    v13: f32 = div v12, v11
    store b1[row*columns + x2] = v13
  }
}";

/// Runs a kernel for all vector lengths, sizes and targets; `buffers` makes them for a size.
fn everywhere(text: &str, args: impl Fn(i64) -> Vec<i64>, buffers: impl Fn(i64) -> Vec<Memory>, ulps: f64) {
    each_within(text, args, buffers, |_, _| ulps);
}

/// The same, within as much as `ulps` gives for lanes and size.
fn each_within(
    text: &str,
    args: impl Fn(i64) -> Vec<i64>,
    buffers: impl Fn(i64) -> Vec<Memory>,
    ulps: impl Fn(u32, i64) -> f64,
) {
    for target in runnable() {
        for lanes in LANES {
            let kernel = kernel(&text.replace("LANES", &lanes.to_string()));
            let compiled = compile(&kernel, target);
            for size in SIZES {
                check(&kernel, &compiled, &args(size), &buffers(size), ulps(lanes, size));
            }
        }
    }
}

fn zeros(dtype: DType, count: i64) -> Memory {
    Memory::zeros(dtype, count as usize)
}

#[test]
fn silu_mul() {
    let buffers = |n: i64| {
        let input = |seed| noise(DType::BF16, n as usize, seed);
        vec![input(1), input(2), zeros(DType::BF16, n)]
    };
    everywhere(SILU_MUL, |n| vec![n], buffers, 1.0);
}

#[test]
fn softmax() {
    let rows = 3;
    let buffers = |n: i64| vec![noise(DType::F32, (rows * n) as usize, 3), zeros(DType::F32, rows * n)];
    everywhere(SOFTMAX, |n| vec![rows, n], buffers, 8.0);
}

/// Column sums: rows one after the other, the columns' sums in scratch memory.
const COLUMN_SUM: &str = "kernel column_sum(rows, columns) lanes LANES {
  symbols rows, columns, block, x0, row, x1, x2
  blocks block in 0 .. 1
  read b0: bf16 x
  write b1: f32 y
  scratch w0: f32[columns]
  v0: f32 = const 0.0
  for x0 in 0 .. columns lanes {
    store w0[x0] = v0
  }
  barrier
  for row in 0 .. rows {
    for x1 in 0 .. columns lanes {
      v1: bf16 = load b0[row*columns + x1]
      v2: f32 = cast v1
      v3: f32 = load w0[x1]
      v4: f32 = add v3, v2
      store w0[x1] = v4
    }
  }
  barrier
  for x2 in 0 .. columns lanes {
    v5: f32 = load w0[x2]
    store b1[x2] = v5
  }
}";

#[test]
fn column_sum() {
    let rows = 5;
    let buffers = |n: i64| vec![noise(DType::BF16, (rows * n) as usize, 4), zeros(DType::F32, n)];
    everywhere(COLUMN_SUM, |n| vec![rows, n], buffers, 0.0);
}

/// The same sums with a serial loop inside the loop over lanes, which loads with a stride between rows.
const COLUMN_SUM_IN_LANES: &str = "kernel column_sum(rows, columns) lanes LANES {
  symbols rows, columns, block, x, row
  blocks block in 0 .. 1
  read b0: f64 x
  write b1: f64 y
  for x in 0 .. columns lanes {
    v0: f64 = const 0.0
    acc a0: f64 = v0
    for row in 0 .. rows {
      v1: f64 = load b0[row*columns + x]
      v2: f64 = get a0
      v3: f64 = add v2, v1
      set a0 = v3
    }
    v4: f64 = get a0
    store b1[x] = v4
  }
}";

#[test]
fn column_sum_in_lanes() {
    let rows = 4;
    let buffers = |n: i64| vec![noise(DType::F64, (rows * n) as usize, 5), zeros(DType::F64, n)];
    everywhere(COLUMN_SUM_IN_LANES, |n| vec![rows, n], buffers, 0.0);
}

/// Mean and variance of rows by Welford's method, each lane its own states.
const WELFORD: &str = "kernel welford(rows, columns) lanes LANES {
  symbols rows, columns, row, x
  blocks row in 0 .. rows
  read b0: f32 x
  write b1: f32 mean
  write b2: f32 squares
  write b3: f32 count
  v0: f32 = const 0.0
  v1: f32 = const 1.0
  acc a0: f32 = v0
  acc a1: f32 = v0
  acc a2: f32 = v0
  for x in 0 .. columns lanes {
    v2: f32 = load b0[row*columns + x]
    v3: f32 = get a0
    v4: f32 = get a1
    v5: f32 = get a2
    v6: f32 = add v5, v1
    v7: f32 = sub v2, v3
    v8: f32 = div v7, v6
    v9: f32 = add v3, v8
    v10: f32 = sub v2, v9
    v11: f32 = mul v7, v10
    v12: f32 = add v4, v11
    set a0 = v9
    set a1 = v12
    set a2 = v6
  }
  v13: f32, v14: f32, v15: f32 = reduce welford a0, a1, a2
  store b1[row] = v13
  store b2[row] = v14
  store b3[row] = v15
}";

#[test]
fn welford() {
    let rows = 3;
    let buffers = |n: i64| {
        let results = || zeros(DType::F32, rows);
        vec![noise(DType::F32, (rows * n) as usize, 6), results(), results(), results()]
    };
    // What whole vectors leave may go to other lanes than the interpreter's, and a mean near zero has fewer digits.
    let ulps = |lanes, n| if n % i64::from(lanes) == 0 { 0.0 } else { 64.0 };
    each_within(WELFORD, |n| vec![rows, n], buffers, ulps);
}

/// A kernel with a block per row as one whose only block walks the rows that a jam leaves over.
fn all_left_over(text: &str) -> String {
    text.replace("symbols rows, columns, row", "symbols rows, columns, block, row")
        .replace("blocks row in 0 .. rows", "blocks block in 0 .. 1")
        .replacen("\n  v0: f32 =", "\n  for row in 0 .. rows rest {\n  v0: f32 =", 1)
        + "\n}"
}

/// A row has the same bits wherever it lies: rows that a jam leaves over fold in the order of all others.
#[test]
fn rows_left_over_are_as_all_others() {
    let rows = 13;
    for (text, results) in [(SOFTMAX, 1), (WELFORD, 3)] {
        for (target, lanes) in runnable().into_iter().flat_map(|target| LANES.map(|lanes| (target, lanes))) {
            let text = text.replace("LANES", &lanes.to_string());
            let kernels = [kernel(&text), kernel(&all_left_over(&text))];
            let compiled = kernels.each_ref().map(|kernel| compile(kernel, target));
            for columns in [3, 50, 64, 100, 1000] {
                let outputs = [0, 1].map(|which| {
                    let mut buffers = vec![noise(DType::F32, (rows * columns) as usize, 8)];
                    buffers.resize(1 + results, zeros(DType::F32, rows * columns));
                    run(&kernels[which], &compiled[which], &[rows, columns], &mut buffers);
                    buffers.iter().map(|buffer| buffer.bytes().to_vec()).collect::<Vec<_>>()
                });
                assert!(outputs[0] == outputs[1], "{target}, {columns} columns\n{}", kernels[1]);
            }
        }
    }
}

/// Rows that an unrolled loop leaves over: folds over lanes begin and end within its turns.
#[test]
fn softmax_of_what_is_left() {
    let rows = 3;
    let buffers = |n: i64| vec![noise(DType::F32, (rows * n) as usize, 3), zeros(DType::F32, rows * n)];
    everywhere(&all_left_over(SOFTMAX), |n| vec![rows, n], buffers, 8.0);
    everywhere(
        &COLUMN_SUM.replace("0 .. rows {", "0 .. rows rest {"),
        |n| vec![rows, n],
        |n| vec![noise(DType::BF16, (rows * n) as usize, 4), zeros(DType::F32, n)],
        0.0,
    );
}

/// A remainder by a divisor that only the caller knows, of which x86 traps on the least integer over -1.
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

/// Two elements of padding before, three behind, and the last element in place of all of the middle's odd ones.
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
            Memory::from_f64s(DType::I32, &numbers),
            Memory::from_f64s(DType::Bool, &keep),
            zeros(DType::I32, n * 7),
            zeros(DType::Bool, n * 7),
            zeros(DType::I64, n * 7),
        ]
    };
    everywhere(TRANSPOSE, |n| vec![n, stride], buffers, 0.0);
}

/// Uniform code that decides, stores and divides; accumulators of every dtype; loops that do not run.
const UNIFORM: &str = "kernel uniform(n) lanes LANES {
  symbols n, block, k, x, none
  blocks block in 0 .. 4
  read b0: i64 x
  write b1: i64 total
  write b2: bf16 half
  write b3: bool any
  v0: i64 = const 0
  v1: bool = const false
  v2: i64 = index block
  v3: i64 = const 2
  v4: bool = ge v2, v3
  acc a0: i64 = v0
  acc a1: bool = v1
  acc a2: i64 = v0
  for k in 0 .. 3 {
    v5: i64 = get a2
    v6: i64 = index k*block
    v7: i64 = add v5, v6
    set a2 = v7
    for x in k .. n lanes {
      v8: i64 = load b0[x]
      v9: i64 = get a0
      v10: i64 = add v9, v8
      set a0 = v10
      v11: i64 = const 990
      v12: bool = gt v8, v11
      v13: bool = get a1
      v14: bool = logical_or v13, v12
      set a1 = v14
    }
  }
  for none in n .. 0 - 1 {
    set a2 = v3
  }
  v15: i64 = reduce sum a0
  v16: bool = reduce max a1
  v17: i64 = get a2
  v18: i64 = add v15, v17
  v19: i64 = div v15, v17
  v20: bf16 = cast v19
  store b1[block] = v18 if v4
  store b2[block] = v20
  store b3[block] = v16
}";

#[test]
fn uniform_code() {
    let buffers = |n: i64| {
        let numbers: Vec<f64> = (0..n).map(|k| (k * 37 % 1001) as f64).collect();
        vec![
            Memory::from_f64s(DType::I64, &numbers),
            zeros(DType::I64, 4),
            zeros(DType::BF16, 4),
            zeros(DType::Bool, 4),
        ]
    };
    everywhere(UNIFORM, |n| vec![n], buffers, 0.0);
}

/// Elements of rows at indices that are data, one index a lane and one a row, faults told. `b1` has an index a row.
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
    // Of so many classes none, a few or all indices are in range.
    for (rows, classes) in [(3, 50), (3, 37), (1, 0), (0, 4)] {
        let buffers = |columns: i64| {
            let (count, side) = ((rows * columns) as usize, columns.max(1) * 50);
            let index = |n: usize| ((n * n + 7 * n) % 50) as f64 - f64::from(n == 20);
            let index: Vec<f64> = (0..count).map(index).collect();
            vec![
                Memory::from_f64s(DType::I32, &index),
                Memory::from_f64s(DType::I64, &[49.0, -3.0, 40.0][..rows as usize]),
                noise(DType::BF16, (rows * classes).max(side) as usize, 3),
                Memory::from_f64s(DType::I64, &[9.0e18, 9.0e18]),
                Memory::zeros(DType::BF16, count),
                Memory::zeros(DType::BF16, count),
            ]
        };
        everywhere(GATHER, |columns| vec![rows, columns, classes], buffers, 0.0);
    }
}
