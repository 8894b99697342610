//! Ops that take elements at indices which are data: all of them one tensor op, `TensorOp::Gather`, between movements.
//!
//! Indices are counted from the front, as torch and nvFuser do for these ops: a negative one is out of range. Only
//! `select`, whose index is a scalar, counts negative ones from the end. What is out of range is found by the call.

use index::Expr;
use ir::definition::{NamedValue, Object, Site};
use ir::graph::{Axes, Shape, TensorOp, Val};
use ops::{DType, LanguageOp, Monoid, Scalar, ScalarOp};
use smallvec::SmallVec;

use super::arguments::Bound;
use super::builder::DefinitionBuilder;
use super::error::DefineError;
use super::scalar::Term;

impl DefinitionBuilder {
    /// As torch: the index may be smaller than the tensor on the other axes, whose first elements then count.
    pub(super) fn torch_gather(&mut self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let axis = bound.axis("dim", self.graph.shape(arg).len())?;
        let index = self.index_tensor(bound, arg)?;
        let (has, wanted) = (self.shape(arg), self.shape(index));
        let mut sizes = has.clone();
        for other in (0..has.len()).filter(|&other| other != axis) {
            if self.facts.prove_eq(&has[other], &wanted[other]) {
                continue;
            }
            if self.facts.assume_le(&wanted[other], &has[other]).is_err() {
                let expected = format!("a tensor of at most size {} on axis {other}", has[other]);
                let error = self.reject(expected, format!("one of size {}", wanted[other]));
                return Err(error.argument("index").at(bound.span_of("index")));
            }
            sizes[other] = wanted[other].clone();
        }
        let starts = Shape::from_elem(Expr::zero(), has.len());
        let source = if sizes == has { arg } else { self.add(TensorOp::Slice { starts, sizes }, &[arg])? };
        self.gather(source, index, axis, axis)
    }

    pub(super) fn take_along_axis(&mut self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let axis = bound.axis("dim", self.graph.shape(arg).len())?;
        let bound = self.with_whole_index(bound)?;
        let index = self.index_tensor(&bound, arg)?;
        self.gather(arg, index, axis, axis)
    }

    /// A call whose index is a tensor of floats that hold integers, as those of integers: what `where` has promoted.
    fn with_whole_index(&mut self, bound: &Bound) -> Result<Bound, DefineError> {
        let index = bound.tensor("index")?;
        if !self.graph.dtype(index.val).is_float() {
            return Ok(bound.clone());
        }
        let whole = Object::Value(NamedValue { val: self.cast(index.val, DType::I64)?, ..index });
        let objects = bound.objects().iter().enumerate();
        let objects = objects.map(|(slot, object)| match bound.name(slot) {
            "index" => whole.clone(),
            _ => object.clone(),
        });
        Ok(bound.with_objects(objects.collect()))
    }

    pub(super) fn index_select(&mut self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let rank = self.graph.shape(arg).len();
        let axis = bound.axis("dim", rank)?;
        let index = self.index_argument(bound, "index")?;
        let axes = self.graph.shape(index).len();
        if axes > 1 {
            return Err(bound.reject("index", "a tensor of at most one axis"));
        }
        let new: SmallVec<[bool; 6]> = (0..rank).map(|place| place != axis || axes == 0).collect();
        let index = if new.contains(&true) { self.add(TensorOp::Broadcast(new), &[index])? } else { index };
        self.gather(arg, index, axis, axis)
    }

    /// A number is a slice, known here; a scalar is known by the call.
    pub(super) fn select(&mut self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let axis = bound.axis("dim", self.graph.shape(arg).len())?;
        let size = self.shape(arg)[axis].clone();
        let single = match Term::new(self, bound.object("index")) {
            Some(Term::Number(number)) if number.dtype().is_int() => {
                let start = number.as_i64();
                let start = if start < 0 { &size + start } else { Expr::constant(start) };
                self.slice_of_one(bound, arg, axis, start)?
            }
            Some(Term::Val(val, _)) if self.graph.dtype(val).is_int() && self.graph.shape(val).is_empty() => {
                let index = self.counted_from_front(val, size)?;
                let new = SmallVec::from_elem(true, self.graph.shape(arg).len());
                let index = self.add(TensorOp::Broadcast(new), &[index])?;
                self.gather(arg, index, axis, axis)?
            }
            _ => return Err(bound.reject("index", "a whole number or an integer scalar")),
        };
        self.squeeze_axes(single, [axis as u8].into_iter().collect())
    }

    fn slice_of_one(
        &mut self,
        bound: &Bound,
        arg: Val,
        axis: usize,
        start: Expr,
    ) -> Result<Val, DefineError> {
        let mut sizes = self.shape(arg);
        let inside = self.facts.assume_le(&Expr::zero(), &start).is_ok()
            && self.facts.assume_le(&(&start + 1), &sizes[axis]).is_ok();
        if !inside {
            return Err(bound.reject("index", &format!("an index on an axis of size {}", sizes[axis])));
        }
        if sizes[axis].is_one() {
            return Ok(arg);
        }
        let mut starts = Shape::from_elem(Expr::zero(), sizes.len());
        (starts[axis], sizes[axis]) = (start, Expr::one());
        self.add(TensorOp::Slice { starts, sizes }, &[arg])
    }

    /// A scalar index in i64, with the size added where it is negative.
    fn counted_from_front(&mut self, index: Val, size: Expr) -> Result<Val, DefineError> {
        let index = self.cast(index, DType::I64)?;
        let (zero, size) = (self.constant(Scalar::zero(DType::I64))?, self.size_val(size)?);
        let negative = self.map(ScalarOp::Lt, &[index, zero])?;
        let wrapped = self.map(ScalarOp::Add, &[index, size])?;
        self.map(ScalarOp::Where, &[negative, wrapped, index])
    }

    /// Rows of a table: the index gets an axis for the row's elements, the table axes for the index's.
    pub(super) fn embedding(&mut self, bound: &Bound) -> Result<Val, DefineError> {
        let index = self.index_argument(bound, "input")?;
        let weight = self.tensor_argument(bound, "weight")?;
        if self.graph.shape(weight).len() != 2 {
            return Err(bound.reject("weight", "a tensor of two axes"));
        }
        let rank = self.graph.shape(index).len();
        let spread = |new: [bool; 2]| -> SmallVec<[bool; 6]> {
            std::iter::repeat_n(!new[0], rank).chain(new).collect()
        };
        let index = self.add(TensorOp::Broadcast(spread([true, true])), &[index])?;
        let table = match rank {
            0 => weight,
            _ => self.add(TensorOp::Broadcast(spread([false, false])), &[weight])?,
        };
        let rows = self.gather(table, index, rank, 0)?;
        let rows = self.squeeze_axes(rows, [rank as u8].into_iter().collect())?;
        match Term::new(self, bound.object("max_norm")) {
            None => Ok(rows),
            Some(limit) => self.renormed(bound, rows, limit),
        }
    }

    /// Rows that are longer than a limit, shortened to it, as torch's `embedding_renorm_` does to the table.
    fn renormed(&mut self, bound: &Bound, rows: Val, limit: Term) -> Result<Val, DefineError> {
        let dtype = self.graph.dtype(rows);
        if !dtype.is_float() {
            return Err(bound.reject("max_norm", &format!("None, as rows of {dtype} have no length")));
        }
        let compute = dtype.compute();
        let [limit] = self.prepare(&[limit], &[compute])?[..] else { unreachable!("one term, one value") };
        let order = Term::new(self, bound.object("norm_type"));
        if let Some(Term::Number(order)) = order
            && (order.as_f64() <= 0.0 || order.as_f64().is_nan())
        {
            return Err(bound.reject("norm_type", "above zero"));
        }
        let order = order.unwrap_or(Term::Number(Scalar::from_f64(compute, 2.0)));
        let is_maximum = matches!(order, Term::Number(order) if order.as_f64() == f64::INFINITY);
        let [order] = self.prepare(&[order], &[compute])?[..] else { unreachable!("one term, one value") };
        if [limit, order].iter().any(|&val| !self.graph.shape(val).is_empty()) {
            return Err(bound.reject("max_norm", "a number or a scalar, as `norm_type`"));
        }
        let wide = self.cast(rows, compute)?;
        let last = Axes::from_slice(&[self.graph.shape(rows).len() as u8 - 1]);
        let lengths = self.expression("abs(x)", &["x"], &[wide], compute)?;
        let norm = if is_maximum {
            self.fold(Monoid::Max, lengths, last, true)?
        } else {
            let powers = self.map(ScalarOp::Pow, &[lengths, order])?;
            let sum = self.fold(Monoid::Sum, powers, last, true)?;
            self.expression("pow(sum, 1 / order)", &["sum", "order"], &[sum, order], compute)?
        };
        let text = "where(gt(norm, limit), limit / (norm + 1e-7), 1)";
        let scale = self.expression(text, &["norm", "limit"], &[norm, limit], compute)?;
        let scaled = self.map(ScalarOp::Mul, &[wide, scale])?;
        self.cast(scaled, dtype)
    }

    pub(super) fn triu(&mut self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let shape = self.shape(arg);
        let [.., height, width] = &shape[..] else {
            let given = format!("one of rank {}", shape.len());
            return Err(self.reject("a tensor of at least two axes", given).argument("arg"));
        };
        let first = match Term::new(self, bound.object("diagonal")) {
            Some(Term::Number(number)) if number.dtype().is_int() => {
                self.constant(number.cast(DType::I64))?
            }
            Some(Term::Val(val, _)) if self.graph.dtype(val).is_int() && self.graph.shape(val).is_empty() => {
                self.cast(val, DType::I64)?
            }
            _ => return Err(bound.reject("diagonal", "a whole number or an integer scalar")),
        };
        let (zero, one) = (self.constant(Scalar::zero(DType::I64))?, self.constant(Scalar::one(DType::I64))?);
        let rows = self.add(TensorOp::Iota(height.clone()), &[first, one])?;
        let columns = self.add(TensorOp::Iota(width.clone()), &[zero, one])?;
        let rows = self.add(TensorOp::Broadcast(SmallVec::from_slice(&[false, true])), &[rows])?;
        let columns = self.add(TensorOp::Broadcast(SmallVec::from_slice(&[true, false])), &[columns])?;
        let mut kept = self.map(ScalarOp::Le, &[rows, columns])?;
        if shape.len() > 2 {
            let new = (0..shape.len()).map(|axis| axis + 2 < shape.len()).collect();
            kept = self.add(TensorOp::Broadcast(new), &[kept])?;
        }
        let nothing = self.constant(Scalar::zero(self.graph.dtype(arg)))?;
        self.map(ScalarOp::Where, &[kept, arg, nothing])
    }

    /// The op, and where in the text it was asked for; `given` is the axis of the user's own tensor.
    fn gather(&mut self, source: Val, index: Val, axis: usize, given: usize) -> Result<Val, DefineError> {
        let val = self.add(TensorOp::Gather(axis as u8), &[source, index])?;
        let counts_from_end = self.op == LanguageOp::Select.name();
        self.record.add_site(val, Site { op: self.op, axis: given, counts_from_end, span: self.span });
        Ok(val)
    }

    /// An index of the rank of the tensor.
    fn index_tensor(&self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let index = self.index_argument(bound, "index")?;
        let rank = self.graph.shape(arg).len();
        if self.graph.shape(index).len() == rank {
            return Ok(index);
        }
        let (expected, given) = (format!("a tensor of rank {rank}"), self.graph.shape(index).len());
        let error = self.reject(expected, format!("one of rank {given}")).argument("index");
        Err(error.at(bound.span_of("index")))
    }

    fn index_argument(&self, bound: &Bound, param: &str) -> Result<Val, DefineError> {
        let index = self.tensor_argument(bound, param)?;
        let dtype = self.graph.dtype(index);
        if dtype.is_int() {
            return Ok(index);
        }
        let error = self.reject("a tensor of integers", format!("one of {dtype}")).argument(param);
        Err(error.at(bound.span_of(param)))
    }
}
