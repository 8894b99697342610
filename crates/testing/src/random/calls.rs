//! One op drawn with its arguments, and before it what makes its operands tame, so that error bounds stay finite.
//!
//! What is drawn may not suit: the definer says so, and another is drawn.

use ferrofuse::{DType, Scalar};
use ir::ops::{Composite, FormOp, Prim};

use super::draws::Draws;
use super::generate::SIZES;
use super::program::{Draft, Given, Size, Step, Tensor};

/// Scalar ops that want an operand of small size.
const SMALL: [&str; 12] =
    ["exp", "exp2", "expm1", "sinh", "cosh", "asin", "acos", "atanh", "erfc", "tan", "softplus", "pow"];
/// Scalar ops that want a positive operand.
const POSITIVE: [&str; 9] = ["log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "acosh", "pow"];

/// One call, with those that prepare its operands. `next` is the first number that no tensor has.
pub(super) fn calls(draft: &Draft, next: Tensor, sizes: &[usize], draws: &mut Draws) -> Vec<Step> {
    let mut caller = Caller { draft, next, sizes, draws, steps: Vec::new() };
    caller.call();
    caller.steps
}

struct Caller<'a> {
    draft: &'a Draft,
    next: Tensor,
    sizes: &'a [usize],
    draws: &'a mut Draws,
    steps: Vec<Step>,
}

type Arguments = Vec<(Option<&'static str>, Given)>;

impl Caller<'_> {
    fn call(&mut self) {
        match self.draws.below(100) {
            0..38 => self.scalar_op(),
            38..44 => self.deviation(),
            44..50 => self.cast(),
            50..58 => self.broadcast_in_dim(),
            58..62 => self.expand_or_squeeze(),
            62..67 => self.reshape(),
            67..72 => self.permute(),
            72..76 => self.slice(),
            76..79 => self.pad(),
            79..82 => self.cat(),
            82..92 => self.fold(),
            92..96 => self.normalization(),
            96..98 => self.factory(),
            98 => self.set("segment_set"),
            _ => self.set("set"),
        }
    }

    fn add(&mut self, op: &'static str, arguments: Arguments, results: u32) -> Tensor {
        let first = self.next;
        let results: Vec<Tensor> = (0..results).map(|k| Tensor(first.0 + k)).collect();
        self.next = Tensor(first.0 + results.len() as u32);
        self.steps.push(Step { op, arguments, results });
        first
    }

    fn add_form(&mut self, form: FormOp, arguments: Arguments, results: u32) -> Tensor {
        self.add(form.name(), arguments, results)
    }

    /// A tensor, a late one rather than an early one.
    fn tensor(&mut self) -> Tensor {
        let tensors = self.draft.tensors();
        let late = if self.draws.percent(60) { tensors.len().min(3) } else { tensors.len() };
        self.draws.one_of(&tensors[tensors.len() - late..])
    }

    fn sizes_of(&self, tensor: Tensor) -> Vec<usize> {
        self.draft.sizes(tensor).expect("the draft has tensors with sizes only")
    }

    fn rank(&self, tensor: Tensor) -> usize {
        self.draft.shape(tensor).len()
    }

    /// Whether elementwise ops take the two together: sizes agree, or are known to be 1.
    fn fit(&self, a: Tensor, b: Tensor) -> bool {
        let shapes = [a, b].map(|tensor| self.draft.shape(tensor).iter().zip(self.sizes_of(tensor)).rev());
        let [a, b] = shapes;
        a.zip(b).all(|((a, n), (b, m))| n == m || a.is_one() || b.is_one())
    }

    /// An operand beside others.
    fn operand_beside(&mut self, others: &[Tensor]) -> Given {
        let rank = self.rank(others[0]);
        if rank > 0 && self.draws.percent(3) {
            return Given::Size(Size::Of(others[0], self.draws.below(rank)));
        }
        let fitting = self.fitting(others);
        match self.draws.below(4) {
            1.. if !fitting.is_empty() => Given::Tensor(self.draws.one_of(&fitting)),
            _ => Given::Number(self.number()),
        }
    }

    /// The tensors that elementwise ops take together with all of these.
    fn fitting(&self, others: &[Tensor]) -> Vec<Tensor> {
        let fits = |tensor: &Tensor| others.iter().all(|&other| self.fit(other, *tensor));
        self.draft.tensors().into_iter().filter(fits).collect()
    }

    fn number(&mut self) -> Scalar {
        match self.draws.below(4) {
            0 => Scalar::from_i64(DType::I64, self.draws.between(0, 6) as i64 - 3),
            _ => Scalar::from_f64(DType::F64, (self.draws.normal() * 64.0).round() / 64.0),
        }
    }

    /// Any row of the tables of scalar ops.
    fn scalar_op(&mut self) {
        let place = self.draws.below(Prim::ALL.len() + Composite::ALL.len() + 20);
        let common = ["add", "mul", "sub", "mul", "add", "where", "maximum", "silu"];
        let (op, arity) = match Prim::ALL.get(place) {
            Some(prim) => (prim.name(), prim.arity()),
            None => match Composite::ALL.get(place - Prim::ALL.len()) {
                Some(composite) => (composite.name(), composite.row().params.len()),
                None => {
                    let op = self.draws.one_of(&common);
                    (op, [1, 2, 3][usize::from(op != "silu") + usize::from(op == "where")])
                }
            },
        };
        if op == Prim::SegmentSet.name() {
            return;
        }
        let mut operands = vec![self.tensor()];
        let mut first = operands[0];
        if self.draws.percent(90) {
            first = self.tamed(op, first);
        }
        if op == "where" {
            first = self.condition(first);
        }
        let mut arguments = vec![(None, Given::Tensor(first))];
        while arguments.len() < arity {
            let operand = self.operand_beside(&operands);
            operands.extend(operand.tensors());
            let operand = self.away_from_zero(op, operand);
            arguments.push((None, operand));
        }
        self.add(op, arguments, 1);
    }

    /// A divisor, an exponent or the like, mostly made not to be near zero.
    fn away_from_zero(&mut self, op: &str, operand: Given) -> Given {
        let divides = ["div", "truediv", "mod", "fmod", "remainder", "pow"].contains(&op);
        match operand {
            Given::Tensor(tensor)
                if divides && self.draft.dtype(tensor).is_float() && self.draws.percent(80) =>
            {
                Given::Tensor(self.positive(tensor))
            }
            other => other,
        }
    }

    /// A comparison of a tensor, or itself if it is a condition.
    fn condition(&mut self, tensor: Tensor) -> Tensor {
        if self.draft.tensors().contains(&tensor) && self.draft.dtype(tensor) == DType::Bool {
            return tensor;
        }
        let op = self.draws.one_of(&["gt", "le", "ne"]);
        let number = Given::Number(self.number());
        self.add(op, vec![(None, Given::Tensor(tensor)), (None, number)], 1)
    }

    fn tamed(&mut self, op: &str, tensor: Tensor) -> Tensor {
        let mut tensor = tensor;
        if SMALL.contains(&op) {
            tensor = self.add("tanh", vec![(None, Given::Tensor(tensor))], 1);
        }
        if POSITIVE.contains(&op) { self.positive(tensor) } else { tensor }
    }

    /// `abs(x) + 1.5`.
    fn positive(&mut self, tensor: Tensor) -> Tensor {
        let distance = self.add("abs", vec![(None, Given::Tensor(tensor))], 1);
        let shift = Given::Number(Scalar::from_f64(DType::F64, 1.5));
        self.add("add", vec![(None, Given::Tensor(distance)), (None, shift)], 1)
    }

    fn cast(&mut self) {
        let dtype = self.draws.one_of(&[
            DType::F32,
            DType::F32,
            DType::BF16,
            DType::BF16,
            DType::F16,
            DType::F64,
            DType::I32,
            DType::I64,
            DType::Bool,
        ]);
        let tensor = self.tensor();
        self.add_form(
            FormOp::Cast,
            vec![(None, Given::Tensor(tensor)), (Some("dtype"), Given::DType(dtype))],
            1,
        );
    }

    fn set(&mut self, op: &'static str) {
        let tensor = self.tensor();
        self.add(op, vec![(None, Given::Tensor(tensor))], 1);
    }

    /// A size for a new axis: of some tensor, or a number.
    fn new_size(&mut self) -> Size {
        let tensor = self.tensor();
        match self.rank(tensor) {
            rank @ 1.. if self.draws.percent(60) => Size::Of(tensor, self.draws.below(rank)),
            _ if self.draws.percent(10) => Size::Number(self.draws.one_of(&SIZES) as i64),
            _ => Size::Number(self.draws.one_of(self.sizes) as i64),
        }
    }

    /// The size of an axis of a tensor, by number where it is one.
    fn own_size(&self, tensor: Tensor, axis: usize) -> Size {
        match self.draft.shape(tensor)[axis].as_const() {
            Some(n) => Size::Number(n),
            None => Size::Of(tensor, axis),
        }
    }

    fn broadcast_in_dim(&mut self) {
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
        let arguments = vec![
            (None, Given::Tensor(tensor)),
            (Some("shape"), Given::Sizes(sizes)),
            (Some("broadcast_dims"), Given::Numbers(places)),
        ];
        self.add_form(FormOp::BroadcastInDim, arguments, 1);
    }

    fn expand_or_squeeze(&mut self) {
        let tensor = self.tensor();
        let ones: Vec<usize> =
            (0..self.rank(tensor)).filter(|&axis| self.draft.shape(tensor)[axis].is_one()).collect();
        if ones.is_empty() {
            let flags = self.broadcast_flags(tensor);
            let arguments = vec![(None, Given::Tensor(tensor)), (None, Given::Bools(flags))];
            self.add_form(FormOp::Broadcast, arguments, 1);
        } else if self.draws.percent(50) {
            let axes = self.draws.some_of(&ones).into_iter().map(|axis| axis as i64).collect();
            let arguments = vec![(None, Given::Tensor(tensor)), (Some("dims"), Given::Numbers(axes))];
            self.add_form(FormOp::Squeeze, arguments, 1);
        } else {
            let size = |axis: usize| if ones.contains(&axis) { None } else { Some(Size::Number(-1)) };
            let sizes = (0..self.rank(tensor)).map(size).collect::<Vec<_>>();
            let sizes = sizes.into_iter().map(|size| size.unwrap_or_else(|| self.new_size())).collect();
            let arguments = vec![(None, Given::Tensor(tensor)), (Some("shape"), Given::Sizes(sizes))];
            self.add_form(FormOp::Expand, arguments, 1);
        }
    }

    fn broadcast_flags(&mut self, tensor: Tensor) -> Vec<bool> {
        let mut flags = vec![false; self.rank(tensor)];
        flags.insert(self.draws.below(flags.len() + 1), true);
        flags
    }

    /// Joins neighbouring axes, splits one, or both.
    fn reshape(&mut self) {
        let tensor = self.tensor();
        let mut sizes: Vec<Size> = (0..self.rank(tensor)).map(|axis| self.own_size(tensor, axis)).collect();
        let numbers = self.sizes_of(tensor);
        if sizes.len() > 1 && self.draws.percent(60) {
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
                Size::Of(..) => Size::Number(-1),
            };
            let parts = [Size::Number(factor as i64), rest];
            let swap = self.draws.percent(50);
            sizes.splice(axis..=axis, if swap { [parts[1], parts[0]] } else { parts });
        }
        let arguments = vec![(None, Given::Tensor(tensor)), (Some("new_shape"), Given::Sizes(sizes))];
        self.add_form(FormOp::Reshape, arguments, 1);
    }

    fn permute(&mut self) {
        let tensor = self.tensor();
        let mut order: Vec<i64> = (0..self.rank(tensor) as i64).collect();
        self.draws.shuffle(&mut order);
        let arguments = vec![(None, Given::Tensor(tensor)), (Some("dims"), Given::Numbers(order))];
        self.add_form(FormOp::Permute, arguments, 1);
    }

    fn slice(&mut self) {
        let tensor = self.tensor();
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for (axis, size) in self.sizes_of(tensor).into_iter().enumerate() {
            let start = if self.draws.percent(50) { 0 } else { self.draws.between(0, size) };
            let end = self.draws.between(start, size);
            starts.push(Size::Number(start as i64));
            ends.push(if self.draws.percent(50) {
                self.own_size(tensor, axis)
            } else {
                Size::Number(end as i64)
            });
        }
        let arguments = vec![
            (None, Given::Tensor(tensor)),
            (Some("start_indices"), Given::Sizes(starts)),
            (Some("end_indices"), Given::Sizes(ends)),
        ];
        self.add_form(FormOp::Slice, arguments, 1);
    }

    fn pad(&mut self) {
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
        let mut arguments = vec![(None, Given::Tensor(tensor)), (Some("pad_widths"), Given::Sizes(widths))];
        if self.draws.percent(50) {
            arguments.push((Some("value"), Given::Number(self.number())));
        }
        self.add_form(FormOp::Pad, arguments, 1);
    }

    fn cat(&mut self) {
        let tensor = self.tensor();
        let Some(axis) = self.axis(tensor) else { return };
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
        let dim = Given::Number(Scalar::from_i64(DType::I64, axis as i64));
        self.add_form(FormOp::Cat, vec![(None, Given::Tensors(tensors)), (Some("dim"), dim)], 1);
    }

    fn axis(&mut self, tensor: Tensor) -> Option<usize> {
        let rank = self.rank(tensor);
        (rank > 0).then(|| self.draws.below(rank))
    }

    fn fold(&mut self) {
        use FormOp::{Max, Min, Prod, Sum, Var, VarMean, Welford};
        let tensor = self.tensor();
        let form = self.draws.one_of(&[Sum, Sum, Sum, Max, Min, Prod, Var, VarMean, Welford]);
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

    /// A tensor and a fold of it, brought together again.
    fn deviation(&mut self) {
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

    fn normalization(&mut self) {
        let tensor = self.tensor();
        let Some(axis) = self.axis(tensor) else { return };
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

    fn factory(&mut self) {
        let dtype =
            self.draws.one_of(&[DType::F32, DType::F32, DType::BF16, DType::F64, DType::I64, DType::I32]);
        if self.draws.percent(50) {
            let sizes = (0..self.draws.below(4)).map(|_| self.new_size()).collect();
            let fill = Given::Number(self.number());
            let arguments = vec![
                (Some("shape"), Given::Sizes(sizes)),
                (Some("fill_value"), fill),
                (Some("dtype"), Given::DType(dtype)),
            ];
            self.add_form(FormOp::Full, arguments, 1);
            return;
        }
        let mut arguments = vec![(Some("length"), Given::Size(self.new_size()))];
        if self.draws.percent(50) {
            arguments.push((Some("start"), Given::Number(self.number())));
            arguments.push((Some("step"), Given::Number(self.number())));
        }
        arguments.push((Some("dtype"), Given::DType(dtype)));
        self.add_form(FormOp::Iota, arguments, 1);
    }
}
