//! Random draws: few are written inline, many call one function.

use ferrofuse_codegen::cpu::{Isa, emit};
use llvm::CpuTarget;
use ops::{DType, Scalar};

use crate::harness::{everywhere, kernel, llvm, memory, zeros};

/// A sum of draws at each element; the indices of the draws differ by more than the number of elements.
fn sum_of_draws(draws: usize) -> String {
    let head = "kernel draws(n) lanes LANES {\n  symbols n, block, x\n  blocks block in 0 .. 1\n  read b0: i64 seed\n  \
                write b1: i64 out\n  v0: i64 = load b0[0]\n  v1: i64 = const 0\n  for x in 0 .. n lanes {\n    \
                v2: i64 = index x\n    v3: i64 = const 5\n    v4: i64 = add v2, v1\n";
    let (mut body, mut sum) = (String::new(), 4);
    for _ in 0..draws {
        let (number, draw, next) = (sum + 1, sum + 2, sum + 3);
        body += &format!("    v{number}: i64 = add v{sum}, v3\n");
        body += &format!("    v{draw}: i64 = philox v0, v1, v{number}\n");
        body += &format!("    v{next}: i64 = bitwise_xor v{draw}, v{sum}\n");
        sum = next;
    }
    format!("{head}{body}    store b1[x] = v{sum}\n  }}\n}}")
}

/// How often the LLVM IR of a kernel multiplies by the first number of Philox: ten times for each draw in it.
fn rounds(draws: usize) -> usize {
    let kernel = kernel(&sum_of_draws(draws).replace("LANES", "16"));
    let isa = Isa::new(&llvm(), CpuTarget::Avx512);
    let multiplier = 0xD251_1F53_u32.to_string();
    let module = emit(&kernel, &isa).expect("emits");
    module.ir.lines().filter(|line| line.contains(" = mul ") && line.contains(&multiplier)).count()
}

#[test]
fn many_draws_are_no_more_code_than_a_few() {
    assert_eq!(rounds(40), rounds(20));
    assert!(rounds(40) <= rounds(8), "{} and {}", rounds(40), rounds(8));
}

#[test]
fn draws_that_call_a_function_give_what_the_interpreter_gives() {
    for draws in [3, 12] {
        let seed = || memory(DType::I64, &[Scalar::from_i64(DType::I64, 1234)]);
        let buffers = |n: i64| vec![seed(), zeros(DType::I64, n)];
        everywhere(&sum_of_draws(draws), |n| vec![n], buffers, 0.0);
    }
}
