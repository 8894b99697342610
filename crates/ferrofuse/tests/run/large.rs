//! Tensors of more than 2^31 elements in little memory: an expanded row.

use ferrofuse::{Array, CompileOptions, DType, compile, define};
use ir::array::Layout;

const ROWS: usize = 70_000;
const COLUMNS: usize = 40_000;

/// The outputs of a definition of `x`, each of whose 2.8e9 elements is the index of its column.
fn outputs(body: &str) -> Vec<Array> {
    let text = format!(
        "def f(fd):\n    x = fd.define_tensor(shape=[-1, -1], contiguity=[None, True], dtype=DataType.Float)\n{body}"
    );
    let executable = compile(define(&text).expect("defines"), CompileOptions::default()).expect("compiles");
    let mut row = Array::zeros(DType::F32, &[COLUMNS]).expect("small");
    for (column, element) in row.as_mut_bytes().chunks_exact_mut(size_of::<f32>()).enumerate() {
        element.copy_from_slice(&(column as f32).to_ne_bytes());
    }
    let repeated = Layout { strides: [0, 1].into_iter().collect(), ..Layout::dense(&[ROWS, COLUMNS]) };
    let x = row.view().relaid(repeated).expect("inside the row");
    executable.run(&[x]).expect("runs").iter().map(|output| output.to_array().expect("small")).collect()
}

#[test]
fn the_last_elements_of_a_flat_tensor() {
    let body = "    flat = fd.ops.reshape(x, new_shape=[-1])
    last = fd.ops.slice(flat, start_indices=[2799960000], end_indices=[2800000000])
    place = fd.ops.iota(fd.ops.size(flat, 0), dtype=DataType.Int)
    fd.add_output(fd.ops.mul(last, 2.0))
    fd.add_output(fd.ops.slice(place, start_indices=[2799999998], end_indices=[2800000000]))
";
    let outputs = outputs(body);
    let last = &outputs[0];
    let expected: Vec<f32> = (0..COLUMNS).map(|column| 2.0 * column as f32).collect();
    assert_eq!(last.as_slice::<f32>(), expected);
    assert_eq!(outputs[1].as_slice::<i64>(), [2_799_999_998, 2_799_999_999]);
}

#[test]
fn folds_of_a_few_columns_and_of_the_last_rows() {
    let body = "    columns = fd.ops.slice(x, start_indices=[0, 39998], end_indices=[70000, 40000])
    fd.add_output(fd.ops.sum(columns, dims=[0], dtype=DataType.Double))
    rows = fd.ops.slice(x, start_indices=[69998, 0], end_indices=[70000, 40000])
    fd.add_output(fd.ops.max(rows, dims=[1]))
";
    let outputs = outputs(body);
    let sums = &outputs[0];
    assert_eq!(sums.as_slice::<f64>(), [39_998.0 * ROWS as f64, 39_999.0 * ROWS as f64]);
    assert_eq!(outputs[1].as_slice::<f32>(), [39_999.0, 39_999.0]);
}
