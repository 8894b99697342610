//! Library functions against the evaluator, over odd, zero and strided operands, on one thread and on several.

use std::num::NonZeroUsize;
use std::sync::Arc;

use cranelift_entity::EntityRef;
use index::{Expr, Facts};
use ir::array::{Array, ArrayView, Layout};
use ir::graph::{ExternalOp, Fusion, Graph, InputLayout, Node, TensorOp, Type, Val};
use ir::interrupt::Interrupt;
use ops::{DType, Scalar};
use reference::evaluate::{EvaluateError, EvaluateOptions, Evaluated, OutOfRange, Serial, compare, evaluate};

use super::run;
use crate::pool::{Pool, Workers};

/// Numbers without pattern, the same in every run (xorshift, Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    /// Small numbers, some of them equal, and now and then a special one.
    fn number(&mut self, dtype: DType) -> Scalar {
        let strange = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0];
        match dtype.is_float() && self.below(40) == 0 {
            true => Scalar::from_f64(dtype, strange[self.below(4)]),
            false => Scalar::from_f64(dtype, self.below(33) as f64 / 4.0 - 4.0),
        }
    }
}

/// Memory with some layout of these sizes.
struct Operand {
    memory: Array,
    layout: Layout,
}

impl Operand {
    /// Axes in any order in memory, with gaps, backward or repeated.
    fn new(
        dtype: DType,
        sizes: &[usize],
        random: &mut Random,
        number: &mut dyn FnMut(&mut Random) -> Scalar,
    ) -> Operand {
        let gap = random.below(3);
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        (1..order.len()).rev().for_each(|last| order.swap(last, random.below(last + 1)));
        let stored: Vec<usize> = order.iter().map(|&axis| sizes[axis] + gap).collect();
        let mut memory = Array::zeros(dtype, &stored).expect("small");
        for element in memory.as_mut_bytes().chunks_exact_mut(dtype.size()) {
            let bits = number(random).bits().to_le_bytes();
            element.copy_from_slice(&bits[..element.len()]);
        }
        let dense = Layout::dense(&stored);
        let mut layout = Layout { offset: 0, sizes: sizes.into(), strides: dense.strides.clone() };
        for (place, &axis) in order.iter().enumerate() {
            layout.strides[axis] = dense.strides[place];
            match random.below(6) {
                0 if sizes[axis] > 0 => {
                    layout.offset += (sizes[axis] as isize - 1) * layout.strides[axis];
                    layout.strides[axis] = -layout.strides[axis];
                }
                1 => layout.strides[axis] = 0,
                _ => {}
            }
        }
        Operand { memory, layout }
    }

    fn numbers(dtype: DType, sizes: &[usize], random: &mut Random) -> Operand {
        Operand::new(dtype, sizes, random, &mut |random| random.number(dtype))
    }

    fn indices(dtype: DType, sizes: &[usize], below: usize, random: &mut Random) -> Operand {
        Operand::new(dtype, sizes, random, &mut |random| {
            Scalar::from_i64(dtype, random.below(below.max(1)) as i64)
        })
    }

    fn view(&self) -> ArrayView<'_> {
        self.memory.view().relaid(self.layout.clone()).expect("inside the memory")
    }
}

/// The evaluator's results of an op.
fn evaluated(op: &ExternalOp, operands: &[ArrayView<'_>]) -> Result<Vec<Evaluated>, EvaluateError> {
    let (mut graph, mut facts) = (Graph::new(), Facts::new());
    let input = |(ordinal, view): (usize, &ArrayView<'_>)| -> Val {
        let shape = view.sizes().iter().map(|&size| Expr::constant(size as i64));
        let tensor_op = TensorOp::Input {
            ordinal: ordinal as u32,
            ty: Type::new(view.dtype(), shape),
            layout: InputLayout::default(),
        };
        graph.add(tensor_op, &[], &mut facts).expect("an input").into()
    };
    let inputs: Vec<Val> = operands.iter().enumerate().map(input).collect();
    let node = graph.add(TensorOp::External(op.clone()), &inputs, &mut facts).expect("operands that suit");
    let outputs = graph.results(node).map(Into::into).collect();
    let view = Fusion::new(&graph, inputs, outputs, Arc::new(facts)).expect("closed");
    evaluate(&graph, &view, operands, &EvaluateOptions::default()).map(|evaluation| evaluation.outputs)
}

/// The op's results on `threads` threads.
fn computed(
    op: &ExternalOp,
    operands: &[ArrayView<'_>],
    like: &[Evaluated],
    threads: usize,
) -> Result<Vec<Array>, EvaluateError> {
    let empty = |like: &Evaluated| {
        let mut array = Array::zeros(like.value.dtype(), like.value.sizes()).expect("small");
        array.as_mut_bytes().fill(0xa5);
        array
    };
    let mut results: Vec<Array> = like.iter().map(empty).collect();
    let views = results.iter_mut().map(Array::view_mut).collect();
    let val = Val::from(Node::new(operands.len()));
    let (pool, interrupt) = (Pool::new(NonZeroUsize::new(threads)), Interrupt::default());
    run(op, operands, views, val, &Workers::new(&pool, &interrupt))?;
    Ok(results)
}

fn check(op: &ExternalOp, operands: &[Operand]) {
    let views: Vec<ArrayView<'_>> = operands.iter().map(Operand::view).collect();
    let expected = evaluated(op, &views).expect("a sound call");
    let alone = computed(op, &views, &expected, 1).expect("a sound call");
    let shared = computed(op, &views, &expected, 3).expect("a sound call");
    for ((alone, shared), expected) in alone.iter().zip(&shared).zip(&expected) {
        assert_eq!(alone.as_bytes(), shared.as_bytes(), "{op} depends on the number of threads");
        let found = compare(expected, &alone.view(), &Serial).expect("one type");
        let layouts: Vec<&Layout> = operands.iter().map(|operand| &operand.layout).collect();
        assert!(found.matches(), "{op} of {layouts:?}: {found:?}");
    }
}

const SIZES: [usize; 9] = [0, 1, 1, 2, 3, 5, 8, 17, 33];
const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

fn sizes(rank: usize, random: &mut Random) -> Vec<usize> {
    (0..rank).map(|_| SIZES[random.below(SIZES.len())]).collect()
}

#[test]
fn sorts() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for round in 0..120 {
        let dtype = DType::REAL[round % DType::REAL.len()];
        let sizes = sizes(1 + round % 3, &mut random);
        let axis = random.below(sizes.len());
        let operand = Operand::numbers(dtype, &sizes, &mut random);
        let k = random.below(sizes[axis] + 1) as i64;
        let (axis, reversed) = (axis as u8, random.below(2) == 0);
        check(&ExternalOp::Argsort { axis, descending: reversed }, std::slice::from_ref(&operand));
        check(&ExternalOp::TopK { axis, k: Expr::constant(k), largest: reversed }, &[operand]);
    }
}

#[test]
fn scatters() {
    let mut random = Random(0x2345_6789_abcd_ef12);
    for round in 0..120 {
        let dtype = [DType::Bool, DType::I32, DType::I64, DType::BF16, DType::F64][round % 5];
        let sizes = sizes(1 + round % 3, &mut random);
        let axis = random.below(sizes.len());
        let fewer: Vec<usize> = sizes.iter().map(|&size| random.below(size + 1)).collect();
        let reached = if sizes[axis] == 0 { vec![0; sizes.len()] } else { fewer };
        let index = [DType::I32, DType::I64][round % 2];
        let operands = [
            Operand::numbers(dtype, &sizes, &mut random),
            Operand::indices(index, &reached, sizes[axis], &mut random),
            Operand::numbers(dtype, &sizes, &mut random),
        ];
        check(&ExternalOp::Scatter(axis as u8), &operands);
    }
}

#[test]
fn products() {
    let mut random = Random(0x3456_789a_bcde_f123);
    for round in 0..160 {
        let dtype = FLOATS[round % 4];
        let [m, n] = [(); 2].map(|()| SIZES[random.below(SIZES.len())]);
        let k = if round % 20 == 0 { 2050 } else { SIZES[random.below(SIZES.len())] };
        let batches: Vec<[usize; 2]> = (0..random.below(3))
            .map(|_| {
                let size = 1 + random.below(3);
                [[size, size], [size, 1], [1, size]][random.below(3)]
            })
            .collect();
        let shape = |side: usize, matrix: [usize; 2]| -> Vec<usize> {
            batches.iter().map(|sizes| sizes[side]).chain(matrix).collect()
        };
        let a = Operand::numbers(dtype, &shape(0, [m, k]), &mut random);
        let b = Operand::numbers(dtype, &shape(1, [k, n]), &mut random);
        let result = if random.below(3) == 0 { dtype.compute() } else { dtype };
        check(&ExternalOp::Matmul(result), &[a, b]);
    }
}

#[test]
fn products_of_more_than_one_tile() {
    let mut random = Random(0x4567_89ab_cdef_1234);
    for dtype in FLOATS {
        let a = Operand::numbers(dtype, &[2, 300, 70], &mut random);
        let b = Operand::numbers(dtype, &[1, 70, 270], &mut random);
        check(&ExternalOp::Matmul(dtype), &[a, b]);
    }
}

#[test]
fn products_with_a_bias() {
    let mut random = Random(0x6789_abcd_ef12_3456);
    for round in 0..80 {
        let dtype = FLOATS[round % 4];
        let [m, k, n] = [(); 3].map(|()| SIZES[random.below(SIZES.len())]);
        let batches = vec![1 + random.below(3); random.below(3)];
        let a: Vec<usize> = batches.into_iter().chain([m, k]).collect();
        let operands = [a, vec![n, k], vec![n]].map(|sizes| Operand::numbers(dtype, &sizes, &mut random));
        check(&ExternalOp::Linear(dtype), &operands);
    }
}

#[test]
fn products_of_groups() {
    let mut random = Random(0x5678_9abc_def1_2345);
    for round in 0..90 {
        let dtype = FLOATS[round % 4];
        let [m, k, n] = [(); 3].map(|()| SIZES[random.below(SIZES.len())]);
        let groups = random.below(4);
        let (a, b, divided) = [
            (vec![m, k], vec![k, n], k),
            (vec![m, k], vec![groups, k, n], m),
            (vec![groups, m, k], vec![k, n], n),
        ][round % 3]
            .clone();
        let mut ends: Vec<i64> = (0..groups).map(|_| random.below(divided + 1) as i64).collect();
        ends.sort_unstable();
        let ends = Array::from_slice(&[groups], &ends).expect("as many as groups");
        let layout = Layout::dense(&[groups]);
        let operands = [
            Operand::numbers(dtype, &a, &mut random),
            Operand::numbers(dtype, &b, &mut random),
            Operand { memory: ends, layout },
        ];
        check(&ExternalOp::GroupedMatmul, &operands);
    }
}

#[test]
fn indices_out_of_range_are_the_evaluators() {
    let arrays = |index: &[i64]| {
        [
            Array::from_slice(&[3, 4], &[0.5_f32; 12]).expect("twelve"),
            Array::from_slice(&[2, 2], index).expect("four"),
            Array::from_slice(&[2, 2], &[1.5_f32; 4]).expect("four"),
        ]
    };
    let sound = arrays(&[0, 0, 0, 0]);
    for (index, wrong) in [([0, 1, 2, 3], 3), ([0, -1, 5, 0], -1), ([i64::MIN, 0, 0, 0], i64::MIN)] {
        let op = ExternalOp::Scatter(0);
        let like = evaluated(&op, &sound.each_ref().map(Array::view)).expect("a sound call");
        let arrays = arrays(&index);
        let views = arrays.each_ref().map(Array::view);
        let expected = evaluated(&op, &views).expect_err("no element has this index");
        let given = computed(&op, &views, &like, 2).expect_err("no element has this index");
        assert_eq!(given, expected);
        assert!(
            matches!(given, EvaluateError::Index { at, .. } if at == OutOfRange { axis: 0, size: 3, index: wrong })
        );
    }
}
