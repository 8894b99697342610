//! Common parts of drawing calls: operands of the program so far, sizes, axes, and adding a call.

use ferrofuse::DType;
use ops::{LanguageOp, ScalarOp};

use crate::random::Draws;
use crate::random::generate::{SIZES, weight};
use crate::random::program::{Draft, Given, Size, Step, Tensor};

/// The most axes of a tensor.
const MOST_AXES: usize = 5;

/// The state that a call is drawn for.
#[derive(Clone, Copy)]
pub(in crate::random) struct Context<'a> {
    /// The program so far.
    pub draft: &'a Draft,
    /// The first unused number of a tensor.
    pub next: Tensor,
    /// The sizes of the program, so that tensors fit each other.
    pub sizes: &'a [usize],
    /// The most elements of a tensor.
    pub max_elements: usize,
}

/// Draws operands and adds calls.
pub(super) struct Caller<'a> {
    pub(super) context: Context<'a>,
    /// The program with the calls so far.
    pub(super) draft: Draft,
    pub(super) next: Tensor,
    pub(super) draws: &'a mut Draws,
    pub(super) steps: Vec<Step>,
}

/// The arguments of a call, with names of parameters if they are keywords.
pub(super) type Arguments = Vec<(Option<&'static str>, Given)>;

/// Arguments without names.
pub(super) fn operands<const N: usize>(tensors: [Tensor; N]) -> Arguments {
    tensors.map(|tensor| (None, Given::Tensor(tensor))).into()
}

impl Caller<'_> {
    /// Adds the call, if the builder accepts it and no tensor becomes too large: its first result. After `None` the draft is
    /// unusable.
    pub(super) fn add(&mut self, op: &'static str, arguments: Arguments, results: u32) -> Option<Tensor> {
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

    pub(super) fn add_language_op(
        &mut self,
        language_op: LanguageOp,
        arguments: Arguments,
        results: u32,
    ) -> Option<Tensor> {
        self.add(language_op.name(), arguments, results)
    }

    /// A tensor, more likely a late one.
    pub(super) fn tensor(&mut self) -> Tensor {
        let tensors = self.draft.tensors();
        let late = if self.draws.percent(60) { tensors.len().min(3) } else { tensors.len() };
        self.draws.one_of(&tensors[tensors.len() - late..])
    }

    /// A tensor of floats that are computed with, with a number of axes in this range; converted if there is none.
    pub(super) fn floats(&mut self, min: usize, most: usize) -> Option<Tensor> {
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

    pub(super) fn sizes_of(&self, tensor: Tensor) -> Vec<usize> {
        self.draft.sizes(tensor).expect("the draft has tensors with sizes only")
    }

    pub(super) fn rank(&self, tensor: Tensor) -> usize {
        self.draft.shape(tensor).len()
    }

    /// Whether elementwise ops accept the two together: sizes agree, or are known to be 1.
    pub(super) fn fit(&self, a: Tensor, b: Tensor) -> bool {
        let shapes = [a, b].map(|tensor| self.draft.shape(tensor).iter().zip(self.sizes_of(tensor)).rev());
        let [a, b] = shapes;
        a.zip(b).all(|((a, n), (b, m))| n == m || a.is_one() || b.is_one())
    }

    /// The tensors that elementwise ops accept together with all of these.
    pub(super) fn fitting(&self, others: &[Tensor]) -> Vec<Tensor> {
        let fits = |tensor: &Tensor| others.iter().all(|&other| self.fit(other, *tensor));
        self.draft.tensors().into_iter().filter(fits).collect()
    }

    /// A tensor with the same dtype and sizes, most often another one.
    pub(super) fn alike(&mut self, tensor: Tensor) -> Tensor {
        let same = |other: &Tensor| {
            self.draft.dtype(*other) == self.draft.dtype(tensor)
                && self.sizes_of(*other) == self.sizes_of(tensor)
                && !self.draft.is_scalar(*other)
        };
        let alike: Vec<Tensor> = self.draft.tensors().into_iter().filter(same).collect();
        if alike.is_empty() { tensor } else { self.draws.one_of(&alike) }
    }

    /// A size for a new axis: of some tensor, a number, or one that a call computes from these.
    pub(super) fn new_size(&mut self) -> Size {
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

    pub(super) fn is_real_scalar(&self, tensor: Tensor) -> bool {
        let dtype = self.draft.dtype(tensor);
        self.draft.is_scalar(tensor) && (dtype.is_int() || dtype.is_float())
    }

    /// An axis as an argument, sometimes counted from the end.
    pub(super) fn dim(&mut self, tensor: Tensor, axis: usize) -> Given {
        let from_end = if self.draws.percent(15) { self.rank(tensor) as i64 } else { 0 };
        Given::int(axis as i64 - from_end)
    }

    /// A tensor, sometimes one of complex numbers.
    pub(super) fn number_tensor(&mut self) -> Option<Tensor> {
        let tensor = self.tensor();
        if self.draws.percent(12) { self.complex_of(tensor) } else { Some(tensor) }
    }

    /// A tensor of floats as [`Caller::floats`], sometimes of complex numbers.
    pub(super) fn matrix(&mut self, min: usize, most: usize) -> Option<Tensor> {
        let tensor = self.floats(min, most)?;
        if self.draws.percent(15) { self.complex_of(tensor) } else { Some(tensor) }
    }

    /// Complex numbers with a tensor as real part, if it is not complex itself.
    pub(super) fn complex_of(&mut self, tensor: Tensor) -> Option<Tensor> {
        if self.draft.dtype(tensor).is_complex() {
            return Some(tensor);
        }
        let imaginary = self.alike(tensor);
        self.add(ScalarOp::Complex.name(), operands([tensor, imaginary]), 1)
    }

    /// The size of an axis of a tensor, as a number if it is static.
    pub(super) fn own_size(&self, tensor: Tensor, axis: usize) -> Size {
        match self.draft.shape(tensor)[axis].as_const() {
            Some(n) => Size::Number(n),
            None => Size::Of(tensor, axis),
        }
    }

    /// A tensor with an axis of it.
    pub(super) fn tensor_and_axis(&mut self) -> Option<(Tensor, usize)> {
        let tensor = self.tensor();
        Some((tensor, self.axis(tensor)?))
    }

    pub(super) fn axis(&mut self, tensor: Tensor) -> Option<usize> {
        let rank = self.rank(tensor);
        (rank > 0).then(|| self.draws.below(rank))
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

    pub(super) fn cast_to(&mut self, tensor: Tensor, dtype: DType) -> Option<Tensor> {
        let mut arguments = operands([tensor]);
        arguments.push((Some("dtype"), Given::DType(dtype)));
        self.add_language_op(LanguageOp::Cast, arguments, 1)
    }
}
