//! Programs that are one cut smaller than a given one, the largest cuts first. Some may be invalid; checks find out.

use ferrofuse::DType;
use ops::LanguageOp;

use crate::random::{Given, Input, Numbers, Placement, Program, Size, Tensor};

/// Sizes that others are replaced by.
const SMALL: [usize; 3] = [1, 2, 3];

/// All cuts.
pub(super) fn candidates(program: &Program) -> Vec<Program> {
    let mut all = fewer_outputs(program);
    all.extend(fewer_steps(program));
    all.extend(smaller_sizes(program));
    all.extend(plainer_inputs(program));
    all.iter_mut().for_each(Program::drop_dead);
    all
}

fn fewer_outputs(program: &Program) -> Vec<Program> {
    let without = |place: usize| {
        let mut smaller = program.clone();
        smaller.outputs.remove(place);
        smaller
    };
    let written = (0..program.in_place.len()).map(|place| {
        let mut smaller = program.clone();
        smaller.in_place.remove(place);
        smaller
    });
    let alone = program.outputs.iter().map(|&output| Program { outputs: vec![output], ..program.clone() });
    let count = program.outputs.len();
    let fewer = alone.filter(|_| count > 2).chain((0..count).filter(|_| count > 1).map(without));
    fewer.chain(written).collect()
}

/// Programs without one call, its results replaced by a tensor of the same type: an operand, or a new input.
fn fewer_steps(program: &Program) -> Vec<Program> {
    let Ok(draft) = program.draft() else { return Vec::new() };
    let mut all = Vec::new();
    for place in (0..program.steps.len()).rev() {
        let step = &program.steps[place];
        let same =
            |a: Tensor, b: Tensor| draft.dtype(a) == draft.dtype(b) && draft.sizes(a) == draft.sizes(b);
        let operands: Vec<Tensor> = step.arguments.iter().flat_map(|(_, given)| given.tensors()).collect();
        let by_operand = operands
            .iter()
            .find(|&&operand| step.results.iter().all(|&result| same(result, operand)))
            .map(|&operand| replaced(program, place, &vec![operand; step.results.len()]));
        all.extend(by_operand);
        all.extend(with_inputs(program, place, |tensor| {
            let sizes = draft.sizes(tensor).unwrap_or_default();
            (draft.dtype(tensor), sizes)
        }));
    }
    all
}

/// A call replaced by inputs with its results as contents.
fn with_inputs(
    program: &Program,
    place: usize,
    ty: impl Fn(Tensor) -> (DType, Vec<usize>),
) -> Option<Program> {
    let mut smaller = program.clone();
    let step = smaller.steps.remove(place);
    for result in step.results {
        let (dtype, sizes) = ty(result);
        let symbolic = vec![false; sizes.len()];
        let (expanded, placement) = (vec![false; sizes.len()], Placement::default());
        let input = Input {
            dtype,
            sizes,
            is_scalar: false,
            symbolic,
            expanded,
            declared_order: Vec::new(),
            placement,
            numbers: Numbers::Normal,
            seed: u64::from(result.0),
            within: None,
        };
        smaller.inputs.push((result, input));
    }
    Some(smaller)
}

/// A program without a call, with others in place of its results.
fn replaced(program: &Program, place: usize, others: &[Tensor]) -> Program {
    let mut smaller = program.clone();
    let step = smaller.steps.remove(place);
    let rename = |tensor: Tensor| {
        let found = step.results.iter().position(|&result| result == tensor);
        found.map_or(tensor, |result| others[result])
    };
    for step in &mut smaller.steps {
        for (_, given) in &mut step.arguments {
            *given = given.renamed(&rename);
        }
    }
    smaller.outputs.iter_mut().for_each(|output| *output = rename(*output));
    smaller.in_place.iter_mut().for_each(|(output, _)| *output = rename(*output));
    smaller
}

/// One size made smaller wherever it occurs: in inputs, and in sizes that are arguments.
fn smaller_sizes(program: &Program) -> Vec<Program> {
    let mut sizes: Vec<usize> =
        program.inputs.iter().flat_map(|(_, input)| input.sizes.iter().copied()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut all = Vec::new();
    for &size in sizes.iter().rev() {
        for small in SMALL.into_iter().filter(|&small| small < size) {
            all.push(resized(program, size, small));
        }
    }
    all
}

fn resized(program: &Program, from: usize, to: usize) -> Program {
    let mut smaller = program.clone();
    for (_, input) in &mut smaller.inputs {
        input.sizes.iter_mut().filter(|size| **size == from).for_each(|size| *size = to);
    }
    let arguments = smaller.steps.iter_mut().filter(|step| step.op != LanguageOp::Permute.name());
    for (_, given) in arguments.flat_map(|step| &mut step.arguments) {
        if let Given::Sizes(sizes) = given {
            sizes
                .iter_mut()
                .filter(|size| **size == Size::Number(from as i64))
                .for_each(|size| *size = Size::Number(to as i64));
        }
    }
    smaller
}

/// Inputs one by one made dense, static, normal, f32.
fn plainer_inputs(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    for (place, (_, input)) in program.inputs.iter().enumerate() {
        let mut with = |plainer: Input| {
            let mut smaller = program.clone();
            smaller.inputs[place].1 = plainer;
            all.push(smaller);
        };
        if input.placement != Placement::default() {
            with(Input { placement: Placement::default(), ..input.clone() });
        }
        if input.within.is_some() {
            with(Input { within: None, ..input.clone() });
        }
        if input.expanded.contains(&true) {
            with(Input { expanded: vec![false; input.sizes.len()], ..input.clone() });
        }
        if !input.declared_order.is_empty() {
            with(Input { declared_order: Vec::new(), ..input.clone() });
        }
        if input.symbolic.contains(&true) {
            with(Input { symbolic: vec![false; input.sizes.len()], ..input.clone() });
        }
        if input.numbers != Numbers::Normal {
            with(Input { numbers: Numbers::Normal, ..input.clone() });
        }
        if input.is_scalar {
            with(Input { is_scalar: false, ..input.clone() });
        }
        if input.dtype != DType::F32 {
            with(Input { dtype: DType::F32, ..input.clone() });
        }
    }
    all
}
