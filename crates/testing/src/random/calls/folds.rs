//! Folds drawn, alone and together with what they fold.

use ferrofuse::DType;
use ops::LanguageOp;

use super::{Caller, operands};
use crate::random::program::{Given, Tensor};

impl Caller<'_> {
    pub(super) fn fold(&mut self, language_op: LanguageOp) -> Option<()> {
        use LanguageOp::{Max, Min, Prod, StandardDeviation, Sum, Var, VarMean, Welford};
        let tensor = self.number_tensor()?;
        let mut arguments = operands([tensor]);
        let needs_axes = matches!(language_op, Var | VarMean | Welford);
        if needs_axes || self.draws.percent(85) {
            let axes = self.some_axes(tensor);
            arguments.push((Some("dims"), Given::Numbers(axes)));
        }
        if language_op != Welford && self.draws.percent(50) {
            arguments.push((Some("keepdim"), Given::flag(true)));
        }
        if matches!(language_op, Sum | Prod | Max | Min) && self.draws.percent(25) {
            arguments.push((Some("dtype"), Given::DType(self.folded_dtype(tensor))));
        }
        if matches!(language_op, Var | VarMean | StandardDeviation) && self.draws.percent(50) {
            arguments.push((Some("correction"), Given::int(self.draws.below(3) as i64)));
        }
        let results = match language_op {
            VarMean => 2,
            Welford => 3,
            _ => 1,
        };
        self.add_language_op(language_op, arguments, results).map(drop)
    }

    /// What a fold is asked to give.
    fn folded_dtype(&mut self, tensor: Tensor) -> DType {
        use DType::{BF16, C64, C128, F32, F64, I64};
        match self.draft.dtype(tensor).is_complex() {
            true => self.draws.one_of(&[C64, C128]),
            false => self.draws.one_of(&[F32, F32, F64, BF16, I64]),
        }
    }

    /// Axes to fold over, at least one if there is any; now and then counted from the end, or in another order.
    pub(super) fn some_axes(&mut self, tensor: Tensor) -> Vec<i64> {
        let rank = self.rank(tensor) as i64;
        let all: Vec<i64> = (0..rank).collect();
        let mut axes = self.draws.some_of(&all);
        if axes.is_empty() {
            axes.extend(self.axis(tensor).map(|axis| axis as i64));
        }
        if self.draws.percent(15) {
            self.draws.shuffle(&mut axes);
            axes.iter_mut().for_each(|axis| *axis -= rank);
        }
        axes
    }

    /// The index of an extreme, along an axis or of all.
    pub(super) fn place(&mut self, language_op: LanguageOp) -> Option<()> {
        let tensor = self.tensor();
        let mut arguments = operands([tensor]);
        if let Some(axis) = self.axis(tensor)
            && self.draws.percent(80)
        {
            arguments.push((Some("dim"), self.dim(tensor, axis)));
        }
        if self.draws.percent(50) {
            arguments.push((Some("keepdim"), Given::flag(true)));
        }
        self.add_language_op(language_op, arguments, 1).map(drop)
    }

    /// A tensor and a fold of it, brought together again.
    pub(super) fn deviation(&mut self) -> Option<()> {
        let (tensor, axis) = self.tensor_and_axis()?;
        let language_op =
            self.draws.one_of(&[LanguageOp::Sum, LanguageOp::Max, LanguageOp::Min, LanguageOp::Var]);
        let mut axes = vec![axis as i64];
        if axis > 0 && self.draws.percent(30) {
            axes.push(0);
        }
        let folded = self.folded(language_op, tensor, axes, true)?;
        let op = self.draws.one_of(&["sub", "mul", "add", "maximum", "le"]);
        self.add(op, operands([tensor, folded]), 1).map(drop)
    }

    /// A fold over these axes.
    pub(super) fn folded(
        &mut self,
        language_op: LanguageOp,
        of: Tensor,
        axes: Vec<i64>,
        keep: bool,
    ) -> Option<Tensor> {
        let mut arguments = operands([of]);
        arguments.push((Some("dims"), Given::Numbers(axes)));
        arguments.push((Some("keepdim"), Given::flag(keep)));
        self.add_language_op(language_op, arguments, 1)
    }
}
