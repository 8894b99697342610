//! Draws of random numbers, and dropout.

use ferrofuse::{DType, Scalar};
use ir::ops::FormOp;

use super::Caller;
use crate::random::program::Given;

impl Caller<'_> {
    pub(super) fn random_numbers(&mut self) {
        use FormOp::{Dropout, Normal, RandLike, RandnLike, Uniform};
        match self.draws.one_of(&[Uniform, Uniform, Normal, RandLike, RandnLike, Dropout]) {
            Dropout => {
                let p = Given::Number(Scalar::from_f64(DType::F64, self.draws.between(0, 4) as f64 / 4.0));
                let tensor = self.tensor();
                self.add_form(Dropout, vec![(None, Given::Tensor(tensor)), (Some("p"), p)], 2);
            }
            form @ (Uniform | Normal) => self.draw(form),
            form => {
                let tensor = self.tensor();
                self.add_form(form, vec![(None, Given::Tensor(tensor))], 1);
            }
        }
    }

    /// In a shape of its own, half of them of a sequence that they name.
    fn draw(&mut self, form: FormOp) {
        let number = |x: f64| Given::Number(Scalar::from_f64(DType::F64, x));
        let integer = |n: i64| Given::Number(Scalar::from_i64(DType::I64, n));
        let sizes = (0..self.draws.below(4)).map(|_| self.new_size()).collect();
        let dtype = self.draws.one_of(&[DType::F32, DType::F32, DType::BF16, DType::F16, DType::F64]);
        let mut arguments =
            vec![(None, number(-0.5)), (None, number(1.5)), (Some("shape"), Given::Sizes(sizes))];
        if self.draws.percent(50) {
            let seeds = [0, 1, -1, i64::MIN, 0x1234_5678_9abc_def0];
            arguments.push((Some("rng_seed"), integer(self.draws.one_of(&seeds))));
            arguments.push((Some("rng_offset"), integer(self.draws.one_of(&[0, 0, 7, i64::MAX]))));
        }
        arguments.push((Some("dtype"), Given::DType(dtype)));
        self.add_form(form, arguments, 1);
    }
}
