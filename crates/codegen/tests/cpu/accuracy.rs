//! The error of the functions of f32 over the whole range, against double precision.

use ferrofuse_codegen::cpu::llvm::CpuTarget;
use ir::kernel::Memory;
use ir::ops::{CpuSpelling, FloatMeaning, Prim};
use ir::{DType, Scalar};

use crate::harness::{compile, kernel, memory, run, runnable};

/// Of all bit patterns every this many; prime, so that all binades are met at different places.
const STEP: usize = 4099;

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

fn largest_error(prim: Prim, target: CpuTarget, inputs: &[f32]) -> (f64, f32) {
    let Some(FloatMeaning::Unary(meaning)) = prim.row().float else {
        unreachable!("a function of one number")
    };
    let scalars: Vec<Scalar> =
        inputs.iter().map(|x| Scalar::from_bits(DType::F32, u64::from(x.to_bits()))).collect();
    let mut buffers = [memory(DType::F32, &scalars), Memory::zeros(DType::F32, inputs.len())];
    let kernel = map(prim);
    run(&kernel, &compile(&kernel, target), &[inputs.len() as i64], &mut buffers);
    let errors = inputs.iter().enumerate().map(|(index, &x)| {
        (error(meaning(f64::from(x)), f32::from_bits(buffers[1].read(index).bits() as u32)), x)
    });
    errors.fold((0.0, 0.0), |worst, next| if next.0 > worst.0 { next } else { worst })
}

#[test]
fn functions_keep_their_rows_bounds_over_all_floats() {
    let mut inputs: Vec<f32> = (0..=u32::MAX).step_by(STEP).map(f32::from_bits).collect();
    inputs.extend([0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN]);
    for target in runnable() {
        for prim in functions() {
            let (worst, at) = largest_error(prim, target, &inputs);
            println!("{target:>8} {:>8} {worst:.2} ulp at {at:e}", prim.name());
            assert!(worst <= prim.row().ulp, "{target}: {} is off by {worst} ulp at {at:e}", prim.name());
        }
    }
}

/// Values around 1 and 0, and every integer exponent, where functions cancel or switch.
#[test]
fn functions_keep_their_rows_bounds_where_they_are_hard() {
    let near_one = (-200_000..200_000).map(|k| f32::from_bits((0x3f80_0000 + 61 * k) as u32));
    let small = (-40_000..40_000).map(|k| k as f32 * 1.7e-5);
    let middle = (-60_000..60_000).map(|k| k as f32 * 1.733e-3);
    let inputs: Vec<f32> = near_one.chain(small).chain(middle).collect();
    for target in runnable() {
        for prim in functions() {
            let (worst, at) = largest_error(prim, target, &inputs);
            println!("{target:>8} {:>8} {worst:.2} ulp at {at:e}", prim.name());
            assert!(worst <= prim.row().ulp, "{target}: {} is off by {worst} ulp at {at:e}", prim.name());
        }
    }
}
