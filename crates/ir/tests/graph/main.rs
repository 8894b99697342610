//! Graphs, with their views and tasks: sharing, closure, passes, collection, and what the verifier catches. And arrays.

mod arrays;
mod load;
mod products;
mod shapes;
mod tasks;
mod views;

use std::sync::Arc;

use ferrofuse_ir::graph::{Fusion, Graph, InputLayout, Output, SymbolSource, TensorOp, Type, Val};
use index::{Expr, Facts};
use ops::{DType, Scalar, ScalarOp};

/// A graph and facts being built by a test.
#[derive(Default)]
struct Build {
    graph: Graph,
    facts: Facts,
    inputs: Vec<Val>,
}

impl Build {
    /// An input of dtype f32; sizes that are `None` get symbols.
    fn input(&mut self, sizes: &[Option<i64>]) -> Val {
        let ordinal = self.inputs.len() as u32;
        let mut shape = Vec::new();
        for (axis, size) in sizes.iter().enumerate() {
            shape.push(match size {
                Some(size) => Expr::constant(*size),
                None => {
                    let sym = self.graph.add_symbol(SymbolSource::InputSize { ordinal, axis: axis as u8 });
                    self.facts.assume_range(sym, 0, None);
                    Expr::sym(sym)
                }
            });
        }
        let val = self.add(
            TensorOp::Input { ordinal, ty: Type::new(DType::F32, shape), layout: InputLayout::default() },
            &[],
        );
        self.inputs.push(val);
        val
    }

    fn add(&mut self, op: TensorOp, operands: &[Val]) -> Val {
        self.graph.add(op, operands, &mut self.facts).expect("a legal op").into()
    }

    fn map(&mut self, scalar_op: ScalarOp, operands: &[Val]) -> Val {
        self.add(TensorOp::Map(scalar_op), operands)
    }

    fn constant(&mut self, value: f64) -> Val {
        self.add(TensorOp::Constant(Scalar::from_f64(DType::F32, value)), &[])
    }

    fn view(&self, outputs: &[Val]) -> Fusion {
        self.view_from(&self.inputs, outputs)
    }

    fn view_from(&self, inputs: &[Val], outputs: &[Val]) -> Fusion {
        let outputs = outputs.iter().map(|&val| Output::from(val)).collect();
        Fusion::new(&self.graph, inputs.to_vec(), outputs, Arc::new(self.facts.clone()))
            .expect("a closed view")
    }
}
