//! The error of the functions of f32 over the whole range, against double precision.

use ferrofuse_codegen::cpu::CompiledKernel;
use kernel::Kernel;
use llvm::CpuTarget;
use ops::{CpuSpelling, DType, Polynomial, ScalarOp, Typing};
use reference::interpret::DenseMemory;

use crate::harness::{compile, kernel, run, runnable};

/// One in this many of all bit patterns; prime, so that all binades are sampled at different points. In a release build the
/// test takes half an hour and prints the table of `docs/accuracy.md`:
/// `cargo test --release -p ferrofuse-codegen --test cpu accuracy -- --nocapture`.
const STEP: usize = if cfg!(debug_assertions) { 4099 } else { 17 };

/// The bound of inline code in units in the last place, also for rows that must allow more for GPUs.
const INLINE_ULP: f64 = 2.0;

/// The functions of `arity` real numbers.
pub fn functions(arity: usize) -> impl Iterator<Item = ScalarOp> {
    let real =
        |op: &ScalarOp| op.row().typing == Typing::Float || matches!(op, ScalarOp::Pow | ScalarOp::Fmod);
    ScalarOp::ALL.iter().copied().filter(real).filter(move |op| op.arity() == arity)
}

/// A kernel that applies the function to each element of its inputs.
pub fn map(op: ScalarOp) -> Kernel {
    let operands: Vec<usize> = (0..op.arity()).collect();
    let each = |text: fn(usize) -> String| operands.iter().map(|&i| text(i)).collect::<String>();
    let (result, name) = (op.arity(), op.name());
    kernel(&format!(
        "kernel map(n) lanes 16 {{
           symbols n, block, x
           blocks block in 0 .. 1
           {}
           write b{result}: f32 out
           for x in 0 .. n lanes {{
             {}
             v{result}: f32 = {name} {}
             store b{result}[x] = v{result}
           }}
         }}",
        each(|i| format!("read b{i}: f32 in{i}\n")),
        each(|i| format!("v{i}: f32 = load b{i}[x]\n")),
        operands.iter().map(|i| format!("v{i}")).collect::<Vec<_>>().join(", "),
    ))
}

/// The error of `got`, in units in the last place of the exact value; infinite for a wrong NaN or infinity.
fn error(exact: f64, got: f32) -> f64 {
    if exact.is_nan() && got.is_nan() {
        return 0.0;
    }
    let rounded = exact as f32;
    if rounded.to_bits() == got.to_bits() {
        return 0.5_f64.min((exact - f64::from(got)).abs() / DType::F32.ulp(exact));
    }
    if exact == 0.0 && got == 0.0 {
        return f64::INFINITY;
    }
    // A result that overflows only by its error counts from the largest number on.
    let reach = |x: f64| if x.is_infinite() { x.signum() * 2.0_f64.powi(128) } else { x };
    let ulps = (reach(exact) - reach(f64::from(got))).abs() / DType::F32.ulp(exact);
    if ulps.is_nan() { f64::INFINITY } else { ulps }
}

/// The largest error so far, and its operands.
#[derive(Clone, Default)]
struct Worst {
    ulps: f64,
    operands: Vec<f32>,
}

/// A function of f32 values, compiled for each target.
struct Function {
    op: ScalarOp,
    kernel: Kernel,
    compiled: Vec<(CpuTarget, CompiledKernel, Worst)>,
}

impl Function {
    fn new(op: ScalarOp) -> Function {
        let kernel = map(op);
        let for_target = |target| (target, compile(&kernel, target), Worst::default());
        let compiled = runnable().into_iter().map(for_target).collect();
        Function { op, kernel, compiled }
    }

    /// Updates the errors with these operands: an array for each parameter.
    fn visit(&mut self, operands: &[Vec<f32>]) {
        let count = operands[0].len();
        let row = |index: usize| operands.iter().map(move |operand| operand[index]);
        let exact: Vec<f64> = (0..count)
            .map(|index| self.op.of_reals(&row(index).map(f64::from).collect::<Vec<_>>()))
            .collect();
        let mut buffers: Vec<DenseMemory> = operands.iter().map(|operand| memory(operand)).collect();
        buffers.push(DenseMemory::zeros(DType::F32, count));
        for (_, compiled, worst) in &mut self.compiled {
            run(&self.kernel, compiled, &[count as i64], &mut buffers);
            let results = buffers[operands.len()].bytes().chunks_exact(4);
            for (index, bytes) in results.enumerate() {
                let got = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                let ulps = error(exact[index], got);
                if ulps > worst.ulps && self.op.specifies(f64::from(operands[0][index])) {
                    *worst = Worst { ulps, operands: row(index).collect() };
                }
            }
        }
    }

    /// Compares the worst errors with the bound, and prints them: a function a line, a target a column.
    fn check(&self) {
        let row = self.op.row();
        let bound = match row.cpu.float {
            Some(CpuSpelling::Approximate(_)) => row.ulp,
            Some(CpuSpelling::Polynomial(Polynomial::Erfinv | Polynomial::Erfcinv)) => 3.0,
            _ => row.ulp.min(INLINE_ULP),
        };
        let columns: Vec<String> =
            self.compiled.iter().map(|(_, _, worst)| format!("{:.2}", worst.ulps)).collect();
        println!("| {} | {} |", row.name, columns.join(" | "));
        for (target, _, Worst { ulps, operands }) in &self.compiled {
            assert!(*ulps <= bound, "{target}: {} of {operands:?} is off by {ulps} ulp", row.name);
        }
    }
}

fn memory(values: &[f32]) -> DenseMemory {
    let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    DenseMemory::from_bytes(DType::F32, bytes).expect("whole elements")
}

/// Multiplying by an odd number permutes the numbers below 2^32.
fn scattered(bits: u32) -> f32 {
    f32::from_bits(bits.wrapping_mul(0x9e37_79b1) ^ 0x5bd1_e995)
}

const SPECIAL: [f32; 11] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -3.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    f32::MAX,
    f32::MIN_POSITIVE,
];

#[test]
fn functions_keep_their_bounds_over_all_floats() {
    const PIECE: usize = 1 << 18;
    for mut function in functions(1).map(Function::new) {
        function.visit(&[SPECIAL.to_vec()]);
        let mut rest = (0..=u32::MAX).step_by(STEP).map(f32::from_bits).peekable();
        while rest.peek().is_some() {
            function.visit(&[rest.by_ref().take(PIECE).collect()]);
        }
        function.check();
    }
}

/// Values around 1 and 0, and every integer exponent, where functions cancel or change branches.
#[test]
fn functions_keep_their_bounds_where_they_are_hard() {
    let near_one = (-200_000..200_000).map(|k| f32::from_bits((0x3f80_0000 + 61 * k) as u32));
    let small = (-40_000..40_000).map(|k| k as f32 * 1.7e-5);
    let middle = (-60_000..60_000).map(|k| k as f32 * 1.733e-3);
    let inputs: Vec<f32> = near_one.chain(small).chain(middle).collect();
    for mut function in functions(1).map(Function::new) {
        function.visit(std::slice::from_ref(&inputs));
        function.check();
    }
}

/// Pairs of arbitrary floats, of an arbitrary one and a special one of powers, and of numbers that are near each other.
#[test]
fn functions_of_two_numbers_keep_their_bounds() {
    let any: Vec<f32> = (0..=u32::MAX).step_by(STEP * 17).map(f32::from_bits).collect();
    let other = any.iter().map(|x| scattered(x.to_bits())).collect();
    let powers = any.iter().map(|x| 88.0 / x.abs().log2() * ((x.to_bits() >> 8 & 255) as f32 / 128.0 - 1.0));
    let beside = any.iter().map(|x| x * ((x.to_bits() & 255) as f32 / 64.0 - 2.0));
    let (powers, beside) = (powers.collect(), beside.collect());
    let pairs = SPECIAL.iter().flat_map(|&x| SPECIAL.map(|y| (x, y)));
    let (left, right): (Vec<f32>, Vec<f32>) = pairs.unzip();
    for mut function in functions(2).map(Function::new) {
        function.visit(&[left.clone(), right.clone()]);
        for second in [&other, &powers, &beside] {
            function.visit(&[any.clone(), Vec::clone(second)]);
        }
        function.check();
    }
}
