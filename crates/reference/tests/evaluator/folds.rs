//! Folds over any axes of any layout, against plain loops, for any number of threads.

use ops::Monoid;

use super::*;

fn fold(p: &mut Program, monoid: Monoid, axes: &[u8], x: Val) -> Val {
    p.add(TensorOp::Fold { monoid, axes: axes.iter().copied().collect() }, &[x])
}

#[test]
fn folds_of_small_arrays_are_loops() {
    let mut random = Random(7);
    for sizes in [[3_usize, 4, 5], [1, 7, 2], [2, 0, 3], [0, 2, 2]] {
        let numel: usize = sizes.iter().product();
        let memory = random.floats(2 * numel + 1);
        let bytes: Vec<u8> = memory.iter().flat_map(|x| x.to_ne_bytes()).collect();
        let strides = [-2 * (sizes[1] * sizes[2]) as isize, 2, 2 * sizes[1] as isize];
        let start = if numel > 0 { 4 * 2 * (sizes[0] - 1) * sizes[1] * sizes[2] } else { 0 };
        let view = ArrayView::new(&bytes, start, DType::F32, &sizes, &strides).unwrap();
        for axes in [&[0_u8][..], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]] {
            check_folds(&view, axes);
        }
    }
}

fn check_folds(view: &ArrayView<'_>, axes: &[u8]) {
    let sizes: Vec<i64> = view.sizes().iter().map(|&size| size as i64).collect();
    let mut p = Program::default();
    let x = p.input(DType::F32, &sizes);
    let mut outputs: Vec<Val> =
        Monoid::NAMED[..5].iter().map(|monoid| fold(&mut p, monoid.clone(), axes, x)).collect();
    let welford = outputs[4].node;
    outputs.extend(p.graph.results(welford).skip(1));
    let out = p.run(&outputs, std::slice::from_ref(view));
    for (number, group) in groups(view, axes).into_iter().enumerate() {
        let n = group.len() as f64;
        let mean = if group.is_empty() { 0.0 } else { group.iter().sum::<f64>() / n };
        let expected = [
            group.iter().sum(),
            group.iter().product(),
            group.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            group.iter().copied().fold(f64::INFINITY, f64::min),
            mean,
            group.iter().map(|x| (x - mean) * (x - mean)).sum(),
            n,
        ];
        for (output, expected) in out.iter().zip(expected) {
            let given = reals(output)[number];
            let near = (given - expected).abs() <= 1e-7 * expected.abs() + 1e-12;
            assert!(
                near || given == expected,
                "{given} where {expected} was expected, axes {axes:?} of {view:?}"
            );
        }
    }
}

/// The elements of each result, in row-major order of the kept axes.
fn groups(view: &ArrayView<'_>, axes: &[u8]) -> Vec<Vec<f64>> {
    let sizes = view.sizes();
    let kept: Vec<usize> = (0..sizes.len()).filter(|&axis| !axes.contains(&(axis as u8))).collect();
    let mut groups = vec![Vec::new(); kept.iter().map(|&axis| sizes[axis]).product()];
    for number in 0..view.numel() {
        let stride = |axis: usize| sizes[axis + 1..].iter().product::<usize>();
        let group =
            kept.iter().fold(0, |group, &axis| group * sizes[axis] + number / stride(axis) % sizes[axis]);
        groups[group].push(view.scalar(number).as_f64());
    }
    groups
}

#[test]
fn integers_and_bools_fold_exactly_and_wrap() {
    let mut p = Program::default();
    let (x, b) = (p.input(DType::I32, &[4]), p.input(DType::Bool, &[4]));
    let outputs: Vec<Val> = [x, b]
        .into_iter()
        .flat_map(|val| Monoid::NAMED[..4].iter().map(move |monoid| (val, monoid.clone())))
        .map(|(val, monoid)| fold(&mut p, monoid, &[0], val))
        .collect();
    let (ints, bools) = (array(&[4], &[i32::MAX, 2, -3, 9]), array(&[4], &[1, 0, 7, 1].map(ByteBool)));
    let out = p.run(&outputs, &[ints.view(), bools.view()]);
    let results: Vec<i64> = out.iter().map(|output| output.value.scalars()[0].as_i64()).collect();
    let product = i32::MAX.wrapping_mul(-54);
    assert_eq!(
        results,
        [i64::from(i32::MAX.wrapping_add(8)), product.into(), i32::MAX.into(), -3, 1, 0, 1, 0]
    );
    assert!(out.iter().all(|output| output.bound.is_none()));
    let rejected = p.graph.add(
        TensorOp::Fold { monoid: Monoid::Welford, axes: [0].into_iter().collect() },
        &[x],
        &mut p.facts,
    );
    assert!(rejected.is_err());
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let (rows, columns) = (700_usize, 300_usize);
    let mut p = Program::default();
    let x = p.input(DType::F32, &[rows as i64, columns as i64]);
    let shape = [rows as i64, columns as i64];
    let mut outputs = Vec::new();
    for axes in [&[0_u8][..], &[1], &[0, 1]] {
        for monoid in [Monoid::Sum, Monoid::Welford] {
            outputs.push(fold(&mut p, monoid, axes, x));
        }
    }
    let row = p.add(TensorOp::Broadcast([false, true].into_iter().collect()), &[outputs[2]]);
    let wide = p.add(TensorOp::Expand(exprs(&shape)), &[row]);
    outputs.push(p.map(ScalarOp::Tanh, &[x]));
    outputs.push(p.map(ScalarOp::Mul, &[x, wide]));
    let input = array(&[rows, columns], &Random(3).floats(rows * columns));
    let run = |threads: usize| {
        let options = EvaluateOptions { workers: &Threads(threads), ..EvaluateOptions::default() };
        let out = p.try_run(&outputs, &[input.view()], &options).unwrap().outputs;
        let bits = |output: &Evaluated| (output.value.as_bytes().to_vec(), bounds(output));
        out.iter().map(bits).collect::<Vec<_>>()
    };
    let one = run(1);
    (2..=4).for_each(|threads| assert!(run(threads) == one, "{threads} threads differ from one"));
}

#[test]
fn scans_are_folds_of_every_prefix() {
    let (rows, columns) = (3_usize, 5_usize);
    let memory = Random(11).floats(rows * columns);
    let input = array(&[rows, columns], &memory);
    for axis in [0_u8, 1] {
        for monoid in &Monoid::NAMED[..4] {
            let mut p = Program::default();
            let x = p.input(DType::F32, &[rows as i64, columns as i64]);
            let mut outputs = vec![p.add(TensorOp::Scan { monoid: monoid.clone(), axis }, &[x])];
            let length = if axis == 0 { rows } else { columns };
            for end in 1..=length as i64 {
                let sizes = if axis == 0 { [end, columns as i64] } else { [rows as i64, end] };
                let prefix = p.add(TensorOp::Slice { starts: exprs(&[0, 0]), sizes: exprs(&sizes) }, &[x]);
                outputs.push(fold(&mut p, monoid.clone(), &[axis], prefix));
            }
            let out = p.run(&outputs, &[input.view()]);
            let scanned = reals(&out[0]);
            for (number, &value) in scanned.iter().enumerate() {
                let (row, column) = (number / columns, number % columns);
                let (place, other) = if axis == 0 { (row, column) } else { (column, row) };
                let folded = reals(&out[1 + place])[other];
                assert!((value - folded).abs() <= 1e-6 * folded.abs(), "{} {value} {folded}", monoid.name());
            }
        }
    }
}

#[test]
fn equal_elements_give_the_first_index_and_nan_wins() {
    let mut p = Program::default();
    let (x, k) = (p.input(DType::F32, &[2, 4]), p.input(DType::I64, &[2, 4]));
    let mut outputs = Vec::new();
    for monoid in [Monoid::Argmax, Monoid::Argmin] {
        let best = p.add(TensorOp::Fold { monoid, axes: [1].into_iter().collect() }, &[x, k]);
        outputs.push(Val { node: best.node, result: 1 });
    }
    let elements = array(&[2, 4], &[3.0_f32, 7.0, 7.0, 3.0, 1.0, f32::NAN, 9.0, f32::NAN]);
    let numbers = array(&[2, 4], &[0_i64, 1, 2, 3, 0, 1, 2, 3]);
    let out = p.run(&outputs, &[elements.view(), numbers.view()]);
    let places: Vec<i64> =
        out.iter().flat_map(|output| output.value.scalars()).map(|scalar| scalar.as_i64()).collect();
    assert_eq!(places, [1, 1, 0, 1]);
    assert!(out.iter().all(|output| output.bound.is_none()));
}

/// The winning element and its index, by a plain loop: NaN wins over all, among equal elements the smallest index.
fn winner(elements: &[f64], numbers: &[i64], largest: bool) -> (f64, i64) {
    let pairs = elements.iter().copied().zip(numbers.iter().copied());
    let wins = |(x, k): (f64, i64), (y, n): (f64, i64)| match (x.is_nan(), y.is_nan()) {
        (true, true) => k < n,
        (a, b) if a || b => a,
        _ if x == y => k < n,
        _ => (x > y) == largest,
    };
    pairs.reduce(|best, pair| if wins(pair, best) { pair } else { best }).expect("not empty")
}

#[test]
fn places_of_extremes_are_those_of_a_loop() {
    let (rows, columns) = (37_usize, 1300_usize);
    let mut random = Random(17);
    let special = [f32::NAN, 0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, 2.5];
    let mut draw = |nan: usize| special[nan + random.below(special.len() - nan)];
    let elements: Vec<f32> = (0..rows * columns).map(|k| draw(usize::from(k % columns % 97 != 5))).collect();
    let numbers: Vec<i64> = (0..rows * columns).map(|k| (k * 7919 % (rows * columns)) as i64).collect();
    let (input, places) = (array(&[rows, columns], &elements), array(&[rows, columns], &numbers));
    for (dtype, to) in [(DType::F32, DType::F32), (DType::F32, DType::I32), (DType::F32, DType::U64)] {
        let mut p = Program::default();
        let (x, k) = (p.input(dtype, &[37, 1300]), p.input(DType::I64, &[37, 1300]));
        let cast = p.cast(to, x);
        let mut outputs = vec![cast];
        for monoid in [Monoid::Argmax, Monoid::Argmin] {
            for axis in [0_u8, 1] {
                let best = TensorOp::Fold { monoid: monoid.clone(), axes: [axis].into_iter().collect() };
                let folded = p.add(best, &[cast, k]);
                let scanned = p.add(TensorOp::Scan { monoid: monoid.clone(), axis }, &[cast, k]);
                outputs.extend([folded, scanned].map(|val| Val { node: val.node, result: 0 }));
                outputs.extend([folded, scanned].map(|val| Val { node: val.node, result: 1 }));
            }
        }
        let out = p.run(&outputs, &[input.view(), places.view()]);
        assert!(out.iter().all(|output| output.bound.is_none()));
        let elements = reals(&out[0]);
        for (case, results) in out[1..].chunks(4).enumerate() {
            let (largest, axis) = (case / 2 == 0, case % 2);
            let results: Vec<Vec<f64>> = results.iter().map(reals).collect();
            let (lines, length) = if axis == 0 { (columns, rows) } else { (rows, columns) };
            for line in 0..lines {
                let place = |k: usize| if axis == 0 { k * columns + line } else { line * columns + k };
                let ends = [0, 1, length / 2, length - 1];
                let of = |end: usize| {
                    let some: Vec<usize> = (0..=end).map(place).collect();
                    let xs: Vec<f64> = some.iter().map(|&place| elements[place]).collect();
                    let ks: Vec<i64> = some.iter().map(|&place| numbers[place]).collect();
                    winner(&xs, &ks, largest)
                };
                let same = |given: f64, wanted: f64| {
                    given.to_bits() == wanted.to_bits() || given.is_nan() && wanted.is_nan()
                };
                for end in ends {
                    let ((best, number), place) = (of(end), place(end));
                    assert!(same(results[1][place], best), "{to} {} where {best} wins", results[1][place]);
                    assert_eq!(results[3][place], number as f64, "{to}, along {axis}, line {line}, to {end}");
                }
                let (best, number) = of(length - 1);
                assert!(same(results[0][line], best) && results[2][line] == number as f64);
            }
        }
    }
}

/// Elements whose error intervals touch the best one's may win in an execution, others not.
#[test]
fn doubtful_places_reach_to_all_that_may_win() {
    let mut p = Program::default();
    let (x, k) = (p.input(DType::F32, &[6]), p.input(DType::I64, &[6]));
    let sure = p.map(ScalarOp::Exp, &[x]);
    let axes = || [0].into_iter().collect();
    let best = p.add(TensorOp::Fold { monoid: Monoid::Argmax, axes: axes() }, &[sure, k]);
    let outputs = [0, 1].map(|result| Val { node: best.node, result });
    let run = |elements: [f32; 6]| {
        let numbers = array(&[6], &[10_i64, 11, 12, 13, 14, 15]);
        let out = p.run(&outputs, &[array(&[6], &elements).view(), numbers.view()]);
        (reals(&out[1])[0], bounds(&out[0])[0], bounds(&out[1])[0])
    };
    let close = 1.0 + f32::EPSILON;
    let (number, error, reach) = run([0.5, 1.0, 0.3, 0.2, close, 0.9]);
    assert!(number == 14.0 && (3.0..3.001).contains(&reach) && error > 0.0, "{number} {error} {reach}");
    let (number, _, reach) = run([0.5, 1.0, 0.3, 0.2, 1.5, 0.9]);
    assert_eq!((number, reach), (14.0, 0.0));
    let (number, _, reach) = run([0.5, f32::NAN, 0.3, f32::INFINITY, 1.5, 0.9]);
    assert_eq!((number, reach), (11.0, 0.0));
}

/// The results of a scan.
fn scans(p: &mut Program, monoid: &Monoid, axis: u8, operands: &[Val]) -> Vec<Val> {
    let scan = p.add(TensorOp::Scan { monoid: monoid.clone(), axis }, operands);
    p.graph.results(scan.node).collect()
}

#[test]
fn lines_are_scanned_side_by_side_as_one_by_one() {
    let (outer, length, inner) = (2_usize, 5, 700);
    let numbers = Random(9).floats(outer * length * inner);
    for dtype in [DType::F32, DType::I64, DType::Bool] {
        for monoid in Monoid::NAMED.iter().filter(|&monoid| *monoid != Monoid::Welford || dtype.is_float()) {
            let mut p = Program::default();
            let given = p.input(DType::F32, &[outer as i64, length as i64, inner as i64]);
            // Numbers with errors, some of them equal.
            let near = p.map(ScalarOp::ReciprocalHalf, &[given]);
            let x = if dtype.is_float() { near } else { p.cast(dtype, near) };
            let places = p.cast(DType::I64, given);
            let is_numbered = matches!(monoid, Monoid::Argmax | Monoid::Argmin);
            let operands = if is_numbered { vec![x, places] } else { vec![x] };
            let abreast = scans(&mut p, monoid, 1, &operands);
            let moved =
                |p: &mut Program, val: Val| p.add(TensorOp::Permute([0, 2, 1].into_iter().collect()), &[val]);
            let operands: Vec<Val> = operands.iter().map(|&val| moved(&mut p, val)).collect();
            let lines = scans(&mut p, monoid, 2, &operands);
            let lines: Vec<Val> = lines.into_iter().map(|val| moved(&mut p, val)).collect();
            let input = array(&[outer, length, inner], &numbers);
            let results = p.run(&[abreast, lines].concat(), &[input.view()]);
            let (abreast, lines) = results.split_at(results.len() / 2);
            for (abreast, line) in abreast.iter().zip(lines) {
                let what = format!("{} of {dtype}", monoid.name());
                assert_eq!(abreast.value.as_bytes(), line.value.as_bytes(), "{what}");
                assert_eq!(bounds(abreast), bounds(line), "{what}");
            }
        }
    }
}
