//! Rectangles that are transposed on their way to scratch or back: every width of element, sides below, above and no
//! multiple of a vector, rows at steps that no stride describes. And prefetches.

use kernel::Kernel;
use ops::DType;
use reference::interpret::DenseMemory;

use crate::harness::{check, compile, kernel, noise, runnable};

/// A kernel that transposes a matrix of `rows` by `columns` a block: on its way to scratch, or on its way back.
fn transposing(dtype: DType, lanes: u32, [rows, columns]: [u32; 2], by_the_load: bool) -> String {
    let size = rows * columns;
    // Rows of scratch have gaps, so that elements copied beyond them are detected.
    let pitch = rows + 3;
    let (load, store) = if by_the_load { (" transpose", "") } else { ("", " transpose") };
    // The matrix with rows of neighbouring lanes: rows when it is loaded, columns when it is stored.
    let [first, second] = match by_the_load {
        true => [["x0", "x1"], ["x3", "x2"]],
        false => [["x1", "x0"], ["x2", "x3"]],
    };
    let extent = |x: &str| if ["x0", "x2"].contains(&x) { rows } else { columns };
    let head = |[outer, inner]: [&str; 2], kind| {
        format!(
            "for {outer} in 0 .. {}{kind} {{\n for {inner} in 0 .. {} lanes {{",
            extent(outer),
            extent(inner)
        )
    };
    let (from, to) = match by_the_load {
        true => (format!("{columns}*x0 + x1"), format!("{rows}*x3 + x2")),
        false => (format!("{rows}*x1 + x0"), format!("{columns}*x2 + x3")),
    };
    format!(
        "kernel transpose() lanes {lanes} {{
  symbols block, x0, x1, x2, x3
  blocks block in 0 .. 2
  read b0: {dtype} x
  write b1: {dtype} y
  scratch w0: {dtype}[{}]
  {}
      v0: {dtype} = load b0[{size}*block + {from}]
      store w0[{pitch}*x1 + x0] = v0
    }}
  }}
  barrier
  {}
      v1: {dtype} = load w0[{pitch}*x3 + x2]
      store b1[{size}*block + {to}] = v1
    }}
  }}
}}",
        pitch * columns,
        head(first, load),
        head(second, store),
    )
}

/// Runs a kernel without arguments on every target; its results have the interpreter's bits.
fn check_everywhere(kernel: &Kernel, buffers: &[DenseMemory]) {
    for target in runnable() {
        check(kernel, &compile(kernel, target), &[], buffers, 0.0);
    }
}

#[test]
fn rectangles_of_every_width() {
    let sides = [[1, 5], [7, 9], [8, 8], [16, 70], [33, 31], [70, 35], [64, 128]];
    for dtype in [DType::F8E4M3, DType::Bool, DType::BF16, DType::F32, DType::I64] {
        for (lanes, sides) in [1, 4, 16, 32, 32, 32, 64].into_iter().zip(sides) {
            for by_the_load in [true, false] {
                let kernel = kernel(&transposing(dtype, lanes, sides, by_the_load));
                let elements = (2 * sides[0] * sides[1]) as usize;
                let buffers = [noise(dtype, elements, 7), DenseMemory::zeros(dtype, elements)];
                check_everywhere(&kernel, &buffers);
            }
        }
    }
}

/// Rows of a matrix without a common stride: the upper half first, then the lower one further on.
const BROKEN: &str = "kernel broken() lanes 32 {
  symbols block, x0, x1, x2
  blocks block in 0 .. 1
  read b0: f32 x
  write b1: f32 y
  scratch w0: f32[1600]
  for x0 in 0 .. 40 transpose {
    for x1 in 0 .. 40 lanes {
      v0: f32 = load b0[40*x0 + 100*(x0 // 20) + x1]
      store w0[40*x1 + x0] = v0
    }
  }
  barrier
  for x2 in 0 .. 1600 lanes {
    v1: f32 = load w0[x2]
    store b1[x2] = v1
  }
}";

#[test]
fn rows_may_lie_at_no_stride() {
    let kernel = kernel(BROKEN);
    let buffers = [noise(DType::F32, 1700, 7), DenseMemory::zeros(DType::F32, 1600)];
    check_everywhere(&kernel, &buffers);
}

/// A kernel that copies, and prefetches from within the copy, beyond its end, and from no valid address.
const PREFETCHES: &str = "kernel prefetches() lanes 16 {
  symbols block, x0
  blocks block in 0 .. 3
  read b0: bf16 x
  write b1: bf16 y
  prefetch b0[100*block + 4096]
  for x0 in 0 .. 100 lanes {
    prefetch b0[100*block + x0 + 300] L2
    prefetch b0[-1000000000000*x0]
    v0: bf16 = load b0[100*block + x0]
    store b1[100*block + x0] = v0
  }
}";

#[test]
fn what_is_prefetched_may_be_nowhere() {
    let kernel = kernel(PREFETCHES);
    let buffers = [noise(DType::BF16, 300, 7), DenseMemory::zeros(DType::BF16, 300)];
    check_everywhere(&kernel, &buffers);
}
