//! A program of a seed: inputs, then calls drawn until enough of them were accepted, then outputs.

use ferrofuse::DType;

use super::calls::calls;
use super::data::{Input, Numbers, Placement};
use super::draws::Draws;
use super::program::{Draft, Program, Step, Tensor};

/// Sizes that programs are made of; small ones are the likelier.
pub(super) const SIZES: [usize; 14] = [1, 2, 3, 3, 5, 5, 8, 8, 16, 17, 33, 100, 0, 1];

/// Elements that a tensor may have, so that a case takes little time.
const MAX_ELEMENTS: usize = 3000;

/// The program of a seed.
pub fn generate(seed: u64) -> Program {
    let mut draws = Draws::new(seed);
    let mut writer = Writer { program: Program::default(), draft: Draft::default(), sizes: Vec::new() };
    writer.sizes = (0..draws.between(2, 4)).map(|_| draws.one_of(&SIZES)).collect();
    for _ in 0..draws.between(1, 3) {
        writer.input(&mut draws);
    }
    if draws.percent(15) {
        writer.scalar(&mut draws);
    }
    let wanted = draws.between(3, 15);
    for _ in 0..wanted * 4 {
        if writer.program.steps.len() >= wanted {
            break;
        }
        let steps = calls(&writer.draft, writer.program.fresh(), &writer.sizes, &mut draws);
        writer.try_steps(steps);
    }
    writer.outputs(&mut draws);
    writer.program.drop_dead();
    writer.program
}

/// A program being written, always with a draft that accepted it.
struct Writer {
    program: Program,
    draft: Draft,
    /// The sizes of this program, so that tensors fit each other.
    sizes: Vec<usize>,
}

impl Writer {
    fn input(&mut self, draws: &mut Draws) {
        let dtype = dtype(draws);
        let rank = draws.one_of(&[0, 1, 1, 2, 2, 2, 2, 3, 3, 4]);
        let mut sizes: Vec<usize> = (0..rank).map(|_| draws.one_of(&self.sizes)).collect();
        while sizes.iter().product::<usize>() > MAX_ELEMENTS {
            let largest = (0..rank).max_by_key(|&axis| sizes[axis]).expect("a large tensor has axes");
            sizes[largest] = 1;
        }
        let all_static = draws.percent(40);
        let symbolic = (0..rank).map(|_| !all_static && draws.percent(70)).collect();
        let numbers = match draws.below(10) {
            0 => Numbers::Strange,
            1 | 2 => Numbers::Whole,
            _ => Numbers::Normal,
        };
        let placement = placement(rank, draws);
        let seed = draws.bits();
        self.declare(Input { dtype, sizes, is_scalar: false, symbolic, placement, numbers, seed });
    }

    fn scalar(&mut self, draws: &mut Draws) {
        self.declare(Input {
            dtype: draws.one_of(&[DType::F64, DType::F32, DType::I64]),
            sizes: Vec::new(),
            is_scalar: true,
            symbolic: Vec::new(),
            placement: Placement::default(),
            numbers: Numbers::Normal,
            seed: draws.bits(),
        });
    }

    fn declare(&mut self, input: Input) {
        let tensor = self.program.fresh();
        self.draft.input(tensor, &input).expect("inputs of any sizes are accepted");
        self.program.inputs.push((tensor, input));
    }

    /// Adds the steps if the definer accepts all of them and no tensor becomes too large.
    fn try_steps(&mut self, steps: Vec<Step>) {
        let mut draft = self.draft.clone();
        let small = |sizes: Vec<usize>| sizes.len() <= 5 && sizes.iter().product::<usize>() <= MAX_ELEMENTS;
        let accepted = steps.iter().all(|step| {
            draft.step(step).is_ok()
                && step.results.iter().all(|&result| draft.sizes(result).is_some_and(small))
        });
        if accepted {
            self.draft = draft;
            self.program.steps.extend(steps);
        }
    }

    /// One to four outputs: mostly what nothing uses yet, so that little of the program is dead; some twice, some inputs.
    fn outputs(&mut self, draws: &mut Draws) {
        let mut made: Vec<Tensor> = self.draft.tensors();
        made.retain(|&tensor| !self.draft.is_scalar(tensor));
        let arguments = self.program.steps.iter().flat_map(|step| &step.arguments);
        let used: Vec<Tensor> = arguments.flat_map(|(_, given)| given.tensors()).collect();
        let unused: Vec<Tensor> = made.iter().copied().filter(|tensor| !used.contains(tensor)).collect();
        let last = made[made.len() - 1];
        self.program.outputs.push(last);
        for _ in 1..draws.between(1, 4) {
            let from = if draws.percent(75) && !unused.is_empty() { &unused } else { &made };
            self.program.outputs.push(draws.one_of(from));
        }
    }
}

fn dtype(draws: &mut Draws) -> DType {
    use DType::{BF16, Bool, F8E4M3, F8E5M2, F8E8M0, F16, F32, F64, I32, I64, U64};
    let common = [F32, F32, F32, F32, F32, F32, BF16, BF16, F16, F64, I32, I64, Bool];
    let rare = [U64, U64, F8E4M3, F8E5M2, F8E8M0];
    if draws.percent(85) { draws.one_of(&common) } else { draws.one_of(&rare) }
}

fn placement(rank: usize, draws: &mut Draws) -> Placement {
    let mut placement = Placement::default();
    if rank == 0 || draws.percent(50) {
        return placement;
    }
    placement.order = (0..rank).collect();
    if draws.percent(60) {
        draws.shuffle(&mut placement.order);
    }
    if draws.percent(50) {
        placement.steps = (0..rank).map(|_| draws.one_of(&[1, 1, 1, 1, 2, 3, 0, -1])).collect();
    }
    placement.offset = draws.one_of(&[0, 0, 8, 64, 1]);
    placement
}
