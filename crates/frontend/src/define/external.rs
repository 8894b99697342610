//! Ops that a library computes: argsort, top-k, scatter, products of matrices.
//!
//! Products are brought to batches of matrices of one rank: a vector becomes a matrix of one row or column, and what that
//! added is dropped from the result. Half types are accumulated in f32 and rounded once.

use index::Expr;
use ir::definition::{Object, Site};
use ir::graph::{Axes, ExternalOp, Shape, TensorOp, Val};
use ops::{DType, Scalar, ScalarOp};
use smallvec::SmallVec;

use super::arguments::Bound;
use super::builder::DefinitionBuilder;
use super::error::DefineError;

impl DefinitionBuilder {
    /// A scalar sorts to the index 0.
    pub(super) fn argsort(&mut self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let rank = self.graph.shape(arg).len();
        let axis = bound.axis("dim", rank.max(1))? as u8;
        match rank {
            0 => self.constant(Scalar::from_i64(DType::I64, 0)),
            _ => self.add(
                TensorOp::External(ExternalOp::Argsort { axis, descending: bound.flag("descending") }),
                &[arg],
            ),
        }
    }

    /// Values and indices, always in sorted order.
    pub(super) fn topk(&mut self, bound: &Bound, arg: Val) -> Result<Vec<Val>, DefineError> {
        let axis = bound.axis("dim", self.graph.shape(arg).len())?;
        let size = self.shape(arg)[axis].clone();
        let expected = format!("a whole number from 0 to the size {size} of the dimension");
        let k = self.as_size(bound.object("k")).ok_or_else(|| bound.reject("k", &expected))?;
        for (small, large) in [(&Expr::zero(), &k), (&k, &size)] {
            self.facts.assume_le(small, large).map_err(|_| bound.reject("k", &expected))?;
        }
        let tensor_op =
            TensorOp::External(ExternalOp::TopK { axis: axis as u8, k, largest: bound.flag("largest") });
        let node = self.add_node(tensor_op, &[arg])?;
        Ok(self.graph.results(node).collect())
    }

    pub(super) fn scatter(&mut self, bound: &Bound) -> Result<Val, DefineError> {
        let arg = self.tensor_called(bound, "arg")?;
        let index = self.tensor_called(bound, "index")?;
        let axis = bound.axis("dim", self.graph.shape(arg).len())?;
        if !self.graph.dtype(index).is_signed_int() {
            return Err(bound.reject("index", "a tensor of i64 or i32"));
        }
        let src = match bound.object("src").as_value() {
            Some(value) if !self.is_scalar(value) => value.val,
            _ => {
                let fill = self.fill(bound, "src", self.graph.dtype(arg))?;
                self.repeated(fill, self.shape(index))?
            }
        };
        let val = self.add(TensorOp::External(ExternalOp::Scatter(axis as u8)), &[arg, index, src])?;
        self.record.add_site(val, Site { op: self.op, axis, counts_from_end: false, span: self.span });
        Ok(val)
    }

    /// A scalar as a tensor of a shape.
    fn repeated(&mut self, scalar: Val, shape: Shape) -> Result<Val, DefineError> {
        let single = self.add(TensorOp::Broadcast(SmallVec::from_elem(true, shape.len())), &[scalar])?;
        if shape.iter().all(Expr::is_one) { Ok(single) } else { self.add(TensorOp::Expand(shape), &[single]) }
    }

    /// An argument that must be a tensor and no scalar of the language.
    pub(super) fn tensor_called(&self, bound: &Bound, param: &str) -> Result<Val, DefineError> {
        let value = bound.tensor(param)?;
        if self.is_scalar(value) { Err(bound.reject(param, "a tensor")) } else { Ok(value.val) }
    }

    /// A tensor of floats of at least two bytes with at least so many axes.
    fn matrix(&self, bound: &Bound, param: &str, rank: usize) -> Result<Val, DefineError> {
        let val = self.tensor_called(bound, param)?;
        let ty = self.graph.ty(val);
        if !ty.dtype.is_float() || ty.dtype.is_float8() || ty.rank() < rank {
            let axes = if rank == 1 { "one axis" } else { "two axes" };
            let expected = format!("a tensor of f16, bf16, f32 or f64 with {axes} or more");
            let error = self.reject(expected, format!("of type {ty}"));
            return Err(error.argument(param).at(bound.span_of(param)));
        }
        Ok(val)
    }

    pub(super) fn call_matmul(&mut self, bound: &Bound) -> Result<Val, DefineError> {
        let (a, b) = (self.matrix(bound, "arg1", 1)?, self.matrix(bound, "arg2", 1)?);
        let dtype = self.graph.dtype(a);
        self.expect_dtype(bound, "arg2", b, dtype)?;
        self.matmul(a, b, dtype)
    }

    fn expect_dtype(&self, bound: &Bound, param: &str, val: Val, dtype: DType) -> Result<(), DefineError> {
        let given = self.graph.dtype(val);
        if given == dtype {
            return Ok(());
        }
        let error = self.reject(format!("a tensor of {dtype}"), format!("one of {given}"));
        Err(error.argument(param).at(bound.span_of(param)))
    }

    /// The product of two tensors of one dtype with one axis or more, in this dtype.
    pub(super) fn matmul(&mut self, a: Val, b: Val, dtype: DType) -> Result<Val, DefineError> {
        let ranks = [a, b].map(|val| self.graph.shape(val).len());
        let rank = ranks[0].max(ranks[1]).max(2);
        let is_row = ranks[0] == 1;
        let is_column = ranks[1] == 1;
        let a = self.raised(a, rank, false)?;
        let b = self.raised(b, rank, is_column)?;
        let product = self.add(TensorOp::External(ExternalOp::Matmul(dtype)), &[a, b])?;
        let dropped = [(is_row, rank - 2), (is_column, rank - 1)];
        let axes: Axes = dropped.iter().filter(|(drop, _)| *drop).map(|(_, axis)| *axis as u8).collect();
        self.squeeze_axes(product, axes)
    }

    /// A tensor with leading axes of size 1 up to a rank; a column gets its last one behind.
    fn raised(&mut self, val: Val, rank: usize, is_column: bool) -> Result<Val, DefineError> {
        let has = self.graph.shape(val).len();
        if has == rank {
            return Ok(val);
        }
        let new = rank - has - usize::from(is_column);
        let flags = (0..rank).map(|axis| axis < new || (is_column && axis == rank - 1));
        self.add(TensorOp::Broadcast(flags.collect()), &[val])
    }

    /// The last two axes exchanged.
    pub(super) fn transposed(&mut self, val: Val) -> Result<Val, DefineError> {
        let rank = self.graph.shape(val).len();
        let mut order: Axes = (0..rank as u8).collect();
        order.swap(rank - 2, rank - 1);
        self.add(TensorOp::Permute(order), &[val])
    }

    /// With a bias the product is not rounded before it is added.
    pub(super) fn linear(&mut self, bound: &Bound) -> Result<Val, DefineError> {
        let (arg, weight) = (self.matrix(bound, "arg1", 1)?, self.matrix(bound, "arg2", 2)?);
        let dtype = self.graph.dtype(arg);
        self.expect_dtype(bound, "arg2", weight, dtype)?;
        let weight = self.transposed(weight)?;
        if *bound.object("bias") == Object::None {
            return self.matmul(arg, weight, dtype);
        }
        let bias = self.matrix(bound, "bias", 1)?;
        self.expect_dtype(bound, "bias", bias, dtype)?;
        let product = self.matmul(arg, weight, dtype.compute())?;
        if self.graph.shape(bias).len() > self.graph.shape(product).len() {
            return Err(bound.reject("bias", "a tensor of no more axes than the result"));
        }
        let last = |val: Val| self.shape(val).last().cloned().expect("tensors of at least one axis");
        let (given, features) = (last(bias), last(product));
        if !given.is_one() && self.facts.assume_equal(&given, &features).is_err() {
            let expected = format!("a tensor whose last size is {features}, as that of the result");
            return Err(self.reject(expected, format!("one of size {given}")).argument("bias"));
        }
        let bias = self.cast(bias, dtype.compute())?;
        let sum = self.map(ScalarOp::Add, &[product, bias])?;
        self.cast(sum, dtype)
    }

    pub(super) fn grouped_mm(&mut self, bound: &Bound) -> Result<Val, DefineError> {
        let params = ["scale1", "scale2", "alpha", "bias", "beta"];
        if let Some(param) = params.into_iter().find(|param| *bound.object(param) != Object::None) {
            let expected = "absent: only NVIDIA's tensor cores multiply block-scaled formats";
            return Err(bound.reject(param, expected));
        }
        let (a, b) = (self.matrix(bound, "mat1", 2)?, self.matrix(bound, "mat2", 2)?);
        let ranks = [a, b].map(|val| self.graph.shape(val).len());
        if !matches!(ranks, [2, 2] | [2, 3] | [3, 2]) {
            let given = format!("ranks {} and {}", ranks[0], ranks[1]);
            return Err(self.reject("tensors of two axes and two, two and three, or three and two", given));
        }
        let dtype = self.graph.dtype(a);
        self.expect_dtype(bound, "mat2", b, dtype)?;
        if bound.dtype("dtype").is_some_and(|given| given != dtype) {
            return Err(bound.reject("dtype", &format!("DataType.{}", dtype.nvfuser_name())));
        }
        let offsets = self.tensor_called(bound, "offsets")?;
        if !self.graph.dtype(offsets).is_signed_int() || self.graph.shape(offsets).len() != 1 {
            return Err(bound.reject("offsets", "a tensor of i64 or i32 with one axis"));
        }
        self.add(TensorOp::External(ExternalOp::GroupedMatmul), &[a, b, offsets])
    }
}
