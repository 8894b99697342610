//! The error of the functions of f64, against the meaning of their rows, which is good to about one unit in the last place
//! of a double. `cargo test --release -p ferrofuse-codegen --test cpu doubles -- --nocapture` prints the largest.

use ops::{DType, ScalarOp};
use reference::interpret::DenseMemory;

use crate::accuracy::{functions, map};
use crate::harness::{compile, kernel, run, runnable};

/// The allowed distance of compiled code from the meaning, in units in the last place: two plus one.
const APART: f64 = 3.0;

const SPECIAL: [f64; 10] =
    [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN_POSITIVE, 5e-324];

/// Bit patterns of all kinds, values near 1 and 0, and the ends of the range of exponentials.
fn points() -> Vec<f64> {
    const COUNT: u64 = 20_000;
    let scattered =
        |k: u64| k.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let any = (0..COUNT).map(|k| f64::from_bits(scattered(k)));
    let unit = |k: u64| (scattered(k) >> 11) as f64 / (1_u64 << 53) as f64;
    let near_one = (0..COUNT).map(|k| 1.0 + (unit(k) - 0.5) * 0.25_f64.powi((k % 24) as i32));
    let small = (0..COUNT).map(|k| (unit(k) - 0.5) * 2.0_f64.powi(4 - (k % 64) as i32));
    let middle = (0..COUNT).map(|k| (unit(k) - 0.5) * 1500.0);
    SPECIAL.into_iter().chain(any).chain(near_one).chain(small).chain(middle).collect()
}

/// Units in the last place between two doubles; infinite if only one is NaN, or an infinity that is not near.
fn apart(expected: f64, got: f64) -> f64 {
    if expected.to_bits() == got.to_bits() || (expected.is_nan() && got.is_nan()) {
        return 0.0;
    }
    let reach = |x: f64| if x.is_infinite() { f64::MAX.copysign(x) } else { x };
    let ulps = (reach(expected) - reach(got)).abs() / DType::F64.ulp(reach(expected));
    if ulps.is_nan() { f64::INFINITY } else { ulps }
}

fn memory(values: &[f64]) -> DenseMemory {
    let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    DenseMemory::from_bytes(DType::F64, bytes).expect("whole elements")
}

#[test]
fn functions_of_doubles_keep_their_bounds() {
    let points = points();
    for op in functions(1) {
        let kernel = kernel(&map(op).to_string().replace("f32", "f64"));
        for target in runnable() {
            let mut buffers = [memory(&points), DenseMemory::zeros(DType::F64, points.len())];
            run(&kernel, &compile(&kernel, target), &[points.len() as i64], &mut buffers);
            let results = buffers[1]
                .bytes()
                .chunks_exact(8)
                .map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight")));
            let errors = points.iter().zip(results).map(|(&x, got)| (apart(op.of_reals(&[x]), got), x));
            let (ulps, x) =
                errors.fold((0.0, 0.0), |worst, next| if next.0 > worst.0 { next } else { worst });
            println!("{target} {}: {ulps:.2} at {x:e}", ScalarOp::name(op));
            assert!(ulps <= APART.max(op.row().ulp), "{target}: {} of {x:e} is off by {ulps} ulp", op.name());
        }
    }
}
