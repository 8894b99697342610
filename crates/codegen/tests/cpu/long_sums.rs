//! Long sums, such as the ends of the parts of a cat of many inputs: code grows with their length, not with its square.

use std::fmt::Write;

use ferrofuse_codegen::cpu::{Isa, emit};
use kernel::Kernel;
use llvm::CpuTarget;
use ops::DType;
use reference::interpret::DenseMemory;

use crate::harness::{check, compile, kernel, llvm, noise, runnable};

/// A kernel that copies `parts` inputs in order, each by a separate loop.
fn cat(parts: usize) -> Kernel {
    let sizes: Vec<String> = (0..parts).map(|part| format!("n{part}")).collect();
    let end = |part: usize| if part == 0 { "0".to_owned() } else { sizes[..part].join(" + ") };
    let mut text = format!("kernel cat({0}) lanes 16 {{\n  symbols {0}, block", sizes.join(", "));
    (0..parts).for_each(|part| write!(text, ", x{part}").expect("memory"));
    writeln!(text, "\n  blocks block in 0 .. ({} + 63) // 64", end(parts)).expect("memory");
    (0..parts).for_each(|part| writeln!(text, "  read b{part}: f32 x").expect("memory"));
    writeln!(text, "  write b{parts}: f32 y").expect("memory");
    for part in 0..parts {
        let (begin, end) = (end(part), end(part + 1));
        let shift = if part == 0 { String::new() } else { format!(" - {}", sizes[..part].join(" - ")) };
        writeln!(
            text,
            "  for x{part} in max({begin}, 64*block) .. min({end}, 64*block + 64) lanes {{
    v{part}: f32 = load b{part}[x{part}{shift}]
    store b{parts}[x{part}] = v{part}
  }}"
        )
        .expect("memory");
    }
    text.push('}');
    kernel(&text)
}

#[test]
fn a_sum_goes_on_where_another_ends() {
    let additions = |parts: usize| {
        let module = emit(&cat(parts), &Isa::new(&llvm(), CpuTarget::Avx512)).expect("has code");
        module.ir.matches("= add ").count()
    };
    let (few, many) = (additions(16), additions(128));
    assert!(many <= 9 * few, "{few} and {many}");
}

#[test]
fn long_sums_are_what_they_say() {
    let kernel = cat(12);
    let sizes: Vec<i64> = vec![3, 0, 17, 64, 1, 1, 0, 40, 5, 16, 100, 2];
    let total: i64 = sizes.iter().sum();
    for target in runnable() {
        let compiled = compile(&kernel, target);
        let mut memory: Vec<DenseMemory> = sizes
            .iter()
            .enumerate()
            .map(|(part, &size)| noise(DType::F32, size as usize, part as u64))
            .collect();
        memory.push(DenseMemory::zeros(DType::F32, total as usize));
        check(&kernel, &compiled, &sizes, &memory, 0.0);
    }
}
