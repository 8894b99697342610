//! Every primitive on every dtype it computes in, and every conversion, on special values: the results of the op table.

use emulator::Order;
use index::Expr;
use kernel::{Access, Buffer, KernelBuilder, Value};
use ops::{DType, Operand, Scalar, ScalarOp, signature};
use reference::interpret::DenseMemory;

use crate::{Compiled, agree, random};

const FLOATS: [f64; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    std::f64::consts::PI,
    1e-3,
    -7.25,
    1e-40,
    -1e-40,
    100.0,
    65519.99,
    65520.0,
    1e30,
    -1e30,
    2147483648.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

const INTS: [i64; 20] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    -7,
    31,
    32,
    33,
    63,
    64,
    -64,
    1_000_003,
    i32::MIN as i64,
    i32::MAX as i64,
    i32::MIN as i64 + 1,
    i64::MIN,
    i64::MAX,
    (1 << 53) + 1,
];

fn special(dtype: DType) -> Vec<Scalar> {
    match dtype {
        DType::Bool => vec![Scalar::from_bool(false), Scalar::from_bool(true)],
        DType::I32 | DType::I64 | DType::U64 => INTS.map(|number| Scalar::from_i64(dtype, number)).to_vec(),
        _ => FLOATS.map(|number| Scalar::from_f64(dtype, number)).to_vec(),
    }
}

fn memory(dtype: DType, elements: &[Scalar]) -> DenseMemory {
    let mut memory = DenseMemory::zeros(dtype, elements.len());
    elements.iter().enumerate().for_each(|(index, &element)| memory.write(index, element));
    memory
}

/// The compute dtypes of the op's operands if these have `dtype`, and the dtype of its result.
fn computed_in(op: ScalarOp, dtype: DType) -> Option<(Vec<DType>, DType)> {
    let places = 0..op.row().params.len();
    let of_dtype: Vec<Operand> = places.clone().map(|_| Operand::tensor(dtype)).collect();
    let with_condition: Vec<Operand> =
        places.map(|place| Operand::tensor(if place == 0 { DType::Bool } else { dtype })).collect();
    let found = signature(op, &of_dtype).or_else(|_| signature(op, &with_condition)).ok()?;
    let computes = found.compute.last() == Some(&dtype);
    computes.then(|| (found.compute.to_vec(), found.result_compute))
}

/// One kernel that applies all primitives with a meaning on `dtype` to all pairs of its special values.
struct Table {
    scalar_ops: Vec<ScalarOp>,
    /// The results of each op: the position in the buffer of its result's dtype.
    results: Vec<(Buffer, usize)>,
    pairs: usize,
    compiled: Compiled,
    buffers: Vec<DenseMemory>,
}

fn table(dtype: DType) -> Table {
    let elements = special(dtype);
    let pairs = elements.len() * elements.len();
    let firsts: Vec<Scalar> = (0..pairs).map(|i| elements[i / elements.len()]).collect();
    let seconds: Vec<Scalar> = (0..pairs).map(|i| elements[i % elements.len()]).collect();
    let conditions: Vec<Scalar> = (0..pairs).map(|i| Scalar::from_bool(random(i as u64) & 1 == 1)).collect();

    let mut b = KernelBuilder::new(&format!("ops_of_{dtype}"), 64);
    let first = b.buffer("x", dtype, Access::Read);
    let second = b.buffer("y", dtype, Access::Read);
    let condition = b.buffer("condition", DType::Bool, Access::Read);
    let same = b.buffer("same", dtype, Access::Write);
    let truth = b.buffer("truth", DType::Bool, Access::Write);
    let (mut scalar_ops, mut results, mut counts) = (Vec::new(), Vec::new(), [0, 0]);
    b.for_lanes(Expr::zero(), Expr::constant(pairs as i64), |b, i| {
        let index = Expr::sym(i);
        let operands = [b.load(first, index.clone()), b.load(second, index.clone())];
        let holds = b.load(condition, index.clone());
        for &op in ScalarOp::ALL.iter().filter(|op| !op.touches_complex()) {
            let Some((compute, result)) = computed_in(op, dtype) else { continue };
            let args: Vec<Value> = match (compute.len(), compute[0] == dtype) {
                (3, false) => vec![holds, operands[0], operands[1]],
                (count, true) => (0..count).map(|place| operands[place % 2]).collect(),
                (count, false) => panic!("{} takes {count} operands of several dtypes", op.name()),
            };
            let value = b.apply(op, &args);
            let (place, buffer) = if result == dtype { (0, same) } else { (1, truth) };
            b.store(buffer, index.clone() + (counts[place] * pairs) as i64, value);
            results.push((buffer, counts[place]));
            scalar_ops.push(op);
            counts[place] += 1;
        }
    });
    let buffers = vec![
        memory(dtype, &firsts),
        memory(dtype, &seconds),
        memory(DType::Bool, &conditions),
        DenseMemory::zeros(dtype, counts[0] * pairs),
        DenseMemory::zeros(DType::Bool, counts[1] * pairs),
    ];
    Table { scalar_ops, results, pairs, compiled: Compiled::new(b.finish()), buffers }
}

/// Error bounds are those of the row, which are stated for f32 and f64.
fn check_table(dtype: DType) {
    let Table { scalar_ops, results, pairs, compiled, buffers } = table(dtype);
    let expected = compiled.interpreted(&[], &buffers);
    let found = compiled
        .emulated(&[], &buffers, Order::Forward)
        .unwrap_or_else(|error| panic!("{error}\n{}", compiled.cuda.source));
    let mut wrong = Vec::new();
    for (op, (buffer, row)) in scalar_ops.iter().zip(results) {
        let ulps = if op.row().ulp <= 0.5 { 0.0 } else { op.row().ulp };
        let buffer = buffer.as_u32() as usize;
        for pair in 0..pairs {
            let index = row * pairs + pair;
            let (want, got) = (expected[buffer].read(index), found[buffer].read(index));
            if !agree(want, got, ulps) {
                let (x, y) = (buffers[0].read(pair), buffers[1].read(pair));
                wrong.push(format!("{} of {dtype} {x}, {y} is {got}, not {want}", op.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

#[test]
fn ops_of_f32() {
    check_table(DType::F32);
}

#[test]
fn ops_of_f64() {
    check_table(DType::F64);
}

#[test]
fn ops_of_i32() {
    check_table(DType::I32);
}

#[test]
fn ops_of_i64() {
    check_table(DType::I64);
}

#[test]
fn ops_of_u64() {
    check_table(DType::U64);
}

#[test]
fn ops_of_bool() {
    check_table(DType::Bool);
}

/// Every primitive was in one of the tables above.
#[test]
fn no_primitive_is_left_out() {
    let dtypes = DType::REAL.into_iter().filter(|dtype| !dtype.is_storage_only());
    for &op in ScalarOp::ALL.iter().filter(|op| !op.touches_complex()) {
        assert!(dtypes.clone().any(|dtype| computed_in(op, dtype).is_some()), "{}", op.name());
    }
}

/// Special values, midpoints between half-precision values with their neighbours, and bits drawn at random.
fn convertible(dtype: DType) -> Vec<Scalar> {
    let mut elements = special(dtype);
    if dtype.is_float() {
        for middle in [
            1.0 + 2f64.powi(-8),
            1.0 + 3.0 * 2f64.powi(-8),
            1.0 + 2f64.powi(-11),
            2f64.powi(-25),
            2f64.powi(-134),
        ] {
            for number in
                [middle, middle.next_up(), middle.next_down(), -middle, (middle as f32).next_up().into()]
            {
                elements.push(Scalar::from_f64(dtype, number));
            }
        }
        for number in [9223372036854775807.0, -9223372036854775808.0, 1e300, -1e300, 3.4028236e38, 1e-320] {
            elements.push(Scalar::from_f64(dtype, number));
        }
    }
    elements.extend((0..200).map(|seed| Scalar::from_bits(dtype, random(seed))));
    elements
}

#[test]
fn every_conversion() {
    let mut b = KernelBuilder::new("conversions", 64);
    let inputs = DType::REAL.map(|dtype| b.buffer(&format!("from_{dtype}"), dtype, Access::Read));
    let outputs = DType::REAL.map(|dtype| b.buffer(&format!("to_{dtype}"), dtype, Access::Write));
    let elements = DType::REAL.map(convertible);
    let longest = elements.iter().map(Vec::len).max().unwrap_or(0);
    for ((from, input), elements) in inputs.iter().enumerate().zip(&elements) {
        b.for_lanes(Expr::zero(), Expr::constant(elements.len() as i64), |b, i| {
            let value = b.load(*input, Expr::sym(i));
            for (output, to) in outputs.iter().zip(DType::REAL) {
                let converted = b.cast(value, to);
                b.store(*output, Expr::sym(i) + (from * longest) as i64, converted);
            }
        });
    }
    let mut buffers: Vec<DenseMemory> =
        DType::REAL.iter().zip(&elements).map(|(&dtype, elements)| memory(dtype, elements)).collect();
    buffers.extend(DType::REAL.map(|dtype| DenseMemory::zeros(dtype, DType::REAL.len() * longest)));
    Compiled::new(b.finish()).check(&[], &buffers, 0.0);
}

#[test]
fn every_half_widens_and_comes_back() {
    for dtype in [DType::F16, DType::BF16] {
        let mut b = KernelBuilder::new("widen", 256);
        let input = b.buffer("x", dtype, Access::Read);
        let wide = b.buffer("wide", DType::F32, Access::Write);
        let back = b.buffer("back", dtype, Access::Write);
        b.for_lanes(Expr::zero(), Expr::constant(1 << 16), |b, i| {
            let value = b.load(input, Expr::sym(i));
            let widened = b.cast(value, DType::F32);
            b.store(wide, Expr::sym(i), widened);
            let again = b.cast(widened, dtype);
            b.store(back, Expr::sym(i), again);
        });
        let all: Vec<Scalar> = (0..1 << 16).map(|bits| Scalar::from_bits(dtype, bits)).collect();
        let buffers = [
            memory(dtype, &all),
            DenseMemory::zeros(DType::F32, 1 << 16),
            DenseMemory::zeros(dtype, 1 << 16),
        ];
        let compiled = Compiled::new(b.finish());
        let expected = compiled.interpreted(&[], &buffers);
        let found =
            compiled.emulated(&[], &buffers, Order::Forward).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(crate::difference(&expected, &found, 0.0), None);
    }
}
