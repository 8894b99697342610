//! Ops that move elements drawn, and tensors from nothing.

use ferrofuse::DType;
use ops::LanguageOp;

use super::{Caller, operands};
use crate::random::program::{Given, Size, Tensor};

impl Caller<'_> {
    pub(super) fn broadcast_in_dim(&mut self) -> Option<()> {
        let tensor = self.tensor();
        let mut places: Vec<i64> = Vec::new();
        let mut sizes: Vec<Size> = Vec::new();
        let mut new = self.draws.between(1, 2);
        for axis in 0..self.rank(tensor) {
            while new > 0 && self.draws.percent(40) {
                sizes.push(self.new_size());
                new -= 1;
            }
            places.push(sizes.len() as i64);
            let size = match self.draft.shape(tensor)[axis].is_one() && self.draws.percent(50) {
                true => self.new_size(),
                false => self.own_size(tensor, axis),
            };
            sizes.push(size);
        }
        for _ in 0..new {
            sizes.push(self.new_size());
        }
        let mut arguments = operands([tensor]);
        arguments.push((Some("shape"), Given::Sizes(sizes)));
        arguments.push((Some("broadcast_dims"), Given::Numbers(places)));
        self.add_language_op(LanguageOp::BroadcastInDim, arguments, 1).map(drop)
    }

    pub(super) fn broadcast(&mut self) -> Option<()> {
        let tensor = self.tensor();
        self.with_one(tensor).map(drop)
    }

    /// The tensor with an axis more.
    fn with_one(&mut self, tensor: Tensor) -> Option<Tensor> {
        let mut flags = vec![false; self.rank(tensor)];
        flags.insert(self.draws.below(flags.len() + 1), true);
        let mut arguments = operands([tensor]);
        arguments.push((None, Given::Bools(flags)));
        self.add_language_op(LanguageOp::Broadcast, arguments, 1)
    }

    /// A tensor with its axes of size 1, at least one.
    fn with_ones(&mut self) -> Option<(Tensor, Vec<usize>)> {
        let ones = |caller: &Self, tensor: Tensor| -> Vec<usize> {
            let shape = caller.draft.shape(tensor);
            (0..shape.len()).filter(|&axis| shape[axis].is_one()).collect()
        };
        let mut tensor = self.tensor();
        if ones(self, tensor).is_empty() {
            tensor = self.with_one(tensor)?;
        }
        Some((tensor, ones(self, tensor)))
    }

    pub(super) fn squeeze(&mut self) -> Option<()> {
        let (tensor, ones) = self.with_ones()?;
        let axes = self.draws.some_of(&ones).into_iter().map(|axis| axis as i64).collect();
        let mut arguments = operands([tensor]);
        arguments.push((Some("dims"), Given::Numbers(axes)));
        if self.draws.percent(25) {
            arguments.push((Some("squeeze_expanded"), Given::flag(self.draws.percent(50))));
        }
        self.add_language_op(LanguageOp::Squeeze, arguments, 1).map(drop)
    }

    pub(super) fn expand(&mut self) -> Option<()> {
        let (tensor, ones) = self.with_ones()?;
        let mut sizes = vec![Size::Number(-1); self.rank(tensor)];
        for axis in ones {
            sizes[axis] = self.new_size();
        }
        let mut arguments = operands([tensor]);
        arguments.push((Some("shape"), Given::Sizes(sizes)));
        self.add_language_op(LanguageOp::Expand, arguments, 1).map(drop)
    }

    /// Joins neighbouring axes, splits one, or cuts all elements into rows of any length.
    pub(super) fn reshape(&mut self) -> Option<()> {
        let tensor = self.tensor();
        let mut sizes: Vec<Size> = (0..self.rank(tensor)).map(|axis| self.own_size(tensor, axis)).collect();
        let numbers = self.sizes_of(tensor);
        if numbers.len() > 1 && !numbers.contains(&0) && self.draws.percent(10) {
            let total: usize = numbers.iter().product();
            let divisors: Vec<usize> = (1..=total).filter(|n| total.is_multiple_of(*n)).collect();
            let rows = self.draws.one_of(&divisors);
            sizes = vec![Size::Number(rows as i64), Size::Number((total / rows) as i64)];
        } else if sizes.len() > 1 && self.draws.percent(60) {
            let first = self.draws.below(sizes.len() - 1);
            let whole = match (sizes[first], sizes[first + 1]) {
                (Size::Number(a), Size::Number(b)) if self.draws.percent(50) => Size::Number(a * b),
                _ => Size::Number(-1),
            };
            sizes.splice(first..first + 2, [whole]);
        } else if !sizes.is_empty() {
            let axis = self.draws.below(sizes.len());
            let divisors: Vec<usize> =
                (1..=numbers[axis].max(1)).filter(|n| numbers[axis].is_multiple_of(*n)).collect();
            let factor = self.draws.one_of(&divisors);
            let rest = match sizes[axis] {
                Size::Number(n) => Size::Number(n / factor as i64),
                _ => Size::Number(-1),
            };
            let parts = [Size::Number(factor as i64), rest];
            let swap = self.draws.percent(50);
            sizes.splice(axis..=axis, if swap { [parts[1], parts[0]] } else { parts });
        }
        let mut arguments = operands([tensor]);
        arguments.push((Some("new_shape"), Given::Sizes(sizes)));
        self.add_language_op(LanguageOp::Reshape, arguments, 1).map(drop)
    }

    pub(super) fn stride_order(&mut self) -> Option<()> {
        let tensor = self.tensor();
        let rank = self.rank(tensor);
        let mut order: Vec<i64> = (0..rank as i64).collect();
        self.draws.shuffle(&mut order);
        if self.draws.percent(20) {
            order.iter_mut().for_each(|place| *place -= rank as i64);
        }
        if self.draws.percent(10) {
            order.clear();
        }
        let mut arguments = operands([tensor]);
        arguments.push((Some("stride_order"), Given::Numbers(order)));
        self.add_language_op(LanguageOp::StrideOrder, arguments, 1).map(drop)
    }

    pub(super) fn permute(&mut self) -> Option<()> {
        let tensor = self.tensor();
        let rank = self.rank(tensor) as i64;
        let mut order: Vec<i64> = (0..rank).collect();
        self.draws.shuffle(&mut order);
        if self.draws.percent(20) {
            order.iter_mut().for_each(|place| *place -= rank);
        }
        let mut arguments = operands([tensor]);
        arguments.push((Some("dims"), Given::Numbers(order)));
        self.add_language_op(LanguageOp::Permute, arguments, 1).map(drop)
    }

    /// Ends may lie beyond the tensor, unless it is said that they do not.
    pub(super) fn slice(&mut self) -> Option<()> {
        let tensor = self.tensor();
        let is_exact = self.draws.percent(25);
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for (axis, size) in self.sizes_of(tensor).into_iter().enumerate() {
            let start = if self.draws.percent(50) { 0 } else { self.draws.between(0, size) };
            let end = self.draws.between(start, size);
            starts.push(Size::Number(start as i64));
            ends.push(match self.draws.below(10) {
                0..5 => self.own_size(tensor, axis),
                5 if !is_exact => Size::Number((size + end) as i64),
                _ => Size::Number(end as i64),
            });
        }
        let ones = vec![Size::Number(1); starts.len()];
        let mut arguments = operands([tensor]);
        arguments.push((Some("start_indices"), Given::Sizes(starts)));
        arguments.push((Some("end_indices"), Given::Sizes(ends)));
        if self.draws.percent(25) {
            arguments.push((Some("strides"), Given::Sizes(ones)));
        }
        if is_exact {
            arguments.push((Some("manual_normalization"), Given::flag(true)));
        }
        self.add_language_op(LanguageOp::Slice, arguments, 1).map(drop)
    }

    pub(super) fn pad(&mut self) -> Option<()> {
        let tensor = self.tensor();
        let sizes = self.sizes_of(tensor);
        let axes = self.draws.between(0, sizes.len());
        let mut widths = Vec::new();
        for size in sizes.iter().rev().take(axes) {
            for _ in 0..2 {
                let crop = self.draws.percent(20) && *size >= 2;
                let width = if crop { -1 } else { self.draws.between(0, 3) as i64 };
                widths.push(Size::Number(width));
            }
        }
        let mut arguments = operands([tensor]);
        arguments.push((Some("pad_widths"), Given::Sizes(widths)));
        if self.draws.percent(50) {
            arguments.push((Some("value"), Given::Number(self.number())));
        }
        self.add_language_op(LanguageOp::Pad, arguments, 1).map(drop)
    }

    pub(super) fn cat(&mut self) -> Option<()> {
        let (tensor, axis) = self.tensor_and_axis()?;
        let sizes = self.sizes_of(tensor);
        let alike = |other: &Tensor| {
            let theirs = self.sizes_of(*other);
            theirs.len() == sizes.len()
                && self.draft.dtype(*other) == self.draft.dtype(tensor)
                && (0..sizes.len()).all(|k| k == axis || sizes[k] == theirs[k])
        };
        let others: Vec<Tensor> = self.draft.tensors().into_iter().filter(alike).collect();
        let mut tensors = vec![tensor];
        for _ in 0..self.draws.between(1, 2) {
            tensors.push(self.draws.one_of(&others));
        }
        let dim = self.dim(tensor, axis);
        if self.draws.percent(15) {
            return self.cat_of_padded(&tensors, axis, dim);
        }
        let mut arguments = vec![(None, Given::Tensors(tensors))];
        if axis > 0 || self.draws.percent(70) {
            arguments.push((Some("dim"), dim));
        }
        self.add_language_op(LanguageOp::Cat, arguments, 1).map(drop)
    }

    /// Tensors that are each padded to their place before they are joined.
    fn cat_of_padded(&mut self, tensors: &[Tensor], axis: usize, dim: Given) -> Option<()> {
        let lengths: Vec<i64> = tensors.iter().map(|&tensor| self.sizes_of(tensor)[axis] as i64).collect();
        let total: i64 = lengths.iter().sum();
        let mut padded = Vec::with_capacity(tensors.len());
        let mut before = 0;
        for (&tensor, length) in tensors.iter().zip(lengths) {
            let mut widths = vec![Size::Number(0); 2 * (self.rank(tensor) - 1 - axis)];
            widths.extend([Size::Number(before), Size::Number(total - before - length)]);
            let mut arguments = operands([tensor]);
            arguments.push((Some("pad_widths"), Given::Sizes(widths)));
            padded.push(self.add_language_op(LanguageOp::Pad, arguments, 1)?);
            before += length;
        }
        let manual = (Some("manual_padding"), Given::flag(true));
        let arguments = vec![(None, Given::Tensors(padded)), (Some("dim"), dim), manual];
        self.add_language_op(LanguageOp::Cat, arguments, 1).map(drop)
    }

    fn factory_dtype(&mut self) -> DType {
        use DType::{BF16, C64, F32, F64, I32, I64};
        self.draws.one_of(&[F32, F32, F32, BF16, F64, I64, I64, I32, C64])
    }

    pub(super) fn full(&mut self) -> Option<()> {
        let sizes = (0..self.draws.below(4)).map(|_| self.new_size()).collect();
        self.full_of(Given::Sizes(sizes))
    }

    pub(super) fn full_of_size(&mut self) -> Option<()> {
        let (tensor, axis) = self.tensor_and_axis()?;
        self.full_of(Given::Sizes(vec![Size::Of(tensor, axis)]))
    }

    pub(super) fn full_of_shape(&mut self) -> Option<()> {
        let tensor = self.tensor();
        self.full_of(Given::Shape(tensor))
    }

    fn full_of(&mut self, shape: Given) -> Option<()> {
        let arguments = vec![
            (Some("shape"), shape),
            (Some("fill_value"), Given::Number(self.number())),
            (Some("dtype"), Given::DType(self.factory_dtype())),
        ];
        self.add_language_op(LanguageOp::Full, arguments, 1).map(drop)
    }

    pub(super) fn iota(&mut self) -> Option<()> {
        let mut arguments = vec![(Some("length"), Given::Size(self.new_size()))];
        if self.draws.percent(50) {
            arguments.push((Some("start"), Given::Number(self.number())));
            arguments.push((Some("step"), Given::Number(self.number())));
        }
        arguments.push((Some("dtype"), Given::DType(self.factory_dtype())));
        self.add_language_op(LanguageOp::Iota, arguments, 1).map(drop)
    }
}
