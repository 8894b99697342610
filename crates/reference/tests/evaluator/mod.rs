//! Tests of the evaluator against plain loops and simulated executions. This file builds small programs.

mod blocks;
mod bounds;
mod comparisons;
mod folds;
mod in_place;
mod rejections;
mod tensor_ops;

use std::sync::Arc;

use ferrofuse_reference::evaluate::{
    EvaluateError, EvaluateOptions, Evaluated, Evaluation, Threads, evaluate,
};
use index::{Expr, Facts};
use ir::array::{Array, ArrayView, ByteBool, Element};
use ir::graph::{Fusion, Graph, InputLayout, TensorOp, Type, Val};
use ops::{DType, Scalar, ScalarOp};

/// A graph under construction.
#[derive(Default)]
struct Program {
    graph: Graph,
    facts: Facts,
    inputs: Vec<Val>,
}

impl Program {
    fn input(&mut self, dtype: DType, sizes: &[i64]) -> Val {
        self.input_of(Type::new(dtype, sizes.iter().map(|&size| Expr::constant(size))))
    }

    fn input_of(&mut self, ty: Type) -> Val {
        let ordinal = self.inputs.len() as u32;
        let val = self.add(TensorOp::Input { ordinal, ty, layout: InputLayout::default() }, &[]);
        self.inputs.push(val);
        val
    }

    fn add(&mut self, op: TensorOp, operands: &[Val]) -> Val {
        self.graph.add(op, operands, &mut self.facts).expect("a legal op").into()
    }

    fn map(&mut self, scalar_op: ScalarOp, operands: &[Val]) -> Val {
        self.add(TensorOp::Map(scalar_op), operands)
    }

    fn cast(&mut self, dtype: DType, operand: Val) -> Val {
        self.add(TensorOp::Cast(dtype), &[operand])
    }

    fn constant(&mut self, dtype: DType, x: f64) -> Val {
        self.add(TensorOp::Constant(Scalar::from_f64(dtype, x)), &[])
    }

    fn view(&self, outputs: &[Val]) -> Fusion {
        let outputs = outputs.iter().map(|&val| val.into()).collect();
        Fusion::new(&self.graph, self.inputs.clone(), outputs, Arc::new(self.facts.clone()))
            .expect("a closed view")
    }

    fn try_run(
        &self,
        outputs: &[Val],
        inputs: &[ArrayView<'_>],
        options: &EvaluateOptions,
    ) -> Result<Evaluation, EvaluateError> {
        evaluate(&self.graph, &self.view(outputs), inputs, options)
    }

    fn run(&self, outputs: &[Val], inputs: &[ArrayView<'_>]) -> Vec<Evaluated> {
        let options = EvaluateOptions { workers: &Threads(2), ..EvaluateOptions::default() };
        self.try_run(outputs, inputs, &options).expect("a sound call").outputs
    }
}

/// Sizes as expressions.
fn exprs<C: FromIterator<Expr>>(sizes: &[i64]) -> C {
    sizes.iter().map(|&size| Expr::constant(size)).collect()
}

fn array<T: Element>(sizes: &[usize], elements: &[T]) -> Array {
    Array::from_slice(sizes, elements).expect("as many elements as the sizes say")
}

/// The elements of a result as doubles.
fn reals(evaluated: &Evaluated) -> Vec<f64> {
    evaluated.value.scalars().iter().map(|x| x.as_f64()).collect()
}

/// The bounds of a result, zeros where there is none.
fn bounds(evaluated: &Evaluated) -> Vec<f64> {
    match &evaluated.bound {
        Some(bound) => bound.view().to_array().unwrap().scalars().iter().map(|x| x.as_f64()).collect(),
        None => vec![0.0; evaluated.value.numel()],
    }
}

/// Numbers without pattern, the same in every run (xorshift, Marsaglia 2003).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Up to `end`, without it.
    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end
    }

    /// From -1 to 1.
    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }

    fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.unit()).collect()
    }
}
