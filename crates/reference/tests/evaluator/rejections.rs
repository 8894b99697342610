//! Mistakes of callers, and the messages about them.

use ir::graph::SymbolSource;

use super::*;

/// `a[i0, i1] + b[i0, i2]` with `i2 = i1` recorded, and the sum's first four columns.
fn program() -> (Program, Vec<Val>) {
    let mut p = Program::default();
    let mut sized =
        |ordinal: u32, axis: u8| Expr::sym(p.graph.add_symbol(SymbolSource::InputSize { ordinal, axis }));
    let (rows, left, right) = (sized(0, 0), sized(0, 1), sized(1, 1));
    let a = p.input_of(Type::new(DType::F32, [rows.clone(), left]));
    let b = p.input_of(Type::new(DType::F32, [rows.clone(), right]));
    let sum = p.map(ScalarOp::Add, &[a, b]);
    let box_of =
        TensorOp::Slice { starts: exprs(&[0, 0]), sizes: [rows, Expr::constant(4)].into_iter().collect() };
    let part = p.add(box_of, &[sum]);
    (p, vec![sum, part])
}

fn rejection(inputs: &[Array], options: &EvaluateOptions) -> String {
    let (p, outputs) = program();
    let views: Vec<ArrayView<'_>> = inputs.iter().map(Array::view).collect();
    match p.try_run(&outputs, &views, options) {
        Ok(_) => "fine".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn zeros(dtype: DType, sizes: &[usize]) -> Array {
    Array::zeros(dtype, sizes).unwrap()
}

#[test]
fn each_mistake_is_named() {
    let reject = |inputs: &[Array]| rejection(inputs, &EvaluateOptions::default());
    let good = || zeros(DType::F32, &[3, 4]);
    assert_eq!(reject(&[good(), good()]), "fine");
    assert_eq!(reject(&[good()]), "expected 2 inputs, got 1");
    assert_eq!(reject(&[good(), zeros(DType::F64, &[3, 4])]), "input 1: expected dtype f32, got f64");
    assert_eq!(reject(&[good(), zeros(DType::F32, &[4])]), "input 1: expected 2 axes, got 1");
    assert_eq!(
        reject(&[good(), zeros(DType::F32, &[2, 4])]),
        "input 1, axis 0: expected size 3 (i0 = 3 is the size of axis 0 of input 0), got 2"
    );
    assert_eq!(
        reject(&[good(), zeros(DType::F32, &[3, 5])]),
        "input 1, axis 1: expected size 4 (i1 = 4 is the size of axis 1 of input 0), got 5"
    );
    let narrow = || zeros(DType::F32, &[3, 2]);
    let outside = "i1 - 4 is -2, where i1 = 2 is the size of axis 1 of input 0";
    let outside = format!("the sizes must satisfy i1 - 4 >= 0, but {outside}");
    assert_eq!(reject(&[narrow(), narrow()]), outside);
}

#[test]
fn memory_is_rejected_before_it_is_taken() {
    let good = || zeros(DType::F32, &[3, 4]);
    let limit = |max_bytes: usize| EvaluateOptions { max_bytes, ..EvaluateOptions::default() };
    assert_eq!(rejection(&[good(), good()], &limit(40)), "no memory: 48 bytes are needed");
    assert_eq!(rejection(&[good(), good()], &limit(96)), "fine");
    let mut p = Program::default();
    let x = p.input(DType::F64, &[1]);
    let huge = p.add(TensorOp::Expand(exprs(&[1 << 60])), &[x]);
    let options = EvaluateOptions::default();
    let error = p.try_run(&[huge], &[zeros(DType::F64, &[1]).view()], &options).unwrap_err();
    assert_eq!(error, EvaluateError::Memory { bytes: usize::MAX });
}

#[test]
fn sizes_that_inputs_do_not_show_may_be_given() {
    let mut p = Program::default();
    let hidden = p.graph.add_symbol(SymbolSource::InputSize { ordinal: 9, axis: 0 });
    let one = p.constant(DType::F32, 1.0);
    let row = p.add(TensorOp::Broadcast([true].into_iter().collect()), &[one]);
    let wide = p.add(TensorOp::Expand([Expr::sym(hidden)].into_iter().collect()), &[row]);
    let error = p.try_run(&[wide], &[], &EvaluateOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "the size i0 has no value");
    let given = |size| EvaluateOptions { sizes: vec![(hidden, size)], ..EvaluateOptions::default() };
    assert_eq!(reals(&p.try_run(&[wide], &[], &given(3)).unwrap().outputs[0]), [1.0; 3]);
    let error = p.try_run(&[wide], &[], &given(-3)).unwrap_err();
    assert_eq!(error.to_string(), "the sizes must satisfy i0 >= 0, but i0 = -3");
}

#[test]
fn scalar_inputs_are_sizes_too() {
    let mut p = Program::default();
    let length = p.graph.add_symbol(SymbolSource::ScalarInput { ordinal: 0 });
    let n = p.input(DType::I64, &[]);
    let (zero, two) = (p.constant(DType::I64, 0.0), p.constant(DType::I64, 2.0));
    let ramp = p.add(TensorOp::Iota(Expr::sym(length)), &[zero, two]);
    let out = p.run(&[ramp, n], &[array(&[], &[4_i64]).view()]);
    assert_eq!(out[0].value.as_slice::<i64>(), [0, 2, 4, 6]);
}
