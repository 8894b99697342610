//! Draws of random numbers, and dropout.

use ferrofuse::DType;
use ops::LanguageOp;

use super::{Caller, operands};
use crate::random::program::{Given, Size, Tensor};

impl Caller<'_> {
    /// In a shape of its own, half of them of a sequence that they name.
    pub(super) fn draw(&mut self, op: LanguageOp) -> Option<()> {
        let sizes = (0..self.draws.below(4)).map(|_| self.new_size()).collect();
        let dtype = self.draws.one_of(&[DType::F32, DType::F32, DType::BF16, DType::F16, DType::F64]);
        let mut arguments =
            vec![(None, Given::real(-0.5)), (None, Given::real(1.5)), (Some("shape"), Given::Sizes(sizes))];
        if self.draws.percent(50) {
            let seeds = [0, 1, -1, i64::MIN, 0x1234_5678_9abc_def0];
            arguments.push((Some("rng_seed"), Given::int(self.draws.one_of(&seeds))));
            arguments.push((Some("rng_offset"), Given::int(self.draws.one_of(&[0, 0, 7, i64::MAX]))));
        }
        arguments.push((Some("dtype"), Given::DType(dtype)));
        self.add_language_op(op, arguments, 1).map(drop)
    }

    /// Numbers from -1 to 1, in a shape.
    pub(super) fn uniform(&mut self, sizes: Vec<Size>) -> Option<Tensor> {
        let shape = (Some("shape"), Given::Sizes(sizes));
        self.add_language_op(
            LanguageOp::Uniform,
            vec![(None, Given::real(-1.0)), (None, Given::real(1.0)), shape],
            1,
        )
    }

    pub(super) fn draw_like(&mut self, op: LanguageOp) -> Option<()> {
        let tensor = self.tensor();
        self.add_language_op(op, operands([tensor]), 1).map(drop)
    }

    /// The operand, its dropout and the mask.
    pub(super) fn dropout(&mut self) -> Option<[Tensor; 3]> {
        let tensor = self.tensor();
        let mut arguments = operands([tensor]);
        if self.draws.percent(85) {
            arguments.push((Some("p"), Given::real(self.draws.between(0, 4) as f64 / 4.0)));
        }
        let first = self.add_language_op(LanguageOp::Dropout, arguments, 2)?;
        Some([tensor, first, Tensor(first.0 + 1)])
    }

    pub(super) fn dropout_backward(&mut self) -> Option<()> {
        let (grad, mask) = match self.draws.percent(50) {
            true => {
                let [tensor, _, mask] = self.dropout()?;
                (self.alike(tensor), mask)
            }
            false => {
                let tensor = self.floats(0, 5)?;
                let mut arguments = operands([self.alike(tensor)]);
                arguments.push((None, Given::real(0.25)));
                (tensor, self.add("gt", arguments, 1)?)
            }
        };
        let mut arguments = operands([grad, mask]);
        arguments.push((Some("scale"), Given::real(self.draws.one_of(&[1.0, 1.25, 2.0]))));
        self.add_language_op(LanguageOp::DropoutBackward, arguments, 1).map(drop)
    }
}
