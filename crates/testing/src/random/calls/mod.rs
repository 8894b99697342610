//! One op drawn with its arguments, and before it what makes its operands tame, so that error bounds stay finite.
//!
//! What is drawn may not suit: the definer says so, and another is drawn.

mod folds;
mod gathers;
mod library;
mod movement;
mod random;
mod scalar;
mod scans;

use ir::ops::FormOp;

use super::draws::Draws;
use super::generate::SIZES;
use super::program::{Draft, Given, Size, Step, Tensor};

/// One call, with those that prepare its operands. `next` is the first number that no tensor has; a scalar op, if it is
/// to be one, is `favoured`.
pub(super) fn calls(
    draft: &Draft,
    next: Tensor,
    sizes: &[usize],
    favoured: Option<&'static str>,
    draws: &mut Draws,
) -> Vec<Step> {
    let mut caller = Caller { draft, next, sizes, favoured, draws, steps: Vec::new() };
    caller.call();
    caller.steps
}

struct Caller<'a> {
    draft: &'a Draft,
    next: Tensor,
    sizes: &'a [usize],
    favoured: Option<&'static str>,
    draws: &'a mut Draws,
    steps: Vec<Step>,
}

type Arguments = Vec<(Option<&'static str>, Given)>;

impl Caller<'_> {
    fn call(&mut self) {
        match self.draws.below(100) {
            0..25 => self.scalar_op(),
            25..30 => self.gather(),
            30..33 => self.random_numbers(),
            33..39 => self.library(),
            39..45 => self.deviation(),
            45..50 => self.cast(),
            50..58 => self.broadcast_in_dim(),
            58..62 => self.expand_or_squeeze(),
            62..67 => self.reshape(),
            67..72 => self.permute(),
            72..76 => self.slice(),
            76..79 => self.pad(),
            79..82 => self.cat(),
            82..87 => self.fold(),
            87..89 => self.general_fold(),
            89..92 => self.scan(),
            92..96 => self.normalization(),
            96..98 => self.factory(),
            98 if self.draws.percent(50) => self.set("segment_set"),
            98 => self.stride_order(),
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

    /// The tensors that elementwise ops take together with all of these.
    fn fitting(&self, others: &[Tensor]) -> Vec<Tensor> {
        let fits = |tensor: &Tensor| others.iter().all(|&other| self.fit(other, *tensor));
        self.draft.tensors().into_iter().filter(fits).collect()
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

    fn axis(&mut self, tensor: Tensor) -> Option<usize> {
        let rank = self.rank(tensor);
        (rank > 0).then(|| self.draws.below(rank))
    }
}
