//! What a library computes drawn: sorts, scatters, products of matrices, attention.
//!
//! Indices are made in range: places in sorted order, or ramps.

use ferrofuse::{DType, Scalar};
use ir::ops::FormOp;

use super::Caller;
use crate::random::program::{Given, Size, Tensor};

impl Caller<'_> {
    pub(super) fn library(&mut self) {
        match self.draws.below(8) {
            0 => {
                self.argsort();
            }
            1 => self.topk(),
            2 => self.scatter(),
            3 | 4 => self.matmul(),
            5 => self.linear(),
            6 => self.grouped_mm(),
            _ => self.attention(),
        }
    }

    /// A tensor, an axis of it, and the indices that sort it.
    fn argsort(&mut self) -> Option<(Tensor, usize, Tensor)> {
        let tensor = self.tensor();
        let axis = self.axis(tensor)?;
        let arguments = vec![
            (None, Given::Tensor(tensor)),
            (Some("dim"), int(axis as i64)),
            (Some("descending"), flag(self.draws.percent(50))),
        ];
        Some((tensor, axis, self.add_form(FormOp::Argsort, arguments, 1)))
    }

    fn topk(&mut self) {
        let tensor = self.tensor();
        let Some(axis) = self.axis(tensor) else { return };
        let k = self.draws.between(0, self.sizes_of(tensor)[axis]) as i64;
        let k = if self.draws.percent(30) { self.own_size(tensor, axis) } else { Size::Number(k) };
        let arguments = vec![
            (None, Given::Tensor(tensor)),
            (Some("k"), Given::Size(k)),
            (Some("dim"), int(axis as i64)),
            (Some("largest"), flag(self.draws.percent(60))),
        ];
        self.add_form(FormOp::Topk, arguments, 2);
    }

    /// Elements put in the order of another line, or, so that some places are named more than once, near its start.
    fn scatter(&mut self) {
        let Some((tensor, axis, mut index)) = self.argsort() else { return };
        if self.draws.percent(50) {
            let highest = Given::Number(Scalar::from_i64(DType::I64, self.draws.below(3) as i64));
            index = self.add("minimum", vec![(None, Given::Tensor(index)), (None, highest)], 1);
        }
        let alike = self.alike(tensor);
        let src = match self.draws.percent(30) && self.draft.dtype(tensor).is_float() {
            true => Given::Number(self.number()),
            false => Given::Tensor(self.draws.one_of(&alike)),
        };
        let arguments = vec![
            (None, Given::Tensor(self.draws.one_of(&alike))),
            (None, Given::Tensor(index)),
            (None, src),
            (Some("dim"), int(axis as i64)),
        ];
        self.add_form(FormOp::Scatter, arguments, 1);
    }

    /// Tensors of the same dtype and sizes.
    fn alike(&self, tensor: Tensor) -> Vec<Tensor> {
        let same = |other: &Tensor| {
            self.draft.dtype(*other) == self.draft.dtype(tensor)
                && self.sizes_of(*other) == self.sizes_of(tensor)
        };
        self.draft.tensors().into_iter().filter(same).collect()
    }

    /// A tensor of floats with at least so many axes.
    fn floats(&mut self, least: usize, most: usize) -> Option<Tensor> {
        let suits = |tensor: &Tensor| {
            let dtype = self.draft.dtype(*tensor);
            dtype.is_float() && !dtype.is_float8() && (least..=most).contains(&self.rank(*tensor))
        };
        let suiting: Vec<Tensor> = self.draft.tensors().into_iter().filter(suits).collect();
        (!suiting.is_empty()).then(|| self.draws.one_of(&suiting))
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

    fn matmul(&mut self) {
        let Some(a) = self.floats(1, 4) else { return };
        let mut partners = self.partners(a, 2);
        partners.extend(self.partners(a, 1).into_iter().filter(|&other| self.rank(other) == 1));
        let b = match partners.is_empty() || (self.rank(a) > 1 && self.draws.percent(40)) {
            true if self.rank(a) > 1 => self.transposed(a),
            true => a,
            false => self.draws.one_of(&partners),
        };
        self.add_form(FormOp::Matmul, vec![(None, Given::Tensor(a)), (None, Given::Tensor(b))], 1);
    }

    /// The last two axes exchanged.
    fn transposed(&mut self, tensor: Tensor) -> Tensor {
        let mut order: Vec<i64> = (0..self.rank(tensor) as i64).collect();
        let last = order.len() - 1;
        order.swap(last - 1, last);
        let arguments = vec![(None, Given::Tensor(tensor)), (Some("dims"), Given::Numbers(order))];
        self.add_form(FormOp::Permute, arguments, 1)
    }

    fn linear(&mut self) {
        let Some(arg) = self.floats(1, 4) else { return };
        let mut weights = self.partners(arg, 1);
        weights.retain(|&weight| self.rank(weight) == 2);
        if weights.is_empty() {
            return;
        }
        let weight = self.draws.one_of(&weights);
        let mut arguments = vec![(None, Given::Tensor(arg)), (None, Given::Tensor(weight))];
        let (dtype, columns) = (self.draft.dtype(arg), self.sizes_of(weight)[0]);
        let suits = |bias: &Tensor| self.draft.dtype(*bias) == dtype && self.sizes_of(*bias) == [columns];
        let biases: Vec<Tensor> = self.draft.tensors().into_iter().filter(suits).collect();
        if !biases.is_empty() && self.draws.percent(80) {
            arguments.push((Some("bias"), Given::Tensor(self.draws.one_of(&biases))));
        }
        self.add_form(FormOp::Linear, arguments, 1);
    }

    /// A matrix and its transpose, one of them repeated for each group where the groups divide the other.
    fn grouped_mm(&mut self) {
        let Some(tensor) = self.floats(2, 2) else { return };
        let transpose = self.transposed(tensor);
        let [rows, depth] = self.sizes_of(tensor)[..] else { return };
        let (groups, kind) = (self.draws.between(1, 3), self.draws.below(3));
        let divided = if kind == 0 { depth } else { rows };
        let step = self.draws.between(1, (divided / groups).max(1));
        if step * groups > divided {
            return;
        }
        let sizes = [self.own_size(tensor, 0), self.own_size(tensor, 1)];
        let (a, b) = match kind {
            0 => (tensor, transpose),
            1 => (tensor, self.repeated(transpose, groups, [sizes[1], sizes[0]])),
            _ => (self.repeated(tensor, groups, sizes), transpose),
        };
        let offsets = vec![
            (Some("length"), Given::Size(Size::Number(groups as i64))),
            (Some("start"), int(step as i64)),
            (Some("step"), int(step as i64)),
            (Some("dtype"), Given::DType(self.draws.one_of(&[DType::I32, DType::I64]))),
        ];
        let ends = self.add_form(FormOp::Iota, offsets, 1);
        let arguments = vec![(None, Given::Tensor(a)), (None, Given::Tensor(b)), (None, Given::Tensor(ends))];
        self.add_form(FormOp::GroupedMm, arguments, 1);
    }

    fn repeated(&mut self, matrix: Tensor, count: usize, sizes: [Size; 2]) -> Tensor {
        let arguments = vec![
            (None, Given::Tensor(matrix)),
            (Some("shape"), Given::Sizes(vec![Size::Number(count as i64), sizes[0], sizes[1]])),
            (Some("broadcast_dims"), Given::Numbers(vec![1, 2])),
        ];
        self.add_form(FormOp::BroadcastInDim, arguments, 1)
    }

    /// Attention of a tensor to itself, and back.
    fn attention(&mut self) {
        let Some(mut tensor) = self.floats(2, 4) else { return };
        let rank = self.rank(tensor);
        if rank < 4 {
            let flags = (0..4).map(|axis| axis < 4 - rank).collect();
            let arguments = vec![(None, Given::Tensor(tensor)), (None, Given::Bools(flags))];
            tensor = self.add_form(FormOp::Broadcast, arguments, 1);
        }
        // Scores of large numbers make of small errors large ones.
        tensor = self.add("tanh", vec![(None, Given::Tensor(tensor))], 1);
        let is_causal = flag(self.draws.percent(50));
        let same = || (None, Given::Tensor(tensor));
        let forward = vec![same(), same(), same(), (Some("is_causal"), is_causal.clone())];
        let output = self.add_form(FormOp::SdpfaFwd, forward, 4);
        if self.draws.percent(50) {
            return;
        }
        let [logsumexp, seed, offset] = [1, 2, 3].map(|place| Given::Tensor(Tensor(output.0 + place)));
        let backward = vec![
            same(),
            same(),
            same(),
            same(),
            (None, Given::Tensor(output)),
            (None, logsumexp),
            (None, Given::Number(Scalar::from_f64(DType::F64, 0.0))),
            (None, is_causal),
            (None, seed),
            (None, offset),
        ];
        self.add_form(FormOp::SdpfaBwd, backward, 3);
    }
}

fn int(value: i64) -> Given {
    Given::Number(Scalar::from_i64(DType::I64, value))
}

fn flag(value: bool) -> Given {
    Given::Number(Scalar::from_bool(value))
}
