//! Loops over lanes that read bf16 deinterleaved: masked ends and how they are stored, scratch that loops share, values that
//! are shuffled on the way, and equal bits in loops of few iterations.

use ferrofuse_codegen::cpu::{Isa, emit};
use llvm::CpuTarget;
use ops::{DType, Scalar};
use reference::interpret::DenseMemory;

use crate::harness::{check, compile, kernel, llvm, memory, noise, run, runnable};

const LANES: [u32; 4] = [8, 16, 32, 64];
const SIZES: [i64; 9] = [0, 1, 3, 16, 31, 32, 70, 129, 1000];

/// The computation of each row: weighted elements that stay in scratch until the sum of their magnitudes is known, then
/// products with it. Weights are f32, and a bool says which elements are positive.
/// positive goes to bools.
const ROW: &str = "
    acc a0: f32 = v0
    for x0 in 0 .. columns lanes {
      v1: bf16 = load b0[row*columns + x0]
      v2: f32 = cast v1
      v3: f32 = load b1[x0]
      v12: f32 = mul v2, v3
      v4: f32 = abs v12
      v5: f32 = get a0
      v6: f32 = add v5, v4
      set a0 = v6
      store w0[x0] = v12
      v7: bool = gt v2, v0
      store b2[row*columns + x0] = v7
    }
    v8: f32 = reduce sum a0
    store b5[row] = v8
    for x1 in 0 .. columns lanes {
      v9: f32 = load w0[x1]
      v10: f32 = mul v9, v8
      store b3[row*columns + x1] = v10
      v11: bf16 = cast v10
      store b4[row*columns + x1] = v11
    }
";

/// The first half of the rows in a plain loop, the others in one of few iterations.
fn text(lanes: u32) -> String {
    let second = (1..=12).rev().fold(ROW.replace("a0", "a1"), |text, value| {
        text.replace(&format!("v{value}:"), &format!("v{}:", value + 12))
            .replace(&format!(" v{value},"), &format!(" v{},", value + 12))
            .replace(&format!(" v{value}\n"), &format!(" v{}\n", value + 12))
    });
    let second = second.replace("x0", "x2").replace("x1", "x3").replace("row", "late");
    format!(
        "kernel rows(rows, columns) lanes {lanes} {{
  symbols rows, columns, block, row, late, x0, x1, x2, x3
  blocks block in 0 .. 1
  read b0: bf16 x
  read b1: f32 weight
  write b2: bool positive
  write b3: f32 full
  write b4: bf16 y
  write b5: f32 sum
  scratch w0: f32[columns]
  v0: f32 = const 0.0
  for row in 0 .. rows {{{ROW}  }}
  for late in rows .. 2*rows remainder {{{second}  }}
}}"
    )
}

fn buffers(rows: i64, columns: i64) -> Vec<DenseMemory> {
    let (count, columns) = ((rows * columns) as usize, columns as usize);
    let half = noise(DType::BF16, count, 5);
    let twice =
        DenseMemory::from_bytes(DType::BF16, [half.bytes(), half.bytes()].concat()).expect("two bytes each");
    let zeros = |dtype, count| DenseMemory::zeros(dtype, count);
    vec![
        twice,
        noise(DType::F32, columns, 6),
        zeros(DType::Bool, 2 * count),
        zeros(DType::F32, 2 * count),
        zeros(DType::BF16, 2 * count),
        zeros(DType::F32, 2 * rows as usize),
    ]
}

#[test]
fn rows_have_the_interpreter_s_values_and_the_same_bits_in_every_loop() {
    for target in runnable() {
        for lanes in LANES {
            let kernel = kernel(&text(lanes));
            let compiled = compile(&kernel, target);
            for columns in SIZES {
                let args = [2, columns];
                let mut memory = buffers(2, columns);
                check(&kernel, &compiled, &args, &memory, 64.0);
                run(&kernel, &compiled, &args, &mut memory);
                for buffer in &memory[2..] {
                    let (first, second) = buffer.bytes().split_at(buffer.bytes().len() / 2);
                    assert_eq!(first, second, "{target:?}, {lanes} lanes, {columns} columns");
                }
            }
        }
    }
}

/// From bf16 to bf16: nothing stays in deinterleaved order.
const DOUBLED: &str = "kernel doubled(n) lanes 32 {
  symbols n, block, x
  blocks block in 0 .. 1
  read b0: bf16 x
  write b1: bf16 y
  for x in 0 .. n lanes {
    v0: bf16 = load b0[x]
    v1: f32 = cast v0
    v2: f32 = add v1, v1
    v3: bf16 = cast v2
    store b1[x] = v3
  }
}";

#[test]
fn an_end_takes_one_register_where_nothing_is_kept_and_looks_for_no_subnormals() {
    let kernel = kernel(DOUBLED);
    let module = emit(&kernel, &Isa::new(&llvm(), CpuTarget::Avx512)).expect("has code");
    assert!(module.ir.contains("call <16 x i16> @llvm.masked.load"), "{}", module.ir);
    assert!(!module.ir.contains("call <32 x i16> @llvm.masked.load"), "{}", module.ir);
    let module = emit(&kernel, &Isa::new(&llvm(), CpuTarget::Host)).expect("has code");
    let asked = module.ir.matches("call <16 x i1> @llvm.x86.avx512.fpclass").count();
    assert!(asked <= 2, "two registers of whole vectors, and none of the remainder:\n{}", module.ir);
    for target in runnable() {
        let compiled = compile(&kernel, target);
        for n in SIZES {
            let memory = [noise(DType::BF16, n as usize, 7), DenseMemory::zeros(DType::BF16, n as usize)];
            check(&kernel, &compiled, &[n], &memory, 0.0);
        }
    }
}

/// Subnormals, NaN and numbers side by side: vectors with one of the former are computed in pieces, through memory.
#[test]
fn every_bf16_doubles_among_any_others() {
    let values = |stride: u64| {
        let bits = (0..=0xffff_u64).map(|number| (number * stride) & 0xffff);
        bits.map(|bits| Scalar::from_bits(DType::BF16, bits)).collect::<Vec<_>>()
    };
    for lanes in [32, 64] {
        let kernel = kernel(&DOUBLED.replace("lanes 32", &format!("lanes {lanes}")));
        for target in runnable() {
            let compiled = compile(&kernel, target);
            for stride in [1, 129, 8193] {
                let x = memory(DType::BF16, &values(stride));
                check(&kernel, &compiled, &[0x10000], &[x, DenseMemory::zeros(DType::BF16, 0x10000)], 0.0);
            }
        }
    }
}
