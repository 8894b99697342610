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

/// Bit patterns of all kinds, values near 1 and 0, the ends of the range of exponentials, and large arguments of sines.
fn points() -> Vec<f64> {
    const COUNT: u64 = 20_000;
    let scattered =
        |k: u64| k.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let any = (0..COUNT).map(|k| f64::from_bits(scattered(k)));
    let unit = |k: u64| (scattered(k) >> 11) as f64 / (1_u64 << 53) as f64;
    let near_one = (0..COUNT).map(|k| 1.0 + (unit(k) - 0.5) * 0.25_f64.powi((k % 24) as i32));
    let small = (0..COUNT).map(|k| (unit(k) - 0.5) * 2.0_f64.powi(4 - (k % 64) as i32));
    let middle = (0..COUNT).map(|k| (unit(k) - 0.5) * 1500.0);
    let large = (0..COUNT).map(|k| (unit(k) - 0.5) * 2.0_f64.powi(10 + (k % 32) as i32));
    SPECIAL.into_iter().chain(any).chain(near_one).chain(small).chain(middle).chain(large).collect()
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

/// The same, for numbers below 1 in units of 1: lgamma cancels near its zeros below -2.
fn apart_beside_one(expected: f64, got: f64) -> f64 {
    let near = expected.abs() < 1.0 && got.abs() < 2.0;
    if near { (expected - got).abs() / f64::EPSILON } else { apart(expected, got) }
}

fn memory(values: &[f64]) -> DenseMemory {
    let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    DenseMemory::from_bytes(DType::F64, bytes).expect("whole elements")
}

/// Holds a function to its bound on points: an array for each parameter.
fn check(op: ScalarOp, operands: &[Vec<f64>]) {
    let kernel = kernel(&map(op).to_string().replace("f32", "f64"));
    let count = operands[0].len();
    let point = |index: usize| -> Vec<f64> { operands.iter().map(|operand| operand[index]).collect() };
    let expected: Vec<f64> = (0..count).map(|index| op.of_reals(&point(index))).collect();
    for target in runnable() {
        let mut buffers: Vec<DenseMemory> = operands.iter().map(|operand| memory(operand)).collect();
        buffers.push(DenseMemory::zeros(DType::F64, count));
        run(&kernel, &compile(&kernel, target), &[count as i64], &mut buffers);
        let results = buffers[operands.len()].bytes().chunks_exact(8);
        let results = results.map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight")));
        let specified = expected.iter().zip(results).enumerate();
        let specified = specified.filter(|(index, _)| op.specifies(operands[0][*index]));
        let errors = specified.map(|(index, (&exact, got))| {
            let cancels = op == ScalarOp::Lgamma && operands[0][index] < -2.0;
            (index, if cancels { apart_beside_one(exact, got) } else { apart(exact, got) })
        });
        let (index, ulps) = errors.fold((0, 0.0), |worst, next| if next.1 > worst.1 { next } else { worst });
        let (name, point) = (op.name(), point(index));
        println!("{target} {name}: {ulps:.2} at {point:?}");
        let bound = if op.row().ulp == 0.0 { 0.0 } else { APART.max(op.row().ulp) };
        assert!(ulps <= bound, "{target}: {name} of {point:?} is off by {ulps} ulp");
    }
}

#[test]
fn functions_of_doubles_keep_their_bounds() {
    let points = points();
    functions(1).for_each(|op| check(op, std::slice::from_ref(&points)));
}

/// Pairs of arbitrary doubles, of one and a whole exponent, of powers in range, and of numbers that are near each other.
#[test]
fn functions_of_two_doubles_keep_their_bounds() {
    let points = points();
    let bits = |x: f64| x.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
    let unit = |x: f64| bits(x) as f64 / (1_u64 << 53) as f64;
    let other = points.iter().rev().copied().collect();
    let whole = points.iter().map(|&x| (bits(x) % 41) as f64 - 20.0).collect();
    // The meaning loses digits of subnormal results of exponents above 2^31.
    let within = |y: f64| if y.abs() > 2_147_483_648.0 { 0.92 * y } else { y };
    let powers = points.iter().map(|&x| within(1100.0 / x.abs().log2() * (2.0 * unit(x) - 1.0))).collect();
    let beside = points.iter().map(|&x| x * (4.0 * unit(x) - 2.0)).collect();
    let pairs = SPECIAL.iter().flat_map(|&x| SPECIAL.map(|y| (x, y)));
    let (left, right): (Vec<f64>, Vec<f64>) = pairs.unzip();
    for op in functions(2) {
        check(op, &[left.clone(), right.clone()]);
        for second in [&other, &whole, &powers, &beside] {
            check(op, &[points.clone(), Vec::clone(second)]);
        }
    }
}
