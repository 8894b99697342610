//! Every op that moves, maps or makes elements, against plain loops.

use ir::graph::ExternalOp;

use super::*;

fn counting(sizes: &[usize]) -> Array {
    let numel = sizes.iter().product::<usize>();
    array(sizes, &(0..numel).map(|k| k as f32).collect::<Vec<_>>())
}

#[test]
fn movement_ops_say_where_elements_go() {
    let mut p = Program::default();
    let x = p.input(DType::F32, &[2, 3, 4]);
    let permuted = p.add(TensorOp::Permute([2, 0, 1].into_iter().collect()), &[x]);
    let reshaped = p.add(TensorOp::Reshape(exprs(&[4, 6])), &[permuted]);
    let sliced = p.add(TensorOp::Slice { starts: exprs(&[1, 2]), sizes: exprs(&[2, 3]) }, &[reshaped]);
    let fill = p.constant(DType::F32, -1.0);
    let padded = p.add(TensorOp::Pad { before: exprs(&[1, -1]), after: exprs(&[0, 2]) }, &[sliced, fill]);
    let joined = p.add(TensorOp::Cat(1), &[sliced, sliced]);
    let outlined = p.add(TensorOp::Broadcast([false, true, false].into_iter().collect()), &[sliced]);
    let expanded = p.add(TensorOp::Expand(exprs(&[2, 2, 3])), &[outlined]);
    let squeezed = p.add(TensorOp::Squeeze([1].into_iter().collect()), &[outlined]);
    let input = counting(&[2, 3, 4]);
    let out = p.run(&[permuted, reshaped, sliced, padded, expanded, squeezed, joined], &[input.view()]);

    let at = |i: usize, j: usize, k: usize| (i * 12 + j * 4 + k) as f64;
    let mut expected = Vec::new();
    for k in 0..4 {
        for i in 0..2 {
            expected.extend((0..3).map(|j| at(i, j, k)));
        }
    }
    assert_eq!(reals(&out[0]), expected);
    assert_eq!(reals(&out[1]), expected);
    let window: Vec<f64> =
        [1, 2].into_iter().flat_map(|row| expected[row * 6 + 2..row * 6 + 5].to_vec()).collect();
    assert_eq!(reals(&out[2]), window);
    let w = &window;
    let rows = [[-1.0; 4], [w[1], w[2], -1.0, -1.0], [w[4], w[5], -1.0, -1.0]];
    assert_eq!(reals(&out[3]), rows.concat());
    assert_eq!(reals(&out[4]), [&w[..3], &w[..3], &w[3..], &w[3..]].concat());
    assert_eq!(reals(&out[5]), window);
    assert_eq!(reals(&out[6]), [&w[..3], &w[..3], &w[3..], &w[3..]].concat());
    assert!(out.iter().all(|output| output.bound.is_none()));
}

#[test]
fn inputs_may_be_strided_repeated_and_reversed() {
    let mut p = Program::default();
    let (x, y) = (p.input(DType::F32, &[2, 3]), p.input(DType::F32, &[2, 3]));
    let sum = p.map(ScalarOp::Add, &[x, y]);
    let memory: Vec<u8> = (0..6).flat_map(|k| (k as f32).to_ne_bytes()).collect();
    let repeated = ArrayView::new(&memory, 4, DType::F32, &[2, 3], &[0, 2]).unwrap();
    let reversed = ArrayView::new(&memory, 20, DType::F32, &[2, 3], &[-3, -1]).unwrap();
    let out = p.run(&[sum, x], &[repeated, reversed]);
    assert_eq!(reals(&out[0]), [6.0, 7.0, 8.0, 3.0, 4.0, 5.0]);
    assert_eq!(reals(&out[1]), [1.0, 3.0, 5.0, 1.0, 3.0, 5.0]);
}

#[test]
fn maps_mix_ranks_sizes_of_one_and_dtypes() {
    let mut p = Program::default();
    let (x, y) = (p.input(DType::I32, &[2, 1]), p.input(DType::I32, &[1, 3]));
    let two = p.constant(DType::I32, 2.0);
    let product = p.map(ScalarOp::Mul, &[x, y]);
    let shifted = p.map(ScalarOp::Sub, &[product, two]);
    let less = p.map(ScalarOp::Lt, &[product, two]);
    let chosen = p.map(ScalarOp::Where, &[less, shifted, product]);
    let real = p.cast(DType::F64, chosen);
    let quarter = p.constant(DType::F64, 0.25);
    let scaled = p.map(ScalarOp::Mul, &[real, quarter]);
    let half = p.cast(DType::F16, scaled);
    let (left, right) = (array(&[2, 1], &[3, -4]), array(&[1, 3], &[1, 0, 1 << 30]));
    let out = p.run(&[product, less, chosen, half], &[left.view(), right.view()]);
    let product: [i32; 6] = [3, 0, 3221225472_u32 as i32, -4, 0, 0];
    let expected: Vec<i32> = product.iter().map(|&x| if x < 2 { x.wrapping_sub(2) } else { x }).collect();
    assert_eq!(out[0].value.as_slice::<i32>(), product);
    assert_eq!(out[1].value.as_slice::<ByteBool>(), product.map(|x| ByteBool((x < 2).into())));
    assert_eq!(out[2].value.as_slice::<i32>(), expected);
    let halves: Vec<f64> = expected.iter().map(|&x| DType::F16.round(f64::from(x) * 0.25)).collect();
    assert_eq!(reals(&out[3]), halves);
}

#[test]
fn every_op_is_what_its_row_says() {
    for &op in ScalarOp::ALL {
        for dtype in [DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64] {
            check_op(op, dtype);
        }
    }
}

/// One op on all combinations of some numbers, against the same op on constants.
fn check_op(op: ScalarOp, dtype: DType) {
    let numbers = [0.0, 1.0, -1.0, 2.5, 33.0, -7.0, 1e10, 0.3, f64::INFINITY, f64::NAN];
    let scalars: Vec<Scalar> = numbers.iter().map(|&x| Scalar::from_f64(dtype, x)).collect();
    let operand = |n: usize, k: u32| {
        let scalar = scalars[n / numbers.len().pow(k) % numbers.len()];
        if op == ScalarOp::Where && k == 0 { scalar.cast(DType::Bool) } else { scalar }
    };
    let arity = op.arity() as u32;
    let combos: Vec<Vec<Scalar>> =
        (0..numbers.len().pow(arity)).map(|n| (0..arity).map(|k| operand(n, k)).collect()).collect();
    let Some(expected) = combos.iter().map(|combo| op.of_scalars(combo)).collect::<Option<Vec<_>>>() else {
        return;
    };
    let mut p = Program::default();
    let arrays: Vec<Array> = (0..op.arity()).map(|k| column(&combos, k)).collect();
    let operands: Vec<Val> = arrays.iter().map(|a| p.input(a.dtype(), &[combos.len() as i64])).collect();
    let Ok(node) = p.graph.add(TensorOp::Map(op), &operands, &mut p.facts) else { return };
    let views: Vec<ArrayView<'_>> = arrays.iter().map(Array::view).collect();
    let out = p.run(&[node.into()], &views);
    for (given, (expected, combo)) in out[0].value.scalars().iter().zip(expected.iter().zip(&combos)) {
        let same = given == expected || (given.as_f64().is_nan() && expected.as_f64().is_nan());
        assert!(same, "{} on {dtype} {combo:?}: {given} where {expected} was expected", op.name());
    }
}

/// Operand `k` of each combination as an array.
fn column(combos: &[Vec<Scalar>], k: usize) -> Array {
    let mut result = Array::zeros(combos[0][k].dtype(), &[combos.len()]).unwrap();
    let width = result.dtype().size();
    for (element, combo) in result.as_mut_bytes().chunks_exact_mut(width).zip(combos) {
        element.copy_from_slice(&combo[k].bits().to_le_bytes()[..width]);
    }
    result
}

#[test]
fn casts_are_those_of_constants() {
    let numbers = [0.0, -0.4, 1.5, 65519.0, 70000.0, -3e9, 1e19, 1e-41, f64::NAN, f64::NEG_INFINITY];
    for from in DType::REAL {
        for to in DType::REAL {
            let combos: Vec<Vec<Scalar>> = numbers.iter().map(|&x| vec![Scalar::from_f64(from, x)]).collect();
            let mut p = Program::default();
            let x = p.input(from, &[numbers.len() as i64]);
            let cast = p.cast(to, x);
            let out = p.run(&[cast], &[column(&combos, 0).view()]);
            let expected: Vec<Scalar> = combos.iter().map(|combo| combo[0].cast(to)).collect();
            let text = |list: &[Scalar]| list.iter().map(|x| x.to_string()).collect::<Vec<_>>();
            assert_eq!(text(&out[0].value.scalars()), text(&expected), "{from} to {to}");
        }
    }
}

#[test]
fn ramps_and_scalars_are_made_from_nothing() {
    let mut p = Program::default();
    let (start, step) = (p.constant(DType::I32, 5.0), p.constant(DType::I32, -2.0));
    let ramp = p.add(TensorOp::Iota(Expr::constant(4)), &[start, step]);
    let (zero, tenth) = (p.constant(DType::F32, 0.0), p.constant(DType::F32, 0.1));
    let real = p.add(TensorOp::Iota(Expr::constant(1000)), &[zero, tenth]);
    let size = p.add(TensorOp::Size(Expr::constant(7)), &[]);
    let out = p.run(&[ramp, real, size], &[]);
    assert_eq!(out[0].value.as_slice::<i32>(), [5, 3, 1, -1]);
    assert_eq!(out[2].value.as_slice::<i64>(), [7]);
    assert!(out[0].bound.is_none() && out[2].bound.is_none());
    let bound = bounds(&out[1]);
    for (k, x) in reals(&out[1]).into_iter().enumerate() {
        let compiled = 0.0_f32 + 0.1_f32 * k as f32;
        assert!((f64::from(compiled) - x).abs() <= bound[k]);
    }
}

#[test]
fn axes_of_size_zero_and_scalars_are_arrays_too() {
    let mut p = Program::default();
    let x = p.input(DType::F32, &[3, 0, 2]);
    let doubled = p.map(ScalarOp::Add, &[x, x]);
    let flat = p.add(TensorOp::Reshape(exprs(&[0, 5])), &[doubled]);
    let one = p.constant(DType::F32, 1.5);
    let padded = p.add(TensorOp::Pad { before: exprs(&[0, 1, 0]), after: exprs(&[0, 0, 0]) }, &[x, one]);
    let joined = p.add(TensorOp::Cat(1), &[x, padded]);
    let scalar = p.map(ScalarOp::Mul, &[one, one]);
    let cast = p.cast(DType::BF16, flat);
    let out = p.run(
        &[doubled, flat, joined, scalar, cast, one, one],
        &[Array::zeros(DType::F32, &[3, 0, 2]).unwrap().view()],
    );
    let sizes: Vec<&[usize]> = out.iter().map(|output| output.value.sizes()).collect();
    assert_eq!(sizes, [&[3, 0, 2][..], &[0, 5], &[3, 1, 2], &[], &[0, 5], &[], &[]]);
    assert_eq!(reals(&out[2]), [1.5; 6]);
    assert_eq!(reals(&out[3]), [2.25]);
    assert_eq!(reals(&out[5]), reals(&out[6]));
}

#[test]
fn a_pad_may_leave_nothing_of_its_operand() {
    let mut p = Program::default();
    let x = p.input(DType::F32, &[2, 3]);
    let fill = p.constant(DType::F32, 7.0);
    let power = p.map(ScalarOp::Exp, &[fill]);
    let beyond = p.add(TensorOp::Pad { before: exprs(&[1, 6]), after: exprs(&[0, -5]) }, &[x, power]);
    let around = p.add(TensorOp::Pad { before: exprs(&[1, 0]), after: exprs(&[1, 2]) }, &[x, power]);
    let out = p.run(&[beyond, around, power], &[counting(&[2, 3]).view()]);
    let (fill, bound) = (reals(&out[2])[0], bounds(&out[2])[0]);
    assert!(bound > 0.0);
    assert_eq!((reals(&out[0]), bounds(&out[0])), (vec![fill; 12], vec![bound; 12]));
    let inside = |row: usize, column: usize| (1..3).contains(&row) && column < 3;
    let expected = |within: &dyn Fn(usize) -> f64, outside: f64| -> Vec<f64> {
        let places = (0..4).flat_map(|row| (0..5).map(move |column| (row, column)));
        let element =
            |(row, column)| if inside(row, column) { within(3 * (row - 1) + column) } else { outside };
        places.map(element).collect()
    };
    assert_eq!(reals(&out[1]), expected(&|number| number as f64, fill));
    assert_eq!(bounds(&out[1]), expected(&|_| 0.0, bound));
}

#[test]
fn scattered_elements_bring_their_bounds() {
    let indices: [i64; 16] = [0, 2, 1, 1, 2, 0, 0, 0, 1, 1, 1, 1, 2, 0, 0, 2];
    let (target, source) = (counting(&[2, 3, 2]), counting(&[2, 4, 2]));
    for inexact in [[false, false], [false, true], [true, false], [true, true]] {
        let mut p = Program::default();
        let mut operand = |sizes: &[i64], inexact: bool| {
            let x = p.input(DType::F32, sizes);
            if inexact { p.map(ScalarOp::Exp, &[x]) } else { x }
        };
        let (x, y) = (operand(&[2, 3, 2], inexact[0]), operand(&[2, 4, 2], inexact[1]));
        let index = p.input(DType::I64, &[2, 4, 2]);
        let scattered = p.add(TensorOp::External(ExternalOp::Scatter(1)), &[x, index, y]);
        let places = array(&[2, 4, 2], &indices);
        let out = p.run(&[x, y, scattered], &[target.view(), source.view(), places.view()]);
        let expected = |of: &dyn Fn(&Evaluated) -> Vec<f64>| {
            let (mut result, source) = (of(&out[0]), of(&out[1]));
            for (number, &index) in indices.iter().enumerate() {
                result[number / 8 * 6 + index as usize * 2 + number % 2] = source[number];
            }
            result
        };
        assert_eq!(reals(&out[2]), expected(&reals));
        assert_eq!(bounds(&out[2]), expected(&bounds));
        assert_eq!(out[2].bound.is_some(), inexact != [false, false]);
    }
}

#[test]
fn an_index_that_is_not_sure_may_mean_any_place_of_its_line() {
    let mut p = Program::default();
    let (x, y, z) =
        (p.input(DType::F32, &[2, 3]), p.input(DType::F32, &[1, 1]), p.input(DType::F32, &[1, 1]));
    let power = p.map(ScalarOp::Exp, &[z]);
    let index = p.cast(DType::I64, power);
    let scattered = p.add(TensorOp::External(ExternalOp::Scatter(1)), &[x, index, y]);
    let [one, zero] = [9.0_f32, 0.0].map(|x| array(&[1, 1], &[x]));
    let out = p.run(&[scattered], &[counting(&[2, 3]).view(), one.view(), zero.view()]);
    assert_eq!(reals(&out[0]), [0.0, 9.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(bounds(&out[0]), [f64::INFINITY, f64::INFINITY, f64::INFINITY, 0.0, 0.0, 0.0]);
}
