//! Squares that are turned in scratch: every width of element, sides below and above a vector. What is fetched ahead of them.

use ir::DType;
use ir::kernel::Memory;

use crate::harness::{check, compile, kernel, noise, runnable};

/// A kernel that stores the square of a block as it lies, and what lies behind it, and turns it.
fn turning(dtype: DType, lanes: u32, side: u32) -> String {
    let size = side * side;
    let behind = size + 5;
    format!(
        "kernel turn() lanes {lanes} {{
  symbols block, x0, x1
  blocks block in 0 .. 2
  read b0: {dtype} x
  write b1: {dtype} y
  scratch w0: {dtype}[{behind}]
  for x0 in 0 .. {behind} lanes {{
    v0: {dtype} = load b0[{behind}*block + x0]
    store w0[x0] = v0
  }}
  barrier
  transpose w0 by {side}
  barrier
  for x1 in 0 .. {behind} lanes {{
    v1: {dtype} = load w0[x1]
    store b1[{behind}*block + x1] = v1
  }}
}}"
    )
}

#[test]
fn squares_of_every_width() {
    for dtype in [DType::F8E4M3, DType::Bool, DType::BF16, DType::F32, DType::I64] {
        for (lanes, side) in [(1, 4), (4, 1), (8, 16), (16, 8), (32, 32), (32, 64)] {
            let kernel = kernel(&turning(dtype, lanes, side));
            let elements = 2 * (side * side + 5) as usize;
            let buffers = [noise(dtype, elements, 7), Memory::zeros(dtype, elements)];
            for target in runnable() {
                check(&kernel, &compile(&kernel, target), &[], &buffers, 0.0);
            }
        }
    }
}

/// A kernel that copies, and fetches ahead what lies where the copy is, beyond the end, and nowhere.
const AHEAD: &str = "kernel ahead() lanes 16 {
  symbols block, x0
  blocks block in 0 .. 3
  read b0: bf16 x
  write b1: bf16 y
  prefetch b0[100*block + 4096]
  for x0 in 0 .. 100 lanes {
    prefetch b0[100*block + x0 + 300]
    prefetch b0[-1000000000000*x0]
    v0: bf16 = load b0[100*block + x0]
    store b1[100*block + x0] = v0
  }
}";

#[test]
fn what_is_fetched_ahead_may_be_nowhere() {
    let kernel = kernel(AHEAD);
    let buffers = [noise(DType::BF16, 300, 7), Memory::zeros(DType::BF16, 300)];
    for target in runnable() {
        check(&kernel, &compile(&kernel, target), &[], &buffers, 0.0);
    }
}
