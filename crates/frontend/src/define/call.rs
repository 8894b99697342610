//! Ops by name: finds the row, binds the arguments, adds the nodes, writes the line of the record.

use std::cmp::Reverse;

use ir::definition::{Argument, Object, Value};
use ir::graph::{Axes, Form, Val};
use ops::{self, FormOp, Monoid, OpRef, Prim};

use super::arguments::Bound;
use super::attention::with_newer_places;
use super::declare::stride_order;
use super::definer::Definer;
use super::error::DefineError;
use super::random::Distribution;

impl Definer {
    /// Applies an op: any row of the tables of primitives, composites and forms.
    ///
    /// # Errors
    /// For an unknown name, arguments that do not fit the parameters, dtypes and shapes that do not suit.
    pub fn call(&mut self, op: &str, arguments: Vec<Argument>) -> Result<Object, DefineError> {
        let found = ops::lookup(op).map_err(|unknown| {
            if let Some(why) = ops::refused(op) {
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
        let made = self.or_as_before(|definer| definer.apply(found, &bound))?;
        self.record.add_demands(self.facts.subjects_since(&known), found.name(), self.span);
        Ok(made)
    }

    fn apply(&mut self, op: OpRef, bound: &Bound) -> Result<Object, DefineError> {
        match op {
            OpRef::Prim(prim) => self.call_prim(prim, bound).map(|value| self.record_one(bound, value)),
            OpRef::Composite(op) => self.call_composite(op, bound).map(|value| self.record_one(bound, value)),
            OpRef::Form(FormOp::Cast) => {
                let value = self.call_cast(bound)?;
                self.keep_order(bound, value);
                Ok(self.record_one(bound, value))
            }
            OpRef::Form(FormOp::StrideOrder) => {
                self.call_stride_order(bound).map(|value| self.record_one(bound, value))
            }
            OpRef::Form(FormOp::Size) => self.call_size(bound),
            OpRef::Form(FormOp::Shape) => self.call_shape(bound),
            OpRef::Form(FormOp::SdpfaFwd) => {
                let results = self.call_form(FormOp::SdpfaFwd, bound)?;
                self.keep_query_order(bound, &results);
                Ok(results)
            }
            OpRef::Form(form) => self.call_form(form, bound),
        }
    }

    fn record_one(&mut self, bound: &Bound, value: Value) -> Object {
        self.record_call(bound.op, bound.recorded(), &[value]);
        Object::Value(value)
    }

    /// A form whose results are tensors.
    fn call_form(&mut self, form: FormOp, bound: &Bound) -> Result<Object, DefineError> {
        let vals = match self.complex_argument(bound) {
            Some(_) => self.complex_form(form, bound)?,
            None => self.form(form, bound)?,
        };
        Ok(self.record_tensors(bound, vals))
    }

    /// A form on real arguments: its results.
    pub(super) fn form(&mut self, form: FormOp, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        if let Some(vals) = self.composite(form, bound) {
            let vals = vals?;
            self.add_pattern(form.name(), bound.objects(), &vals);
            return Ok(vals);
        }
        let vals = match form {
            FormOp::Full => vec![self.full(bound)?],
            FormOp::Cat => vec![self.cat(bound)?],
            FormOp::Iota => vec![self.iota(bound)?],
            FormOp::EmbeddingFwd => vec![self.embedding(bound)?],
            FormOp::Scatter => vec![self.scatter(bound)?],
            FormOp::Matmul => vec![self.call_matmul(bound)?],
            FormOp::Linear => vec![self.linear(bound)?],
            FormOp::GroupedMm => vec![self.grouped_mm(bound)?],
            FormOp::SdpfaFwd => self.attention(bound)?,
            FormOp::SdpfaBwd => self.attention_backward(bound)?,
            FormOp::Uniform => vec![self.draw(Distribution::Uniform, bound)?],
            FormOp::Normal => vec![self.draw(Distribution::Normal, bound)?],
            FormOp::Fold => self.call_general_fold(bound)?,
            FormOp::Scan => self.call_general_scan(bound)?,
            _ => {
                let arg = self.tensor(bound)?;
                self.form_of_tensor(form, bound, arg)?
            }
        };
        if matches!(form, FormOp::Linear | FormOp::SdpfaFwd | FormOp::SdpfaBwd) {
            self.add_pattern(form.name(), bound.objects(), &vals);
        }
        Ok(vals)
    }

    fn record_tensors(&mut self, bound: &Bound, vals: Vec<Val>) -> Object {
        let values: Vec<Value> = vals.into_iter().map(|val| self.value(val, false)).collect();
        self.record_call(bound.op, bound.recorded(), &values);
        match values[..] {
            [only] => Object::Value(only),
            _ => Object::list(values.into_iter().map(Object::Value)),
        }
    }

    fn form_of_tensor(&mut self, form: FormOp, bound: &Bound, arg: Val) -> Result<Vec<Val>, DefineError> {
        let one = match form {
            FormOp::Broadcast => self.broadcast(bound, arg),
            FormOp::BroadcastInDim => self.broadcast_in_dim(bound, arg),
            FormOp::Expand => self.expand(bound, arg),
            FormOp::Squeeze => self.squeeze(bound, arg),
            FormOp::Reshape => self.reshape(bound, arg),
            FormOp::Permute => self.permute(bound, arg),
            FormOp::Slice => self.slice(bound, arg),
            FormOp::Pad => self.pad(bound, arg),
            FormOp::Gather => self.torch_gather(bound, arg),
            FormOp::TakeAlongAxis => self.take_along_axis(bound, arg),
            FormOp::IndexSelect => self.index_select(bound, arg),
            FormOp::Select => self.select(bound, arg),
            FormOp::Triu => self.triu(bound, arg),
            FormOp::Any => self.call_quantifier(Monoid::Max, bound, arg),
            FormOp::All => self.call_quantifier(Monoid::Min, bound, arg),
            FormOp::Argmax => self.call_arg(Monoid::Argmax, bound, arg),
            FormOp::Argmin => self.call_arg(Monoid::Argmin, bound, arg),
            FormOp::Cumsum => self.call_scan(Monoid::Sum, Prim::Add, bound, arg),
            FormOp::Cumprod => self.call_scan(Monoid::Prod, Prim::Mul, bound, arg),
            FormOp::Cummax => self.call_scan(Monoid::Max, Prim::Maximum, bound, arg),
            FormOp::Cummin => self.call_scan(Monoid::Min, Prim::Minimum, bound, arg),
            FormOp::Sum => self.call_fold(Monoid::Sum, bound, arg),
            FormOp::Prod => self.call_fold(Monoid::Prod, bound, arg),
            FormOp::Max => self.call_fold(Monoid::Max, bound, arg),
            FormOp::Min => self.call_fold(Monoid::Min, bound, arg),
            FormOp::Argsort => self.argsort(bound, arg),
            FormOp::Topk => return self.topk(bound, arg),
            FormOp::RandLike => self.draw_like(Distribution::Uniform, bound, arg),
            FormOp::RandnLike => self.draw_like(Distribution::Normal, bound, arg),
            FormOp::Var => self.var_mean(bound, arg).map(|(var, _)| var),
            FormOp::VarMean => return self.var_mean(bound, arg).map(|(var, mean)| vec![var, mean]),
            FormOp::Welford => {
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
            let error = self.refuse("a tensor", "a scalar").argument(param);
            return Err(error.at(bound.span_of(param)));
        }
        Ok(value.val)
    }

    /// A copy whose memory order is remembered for the case that it is an output.
    fn call_stride_order(&mut self, bound: &Bound) -> Result<Value, DefineError> {
        let arg = self.tensor(bound)?;
        let ranks = stride_order(bound, self.graph.shape(arg).len())?;
        let copied = vec![Argument::positional(bound.object("arg").clone())];
        let copied = Bound::new(bound.op, &OpRef::Prim(Prim::Set).params(), copied)?;
        let value = self.call_prim(Prim::Set, &copied)?;
        let mut axes: Axes = (0..ranks.len() as u8).collect();
        axes.sort_unstable_by_key(|&axis| Reverse(ranks[usize::from(axis)]));
        if !axes.is_empty() {
            self.orders.insert(value.entry, axes);
        }
        Ok(value)
    }

    /// A cast lies in memory as its operand does.
    fn keep_order(&mut self, bound: &Bound, value: Value) {
        let order = bound.object("arg").as_value().and_then(|arg| self.orders.get(&arg.entry));
        if let Some(order) = order.cloned() {
            self.orders.insert(value.entry, order);
        }
    }

    /// The result of attention lies in memory as the queries do, as flash attention leaves it.
    fn keep_query_order(&mut self, bound: &Bound, results: &Object) {
        let result = results.as_list().and_then(|results| results.first()?.as_value());
        let order = bound.object("query").as_value().and_then(|query| {
            self.orders.get(&query.entry).cloned().or_else(|| self.order_in_memory(query.val))
        });
        if let (Some(result), Some(order)) = (result, order) {
            self.orders.insert(result.entry, order);
        }
    }

    /// The axes of a permuted value, outermost in memory first; nothing where it lies row-major, or nobody says.
    fn order_in_memory(&self, val: Val) -> Option<Axes> {
        match self.graph.form(val) {
            Form::Input { layout, .. } => (!layout.order.is_empty()).then(|| layout.order.clone()),
            Form::Permute(dims) => {
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
            self.record_call(FormOp::Size.name(), arguments, &[value]);
            sizes.push(Object::Value(value));
        }
        Ok(Object::list(sizes))
    }
}

/// nvFuser takes the dtype of a full reduction as its second argument by place: `sum(t, DataType.Float)`.
fn dtype_by_name(op: OpRef, mut arguments: Vec<Argument>) -> Vec<Argument> {
    let reduces = matches!(op, OpRef::Form(FormOp::Sum | FormOp::Prod | FormOp::Max | FormOp::Min));
    if let [_, second] = &mut arguments[..]
        && reduces
        && second.keyword.is_none()
        && matches!(second.object, Object::DType(_))
    {
        second.keyword = Some("dtype".to_owned());
    }
    arguments
}
