//! Gathers drawn, with indices that are in range but for a few: those end the program in an error that all must give.

use ferrofuse::DType;
use ops::LanguageOp;

use super::{Caller, operands};
use crate::random::program::{Given, Size, Tensor};

/// Of a hundred indices, how many are left as they come.
const WILD: usize = 4;

impl Caller<'_> {
    /// `take_along_axis` or `gather`: an index of the tensor's rank.
    pub(super) fn along(&mut self, op: LanguageOp) -> Option<()> {
        let (tensor, axis) = self.tensor_and_axis()?;
        let index = match self.whole_like(tensor, axis) {
            Some(whole) if self.draws.percent(60) => whole,
            _ => self.counted_like(op, tensor, axis)?,
        };
        let index = self.in_range(Given::Tensor(index), tensor, axis)?;
        self.take(op, tensor, index, axis)
    }

    fn take(&mut self, op: LanguageOp, tensor: Tensor, index: Tensor, axis: usize) -> Option<()> {
        let mut arguments = operands([tensor]);
        arguments.push((Some("index"), Given::Tensor(index)));
        arguments.push((Some("dim"), self.dim(tensor, axis)));
        self.add_language_op(op, arguments, 1).map(drop)
    }

    /// A tensor of integers with the sizes of another, but for one axis.
    fn whole_like(&mut self, tensor: Tensor, axis: usize) -> Option<Tensor> {
        let sizes = self.sizes_of(tensor);
        let alike = |other: &Tensor| {
            let theirs = self.sizes_of(*other);
            self.draft.dtype(*other).is_int()
                && theirs.len() == sizes.len()
                && (0..sizes.len()).all(|k| k == axis || theirs[k] == sizes[k])
        };
        let found: Vec<Tensor> = self.draft.tensors().into_iter().filter(alike).collect();
        (!found.is_empty()).then(|| self.draws.one_of(&found))
    }

    /// A count along one axis, repeated along others or, for `gather`, along their first elements.
    fn counted_like(&mut self, op: LanguageOp, tensor: Tensor, axis: usize) -> Option<Tensor> {
        let sizes = self.sizes_of(tensor);
        let length = self.new_size();
        let counted = self.counted(length)?;
        let flags = (0..sizes.len()).map(|k| k != axis).collect();
        let arguments = vec![(None, Given::Tensor(counted)), (None, Given::Bools(flags))];
        let single = self.add_language_op(LanguageOp::Broadcast, arguments, 1)?;
        let mut wanted: Vec<Size> = Vec::new();
        for (k, &size) in sizes.iter().enumerate() {
            wanted.push(match self.draws.below(4) {
                _ if k == axis => Size::Number(-1),
                0 => Size::Number(1),
                1 if op == LanguageOp::Gather => Size::Number(self.draws.between(0, size) as i64),
                _ => self.own_size(tensor, k),
            });
        }
        let arguments = vec![(None, Given::Tensor(single)), (Some("shape"), Given::Sizes(wanted))];
        self.add_language_op(LanguageOp::Expand, arguments, 1)
    }

    /// `k * k + start`, for k below a length.
    fn counted(&mut self, length: Size) -> Option<Tensor> {
        let dtype = self.draws.one_of(&[DType::I64, DType::I32]);
        let arguments = vec![(Some("length"), Given::Size(length)), (Some("dtype"), Given::DType(dtype))];
        let counted = self.add_language_op(LanguageOp::Iota, arguments, 1)?;
        let squares = self.add("mul", operands([counted, counted]), 1)?;
        let mut arguments = operands([squares]);
        arguments.push((None, Given::int(self.draws.between(0, 12) as i64 - 6)));
        self.add("add", arguments, 1)
    }

    /// The remainder by the size of an axis; now and then the numbers as they are.
    fn in_range(&mut self, index: Given, tensor: Tensor, axis: usize) -> Option<Tensor> {
        if let (Given::Tensor(index), true) = (&index, self.draws.percent(WILD)) {
            return Some(*index);
        }
        let size = Given::Size(self.own_size(tensor, axis));
        self.add("remainder", vec![(None, index), (None, size)], 1)
    }

    pub(super) fn index_select(&mut self) -> Option<()> {
        let (tensor, axis) = self.tensor_and_axis()?;
        let length = self.new_size();
        let mut counted = self.counted(length)?;
        if self.draws.percent(15) {
            counted = self.folded(LanguageOp::Max, counted, vec![0], false)?;
        }
        let index = self.in_range(Given::Tensor(counted), tensor, axis)?;
        self.take(LanguageOp::IndexSelect, tensor, index, axis)
    }

    pub(super) fn embedding(&mut self) -> Option<()> {
        let mut tables: Vec<Tensor> = self.draft.tensors();
        tables.retain(|&table| self.rank(table) == 2);
        let table = if tables.is_empty() { self.floats(2, 2)? } else { self.draws.one_of(&tables) };
        let whole = |tensor: &Tensor| self.draft.dtype(*tensor).is_int() && !self.draft.is_scalar(*tensor);
        let indices: Vec<Tensor> = self.draft.tensors().into_iter().filter(whole).collect();
        let index = match self.draws.percent(70) && !indices.is_empty() {
            true => self.draws.one_of(&indices),
            false => {
                let length = self.new_size();
                self.counted(length)?
            }
        };
        let index = self.in_range(Given::Tensor(index), table, 0)?;
        let mut arguments =
            vec![(Some("input"), Given::Tensor(index)), (Some("weight"), Given::Tensor(table))];
        // What only gradients heed.
        if self.draws.percent(30) {
            arguments.push((Some("padding_idx"), Given::int(0)));
            arguments.push((Some("norm_type"), Given::real(2.0)));
            arguments.push((Some("scale_grad_by_freq"), Given::flag(self.draws.percent(50))));
            arguments.push((Some("sparse"), Given::flag(self.draws.percent(50))));
        }
        self.add_language_op(LanguageOp::EmbeddingFwd, arguments, 1).map(drop)
    }

    /// At a number, or at a scalar that is made of sizes.
    pub(super) fn select(&mut self) -> Option<()> {
        let (tensor, axis) = self.tensor_and_axis()?;
        let size = self.sizes_of(tensor)[axis] as i64;
        let index = match size {
            1.. if self.draws.percent(50) => {
                Given::int(self.draws.between(0, 2 * size as usize - 1) as i64 - size)
            }
            _ => {
                let (other, other_axis) = self.tensor_and_axis()?;
                let scalar = Given::Size(Size::Of(other, other_axis));
                Given::Tensor(self.in_range(scalar, tensor, axis)?)
            }
        };
        let mut arguments = operands([tensor]);
        arguments.push((Some("index"), index));
        arguments.push((Some("dim"), self.dim(tensor, axis)));
        self.add_language_op(LanguageOp::Select, arguments, 1).map(drop)
    }

    pub(super) fn triu(&mut self) -> Option<()> {
        let mut arguments = operands([self.tensor()]);
        if self.draws.percent(85) {
            arguments.push((Some("diagonal"), Given::int(self.draws.between(0, 8) as i64 - 4)));
        }
        self.add_language_op(LanguageOp::Triu, arguments, 1).map(drop)
    }
}
