//! One op drawn with its arguments, and before it what makes its operands tame, so that error bounds stay finite.
//!
//! What is drawn may not suit: then there is no call, and another is drawn.

mod attention;
mod external;
mod folds;
mod gathers;
mod movement;
mod normalizations;
mod random;
mod scalar;
mod scans;

use ferrofuse::DType;
use ops::call::OpRef;
use ops::{LanguageOp, ScalarOp};

use super::Draws;
use super::generate::{SIZES, weight};
use super::program::{Draft, Given, Size, Step, Tensor};

/// The most axes of a tensor.
const MOST_AXES: usize = 5;

/// Calls drawn, and the program with them.
pub(super) struct Called {
    /// The last one is the call of the op; those before prepare its operands.
    pub steps: Vec<Step>,
    pub draft: Draft,
}

/// What a call is drawn for.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// The program so far.
    pub draft: &'a Draft,
    /// The first number that no tensor has.
    pub next: Tensor,
    /// The sizes of the program, so that tensors fit each other.
    pub sizes: &'a [usize],
    /// The most elements of a tensor.
    pub max_elements: usize,
}

/// A call of this op, or of any; nothing if what was drawn does not suit.
pub(super) fn call(context: Context<'_>, op: Option<OpRef>, draws: &mut Draws) -> Option<Called> {
    let mut caller =
        Caller { draft: context.draft.clone(), next: context.next, context, draws, steps: Vec::new() };
    match op {
        Some(op) => caller.op(op)?,
        None => caller.any()?,
    }
    Some(Called { steps: caller.steps, draft: caller.draft })
}

struct Caller<'a> {
    context: Context<'a>,
    /// The program with the calls so far.
    draft: Draft,
    next: Tensor,
    draws: &'a mut Draws,
    steps: Vec<Step>,
}

type Arguments = Vec<(Option<&'static str>, Given)>;

/// Arguments without names.
fn operands<const N: usize>(tensors: [Tensor; N]) -> Arguments {
    tensors.map(|tensor| (None, Given::Tensor(tensor))).into()
}

/// Of a hundred calls, how many are of which ops; the others are scalar ops and folds together with what they fold.
const USUAL: &[(usize, &[LanguageOp])] = {
    use LanguageOp::*;
    &[
        (5, &[TakeAlongAxis, TakeAlongAxis, Gather, Gather, IndexSelect, EmbeddingFwd, Select, Triu]),
        (3, &[Uniform, Uniform, Normal, RandLike, RandnLike, Dropout, DropoutBackward]),
        (6, &[Argsort, Topk, Scatter, Matmul, Matmul, Linear, GroupedMm, SdpfaFwd, SdpfaBwd]),
        (5, &[Cast]),
        (8, &[BroadcastInDim]),
        (4, &[Broadcast, Expand, Squeeze]),
        (5, &[Reshape]),
        (5, &[Permute]),
        (4, &[Slice]),
        (3, &[Pad]),
        (3, &[Cat]),
        (5, &[Sum, Sum, Sum, Max, Min, Prod, Any, All, Var, VarMean, Welford, Argmax, Argmin]),
        (2, &[Fold]),
        (3, &[Scan, Scan, Cumsum, Cumprod, Cummax, Cummin]),
        (4, &[Softmax, LogSoftmax, LayerNorm, RmsNorm, BatchNorm, InstanceNorm, GroupNorm, Mean]),
        (2, &[Full, Iota]),
        (1, &[StrideOrder]),
    ]
};

impl Caller<'_> {
    fn any(&mut self) -> Option<()> {
        let mut place = self.draws.below(100);
        for (share, ops) in USUAL {
            match place.checked_sub(*share) {
                Some(rest) => place = rest,
                None => {
                    let op = self.draws.one_of(ops);
                    return self.language_op(op);
                }
            }
        }
        if place < 6 { self.deviation() } else { self.any_scalar_op() }
    }

    fn op(&mut self, op: OpRef) -> Option<()> {
        match op {
            OpRef::Language(op) => self.language_op(op),
            scalar => self.scalar_op(scalar),
        }
    }

    /// A call of this op; an op that nothing draws would not compile.
    fn language_op(&mut self, op: LanguageOp) -> Option<()> {
        use LanguageOp::*;
        match op {
            Cast => self.cast(),
            Broadcast => self.broadcast(),
            BroadcastInDim => self.broadcast_in_dim(),
            Expand => self.expand(),
            Squeeze => self.squeeze(),
            Reshape => self.reshape(),
            Permute => self.permute(),
            StrideOrder => self.stride_order(),
            Slice => self.slice(),
            Pad => self.pad(),
            Cat => self.cat(),
            Gather | TakeAlongAxis => self.along(op),
            IndexSelect => self.index_select(),
            Select => self.select(),
            EmbeddingFwd => self.embedding(),
            Triu => self.triu(),
            Sum | Prod | Max | Min | Var | VarMean | Welford | Any | All | Mean | StandardDeviation => {
                self.fold(op)
            }
            Argmax | Argmin => self.place(op),
            Fold => self.general_fold(),
            Cumsum | Cumprod | Cummax | Cummin => self.scan(op),
            Scan => self.general_scan(),
            Full => self.full(),
            Iota => self.iota(),
            Argsort => self.argsort().map(drop),
            Topk => self.topk(),
            Scatter => self.scatter(),
            Matmul => self.matmul(),
            Linear => self.linear(),
            GroupedMm => self.grouped_mm(),
            SdpfaFwd => self.attention(),
            SdpfaBwd => self.attention_backward(),
            Uniform | Normal => self.draw(op),
            RandLike | RandnLike => self.draw_like(op),
            Size => self.full_of_size(),
            Shape => self.full_of_shape(),
            Softmax | LogSoftmax => self.softmax(op).map(drop),
            SoftmaxBackward => self.softmax_backward(op, Softmax),
            LogSoftmaxBackward => self.softmax_backward(op, LogSoftmax),
            LayerNorm | RmsNorm => self.layer_norm(op),
            LayerNormBackward | RmsNormBackward => self.layer_norm_backward(op),
            BatchNorm | InstanceNorm => self.channel_norm(op).map(drop),
            BatchNormBackward => self.channel_norm_backward(op, BatchNorm),
            InstanceNormBackward => self.channel_norm_backward(op, InstanceNorm),
            GroupNorm => self.group_norm(),
            GroupNormBackward => self.group_norm_backward(),
            Dropout => self.dropout().map(drop),
            DropoutBackward => self.dropout_backward(),
        }
    }

    /// The call, if the builder accepts it and no tensor becomes too large: its first result. After nothing, the draft is
    /// of no more use.
    fn add(&mut self, op: &'static str, arguments: Arguments, results: u32) -> Option<Tensor> {
        let first = self.next;
        let results: Vec<Tensor> = (0..results).map(|k| Tensor(first.0 + k)).collect();
        self.next = Tensor(first.0 + results.len() as u32);
        let step = Step { op, arguments, results };
        self.draft.step(&step).ok()?;
        let most = self.context.max_elements;
        let small = |sizes: Vec<usize>| sizes.len() <= MOST_AXES && weight(&sizes) <= most;
        let fits = step.results.iter().all(|&result| self.draft.sizes(result).is_some_and(small));
        self.steps.push(step);
        fits.then_some(first)
    }

    fn add_language_op(
        &mut self,
        language_op: LanguageOp,
        arguments: Arguments,
        results: u32,
    ) -> Option<Tensor> {
        self.add(language_op.name(), arguments, results)
    }

    /// A tensor, a late one rather than an early one.
    fn tensor(&mut self) -> Tensor {
        let tensors = self.draft.tensors();
        let late = if self.draws.percent(60) { tensors.len().min(3) } else { tensors.len() };
        self.draws.one_of(&tensors[tensors.len() - late..])
    }

    /// A tensor of floats that are computed with, of a number of axes; made so where there is none.
    fn floats(&mut self, min: usize, most: usize) -> Option<Tensor> {
        let ranks = |caller: &Self, tensor: Tensor| {
            !caller.draft.is_scalar(tensor) && (min..=most).contains(&caller.rank(tensor))
        };
        let mut fitting = self.draft.tensors();
        fitting.retain(|&tensor| ranks(self, tensor));
        let is_float = |dtype: DType| dtype.is_float() && !dtype.is_float8();
        let floats: Vec<Tensor> =
            fitting.iter().copied().filter(|&tensor| is_float(self.draft.dtype(tensor))).collect();
        match (floats.is_empty(), fitting.is_empty()) {
            (false, _) => Some(self.draws.one_of(&floats)),
            (true, false) => {
                let tensor = self.draws.one_of(&fitting);
                self.cast_to(tensor, DType::F32)
            }
            (true, true) => {
                let rank = self.draws.between(min, most.min(min + 1));
                let sizes = (0..rank).map(|_| self.new_size()).collect();
                self.uniform(sizes)
            }
        }
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

    /// The tensors that elementwise ops take together with all of these.
    fn fitting(&self, others: &[Tensor]) -> Vec<Tensor> {
        let fits = |tensor: &Tensor| others.iter().all(|&other| self.fit(other, *tensor));
        self.draft.tensors().into_iter().filter(fits).collect()
    }

    /// A tensor of the same dtype and sizes, most often another.
    fn alike(&mut self, tensor: Tensor) -> Tensor {
        let same = |other: &Tensor| {
            self.draft.dtype(*other) == self.draft.dtype(tensor)
                && self.sizes_of(*other) == self.sizes_of(tensor)
                && !self.draft.is_scalar(*other)
        };
        let alike: Vec<Tensor> = self.draft.tensors().into_iter().filter(same).collect();
        if alike.is_empty() { tensor } else { self.draws.one_of(&alike) }
    }

    /// A size for a new axis: of some tensor, a number, or what a call computes of these.
    fn new_size(&mut self) -> Size {
        let tensor = self.tensor();
        match self.rank(tensor) {
            0 if self.is_real_scalar(tensor) => Size::Magnitude(tensor),
            rank @ 1.. if self.draws.percent(60) => {
                let axis = self.draws.below(rank);
                if self.draws.percent(8) { Size::TwiceHalf(tensor, axis) } else { Size::Of(tensor, axis) }
            }
            _ if self.draws.percent(10) => Size::Number(self.draws.one_of(&SIZES) as i64),
            _ => Size::Number(self.draws.one_of(self.context.sizes) as i64),
        }
    }

    fn is_real_scalar(&self, tensor: Tensor) -> bool {
        let dtype = self.draft.dtype(tensor);
        self.draft.is_scalar(tensor) && (dtype.is_int() || dtype.is_float())
    }

    /// An axis as an argument, now and then counted from the end.
    fn dim(&mut self, tensor: Tensor, axis: usize) -> Given {
        let from_end = if self.draws.percent(15) { self.rank(tensor) as i64 } else { 0 };
        Given::int(axis as i64 - from_end)
    }

    /// A tensor, now and then one of complex numbers.
    fn number_tensor(&mut self) -> Option<Tensor> {
        let tensor = self.tensor();
        if self.draws.percent(12) { self.complex_of(tensor) } else { Some(tensor) }
    }

    /// A tensor of floats as [`Caller::floats`], now and then of complex numbers.
    fn matrix(&mut self, min: usize, most: usize) -> Option<Tensor> {
        let tensor = self.floats(min, most)?;
        if self.draws.percent(15) { self.complex_of(tensor) } else { Some(tensor) }
    }

    /// Complex numbers of which a tensor has the real parts, if it is not complex itself.
    fn complex_of(&mut self, tensor: Tensor) -> Option<Tensor> {
        if self.draft.dtype(tensor).is_complex() {
            return Some(tensor);
        }
        let imaginary = self.alike(tensor);
        self.add(ScalarOp::Complex.name(), operands([tensor, imaginary]), 1)
    }

    /// The size of an axis of a tensor, by number where it is one.
    fn own_size(&self, tensor: Tensor, axis: usize) -> Size {
        match self.draft.shape(tensor)[axis].as_const() {
            Some(n) => Size::Number(n),
            None => Size::Of(tensor, axis),
        }
    }

    /// A tensor with an axis of it.
    fn tensor_and_axis(&mut self) -> Option<(Tensor, usize)> {
        let tensor = self.tensor();
        Some((tensor, self.axis(tensor)?))
    }

    fn axis(&mut self, tensor: Tensor) -> Option<usize> {
        let rank = self.rank(tensor);
        (rank > 0).then(|| self.draws.below(rank))
    }
}
