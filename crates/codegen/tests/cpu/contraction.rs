//! Folds of products: which products the steps take unrounded, bit by bit.

use llvm::CpuTarget;
use ops::DType;
use reference::interpret::DenseMemory;

use crate::harness::{compile, kernel, noise, run, runnable, zeros};

/// Products of two columns of numbers, folded by one lane: added, subtracted through a negation, and twice in one iteration,
/// as in jammed rows; one is stored as well.
const FOLDS: &str = "kernel folds(n) lanes 1 {
  symbols n, block, x
  blocks block in 0 .. 1
  read b0: f32 x
  read b1: f32 y
  write b2: f32 sums
  write b3: f32 products
  v0: f32 = const 0.0
  acc a0: f32 = v0
  acc a1: f32 = v0
  acc a2: f32 = v0
  acc a3: f32 = v0
  for x in 0 .. n {
    v1: f32 = load b0[x]
    v2: f32 = load b1[x]
    v3: f32 = mul v1, v2
    v4: f32 = get a0
    v5: f32 = add v4, v3
    set a0 = v5
    v6: f32 = mul v2, v1
    v7: f32 = neg v6
    v8: f32 = get a1
    v9: f32 = add v8, v7
    set a1 = v9
    v10: f32 = mul v1, v1
    v11: f32 = get a2
    v12: f32 = add v11, v10
    v13: f32 = add v12, v10
    set a2 = v13
    v14: f32 = mul v2, v2
    store b3[x] = v14
    v15: f32 = get a3
    v16: f32 = add v15, v14
    set a3 = v16
  }
  v17: f32 = get a0
  store b2[0] = v17
  v18: f32 = get a1
  store b2[1] = v18
  v19: f32 = get a2
  store b2[2] = v19
  v20: f32 = get a3
  store b2[3] = v20
}";

/// A sum that is no fold, and a fold in scratch memory.
const SUMS: &str = "kernel sums(n) lanes 1 {
  symbols n, block, x, x1, x2
  blocks block in 0 .. 1
  read b0: f32 x
  read b1: f32 y
  write b2: f32 sums
  write b3: f32 folded
  scratch w0: f32[n]
  for x in 0 .. n {
    v0: f32 = load b1[x]
    store w0[x] = v0
  }
  barrier
  for x1 in 0 .. n {
    v1: f32 = load b0[x1]
    v2: f32 = load b1[x1]
    v3: f32 = mul v1, v2
    v4: f32 = add v2, v3
    store b2[x1] = v4
    v5: f32 = mul v1, v1
    v6: f32 = load w0[x1]
    v7: f32 = add v6, v5
    store w0[x1] = v7
  }
  barrier
  for x2 in 0 .. n {
    v8: f32 = load w0[x2]
    store b3[x2] = v8
  }
}";

const LENGTH: usize = 1000;

/// The targets that have FMA.
fn fused() -> Vec<CpuTarget> {
    let plain = if cfg!(target_arch = "x86_64") && !is_fused() { Some(CpuTarget::Host) } else { None };
    runnable().into_iter().filter(|target| *target != CpuTarget::X86_64 && Some(*target) != plain).collect()
}

#[cfg(target_arch = "x86_64")]
fn is_fused() -> bool {
    is_x86_feature_detected!("fma")
}

#[cfg(not(target_arch = "x86_64"))]
fn is_fused() -> bool {
    true
}

fn results(text: &str, target: CpuTarget, inputs: &[DenseMemory; 2], lengths: [usize; 2]) -> [Vec<f32>; 2] {
    let kernel = kernel(text);
    let mut buffers = inputs.to_vec();
    buffers.extend(lengths.map(|length| zeros(DType::F32, length as i64)));
    run(&kernel, &compile(&kernel, target), &[LENGTH as i64], &mut buffers);
    [2, 3].map(|at| floats(&buffers[at]))
}

fn floats(memory: &DenseMemory) -> Vec<f32> {
    (0..memory.len()).map(|index| memory.read(index).as_f64() as f32).collect()
}

#[test]
fn steps_of_folds_round_once() {
    let inputs = [noise(DType::F32, LENGTH, 1), noise(DType::F32, LENGTH, 2)];
    let (x, y) = (floats(&inputs[0]), floats(&inputs[1]));
    let mut expected = [0.0_f32; 4];
    for (&x, &y) in x.iter().zip(&y) {
        expected[0] = x.mul_add(y, expected[0]);
        expected[1] = (-x).mul_add(y, expected[1]);
        expected[2] = x.mul_add(x, x.mul_add(x, expected[2]));
        expected[3] += y * y;
    }
    for target in fused() {
        let [sums, products] = results(FOLDS, target, &inputs, [4, LENGTH]);
        assert_eq!(sums, expected, "{target}");
        assert!(products.iter().zip(&y).all(|(&product, &y)| product == y * y), "{target}");
    }
}

#[test]
fn other_sums_have_the_bits_of_their_ops() {
    let inputs = [noise(DType::F32, LENGTH, 3), noise(DType::F32, LENGTH, 4)];
    let (x, y) = (floats(&inputs[0]), floats(&inputs[1]));
    let pairs = || x.iter().zip(&y).map(|(&x, &y)| (x, y));
    for target in fused() {
        let [sums, folded] = results(SUMS, target, &inputs, [LENGTH, LENGTH]);
        assert!(sums.iter().zip(pairs()).all(|(&sum, (x, y))| sum == y + x * y), "{target}");
        assert!(folded.iter().zip(pairs()).all(|(&sum, (x, y))| sum == x.mul_add(x, y)), "{target}");
    }
}

/// Without FMA a product is rounded, as in the interpreter.
#[test]
fn a_target_without_the_instruction_rounds_twice() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let inputs = [noise(DType::F32, LENGTH, 5), noise(DType::F32, LENGTH, 6)];
    let (x, y) = (floats(&inputs[0]), floats(&inputs[1]));
    let expected = x.iter().zip(&y).fold(0.0_f32, |sum, (&x, &y)| sum + x * y);
    let [sums, _] = results(FOLDS, CpuTarget::X86_64, &inputs, [4, LENGTH]);
    assert_eq!(sums[0], expected);
}
