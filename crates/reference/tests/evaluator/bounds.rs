//! The bounds hold for simulated executions in f32, in any order of folds, and are tight enough to catch planted errors.

use ferrofuse_reference::evaluate::{Bound, Serial, compare};
use ir::array::Layout;
use ops::{Body, BodyStep, Lambda, Monoid, Real, Totals};

use super::*;

const ROWS: usize = 4;
const COLUMNS: usize = 61;

/// The order in which a simulated fold combines.
#[derive(Clone, Copy, Debug)]
enum Grouping {
    Sequential,
    Backward,
    Lanes(usize),
    Pairwise,
}

const GROUPINGS: [Grouping; 4] =
    [Grouping::Sequential, Grouping::Backward, Grouping::Lanes(8), Grouping::Pairwise];

/// Evaluates expressions of monoids in f32, with each op rounded.
struct Single;

impl ops::Arith for Single {
    type V = f64;

    fn apply(&mut self, op: ScalarOp, args: &[f64]) -> f64 {
        DType::F32.round(op.of_reals(args))
    }

    fn constant(&mut self, value: f64) -> f64 {
        DType::F32.round(value)
    }
}

/// The states of a monoid over a row, combined in this order as compiled code would.
fn fold_row(monoid: &Monoid, row: &[f64], grouping: Grouping) -> Vec<f64> {
    let exprs = monoid.exprs().expect("a row");
    let empty: Vec<f64> = monoid.identity(&[DType::F32]).iter().map(|x| x.as_f64()).collect();
    let step = |states: Vec<f64>, x: &f64| exprs.step.eval_all(&mut Single, &[states, vec![*x]].concat());
    let is_wide = monoid.totals(&[DType::F32]) == Totals::OfLanes;
    let join = |a: Vec<f64>, b: Vec<f64>| match is_wide {
        true => exprs.combine.eval_all(&mut Real, &[a, b].concat()),
        false => exprs.combine.eval_all(&mut Single, &[a, b].concat()),
    };
    match grouping {
        Grouping::Sequential => row.iter().fold(empty, step),
        Grouping::Backward => row.iter().rev().fold(empty, step),
        Grouping::Lanes(lanes) => (0..lanes)
            .map(|lane| row.iter().skip(lane).step_by(lanes).fold(empty.clone(), step))
            .reduce(join)
            .expect("a lane at least"),
        Grouping::Pairwise if row.len() <= 2 => row.iter().fold(empty, step),
        Grouping::Pairwise => {
            let (left, right) = row.split_at(row.len() / 2);
            join(fold_row(monoid, left, grouping), fold_row(monoid, right, grouping))
        }
    }
}

/// The results of a row.
fn results_of_row(monoid: &Monoid, row: &[f64], grouping: Grouping) -> Vec<f64> {
    let results = monoid.finish(&mut Real, &fold_row(monoid, row, grouping));
    results.into_iter().map(|result| DType::F32.round(result)).collect()
}

/// Whether two results, equal or both NaN otherwise, differ by at most a bound; an infinite bound allows anything.
fn is_within(ours: f64, theirs: f64, bound: f64) -> bool {
    let same = ours == theirs || ours.is_nan() && theirs.is_nan();
    same || bound == f64::INFINITY || (ours - theirs).abs() <= bound
}

/// A random program and one execution of it in f32 with ops as inaccurate as their rows allow.
struct Simulation {
    program: Program,
    values: Vec<(Val, Vec<f64>)>,
    errors: Random,
    grouping: Grouping,
}

impl Simulation {
    fn apply(&mut self, op: ScalarOp, places: &[usize]) {
        let operands: Vec<Val> = places.iter().map(|&place| self.values[place].0).collect();
        let val = self.program.map(op, &operands);
        let ulp = op.row().ulp;
        let elements = (0..ROWS * COLUMNS).map(|k| {
            let args: Vec<f64> = places.iter().map(|&place| self.values[place].1[k]).collect();
            let exact = op.of_reals(&args);
            let error = (ulp - 0.5).max(0.0) * DType::F32.ulp(exact) * f64::from(self.errors.unit());
            DType::F32.round(if ulp > 0.5 { exact + error } else { exact })
        });
        let elements = elements.collect();
        self.values.push((val, elements));
    }

    fn through_half(&mut self, place: usize) {
        let narrow = self.program.cast(DType::BF16, self.values[place].0);
        let wide = self.program.cast(DType::F32, narrow);
        let rounded = self.values[place].1.iter().map(|&x| DType::BF16.round(x)).collect();
        self.values.push((wide, rounded));
    }

    /// A row fold, with each of its results as a matrix again.
    fn fold(&mut self, monoid: &Monoid, place: usize) {
        let fold = TensorOp::Fold { monoid: monoid.clone(), axes: [1].into_iter().collect() };
        let node = self.program.add(fold, &[self.values[place].0]).node;
        let states: Vec<Vec<f64>> = self.values[place]
            .1
            .chunks(COLUMNS)
            .map(|row| results_of_row(monoid, row, self.grouping))
            .collect();
        for result in 0..monoid.results() {
            let val = Val { node, result: result as u8 };
            let column = self.program.add(TensorOp::Broadcast([false, true].into_iter().collect()), &[val]);
            let wide = self.program.add(TensorOp::Expand(exprs(&[ROWS as i64, COLUMNS as i64])), &[column]);
            let elements = states.iter().flat_map(|states| vec![states[result]; COLUMNS]).collect();
            self.values.push((wide, elements));
        }
    }

    fn step(&mut self, structure: &mut Random) {
        let pick = |random: &mut Random, count: usize| random.below(count);
        let count = self.values.len();
        let (a, b) = (pick(structure, count), pick(structure, count));
        let unary = [
            ScalarOp::Exp,
            ScalarOp::Tanh,
            ScalarOp::Sin,
            ScalarOp::Abs,
            ScalarOp::Sqrt,
            ScalarOp::Neg,
            ScalarOp::Floor,
            ScalarOp::Log,
        ];
        let binary = [
            ScalarOp::Add,
            ScalarOp::Sub,
            ScalarOp::Mul,
            ScalarOp::Div,
            ScalarOp::Maximum,
            ScalarOp::Atan2,
            ScalarOp::Fmod,
        ];
        match pick(structure, 6) {
            0 => self.apply(unary[structure.below(unary.len())], &[a]),
            1 | 2 => self.apply(binary[structure.below(binary.len())], &[a, b]),
            3 => self.through_half(a),
            4 => self.select(a, b),
            _ => self.fold(&Monoid::NAMED[structure.below(5)], a),
        }
    }

    /// The larger one or the tangent of the other, by a comparison whose result may flip.
    fn select(&mut self, a: usize, b: usize) {
        self.apply(ScalarOp::Lt, &[a, b]);
        let condition = self.values.len() - 1;
        self.apply(ScalarOp::Where, &[condition, a, b]);
        self.values.remove(condition);
    }
}

fn simulate(seed: u64, grouping: Grouping) -> (usize, usize) {
    let mut structure = Random(seed * 7919 + 1);
    let mut program = Program::default();
    let sizes = [ROWS as i64, COLUMNS as i64];
    let inputs: Vec<Array> =
        (0..2).map(|_| array(&[ROWS, COLUMNS], &structure.floats(ROWS * COLUMNS))).collect();
    let values = inputs
        .iter()
        .map(|input| {
            (program.input(DType::F32, &sizes), input.scalars().iter().map(|x| x.as_f64()).collect())
        })
        .collect();
    let mut simulation = Simulation { program, values, errors: Random(seed + 99), grouping };
    (0..12).for_each(|_| simulation.step(&mut structure));
    let outputs: Vec<Val> = simulation.values.iter().map(|(val, _)| *val).collect();
    let views: Vec<ArrayView<'_>> = inputs.iter().map(Array::view).collect();
    let out = simulation.program.run(&outputs, &views);
    let (mut known, mut all) = (0, 0);
    for (output, (val, elements)) in out.iter().zip(&simulation.values) {
        let bounds = bounds(output);
        for (k, (ours, theirs)) in reals(output).into_iter().zip(elements).enumerate() {
            let line = || ir::graph::dump(&simulation.program.graph, &simulation.program.view(&outputs));
            assert!(
                is_within(ours, *theirs, bounds[k]),
                "{val} seed {seed} {grouping:?}: {theirs:e} is further than {:e} from {ours:e}\n{}",
                bounds[k],
                line()
            );
            known += usize::from(bounds[k].is_finite());
            all += 1;
        }
    }
    (known, all)
}

#[test]
fn simulated_executions_stay_within_the_bounds() {
    let (mut known, mut all) = (0, 0);
    for seed in 0..60 {
        for grouping in GROUPINGS {
            let (finite, count) = simulate(seed, grouping);
            known += finite;
            all += count;
        }
    }
    assert!(known * 2 > all, "only {known} of {all} bounds are finite");
}

/// Softmax without the shift: an op with an error, a fold and a quotient, so that every bound exceeds one unit.
fn softmax() -> (Program, Val, Array) {
    let mut p = Program::default();
    let (rows, columns) = (3, 1000);
    let x = p.input(DType::F32, &[rows, columns]);
    let e = p.map(ScalarOp::Exp, &[x]);
    let sum = p.add(TensorOp::Fold { monoid: Monoid::Sum, axes: [1].into_iter().collect() }, &[e]);
    let column = p.add(TensorOp::Broadcast([false, true].into_iter().collect()), &[sum]);
    let y = p.map(ScalarOp::Div, &[e, column]);
    let input = array(&[rows as usize, columns as usize], &Random(11).floats((rows * columns) as usize));
    (p, y, input)
}

#[test]
fn an_error_of_twice_the_bound_is_caught_where_it_is() {
    let (p, y, input) = softmax();
    let out = p.run(&[y], &[input.view()]).remove(0);
    assert!(compare(&out, &out.value.view(), &Serial).unwrap().matches());
    let bound = bounds(&out);
    for number in [0, 1, 999, 1000, 2999] {
        let mut planted = out.value.as_slice::<f32>().to_vec();
        let error = 2.0 * (bound[number] + DType::F32.ulp(f64::from(planted[number])));
        planted[number] += error as f32;
        let planted = array(out.value.sizes(), &planted);
        let comparison = compare(&out, &planted.view(), &Serial).unwrap();
        assert!(!comparison.matches() && comparison.mismatches == 1);
        assert!((comparison.worst_ratio - 2.0).abs() < 0.1, "{comparison:?}");
        assert_eq!(comparison.at, [number / 1000, number % 1000]);
        assert_eq!(comparison.got, Some(planted.view().scalar(number)));
    }
    // The bound of a quotient of a thousand terms is a few hundred units, not a few thousand.
    let relative = bound.iter().zip(reals(&out)).map(|(bound, y)| bound / y).fold(0.0, f64::max);
    assert!(relative < 600.0 * f64::from(f32::EPSILON), "{relative:e}");
}

#[test]
fn bounds_are_absent_where_both_sides_must_agree() {
    let mut p = Program::default();
    let x = p.input(DType::BF16, &[2, 2]);
    let wide = p.cast(DType::F32, x);
    let product = p.map(ScalarOp::Mul, &[wide, wide]);
    let root = p.map(ScalarOp::Exp, &[product]);
    let half = p.cast(DType::BF16, root);
    let input = array(&[2, 2], &[1.0, 2.0, 0.3, -1.5].map(half::bf16::from_f32));
    let out = p.run(&[product, root, half], &[input.view()]);
    assert!(out[0].bound.is_none() && out[1].bound.is_some());
    assert!(bounds(&out[2]).iter().filter(|&&bound| bound > 0.0).count() <= 1, "roundings rarely flip");
    let options = EvaluateOptions { bounds: false, ..EvaluateOptions::default() };
    let plain = p.try_run(&[root], &[input.view()], &options).unwrap().outputs.remove(0);
    assert!(plain.bound.is_none());
    assert_eq!(reals(&plain), reals(&out[1]));
}

#[test]
fn special_numbers_must_meet_their_like() {
    let evaluated = |bound: Option<[f32; 4]>| Evaluated {
        value: array(&[4], &[f32::NAN, f32::INFINITY, 1.0, 1e30]),
        bound: bound.map(|bound| Bound::new(array(&[4], &bound)).unwrap()),
    };
    let check = |evaluated: &Evaluated, actual: [f32; 4]| {
        compare(evaluated, &array(&[4], &actual).view(), &Serial).unwrap()
    };
    let same = check(&evaluated(None), [f32::NAN, f32::INFINITY, 1.0 + f32::EPSILON, 1e30]);
    assert!(same.matches() && same.worst_ratio == 1.0 && same.at == [2]);
    for (place, wrong) in [(0, 1.0), (1, f32::NEG_INFINITY), (1, f32::NAN), (1, f32::MAX), (3, f32::INFINITY)]
    {
        let mut actual = [f32::NAN, f32::INFINITY, 1.0, 1e30];
        actual[place] = wrong;
        assert_eq!(check(&evaluated(None), actual).worst_ratio, f64::INFINITY);
        assert!(check(&evaluated(Some([f32::INFINITY; 4])), actual).matches());
    }
    let ints = Evaluated { value: array(&[2], &[1_i64 << 60, 3]), bound: None };
    assert!(!compare(&ints, &array(&[2], &[(1_i64 << 60) + 1, 3]).view(), &Serial).unwrap().matches());
    assert!(compare(&ints, &array(&[1], &[3_i64]).view(), &Serial).is_err());
    let nothing = Evaluated { value: array::<f32>(&[0], &[]), bound: None };
    assert!(compare(&nothing, &array::<f32>(&[0], &[]).view(), &Serial).unwrap().matches());
    let repeated = array(&[1], &[1.0_f32]);
    let stretched = repeated.view().relaid(Layout::dense(&[1]).expanded(&[4])).unwrap();
    assert!(!compare(&evaluated(None), &stretched, &Serial).unwrap().matches());
}

/// A product of two floats as a monoid, from `init` on.
fn product_as_lambda(init: f64) -> Monoid {
    let product = BodyStep::Apply(ScalarOp::Mul, [0, 1].into_iter().collect());
    let body = Body::new(&[DType::F32; 2], vec![product], [2]).expect("a product of floats");
    Monoid::Lambda(Lambda::new(body, [Scalar::from_f64(DType::F32, init)]).expect("a state of one float"))
}

/// Groupings overflow that combine the large factors; each of them beside a small one would not.
#[test]
fn a_lambda_that_overflows_on_the_way_may_give_anything() {
    let mut p = Program::default();
    let x = p.input(DType::F32, &[4]);
    let folded =
        p.add(TensorOp::Fold { monoid: product_as_lambda(1.0), axes: [0].into_iter().collect() }, &[x]);
    let bound_of = |elements: [f32; 4]| {
        let x = array(&[4], &elements);
        bounds(&p.run(&[folded], &[x.view()])[0])[0]
    };
    assert_eq!(bound_of([1e30, 1e30, 1e-30, 1e-30]), f64::INFINITY);
    assert!(bound_of([1e10, 1e10, 1e-10, 1e-10]) < 1e-5);
}

/// Lanes without an element combine their identity with others' states; a comparison changes NaN to something else.
#[test]
fn a_lambda_whose_identity_changes_an_element_may_give_anything() {
    let lt = BodyStep::Apply(ScalarOp::Lt, [0, 1].into_iter().collect());
    let chosen = BodyStep::Apply(ScalarOp::Where, [2, 0, 1].into_iter().collect());
    let body = Body::new(&[DType::F32; 2], vec![lt, chosen], [3]).expect("the lesser of two floats");
    let lambda = Lambda::new(body, [Scalar::from_f64(DType::F32, 100.0)]).expect("a state of one float");
    let mut p = Program::default();
    let x = p.input(DType::F32, &[2]);
    let fold = TensorOp::Fold { monoid: Monoid::Lambda(lambda), axes: [0].into_iter().collect() };
    let folded = p.add(fold, &[x]);
    let bound_of = |element: f32| {
        let x = array(&[2], &[element; 2]);
        bounds(&p.run(&[folded], &[x.view()])[0])[0]
    };
    assert_eq!(bound_of(f32::NAN), f64::INFINITY);
    assert_eq!(bound_of(1.0), 0.0);
}

/// The product of a `mul_add` may be rounded before the addition, and may then be infinite.
#[test]
fn a_product_and_a_sum_may_round_twice() {
    let mut p = Program::default();
    let operands = [(); 3].map(|()| p.input(DType::F32, &[1]));
    let sum = p.map(ScalarOp::MulAdd, &operands);
    let [third, large] = [1.0 / 3.0, 1e30_f32];
    let bound_of = |numbers: [f32; 3]| {
        let arrays = numbers.map(|x| array(&[1], &[x]));
        let views: Vec<ArrayView<'_>> = arrays.iter().map(|array| array.view()).collect();
        bounds(&p.run(&[sum], &views)[0])[0]
    };
    let apart = third * third - third * third;
    let together = f64::from(third.mul_add(third, -third * third));
    assert!((together - f64::from(apart)).abs() <= bound_of([third, third, -third * third]));
    assert!(bound_of([third, third, 1.0]) < 4.0 * f64::from(f32::EPSILON));
    assert_eq!(bound_of([large, large, -1.0]), f64::INFINITY);
    assert!(bound_of([f32::INFINITY, 1.0, 1.0]).is_finite());
}

/// A product that overflows when it is rounded does not matter beside -inf if it is added unrounded.
#[test]
fn infinities_of_both_signs_may_be_one_and_a_product() {
    let mut p = Program::default();
    let [x, y] = [(); 2].map(|()| p.input(DType::F32, &[2]));
    let products = p.map(ScalarOp::Mul, &[x, y]);
    let sum = p.add(TensorOp::Fold { monoid: Monoid::Sum, axes: [0].into_iter().collect() }, &[products]);
    let bound_of = |elements: [f32; 2]| {
        let [x, y] = [array(&[2], &elements), array(&[2], &[1.0_f32, 1e30])];
        bounds(&p.run(&[sum], &[x.view(), y.view()])[0])[0]
    };
    assert_eq!(bound_of([f32::NEG_INFINITY, 1e30]), f64::INFINITY);
    assert_eq!(bound_of([f32::NEG_INFINITY, -1e30]), 0.0);
    assert_eq!(bound_of([f32::NAN, 1.0]), 0.0);
}

/// In a lambda, too: the reciprocal of a value that may be zero is anything, and so is zero times it.
#[test]
fn zero_times_what_may_be_anything_may_be_anything() {
    let monoid = product_as_lambda(0.0);
    let mut p = Program::default();
    let [x, one] = [(); 2].map(|()| p.input(DType::F32, &[1]));
    let power = p.map(ScalarOp::Exp, &[x]);
    let small = p.map(ScalarOp::Sub, &[power, one]);
    let large = p.map(ScalarOp::Reciprocal, &[small]);
    let scanned = p.add(TensorOp::Scan { monoid, axis: 0 }, &[large]);
    let inputs = [array(&[1], &[2e-7_f32]), array(&[1], &[1.0_f32])];
    let out = p.run(&[large, scanned], &inputs.each_ref().map(|array| array.view()));
    assert!(reals(&out[0])[0].is_finite() && bounds(&out[0]) == [f64::INFINITY]);
    assert!(reals(&out[1]) == [0.0] && bounds(&out[1]) == [f64::INFINITY]);
}
