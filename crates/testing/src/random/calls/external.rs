//! What a library computes drawn: sorts, scatters, products of matrices.
//!
//! Indices are made in range: places in sorted order, or ramps.

use ferrofuse::DType;
use ops::LanguageOp;

use super::{Caller, operands};
use crate::random::program::{Given, Size, Tensor};

impl Caller<'_> {
    /// A tensor, an axis of it, and the indices that sort it.
    pub(super) fn argsort(&mut self) -> Option<(Tensor, usize, Tensor)> {
        let (tensor, axis) = self.tensor_and_axis()?;
        let mut arguments = operands([tensor]);
        arguments.push((Some("dim"), self.dim(tensor, axis)));
        arguments.push((Some("descending"), Given::flag(self.draws.percent(50))));
        if self.draws.percent(40) {
            arguments.push((Some("stable"), Given::flag(self.draws.percent(50))));
        }
        Some((tensor, axis, self.add_language_op(LanguageOp::Argsort, arguments, 1)?))
    }

    pub(super) fn topk(&mut self) -> Option<()> {
        let (tensor, axis) = self.tensor_and_axis()?;
        let k = self.draws.between(0, self.sizes_of(tensor)[axis]) as i64;
        let k = if self.draws.percent(30) { self.own_size(tensor, axis) } else { Size::Number(k) };
        let mut arguments = operands([tensor]);
        arguments.push((Some("k"), Given::Size(k)));
        if axis + 1 < self.rank(tensor) || self.draws.percent(70) {
            arguments.push((Some("dim"), self.dim(tensor, axis)));
        }
        arguments.push((Some("largest"), Given::flag(self.draws.percent(60))));
        if self.draws.percent(40) {
            arguments.push((Some("sorted"), Given::flag(self.draws.percent(50))));
        }
        self.add_language_op(LanguageOp::Topk, arguments, 2).map(drop)
    }

    /// Elements put in the order of another line, or, so that some places are named more than once, near its start.
    pub(super) fn scatter(&mut self) -> Option<()> {
        let (tensor, axis, mut index) = self.argsort()?;
        if self.draws.percent(50) {
            let mut arguments = operands([index]);
            arguments.push((None, Given::int(self.draws.below(3) as i64)));
            index = self.add("minimum", arguments, 1)?;
        }
        let mut tensor = self.alike(tensor);
        if self.draws.percent(12) {
            tensor = self.complex_of(tensor)?;
        }
        let holds_numbers = self.draft.dtype(tensor).is_float() || self.draft.dtype(tensor).is_complex();
        let src = match holds_numbers && self.draws.percent(30) {
            true => Given::Number(self.number()),
            false => Given::Tensor(self.alike(tensor)),
        };
        let mut arguments = operands([tensor, index]);
        arguments.push((None, src));
        arguments.push((Some("dim"), self.dim(tensor, axis)));
        self.add_language_op(LanguageOp::Scatter, arguments, 1).map(drop)
    }

    /// Tensors of the dtype of another whose axis, counted from the end, has the size of its last one.
    fn partners(&self, tensor: Tensor, from_end: usize) -> Vec<Tensor> {
        let depth = self.sizes_of(tensor).last().copied();
        let fits = |other: &Tensor| {
            let sizes = self.sizes_of(*other);
            self.draft.dtype(*other) == self.draft.dtype(tensor)
                && sizes.len().checked_sub(from_end).is_some_and(|axis| Some(sizes[axis]) == depth)
        };
        self.draft.tensors().into_iter().filter(fits).collect()
    }

    pub(super) fn matmul(&mut self) -> Option<()> {
        let a = self.matrix(1, 4)?;
        let mut partners = self.partners(a, 2);
        partners.extend(self.partners(a, 1).into_iter().filter(|&other| self.rank(other) == 1));
        let b = match partners.is_empty() || (self.rank(a) > 1 && self.draws.percent(40)) {
            true if self.rank(a) > 1 => self.transposed(a)?,
            true => a,
            false => self.draws.one_of(&partners),
        };
        self.add_language_op(LanguageOp::Matmul, operands([a, b]), 1).map(drop)
    }

    /// The last two axes exchanged.
    fn transposed(&mut self, tensor: Tensor) -> Option<Tensor> {
        let mut order: Vec<i64> = (0..self.rank(tensor) as i64).collect();
        let last = order.len() - 1;
        order.swap(last - 1, last);
        let mut arguments = operands([tensor]);
        arguments.push((Some("dims"), Given::Numbers(order)));
        self.add_language_op(LanguageOp::Permute, arguments, 1)
    }

    pub(super) fn linear(&mut self) -> Option<()> {
        let arg = self.matrix(1, 4)?;
        let mut weights = self.partners(arg, 1);
        weights.retain(|&weight| self.rank(weight) == 2);
        let weight = match weights.is_empty() {
            false => self.draws.one_of(&weights),
            true => {
                let columns = self.new_size();
                let depth = self.own_size(arg, self.rank(arg) - 1);
                let drawn = self.uniform(vec![columns, depth])?;
                self.cast_to(drawn, self.draft.dtype(arg))?
            }
        };
        let mut arguments = operands([arg, weight]);
        let (dtype, columns) = (self.draft.dtype(arg), self.sizes_of(weight)[0]);
        let suits = |bias: &Tensor| self.draft.dtype(*bias) == dtype && self.sizes_of(*bias) == [columns];
        let biases: Vec<Tensor> = self.draft.tensors().into_iter().filter(suits).collect();
        if !biases.is_empty() && self.draws.percent(80) {
            arguments.push((Some("bias"), Given::Tensor(self.draws.one_of(&biases))));
        }
        self.add_language_op(LanguageOp::Linear, arguments, 1).map(drop)
    }

    /// A matrix and its transpose, one of them repeated for each group where the groups divide the other.
    pub(super) fn grouped_mm(&mut self) -> Option<()> {
        let tensor = self.floats(2, 2)?;
        let transpose = self.transposed(tensor)?;
        let [rows, depth] = self.sizes_of(tensor)[..] else { return None };
        let (groups, kind) = (self.draws.between(1, 3), self.draws.below(3));
        let divided = if kind == 0 { depth } else { rows };
        let step = self.draws.between(1, (divided / groups).max(1));
        if step * groups > divided {
            return None;
        }
        let sizes = [self.own_size(tensor, 0), self.own_size(tensor, 1)];
        let (a, b) = match kind {
            0 => (tensor, transpose),
            1 => (tensor, self.repeated(transpose, groups, [sizes[1], sizes[0]])?),
            _ => (self.repeated(tensor, groups, sizes)?, transpose),
        };
        let offsets = vec![
            (Some("length"), Given::Size(Size::Number(groups as i64))),
            (Some("start"), Given::int(step as i64)),
            (Some("step"), Given::int(step as i64)),
            (Some("dtype"), Given::DType(self.draws.one_of(&[DType::I32, DType::I64]))),
        ];
        let ends = self.add_language_op(LanguageOp::Iota, offsets, 1)?;
        let mut arguments = operands([a, b, ends]);
        if self.draws.percent(30) {
            arguments.push((Some("dtype"), Given::DType(self.draft.dtype(tensor))));
            arguments.push((Some("output_block_scale_size"), Given::int(0)));
            arguments.push((Some("output_gamma"), Given::flag(false)));
        }
        self.add_language_op(LanguageOp::GroupedMm, arguments, 1).map(drop)
    }

    fn repeated(&mut self, matrix: Tensor, count: usize, sizes: [Size; 2]) -> Option<Tensor> {
        let mut arguments = operands([matrix]);
        let shape = vec![Size::Number(count as i64), sizes[0], sizes[1]];
        arguments.push((Some("shape"), Given::Sizes(shape)));
        arguments.push((Some("broadcast_dims"), Given::Numbers(vec![1, 2])));
        self.add_language_op(LanguageOp::BroadcastInDim, arguments, 1)
    }
}
