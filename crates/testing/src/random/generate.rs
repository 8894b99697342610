//! The program of a seed: inputs, then calls drawn until enough of them were accepted, then outputs.

use ferrofuse::DType;
use ops::LanguageOp;
use ops::call::OpRef;

use super::Draws;
use super::calls::{Called, Context, call};
use super::data::{Input, Numbers, Placement};
use super::program::{Draft, Given, Program, Step, Tensor};

/// Sizes of programs; small ones are more likely.
pub(super) const SIZES: [usize; 16] = [1, 2, 3, 3, 5, 5, 8, 8, 16, 17, 33, 64, 100, 128, 0, 1];

/// Sizes of the few larger programs, beyond the chunks of schedules.
pub(super) const LARGE_SIZES: [usize; 4] = [1025, 4099, 8192, 20_001];

/// The limit on elements of a tensor, so that a case takes little time.
const MAX_ELEMENTS: usize = 3000;
/// The same for the larger programs.
const MANY_ELEMENTS: usize = 50_000;

/// Ops that each program tries to include, besides random ones.
const FAVOURED: u64 = 8;
/// Calls of a favoured op that are drawn until one is accepted.
const TRIES: usize = 100;

/// The elements of a tensor of these sizes, where a size of zero counts as one: it reduces neither values computed from the
/// other axes alone, nor the loops over them.
pub(super) fn weight(sizes: &[usize]) -> usize {
    sizes.iter().map(|&size| size.max(1)).product()
}

/// The program of a seed.
pub fn generate(seed: u64) -> Program {
    let mut draws = Draws::new(seed);
    let mut writer = Writer { max_elements: MAX_ELEMENTS, ..Writer::default() };
    writer.sizes = (0..draws.between(2, 4)).map(|_| draws.one_of(&SIZES)).collect();
    if draws.percent(2) {
        writer.max_elements = MANY_ELEMENTS;
        writer.sizes[0] = draws.one_of(&LARGE_SIZES);
    }
    for _ in 0..draws.between(1, 3) {
        writer.input(&mut draws);
    }
    if draws.percent(15) {
        writer.sharing_input(&mut draws);
    }
    if draws.percent(15) {
        writer.scalar(&mut draws);
    }
    let wanted = draws.between(3, 15);
    let mut favoured = favoured(seed);
    for _ in 0..wanted * 4 {
        if writer.program.steps.len() >= wanted {
            break;
        }
        match favoured.last() {
            Some(&op) if draws.percent(50) => {
                writer.favoured(op, &mut draws);
                favoured.pop();
            }
            _ => {
                writer.call(None, &mut draws);
            }
        }
    }
    favoured.into_iter().for_each(|op| writer.favoured(op, &mut draws));
    writer.outputs(&mut draws);
    writer.memory_orders(&mut draws);
    writer.in_place(&mut draws);
    if draws.percent(6) {
        writer.like_groups(&mut draws);
    }
    // A dead call may imply facts about sizes that a live one needs.
    let mut living = writer.program.clone();
    living.drop_dead();
    if living.define().is_ok() { living } else { writer.program }
}

/// The ops that the program of a seed includes if they fit into it. Neighbouring seeds divide all ops of the tables,
/// shuffled anew each time, so that rare ops occur as often as others.
fn favoured(seed: u64) -> Vec<OpRef> {
    let all: Vec<OpRef> = OpRef::all().collect();
    let draw = |number: u64| {
        let (round, place) = (number / all.len() as u64, number % all.len() as u64);
        let mut shuffled = all.clone();
        Draws::new(round).shuffle(&mut shuffled);
        shuffled[place as usize]
    };
    (0..FAVOURED).map(|number| draw(seed.wrapping_mul(FAVOURED).wrapping_add(number))).collect()
}

/// A program under construction, always with a draft that accepted it.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) program: Program,
    pub(super) draft: Draft,
    /// The sizes of this program, so that tensors fit each other.
    sizes: Vec<usize>,
    max_elements: usize,
    /// Results of favoured ops, which must not be dead.
    kept: Vec<Tensor>,
}

impl Writer {
    fn input(&mut self, draws: &mut Draws) {
        let dtype = dtype(draws);
        let rank = draws.one_of(&[0, 1, 1, 2, 2, 2, 2, 3, 3, 4]);
        let mut sizes: Vec<usize> = (0..rank).map(|_| draws.one_of(&self.sizes)).collect();
        while weight(&sizes) > self.max_elements {
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
        // An input that is expanded in memory is mostly declared so; one that is declared so need not be.
        let is_expanded = |axis: usize| {
            let percent = if placement.steps.get(axis) == Some(&0) { 80 } else { 3 };
            sizes[axis] != 1 && draws.percent(percent)
        };
        let expanded = (0..rank).map(is_expanded).collect();
        let declared_order = if draws.percent(70) { placement.order.clone() } else { Vec::new() };
        let seed = draws.bits();
        self.declare(Input {
            dtype,
            sizes,
            is_scalar: false,
            symbolic,
            expanded,
            declared_order,
            placement,
            numbers,
            seed,
            within: None,
        });
    }

    /// An input in the memory of the first one: all of it, or a view with another layout from some element on.
    fn sharing_input(&mut self, draws: &mut Draws) {
        let (tensor, host) = self.program.inputs[0].clone();
        let mut input = Input { within: Some((tensor, 0)), ..host.clone() };
        if draws.percent(60) {
            let rank = host.sizes.len();
            input.sizes.iter_mut().for_each(|size| *size = draws.one_of(&[*size, (*size).div_ceil(2), 1]));
            input.placement = Placement { offset: host.placement.offset, ..placement(rank, draws) };
            input.expanded = vec![false; rank];
            input.declared_order = Vec::new();
        }
        let room = host.extent().saturating_sub(input.extent());
        input.within = Some((tensor, draws.below(room + 1)));
        self.declare(input);
    }

    fn scalar(&mut self, draws: &mut Draws) {
        self.declare(Input {
            dtype: draws.one_of(&[DType::F64, DType::F32, DType::I64]),
            sizes: Vec::new(),
            is_scalar: true,
            symbolic: Vec::new(),
            expanded: Vec::new(),
            declared_order: Vec::new(),
            placement: Placement::default(),
            numbers: draws.one_of(&[Numbers::Normal, Numbers::Whole]),
            seed: draws.bits(),
            within: None,
        });
    }

    pub(super) fn declare(&mut self, input: Input) -> Tensor {
        let tensor = self.program.fresh();
        self.draft.input(tensor, &input).expect("inputs of any sizes are accepted");
        self.program.inputs.push((tensor, input));
        tensor
    }

    /// Adds a call of this op, or of any, with those that prepare its operands; returns the results of the last one, or
    /// `None` if the drawn arguments do not fit.
    fn call(&mut self, op: Option<OpRef>, draws: &mut Draws) -> Option<Vec<Tensor>> {
        let context = Context {
            draft: &self.draft,
            next: self.program.fresh(),
            sizes: &self.sizes,
            max_elements: self.max_elements,
        };
        let Called { steps, draft } = call(context, op, draws)?;
        let results = steps.last()?.results.clone();
        self.draft = draft;
        self.program.steps.extend(steps);
        Some(results)
    }

    /// Draws calls until one of this op is accepted, but not forever: there may be no tensors that it accepts.
    fn favoured(&mut self, op: OpRef, draws: &mut Draws) {
        let results = (0..TRIES).find_map(|_| self.call(Some(op), draws));
        self.kept.extend(results.into_iter().flatten());
    }

    /// One to four outputs: mostly values that nothing uses yet, so that little of the program is dead; some twice, some
    /// inputs.
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
        self.kept.retain(|&tensor| !self.draft.is_scalar(tensor));
        for tensor in std::mem::take(&mut self.kept) {
            let mut living = self.program.clone();
            living.drop_dead();
            if !living.steps.iter().any(|step| step.results.contains(&tensor)) {
                self.program.outputs.push(tensor);
            }
        }
    }

    /// Sometimes adds outputs with another memory order than row-major.
    fn memory_orders(&mut self, draws: &mut Draws) {
        for place in 0..self.program.outputs.len() {
            let tensor = self.program.outputs[place];
            let mut order: Vec<i64> = (0..self.draft.shape(tensor).len() as i64).collect();
            if order.len() < 2 || draws.percent(75) {
                continue;
            }
            draws.shuffle(&mut order);
            let arguments =
                vec![(None, Given::Tensor(tensor)), (Some("stride_order"), Given::Numbers(order))];
            let ordered = self.program.fresh();
            let step = Step { op: LanguageOp::StrideOrder.name(), arguments, results: vec![ordered] };
            self.draft.step(&step).expect("any order of the axes is accepted");
            self.program.steps.push(step);
            self.program.outputs[place] = ordered;
        }
    }

    /// Sometimes adds inputs that are written to: with a computed value, another input or themselves.
    fn in_place(&mut self, draws: &mut Draws) {
        let shares = self.program.inputs.iter().any(|(_, input)| input.within.is_some());
        if draws.percent(if shares { 20 } else { 70 }) {
            return;
        }
        let mut made: Vec<Tensor> = self.draft.tensors();
        made.reverse();
        for (input, data) in &self.program.inputs {
            if data.is_scalar || data.placement.steps.contains(&0) || draws.percent(20) {
                continue;
            }
            let fits = |&tensor: &Tensor| {
                let all = [self.program.in_place.as_slice(), &[(tensor, *input)]].concat();
                self.draft.dtype(tensor) == data.dtype
                    && self.draft.sizes(tensor).as_ref() == Some(&data.sizes)
                    && self.draft.clone().finish(&self.program.outputs, &all).is_ok()
            };
            let fitting: Vec<Tensor> = made.iter().copied().filter(fits).take(3).collect();
            if !fitting.is_empty() {
                self.program.in_place.push((draws.one_of(&fitting), *input));
            }
        }
    }
}

fn dtype(draws: &mut Draws) -> DType {
    use DType::{BF16, Bool, C64, C128, F8E4M3, F8E5M2, F8E8M0, F16, F32, F64};
    use DType::{I8, I16, I32, I64, U8, U16, U32, U64};
    let common = [F32, F32, F32, F32, F32, F32, BF16, BF16, F16, F64, I32, I64, U8, Bool];
    let rare = [U64, U64, I8, I8, I16, U16, U32, F8E4M3, F8E5M2, F8E8M0, C64, C64, C128];
    if draws.percent(85) { draws.one_of(&common) } else { draws.one_of(&rare) }
}

pub(super) fn placement(rank: usize, draws: &mut Draws) -> Placement {
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
