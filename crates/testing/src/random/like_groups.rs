//! Groups of calls that are alike and independent, each on separate inputs of any sizes, like steps of optimizers: one
//! launch may run them together.

use ops::{DType, LanguageOp, ScalarOp};

use super::Draws;
use super::data::{Input, Numbers};
use super::generate::{LARGE_SIZES, SIZES, Writer, placement};
use super::program::{Given, Step, Tensor};

/// The computation of each group.
struct Recipe {
    dtype: DType,
    rank: usize,
    /// Ops of one operand.
    ops: Vec<ScalarOp>,
    is_summed: bool,
    is_symbolic: bool,
    is_in_place: bool,
}

impl Writer {
    /// Adds two to five such groups, with their results as outputs.
    pub(super) fn like_groups(&mut self, draws: &mut Draws) {
        let ops = [ScalarOp::Exp, ScalarOp::Neg, ScalarOp::Abs, ScalarOp::Sqrt];
        let recipe = Recipe {
            dtype: draws.one_of(&[DType::F32, DType::F32, DType::BF16, DType::F64]),
            rank: draws.between(1, 2),
            ops: (0..draws.between(0, 2)).map(|_| draws.one_of(&ops)).collect(),
            is_summed: draws.percent(25),
            is_symbolic: draws.percent(60),
            is_in_place: draws.percent(60),
        };
        for _ in 0..draws.between(2, 5) {
            self.like_group(&recipe, draws);
        }
    }

    fn like_group(&mut self, recipe: &Recipe, draws: &mut Draws) {
        let mut sizes: Vec<usize> = (0..recipe.rank).map(|_| draws.one_of(&SIZES)).collect();
        if draws.percent(10) {
            sizes[0] = draws.one_of(&LARGE_SIZES);
        }
        let [target, other] = [(); 2].map(|()| self.like_input(recipe, &sizes, draws));
        let scaled = self.like_step(ScalarOp::Mul.name(), vec![Given::Tensor(other), Given::real(0.5)]);
        let mut made =
            self.like_step(ScalarOp::Add.name(), vec![Given::Tensor(target), Given::Tensor(scaled)]);
        for op in &recipe.ops {
            made = self.like_step(op.name(), vec![Given::Tensor(made)]);
        }
        if recipe.is_summed {
            let arguments = vec![(None, Given::Tensor(made)), (Some("dims"), Given::Numbers(vec![0]))];
            made = self.taken(LanguageOp::Sum.name(), arguments);
        } else if recipe.is_in_place && self.draft.dtype(made) == recipe.dtype {
            return self.program.in_place.push((made, target));
        }
        self.program.outputs.push(made);
    }

    fn like_input(&mut self, recipe: &Recipe, sizes: &[usize], draws: &mut Draws) -> Tensor {
        let rank = sizes.len();
        let mut placement = if draws.percent(85) { Default::default() } else { placement(rank, draws) };
        // An input that is written to repeats no element.
        placement.steps.iter_mut().for_each(|step| *step = (*step).max(1));
        self.declare(Input {
            dtype: recipe.dtype,
            sizes: sizes.to_vec(),
            is_scalar: false,
            symbolic: vec![recipe.is_symbolic; rank],
            expanded: vec![false; rank],
            declared_order: Vec::new(),
            placement,
            numbers: Numbers::Normal,
            seed: draws.bits(),
            within: None,
        })
    }

    fn like_step(&mut self, op: &'static str, arguments: Vec<Given>) -> Tensor {
        self.taken(op, arguments.into_iter().map(|given| (None, given)).collect())
    }

    /// The result of a call that is always accepted.
    fn taken(&mut self, op: &'static str, arguments: Vec<(Option<&'static str>, Given)>) -> Tensor {
        let result = self.program.fresh();
        let step = Step { op, arguments, results: vec![result] };
        self.draft.step(&step).expect("such calls suit any such tensor");
        self.program.steps.push(step);
        result
    }
}
