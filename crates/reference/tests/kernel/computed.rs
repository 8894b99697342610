//! Handwritten kernels against plain Rust: every size around the number of lanes, every order, bit for bit.

use ferrofuse_reference::interpret::{DenseMemory, LaneOrder, Options, interpret};
use kernel::{NO_FAULT, verify};
use ops::DType;

use super::kernel;

const SIZES: [usize; 9] = [0, 1, 3, 4, 7, 8, 9, 17, 65];

/// Runs a kernel in several orders, which must agree, and returns its buffers.
fn run(text: &str, args: &[usize], buffers: &[DenseMemory]) -> Vec<DenseMemory> {
    let kernel = kernel(text);
    assert_eq!(verify(&kernel), Ok(()));
    let args: Vec<i64> = args.iter().map(|&arg| arg as i64).collect();
    let orders = [(0, LaneOrder::Forward), (1, LaneOrder::Reverse), (2, LaneOrder::Random(7))];
    let results: Vec<Vec<DenseMemory>> = orders
        .into_iter()
        .map(|(seed, lanes)| {
            let mut memory = buffers.to_vec();
            let options = Options { seed, lanes, ..Options::default() };
            interpret(&kernel, &args, &mut memory, &options).unwrap_or_else(|fault| panic!("{fault}"));
            memory
        })
        .collect();
    assert!(results.iter().all(|result| *result == results[0]));
    results[0].clone()
}

/// Numbers that are not round, between -2 and 2.
fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|index| (index as f64 * 0.737).sin() * 2.0).collect()
}

fn f32s(memory: &DenseMemory) -> Vec<f32> {
    memory.to_f64s().into_iter().map(|number| number as f32).collect()
}

/// The copies of all lanes, combined in the order that the interpreter specifies.
fn butterfly<T: Clone>(mut copies: Vec<T>, combine: impl Fn(&T, &T) -> T) -> T {
    while copies.len() > 1 {
        let half = copies.len() / 2;
        copies = (0..half).map(|lane| combine(&copies[lane], &copies[lane + half])).collect();
    }
    copies[0].clone()
}

#[test]
fn a_product_in_bf16_is_rounded_once() {
    for size in SIZES {
        let left = DenseMemory::from_f64s(DType::BF16, &numbers(size));
        let right = DenseMemory::from_f64s(DType::BF16, &numbers(2 * size)[size..]);
        let output = DenseMemory::zeros(DType::BF16, size);
        let buffers = run(include_str!("programs/mul_bf16.kernel"), &[size], &[left, right, output]);
        let pairs = f32s(&buffers[0]).into_iter().zip(f32s(&buffers[1]));
        let expected: Vec<f64> = pairs.map(|(a, b)| f64::from(a * b)).collect();
        assert_eq!(buffers[2], DenseMemory::from_f64s(DType::BF16, &expected));
    }
}

#[test]
fn softmax_of_rows() {
    for columns in SIZES {
        let rows = 3;
        let input = DenseMemory::from_f64s(DType::F32, &numbers(rows * columns));
        let output = DenseMemory::zeros(DType::F32, rows * columns);
        let buffers = run(include_str!("programs/softmax.kernel"), &[rows, columns], &[input, output]);
        let (inputs, outputs) = (f32s(&buffers[0]), f32s(&buffers[1]));
        for row in 0..rows {
            let stretch = row * columns..(row + 1) * columns;
            assert_eq!(outputs[stretch.clone()], softmax(&inputs[stretch]));
        }
    }
}

/// One row, in f32 at each step, summed by 8 lanes.
fn softmax(row: &[f32]) -> Vec<f32> {
    let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exp = |x: &f32| f64::from(x - max).exp() as f32;
    let lane_sum = |lane: usize| row.iter().skip(lane).step_by(8).map(exp).fold(0.0, |a: f32, b| a + b);
    let sum = butterfly((0..8).map(lane_sum).collect(), |a, b| a + b);
    row.iter().map(|x| exp(x) / sum).collect()
}

#[test]
fn welford_of_rows() {
    for columns in SIZES {
        let rows = 3;
        let input = DenseMemory::from_f64s(DType::F32, &numbers(rows * columns));
        let outputs = [DenseMemory::zeros(DType::F32, rows), DenseMemory::zeros(DType::F32, rows)];
        let [mean, variance] = outputs;
        let buffers =
            run(include_str!("programs/welford.kernel"), &[rows, columns], &[input, mean, variance]);
        let inputs = f32s(&buffers[0]);
        for row in 0..rows {
            let (mean, variance) = welford(&inputs[row * columns..(row + 1) * columns]);
            assert_eq!(f32s(&buffers[1])[row].to_bits(), canonical(mean).to_bits());
            assert_eq!(f32s(&buffers[2])[row].to_bits(), canonical(variance).to_bits());
        }
    }
}

/// The one NaN that a kernel makes.
fn canonical(number: f32) -> f32 {
    if number.is_nan() { f32::NAN } else { number }
}

/// Mean and variance of a row: sums of deviations from the first element of each of 4 lanes and of their squares in f32, moved
/// to the first of another lane in f64.
fn welford(row: &[f32]) -> (f32, f32) {
    let lane = |lane: usize| {
        let mut elements = row.iter().skip(lane).step_by(4).peekable();
        let shift = elements.peek().map_or(0.0, |&&x| x);
        let step = |(sum, squares, count): (f32, f32, f32), &x: &f32| {
            let deviation = x - shift;
            (sum + deviation, squares + deviation * deviation, count + 1.0)
        };
        let (sum, squares, count) = elements.fold((0.0, 0.0, 0.0), step);
        [shift, sum, squares, count].map(f64::from)
    };
    let [shift, sum, squares, count] = butterfly((0..4).map(lane).collect(), |&a, &b| {
        let shift = if a[3] == 0.0 { b[0] } else { a[0] };
        let apart = b[0] - shift;
        let moved = b[1] + b[3] * apart;
        [shift, a[1] + moved, a[2] + (b[2] + apart * (b[1] + moved)), a[3] + b[3]]
    });
    let deviation = sum / count;
    ((shift + deviation) as f32, ((squares - sum * deviation) / count) as f32)
}

#[test]
fn column_sums_in_scratch() {
    for columns in SIZES {
        let rows = 5;
        let input = DenseMemory::from_f64s(DType::F32, &numbers(rows * columns));
        let output = DenseMemory::zeros(DType::F32, columns);
        let buffers = run(include_str!("programs/column_sum.kernel"), &[rows, columns], &[input, output]);
        let inputs = f32s(&buffers[0]);
        let sum = |column: usize| (0..rows).fold(0.0, |sum: f32, row| sum + inputs[row * columns + column]);
        assert_eq!(f32s(&buffers[1]), (0..columns).map(sum).collect::<Vec<_>>());
    }
}

#[test]
fn a_pad_reads_where_its_guard_holds() {
    for (size, before, after) in [(0, 0, 0), (0, 2, 1), (5, 0, 0), (5, 1, 3)] {
        let input: Vec<f64> = (0..size).map(|index| index as f64 - 2.0).collect();
        let total = size + before + after;
        let memory = [
            DenseMemory::from_f64s(DType::I32, &input),
            DenseMemory::from_f64s(DType::I32, &vec![9.0; total]),
        ];
        let buffers = run(include_str!("programs/pad.kernel"), &[size, before, after], &memory);
        let expected = [vec![0.0; before], input, vec![0.0; after]].concat();
        assert_eq!(buffers[1].to_f64s(), expected);
    }
}

#[test]
fn lanes_exchange_by_scratch() {
    let input: Vec<f64> = (0..24).map(f64::from).collect();
    let memory = [DenseMemory::from_f64s(DType::I64, &input), DenseMemory::zeros(DType::I64, 24)];
    let buffers = run(include_str!("programs/reverse.kernel"), &[3], &memory);
    let expected: Vec<f64> = input.chunks(8).flat_map(|stretch| stretch.iter().rev()).copied().collect();
    assert_eq!(buffers[1].to_f64s(), expected);
}

#[test]
fn without_blocks_nothing_runs() {
    let memory = [DenseMemory::zeros(DType::I64, 0), DenseMemory::zeros(DType::I64, 0)];
    assert_eq!(run(include_str!("programs/reverse.kernel"), &[0], &memory), memory);
}

#[test]
fn an_index_that_is_data() {
    let text = "kernel k(i0, i1) lanes 4 {
        symbols i0, i1, block, x0, at
        blocks block in 0 .. 1
        read b0: i64 index
        read b1: f32 table
        faults b2: i64 words
        write b3: f32 y
        v0: i64 = const 0
        v1: i64 = index i1
        for x0 in 0 .. i0 lanes {
            v2: i64 = load b0[x0]
            v3: bool = ge v2, v0
            v4: bool = lt v2, v1
            v5: bool = logical_and v3, v4
            v6: bool = logical_not v5
            fault b2[0] = v2 if v6
            v7: i64 = where v5, v2, v0
            bind at = v7
            v8: f32 = load b1[2*at + 1] if v5
            store b3[x0] = v8
        }
    }";
    let table = numbers(20);
    for (wrong, told) in [(None, NO_FAULT), (Some(10.0), 10), (Some(-7.0), -7)] {
        for count in SIZES {
            let mut index: Vec<f64> = (0..count).map(|n| (n * 7 % 10) as f64).collect();
            if let (Some(wrong), Some(place)) = (wrong, index.get_mut(count / 2)) {
                *place = wrong;
            }
            let words = DenseMemory::from_bytes(DType::I64, NO_FAULT.to_le_bytes().to_vec()).unwrap();
            let buffers = [
                DenseMemory::from_f64s(DType::I64, &index),
                DenseMemory::from_f64s(DType::F32, &table),
                words,
                DenseMemory::zeros(DType::F32, count),
            ];
            let result = run(text, &[count, 10], &buffers);
            assert_eq!(result[2].read(0).as_i64(), if count == 0 { NO_FAULT } else { told });
            let at =
                |&at: &f64| if (0.0..10.0).contains(&at) { table[2 * at as usize + 1] as f32 } else { 0.0 };
            assert_eq!(f32s(&result[3]), index.iter().map(at).collect::<Vec<f32>>());
        }
    }
}
