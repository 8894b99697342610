//! Folds over any axes of any layout, against plain loops, for any number of threads.

use ops::Monoid;

use super::*;

fn fold(p: &mut Program, monoid: Monoid, axes: &[u8], x: Val) -> Val {
    p.add(Form::Fold { monoid, axes: axes.iter().copied().collect() }, &[x])
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

/// The elements of each result, in row-major order of the axes that stay.
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
    let (ints, bools) = (array(&[4], &[i32::MAX, 2, -3, 9]), array(&[4], &[1_u8, 0, 7, 1]));
    let out = p.run(&outputs, &[ints.view(), bools.view()]);
    let results: Vec<i64> = out.iter().map(|output| output.value.scalars()[0].as_i64()).collect();
    let product = i32::MAX.wrapping_mul(-54);
    assert_eq!(
        results,
        [i64::from(i32::MAX.wrapping_add(8)), product.into(), i32::MAX.into(), -3, 1, 0, 1, 0]
    );
    assert!(out.iter().all(|output| output.bound.is_none()));
    let refused = p.graph.add(
        Form::Fold { monoid: Monoid::Welford, axes: [0].into_iter().collect() },
        &[x],
        &mut p.facts,
    );
    assert!(refused.is_err());
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
    let row = p.add(Form::Broadcast([false, true].into_iter().collect()), &[outputs[2]]);
    let wide = p.add(Form::Expand(exprs(&shape)), &[row]);
    outputs.push(p.map(Prim::Tanh, &[x]));
    outputs.push(p.map(Prim::Mul, &[x, wide]));
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
            let mut outputs = vec![p.add(Form::Scan { monoid: monoid.clone(), axis }, &[x])];
            let length = if axis == 0 { rows } else { columns };
            for end in 1..=length as i64 {
                let sizes = if axis == 0 { [end, columns as i64] } else { [rows as i64, end] };
                let prefix = p.add(Form::Slice { starts: exprs(&[0, 0]), sizes: exprs(&sizes) }, &[x]);
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
        let best = p.add(Form::Fold { monoid, axes: [1].into_iter().collect() }, &[x, k]);
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
