//! Folds drawn, alone, together with what they fold, and in normalizations.

use ferrofuse::{DType, Scalar};
use ir::ops::FormOp;

use super::Caller;
use crate::random::program::{Given, Tensor};

impl Caller<'_> {
    pub(super) fn fold(&mut self) {
        use FormOp::{All, Any, Max, Min, Prod, Sum, Var, VarMean, Welford};
        if self.draws.percent(15) {
            return self.place();
        }
        let tensor = self.tensor();
        let form = self.draws.one_of(&[Sum, Sum, Sum, Max, Min, Prod, Any, All, Var, VarMean, Welford]);
        let all: Vec<i64> = (0..self.rank(tensor) as i64).collect();
        let mut axes = self.draws.some_of(&all);
        if axes.is_empty() {
            axes.extend(self.axis(tensor).map(|axis| axis as i64));
        }
        let mut arguments = vec![(None, Given::Tensor(tensor)), (Some("dims"), Given::Numbers(axes))];
        if form != Welford && self.draws.percent(50) {
            arguments.push((Some("keepdim"), Given::Number(Scalar::from_bool(true))));
        }
        if matches!(form, Var | VarMean) && self.draws.percent(50) {
            let correction = self.draws.below(2) as i64;
            arguments.push((Some("correction"), Given::Number(Scalar::from_i64(DType::I64, correction))));
        }
        let results = match form {
            VarMean => 2,
            Welford => 3,
            _ => 1,
        };
        self.add_form(form, arguments, results);
    }

    /// The index of an extreme, along an axis or of all.
    fn place(&mut self) {
        let tensor = self.tensor();
        let form = self.draws.one_of(&[FormOp::Argmax, FormOp::Argmin]);
        let mut arguments = vec![(None, Given::Tensor(tensor))];
        if let Some(axis) = self.axis(tensor)
            && self.draws.percent(80)
        {
            arguments.push((Some("dim"), Given::Number(Scalar::from_i64(DType::I64, axis as i64))));
        }
        if self.draws.percent(50) {
            arguments.push((Some("keepdim"), Given::Number(Scalar::from_bool(true))));
        }
        self.add_form(form, arguments, 1);
    }

    /// A tensor and a fold of it, brought together again.
    pub(super) fn deviation(&mut self) {
        let tensor = self.tensor();
        let Some(axis) = self.axis(tensor) else { return };
        let form = self.draws.one_of(&[FormOp::Sum, FormOp::Max, FormOp::Min, FormOp::Var]);
        let mut axes = vec![axis as i64];
        if axis > 0 && self.draws.percent(30) {
            axes.push(0);
        }
        let keepdim = Given::Number(Scalar::from_bool(true));
        let arguments = vec![
            (None, Given::Tensor(tensor)),
            (Some("dims"), Given::Numbers(axes)),
            (Some("keepdim"), keepdim),
        ];
        let folded = self.add_form(form, arguments, 1);
        let op = self.draws.one_of(&["sub", "mul", "add", "maximum", "le"]);
        self.add(op, vec![(None, Given::Tensor(tensor)), (None, Given::Tensor(folded))], 1);
    }

    /// A composite over one axis, or over all but the channels.
    fn average_or_gradient(&mut self, tensor: Tensor, axis: usize) {
        use FormOp::{BatchNorm, InstanceNorm, LogSoftmaxBackward, Mean, SoftmaxBackward, StandardDeviation};
        let int = |n: usize| Given::Number(Scalar::from_i64(DType::I64, n as i64));
        let of = |tensor: Tensor| (None, Given::Tensor(tensor));
        match self.draws.one_of(&[
            Mean,
            StandardDeviation,
            SoftmaxBackward,
            LogSoftmaxBackward,
            BatchNorm,
            InstanceNorm,
        ]) {
            form @ (Mean | StandardDeviation) => {
                self.add_form(form, vec![of(tensor), (Some("dims"), int(axis))], 1);
            }
            form @ (SoftmaxBackward | LogSoftmaxBackward) => {
                let forward = if form == SoftmaxBackward { FormOp::Softmax } else { FormOp::LogSoftmax };
                let result = self.add_form(forward, vec![of(tensor), (Some("dim"), int(axis))], 1);
                self.add_form(form, vec![of(tensor), of(result), (Some("dim"), int(axis))], 1);
            }
            form => {
                let normalized = self.add_form(form, vec![of(tensor)], 3);
                let [mean, scale] = [1, 2].map(|k| Tensor(normalized.0 + k));
                let backward =
                    if form == BatchNorm { FormOp::BatchNormBackward } else { FormOp::InstanceNormBackward };
                self.add_form(backward, vec![of(normalized), of(tensor), of(mean), of(scale)], 3);
            }
        }
    }

    pub(super) fn normalization(&mut self) {
        let tensor = self.tensor();
        let Some(axis) = self.axis(tensor) else { return };
        if self.draws.percent(30) {
            return self.average_or_gradient(tensor, axis);
        }
        if self.draws.percent(50) {
            let form = self.draws.one_of(&[FormOp::Softmax, FormOp::LogSoftmax]);
            let dim = Given::Number(Scalar::from_i64(DType::I64, axis as i64));
            self.add_form(form, vec![(None, Given::Tensor(tensor)), (Some("dim"), dim)], 1);
            return;
        }
        let form = self.draws.one_of(&[FormOp::LayerNorm, FormOp::RmsNorm]);
        let normalized = (axis..self.rank(tensor)).map(|axis| self.own_size(tensor, axis)).collect();
        let mut arguments =
            vec![(None, Given::Tensor(tensor)), (Some("normalized_shape"), Given::Sizes(normalized))];
        let mut operands = vec![tensor];
        let names: &[&str] = if form == FormOp::LayerNorm { &["weight", "bias"] } else { &["weight"] };
        for name in names {
            let mut fitting = self.fitting(&operands);
            fitting.retain(|&other| self.rank(other) <= self.rank(tensor));
            if !fitting.is_empty() && self.draws.percent(50) {
                let parameter = self.draws.one_of(&fitting);
                operands.push(parameter);
                arguments.push((Some(name), Given::Tensor(parameter)));
            }
        }
        self.add_form(form, arguments, 1);
    }
}
