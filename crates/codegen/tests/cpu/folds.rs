//! Folds: in accumulators and in scratch, over lanes and within one, for the remainder rows of a jam.

use ops::DType;
use reference::interpret::DenseMemory;

use crate::harness::{LANES, check, compile, everywhere, kernel, noise, run, runnable, zeros};

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

#[test]
fn softmax() {
    let rows = 3;
    let buffers = |n: i64| vec![noise(DType::F32, (rows * n) as usize, 3), zeros(DType::F32, rows * n)];
    everywhere(SOFTMAX, |n| vec![rows, n], buffers, 8.0);
}

/// If lanes have equal trip counts there is no code for the remainder, and the bits are those of the code that has it.
#[test]
fn exact_iterations() {
    for target in runnable() {
        for lanes in LANES {
            let any = kernel(&SOFTMAX.replace("LANES", &lanes.to_string()));
            let exact = kernel(
                &SOFTMAX.replace("LANES", &lanes.to_string()).replace("columns lanes", "columns exact"),
            );
            let [of_any, of_exact] = [&any, &exact].map(|kernel| compile(kernel, target));
            assert!(lanes == 1 || of_exact.code_bytes() < of_any.code_bytes(), "{target}, {lanes} lanes");
            for columns in [0, 32, 64, 320] {
                let buffers = [noise(DType::F32, 3 * columns as usize, 3), zeros(DType::F32, 3 * columns)];
                check(&exact, &of_exact, &[3, columns], &buffers, 8.0);
                let [mut expected, mut found] = [buffers.clone(), buffers];
                run(&any, &of_any, &[3, columns], &mut expected);
                run(&exact, &of_exact, &[3, columns], &mut found);
                assert_eq!(
                    expected[1].bytes(),
                    found[1].bytes(),
                    "{target}, {lanes} lanes, {columns} columns"
                );
            }
        }
    }
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

/// Mean and squared deviations of rows; each lane has separate states, which are converted to f64 when they are combined.
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
  acc a3: f32 = v0
  for x in 0 .. columns lanes {
    v2: f32 = load b0[row*columns + x]
    v3: f32 = get a0
    v4: f32 = get a1
    v5: f32 = get a2
    v6: f32 = get a3
    v7: bool = eq v6, v0
    v8: f32 = where v7, v2, v3
    v9: f32 = sub v2, v8
    v10: f32 = add v4, v9
    v11: f32 = mul v9, v9
    v12: f32 = add v5, v11
    v13: f32 = add v6, v1
    set a0 = v8
    set a1 = v10
    set a2 = v12
    set a3 = v13
  }
  v14: f64, v15: f64, v16: f64, v17: f64 = reduce welford a0, a1, a2, a3
  v18: f64 = div v15, v17
  v19: f64 = add v14, v18
  v20: f64 = mul v15, v18
  v21: f64 = sub v16, v20
  v22: f32 = cast v19
  v23: f32 = cast v21
  v24: f32 = cast v17
  store b1[row] = v22
  store b2[row] = v23
  store b3[row] = v24
}";

#[test]
fn welford() {
    let rows = 3;
    let buffers = |n: i64| {
        let results = || zeros(DType::F32, rows);
        vec![noise(DType::F32, (rows * n) as usize, 6), results(), results(), results()]
    };
    // Products are added without being rounded, the remainder may go to other lanes than the interpreter's, and a mean near
    // zero has fewer digits.
    everywhere(WELFORD, |n| vec![rows, n], buffers, 64.0);
}

/// A kernel with a block per row, changed so that its only block walks the remainder rows of a jam.
fn all_left_over(text: &str) -> String {
    text.replace("symbols rows, columns, row", "symbols rows, columns, block, row")
        .replace("blocks row in 0 .. rows", "blocks block in 0 .. 1")
        .replacen("\n  v0: f32 =", "\n  for row in 0 .. rows remainder {\n  v0: f32 =", 1)
        + "\n}"
}

/// A row has the same bits wherever it is: the remainder rows of a jam fold in the same order as all others.
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

/// The remainder rows of an unrolled loop: folds over lanes begin and end within its iterations.
#[test]
fn softmax_of_what_is_left() {
    let rows = 3;
    let buffers = |n: i64| vec![noise(DType::F32, (rows * n) as usize, 3), zeros(DType::F32, rows * n)];
    everywhere(&all_left_over(SOFTMAX), |n| vec![rows, n], buffers, 8.0);
    everywhere(
        &COLUMN_SUM.replace("0 .. rows {", "0 .. rows remainder {"),
        |n| vec![rows, n],
        |n| vec![noise(DType::BF16, (rows * n) as usize, 4), zeros(DType::F32, n)],
        0.0,
    );
}

/// Uniform code that branches, stores and divides; accumulators of every dtype; loops without iterations.
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
            DenseMemory::from_f64s(DType::I64, &numbers),
            zeros(DType::I64, 4),
            zeros(DType::BF16, 4),
            zeros(DType::Bool, 4),
        ]
    };
    everywhere(UNIFORM, |n| vec![n], buffers, 0.0);
}
