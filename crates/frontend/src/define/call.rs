//! Ops by name: finds the row, binds the arguments, adds the nodes, writes the line of the record.

use std::cmp::Reverse;

use ir::definition::{CallArgument, NamedValue, Object};
use ir::graph::{Axes, TensorOp, Val};
use ops::{self, LanguageOp, Monoid, OpRef, ScalarOp};

use super::arguments::Bound;
use super::attention::with_newer_places;
use super::builder::DefinitionBuilder;
use super::declare::stride_order;
use super::error::DefineError;
use super::random::Distribution;

impl DefinitionBuilder {
    /// Applies an op: any row of the tables of primitives, composites and tensor ops.
    ///
    /// # Errors
    /// For an unknown name, arguments that do not fit the parameters, dtypes and shapes that do not suit.
    pub fn call(&mut self, op: &str, arguments: Vec<CallArgument>) -> Result<Object, DefineError> {
        let found = ops::lookup(op).map_err(|unknown| {
            if let Some(why) = ops::rejected(op) {
                return DefineError::new(op, "", why);
            }
            let error = DefineError::new(op, "", "not an op");
            match unknown.did_you_mean {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            }
        })?;
        self.op = found.name();
        let arguments = with_newer_places(found, dtype_by_name(found, arguments));
        let bound = Bound::new(found.name(), &found.params(), arguments)?;
        let known = self.facts.clone();
        let made = self.or_as_before(|builder| builder.apply(found, &bound))?;
        self.record.add_constraints(self.facts.subjects_since(&known), found.name(), self.span);
        Ok(made)
    }

    fn apply(&mut self, op: OpRef, bound: &Bound) -> Result<Object, DefineError> {
        match op {
            OpRef::Primitive(scalar_op) => {
                self.call_scalar_op(scalar_op, bound).map(|value| self.record_one(bound, value))
            }
            OpRef::Composite(op) => self.call_composite(op, bound).map(|value| self.record_one(bound, value)),
            OpRef::Language(LanguageOp::Cast) => {
                let value = self.call_cast(bound)?;
                self.keep_order(bound, value);
                Ok(self.record_one(bound, value))
            }
            OpRef::Language(LanguageOp::StrideOrder) => {
                self.call_stride_order(bound).map(|value| self.record_one(bound, value))
            }
            OpRef::Language(LanguageOp::Size) => self.call_size(bound),
            OpRef::Language(LanguageOp::Shape) => self.call_shape(bound),
            OpRef::Language(LanguageOp::SdpfaFwd) => {
                let results = self.call_language_op(LanguageOp::SdpfaFwd, bound)?;
                self.keep_query_order(bound, &results);
                Ok(results)
            }
            OpRef::Language(tensor_op) => self.call_language_op(tensor_op, bound),
        }
    }

    fn record_one(&mut self, bound: &Bound, value: NamedValue) -> Object {
        self.record_call(bound.op, bound.recorded(), &[value]);
        Object::Value(value)
    }

    /// An op whose results are tensors.
    fn call_language_op(&mut self, tensor_op: LanguageOp, bound: &Bound) -> Result<Object, DefineError> {
        let vals = match self.complex_argument(bound) {
            Some(_) => self.complex_op(tensor_op, bound)?,
            None => self.op(tensor_op, bound)?,
        };
        Ok(self.record_tensors(bound, vals))
    }

    /// An op on real arguments: its results.
    pub(super) fn op(&mut self, tensor_op: LanguageOp, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        if let Some(vals) = self.composite(tensor_op, bound) {
            let vals = vals?;
            self.add_pattern(tensor_op.name(), bound.objects(), &vals);
            return Ok(vals);
        }
        let vals = match tensor_op {
            LanguageOp::Full => vec![self.full(bound)?],
            LanguageOp::Cat => vec![self.cat(bound)?],
            LanguageOp::Iota => vec![self.iota(bound)?],
            LanguageOp::EmbeddingFwd => vec![self.embedding(bound)?],
            LanguageOp::Scatter => vec![self.scatter(bound)?],
            LanguageOp::Matmul => vec![self.call_matmul(bound)?],
            LanguageOp::Linear => vec![self.linear(bound)?],
            LanguageOp::GroupedMm => vec![self.grouped_mm(bound)?],
            LanguageOp::SdpfaFwd => self.attention(bound)?,
            LanguageOp::SdpfaBwd => self.attention_backward(bound)?,
            LanguageOp::Uniform => vec![self.draw(Distribution::Uniform, bound)?],
            LanguageOp::Normal => vec![self.draw(Distribution::Normal, bound)?],
            LanguageOp::Fold => self.call_general_fold(bound)?,
            LanguageOp::Scan => self.call_general_scan(bound)?,
            _ => {
                let arg = self.tensor(bound)?;
                self.op_of_tensor(tensor_op, bound, arg)?
            }
        };
        if is_pattern(tensor_op) {
            self.add_pattern(tensor_op.name(), bound.objects(), &vals);
        }
        Ok(vals)
    }

    fn record_tensors(&mut self, bound: &Bound, vals: Vec<Val>) -> Object {
        let values: Vec<NamedValue> = vals.into_iter().map(|val| self.value(val, false)).collect();
        self.record_call(bound.op, bound.recorded(), &values);
        match values[..] {
            [only] => Object::Value(only),
            _ => Object::list(values.into_iter().map(Object::Value)),
        }
    }

    fn op_of_tensor(
        &mut self,
        tensor_op: LanguageOp,
        bound: &Bound,
        arg: Val,
    ) -> Result<Vec<Val>, DefineError> {
        let one = match tensor_op {
            LanguageOp::Broadcast => self.broadcast(bound, arg),
            LanguageOp::BroadcastInDim => self.broadcast_in_dim(bound, arg),
            LanguageOp::Expand => self.expand(bound, arg),
            LanguageOp::Squeeze => self.squeeze(bound, arg),
            LanguageOp::Reshape => self.reshape(bound, arg),
            LanguageOp::Permute => self.permute(bound, arg),
            LanguageOp::Slice => self.slice(bound, arg),
            LanguageOp::Pad => self.pad(bound, arg),
            LanguageOp::Gather => self.torch_gather(bound, arg),
            LanguageOp::TakeAlongAxis => self.take_along_axis(bound, arg),
            LanguageOp::IndexSelect => self.index_select(bound, arg),
            LanguageOp::Select => self.select(bound, arg),
            LanguageOp::Triu => self.triu(bound, arg),
            LanguageOp::Any => self.call_quantifier(Monoid::Max, bound, arg),
            LanguageOp::All => self.call_quantifier(Monoid::Min, bound, arg),
            LanguageOp::Argmax => self.call_arg(Monoid::Argmax, bound, arg),
            LanguageOp::Argmin => self.call_arg(Monoid::Argmin, bound, arg),
            LanguageOp::Cumsum => self.call_scan(Monoid::Sum, ScalarOp::Add, bound, arg),
            LanguageOp::Cumprod => self.call_scan(Monoid::Prod, ScalarOp::Mul, bound, arg),
            LanguageOp::Cummax => self.call_scan(Monoid::Max, ScalarOp::Maximum, bound, arg),
            LanguageOp::Cummin => self.call_scan(Monoid::Min, ScalarOp::Minimum, bound, arg),
            LanguageOp::Sum => self.call_fold(Monoid::Sum, bound, arg),
            LanguageOp::Prod => self.call_fold(Monoid::Prod, bound, arg),
            LanguageOp::Max => self.call_fold(Monoid::Max, bound, arg),
            LanguageOp::Min => self.call_fold(Monoid::Min, bound, arg),
            LanguageOp::Argsort => self.argsort(bound, arg),
            LanguageOp::Topk => return self.topk(bound, arg),
            LanguageOp::RandLike => self.draw_like(Distribution::Uniform, bound, arg),
            LanguageOp::RandnLike => self.draw_like(Distribution::Normal, bound, arg),
            LanguageOp::Var => self.var_mean(bound, arg).map(|(var, _)| var),
            LanguageOp::VarMean => return self.var_mean(bound, arg).map(|(var, mean)| vec![var, mean]),
            LanguageOp::Welford => {
                let axes = self.moment_axes(bound, arg)?;
                let moments = self.welford(arg, axes, false)?;
                return Ok(vec![moments.mean, moments.m2, moments.count]);
            }
            _ => unreachable!("called in ways of their own"),
        };
        one.map(|val| vec![val])
    }

    /// The argument `arg`, which must be a tensor and no scalar of the language.
    pub(super) fn tensor(&self, bound: &Bound) -> Result<Val, DefineError> {
        self.tensor_argument(bound, "arg")
    }

    /// An argument that must be a tensor and no scalar of the language.
    pub(super) fn tensor_argument(&self, bound: &Bound, param: &str) -> Result<Val, DefineError> {
        let value = bound.tensor(param)?;
        if self.is_scalar(value) {
            let error = self.reject("a tensor", "a scalar").argument(param);
            return Err(error.at(bound.span_of(param)));
        }
        Ok(value.val)
    }

    /// A copy whose memory order is remembered for the case that it is an output.
    fn call_stride_order(&mut self, bound: &Bound) -> Result<NamedValue, DefineError> {
        let arg = self.tensor(bound)?;
        let ranks = stride_order(bound, self.graph.shape(arg).len())?;
        let copied = vec![CallArgument::positional(bound.object("arg").clone())];
        let copied = Bound::new(bound.op, &OpRef::Primitive(ScalarOp::Set).params(), copied)?;
        let value = self.call_scalar_op(ScalarOp::Set, &copied)?;
        let mut axes: Axes = (0..ranks.len() as u8).collect();
        axes.sort_unstable_by_key(|&axis| Reverse(ranks[usize::from(axis)]));
        if !axes.is_empty() {
            self.orders.insert(value.entry, axes);
        }
        Ok(value)
    }

    /// A cast has the layout of its operand.
    fn keep_order(&mut self, bound: &Bound, value: NamedValue) {
        let order = bound.object("arg").as_value().and_then(|arg| self.orders.get(&arg.entry));
        if let Some(order) = order.cloned() {
            self.orders.insert(value.entry, order);
        }
    }

    /// The result of attention has the layout of the queries, as flash attention leaves it.
    fn keep_query_order(&mut self, bound: &Bound, results: &Object) {
        let result = results.as_list().and_then(|results| results.first()?.as_value());
        let order = bound.object("query").as_value().and_then(|query| {
            self.orders.get(&query.entry).cloned().or_else(|| self.order_in_memory(query.val))
        });
        if let (Some(result), Some(order)) = (result, order) {
            self.orders.insert(result.entry, order);
        }
    }

    /// The axes of a permuted value, outermost in memory first; nothing where it is row-major, or nobody says.
    fn order_in_memory(&self, val: Val) -> Option<Axes> {
        match self.graph.op(val) {
            TensorOp::Input { layout, .. } => (!layout.order.is_empty()).then(|| layout.order.clone()),
            TensorOp::Permute(dims) => {
                let of = self.graph.node(val.node).operands[0];
                let inner = self.order_in_memory(of).unwrap_or_else(|| (0..dims.len() as u8).collect());
                inner
                    .iter()
                    .map(|axis| dims.iter().position(|dim| dim == axis).map(|place| place as u8))
                    .collect()
            }
            _ => None,
        }
    }

    fn call_size(&mut self, bound: &Bound) -> Result<Object, DefineError> {
        let arg = self.tensor(bound)?;
        let axis = bound.axis("dim", self.graph.shape(arg).len())?;
        let val = self.size_val(self.graph.shape(arg)[axis].clone())?;
        let value = self.value(val, true);
        Ok(self.record_one(bound, value))
    }

    /// Recorded as one `size` an axis, as nvFuser prints it.
    fn call_shape(&mut self, bound: &Bound) -> Result<Object, DefineError> {
        let arg = self.tensor(bound)?;
        let mut sizes = Vec::new();
        for (axis, size) in self.shape(arg).into_iter().enumerate() {
            let val = self.size_val(size)?;
            let value = self.value(val, true);
            let arguments = vec![("arg", bound.object("arg").clone()), ("dim", Object::int(axis as i64))];
            self.record_call(LanguageOp::Size.name(), arguments, &[value]);
            sizes.push(Object::Value(value));
        }
        Ok(Object::list(sizes))
    }
}

/// Whether an op is remembered as one that the user wrote, beside the composites.
fn is_pattern(op: LanguageOp) -> bool {
    use LanguageOp::{Linear, Matmul, SdpfaBwd, SdpfaFwd, Var, VarMean};
    matches!(op, Linear | Matmul | SdpfaFwd | SdpfaBwd | Var | VarMean)
}

/// nvFuser takes the dtype of a full reduction as its second argument by place: `sum(t, DataType.Float)`.
fn dtype_by_name(op: OpRef, mut arguments: Vec<CallArgument>) -> Vec<CallArgument> {
    let reduces =
        matches!(op, OpRef::Language(LanguageOp::Sum | LanguageOp::Prod | LanguageOp::Max | LanguageOp::Min));
    if let [_, second] = &mut arguments[..]
        && reduces
        && second.keyword.is_none()
        && matches!(second.object, Object::DType(_))
    {
        second.keyword = Some("dtype".to_owned());
    }
    arguments
}
