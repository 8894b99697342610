//! Blocks of elements against single ones: every op on every class of dtypes, and every cast, has the bits that its row and
//! the casts of constants define, on special numbers, in blocks of any length, on any number of threads.

use ir::array::with_element;
use ops::Typing;

use super::*;

/// More than a few blocks, and a part of one.
const COUNT: usize = 2500;

/// Numbers at which ops have special cases, and others.
fn awkward(dtype: DType, random: &mut Random) -> Scalar {
    let reals = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.5,
        -3.5,
        1e-310,
        1e-40,
        3e38,
        -1e300,
        65519.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let ints = [0, 1, -1, 2, 31, 32, 63, 64, -7, i64::MAX, i64::MIN, 1 << 31, -(1 << 31), 1 << 53 | 1];
    if dtype.is_float() {
        let some = random.below(2 * reals.len());
        let drawn = f64::from(random.unit()) * 8.0;
        return Scalar::from_f64(DType::F64, reals.get(some).copied().unwrap_or(drawn)).cast(dtype);
    }
    let some = random.below(2 * ints.len());
    let drawn = random.below(200) as i64 - 100;
    Scalar::from_i64(DType::I64, ints.get(some).copied().unwrap_or(drawn)).cast(dtype)
}

fn drawn(dtype: DType, random: &mut Random) -> (Array, Vec<Scalar>) {
    let scalars: Vec<Scalar> = (0..COUNT).map(|_| awkward(dtype, random)).collect();
    let mut array = Array::zeros(dtype, &[COUNT]).unwrap();
    with_element!(dtype, T => {
        let slots = array.as_mut_slice::<T>().iter_mut().zip(&scalars);
        slots.for_each(|(slot, scalar)| {
            *slot = match dtype {
                DType::U64 => T::from_unsigned(scalar.as_i64() as u64),
                _ if dtype.is_float() => T::from_real(scalar.as_f64()),
                _ => T::from_int(scalar.as_i64()),
            };
        });
    });
    let stored = array.scalars();
    (array, stored)
}

/// Equal bits; all NaNs are equal.
fn assert_same(given: &[Scalar], expected: &[Scalar], what: &str) {
    for (k, (given, expected)) in given.iter().zip(expected).enumerate() {
        let nan = |scalar: &Scalar| scalar.dtype().is_float() && scalar.as_f64().is_nan();
        let same = given.bits() == expected.bits() || (nan(given) && nan(expected));
        assert!(same, "{what}, element {k}: {given:?} where {expected:?} was expected");
    }
}

#[test]
fn ops_mean_the_same_in_blocks() {
    let mut random = Random(11);
    for &op in ScalarOp::ALL.iter().filter(|op| !op.touches_complex()) {
        let row = op.row();
        let classes = row.classes();
        let takes = |dtype: &DType| match dtype {
            _ if row.typing == Typing::Counter => *dtype == DType::I64,
            _ if dtype.is_storage_only() => op.moves_bits(),
            _ => classes.contain(*dtype),
        };
        for dtype in DType::REAL.into_iter().filter(takes) {
            let dtypes: Vec<DType> = (0..op.arity())
                .map(|place| if row.typing == Typing::Where && place == 0 { DType::Bool } else { dtype })
                .collect();
            let drawn: Vec<_> = dtypes.iter().map(|&dtype| drawn(dtype, &mut random)).collect();
            let mut p = Program::default();
            let operands: Vec<Val> = dtypes.iter().map(|&dtype| p.input(dtype, &[COUNT as i64])).collect();
            let result = p.map(op, &operands);
            let views: Vec<_> = drawn.iter().map(|(array, _)| array.view()).collect();
            let one = |k: usize| {
                let args: Vec<Scalar> = drawn.iter().map(|(_, scalars)| scalars[k]).collect();
                op.of_scalars(&args).expect("a meaning on the dtype")
            };
            let expected: Vec<Scalar> = (0..COUNT).map(one).collect();
            for threads in 1..4 {
                let workers = Threads(threads);
                let options = EvaluateOptions { workers: &workers, ..EvaluateOptions::default() };
                let given = p.try_run(&[result], &views, &options).expect("a sound call");
                let what = format!("{} {dtype} on {threads}", op.name());
                assert_same(&given.outputs[0].value.scalars(), &expected, &what);
            }
        }
    }
}

#[test]
fn casts_mean_the_same_in_blocks() {
    let mut random = Random(12);
    for from in DType::REAL {
        let (array, scalars) = drawn(from, &mut random);
        for to in DType::REAL {
            let mut p = Program::default();
            let x = p.input(from, &[COUNT as i64]);
            let result = p.cast(to, x);
            let expected: Vec<Scalar> = scalars.iter().map(|scalar| scalar.cast(to)).collect();
            let given = p.run(&[result], &[array.view()]);
            assert_same(&given[0].value.scalars(), &expected, &format!("{from} to {to}"));
        }
    }
}

/// Sums in the order of the terms, whatever the blocks; if a term is infinite or NaN, only such terms count.
#[test]
fn products_of_matrices_are_sums_in_order() {
    let mut random = Random(13);
    for (rows, columns, depth) in [(1, 1, 1), (3, 5, 300), (67, 9, 2), (70, 530, 257), (2, 8, 0)] {
        let mut factor = |count: usize, special: f64| -> Vec<f64> {
            let mut values: Vec<f64> = (0..count).map(|_| f64::from(random.unit())).collect();
            if let Some(last) = values.last_mut() {
                *last = special;
            }
            values
        };
        let (a, b) = (factor(rows * depth, f64::INFINITY), factor(depth * columns, f64::NAN));
        let mut p = Program::default();
        let x = p.input(DType::F64, &[rows as i64, depth as i64]);
        let y = p.input(DType::F64, &[depth as i64, columns as i64]);
        let product = p.add(TensorOp::External(ir::graph::ExternalOp::Matmul(DType::F64)), &[x, y]);
        let inputs = [array(&[rows, depth], &a), array(&[depth, columns], &b)];
        let given = p.run(&[product], &[inputs[0].view(), inputs[1].view()]);
        let sum = |place: usize| {
            let (row, column) = (place / columns, place % columns);
            (0..depth).fold(0.0, |sum, k| sum + a[row * depth + k] * b[k * columns + column])
        };
        for (place, &given) in given[0].value.as_slice::<f64>().iter().enumerate() {
            let expected = sum(place);
            let same = given.to_bits() == expected.to_bits() || (given.is_nan() && expected.is_nan());
            assert!(same, "{rows}x{depth}x{columns}, element {place}: {given} where {expected} was expected");
        }
    }
}
