//! Code for other machines than this one, and rejected targets.

use ferrofuse_codegen::cpu::{Isa, emit};
use kernel::parse;
use llvm::{CpuTarget, Output};

use crate::accesses::{GATHER, SILU_MUL};
use crate::accuracy::{functions, map};
use crate::folds::SOFTMAX;
use crate::harness::{kernel, llvm};

fn assembly(text: &str, lanes: u32, target: CpuTarget) -> String {
    let llvm = llvm();
    let isa = Isa::new(&llvm, target);
    let module = emit(&kernel(&text.replace("LANES", &lanes.to_string())), &isa).expect("has code");
    let compiled = llvm.compile(&module.ir, isa.spec(), Output::Assembly).expect("compiles");
    String::from_utf8(compiled.bytes).expect("assembly is text")
}

#[test]
fn every_target_compiles_to_assembly() {
    for target in CpuTarget::ALL {
        for lanes in [1, 4, 8, 16, 32] {
            for text in [SILU_MUL, SOFTMAX, GATHER] {
                assert!(assembly(text, lanes, target).contains("ret"));
            }
        }
    }
}

#[test]
fn every_function_of_numbers_compiles_for_arm() {
    for function in functions(1).chain(functions(2)) {
        assert!(assembly(&map(function).to_string(), 16, CpuTarget::Aarch64).contains("ret"));
    }
}

#[test]
fn arm_code_is_vector_code() {
    let assembly = assembly(SILU_MUL, 8, CpuTarget::Aarch64);
    assert!(assembly.contains("fmla") && assembly.contains(".4s"), "{assembly}");
}

#[test]
fn wide_vectors_stay_in_wide_registers() {
    assert!(assembly(SILU_MUL, 16, CpuTarget::Avx512).contains("zmm"));
    assert!(assembly(SILU_MUL, 8, CpuTarget::Avx2).contains("ymm"));
}

#[test]
fn the_first_lanes_of_16_bits_are_loaded_in_pairs() {
    // Without AVX-512, libLLVM makes a branch for each lane of a masked access of 16 bits.
    let assembly = assembly(SILU_MUL, 16, CpuTarget::Avx2);
    assert!(assembly.contains("vpmaskmovd"), "{assembly}");
    assert!(!assembly.contains("vpinsrw"), "{assembly}");
}

/// Copies rows side by side.
fn rows_copied(rows: usize) -> String {
    let row =
        |row: usize| format!("    v{row}: bf16 = load b0[{row}*n + x]\n    store b1[{row}*n + x] = v{row}\n");
    let rows: String = (0..rows).map(row).collect();
    format!(
        "kernel rows(n) lanes LANES {{
  symbols n, block, x
  blocks block in 0 .. 1
  read b0: bf16 x
  write b1: bf16 y
  for x in 0 .. n lanes {{
{rows}  }}
}}"
    )
}

#[test]
fn parts_of_many_lines_are_not_stored_non_temporally() {
    let is_non_temporal =
        |rows, lanes, target| assembly(&rows_copied(rows), lanes, target).contains("vmovntps");
    assert!(is_non_temporal(4, 16, CpuTarget::Avx2));
    assert!(!is_non_temporal(8, 16, CpuTarget::Avx2));
    // Whole lines.
    assert!(is_non_temporal(8, 32, CpuTarget::Avx512));
}

#[test]
fn a_kernel_that_breaks_a_rule_is_rejected() {
    let text = "kernel wrong(n) lanes 4 {
        symbols n, block
        blocks block in 0 .. 1
        write b0: f32 out
        v0: i32 = const 1
        store b0[0] = v0
    }";
    let kernel = parse(text).expect("reads");
    let error = emit(&kernel, &Isa::new(&llvm(), CpuTarget::Host)).expect_err("an i32 in an f32 buffer");
    assert!(error.to_string().contains("store b0[0] = v0"), "{error}");
}
