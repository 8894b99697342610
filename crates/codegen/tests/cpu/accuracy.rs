//! The error of the functions of f32 over the whole range, against double precision.

use ferrofuse_codegen::cpu::CompiledKernel;
use ferrofuse_codegen::cpu::llvm::CpuTarget;
use ir::DType;
use ir::kernel::{Kernel, Memory};
use ir::ops::{CpuSpelling, FloatMeaning, Prim};

use crate::harness::{compile, kernel, run, runnable};

/// Of all bit patterns every this many; prime, so that all binades are met at different places. Built for release the test
/// takes an hour: `cargo test --release -p ferrofuse-codegen --test cpu accuracy -- --nocapture`.
const STEP: usize = if cfg!(debug_assertions) { 4099 } else { 17 };

fn functions() -> impl Iterator<Item = Prim> {
    Prim::ALL.iter().copied().filter(|prim| {
        matches!(
            prim.row().cpu.float,
            Some(CpuSpelling::Polynomial(_) | CpuSpelling::Approximate(_) | CpuSpelling::Call { .. })
        ) && prim.row().params.len() == 1
    })
}

fn map(prim: Prim) -> ir::kernel::Kernel {
    kernel(&format!(
        "kernel map(n) lanes 16 {{
           symbols n, block, x
           blocks block in 0 .. 1
           read b0: f32 in
           write b1: f32 out
           for x in 0 .. n lanes {{
             v0: f32 = load b0[x]
             v1: f32 = {} v0
             store b1[x] = v1
           }}
         }}",
        prim.name()
    ))
}

/// The error of `got`, in units in the last place of the exact value; infinite for a wrong NaN or infinity.
fn error(exact: f64, got: f32) -> f64 {
    let rounded = exact as f32;
    if rounded.to_bits() == got.to_bits() || (exact.is_nan() && got.is_nan()) {
        return 0.5_f64.min((exact - f64::from(got)).abs() / DType::F32.ulp(exact));
    }
    if exact == 0.0 && got == 0.0 {
        return f64::INFINITY;
    }
    // What overflows only by its error counts from the largest number on.
    let reach = |x: f64| if x.is_infinite() { x.signum() * 2.0_f64.powi(128) } else { x };
    let ulps = (reach(exact) - reach(f64::from(got))).abs() / DType::F32.ulp(exact);
    if ulps.is_nan() { f64::INFINITY } else { ulps }
}

/// A compiled function of f32 values.
struct Function {
    prim: Prim,
    target: CpuTarget,
    kernel: Kernel,
    compiled: CompiledKernel,
}

impl Function {
    fn new(prim: Prim, target: CpuTarget) -> Function {
        let kernel = map(prim);
        let compiled = compile(&kernel, target);
        Function { prim, target, kernel, compiled }
    }

    fn all() -> impl Iterator<Item = Function> {
        runnable().into_iter().flat_map(|target| functions().map(move |prim| Function::new(prim, target)))
    }

    /// The largest error over these inputs, and where it is.
    fn largest_error(&self, inputs: &[f32]) -> (f64, f32) {
        let Some(FloatMeaning::Unary(meaning)) = self.prim.row().float else {
            unreachable!("a function of one number")
        };
        let bytes = inputs.iter().flat_map(|x| x.to_le_bytes()).collect();
        let inputs_in_memory = Memory::from_bytes(DType::F32, bytes).expect("whole elements");
        let mut buffers = [inputs_in_memory, Memory::zeros(DType::F32, inputs.len())];
        run(&self.kernel, &self.compiled, &[inputs.len() as i64], &mut buffers);
        let errors = inputs.iter().enumerate().map(|(index, &x)| {
            (error(meaning(f64::from(x)), f32::from_bits(buffers[1].read(index).bits() as u32)), x)
        });
        errors.fold((0.0, 0.0), |worst, next| if next.0 > worst.0 { next } else { worst })
    }

    fn check(&self, (worst, at): (f64, f32)) {
        let (name, target) = (self.prim.name(), self.target);
        println!("{target:>8} {name:>15} {worst:.2} ulp at {at:e}");
        assert!(worst <= self.prim.row().ulp, "{target}: {name} is off by {worst} ulp at {at:e}");
    }
}

#[test]
fn functions_keep_their_rows_bounds_over_all_floats() {
    const PIECE: usize = 1 << 20;
    let special = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN];
    for function in Function::all() {
        let mut worst = function.largest_error(&special);
        let mut rest = (0..=u32::MAX).step_by(STEP).map(f32::from_bits).peekable();
        while rest.peek().is_some() {
            let inputs: Vec<f32> = rest.by_ref().take(PIECE).collect();
            let found = function.largest_error(&inputs);
            worst = if found.0 > worst.0 { found } else { worst };
        }
        function.check(worst);
    }
}

/// Values around 1 and 0, and every integer exponent, where functions cancel or switch.
#[test]
fn functions_keep_their_rows_bounds_where_they_are_hard() {
    let near_one = (-200_000..200_000).map(|k| f32::from_bits((0x3f80_0000 + 61 * k) as u32));
    let small = (-40_000..40_000).map(|k| k as f32 * 1.7e-5);
    let middle = (-60_000..60_000).map(|k| k as f32 * 1.733e-3);
    let inputs: Vec<f32> = near_one.chain(small).chain(middle).collect();
    Function::all().for_each(|function| function.check(function.largest_error(&inputs)));
}
