//! Definitions planned for a GPU, their kernels as CUDA text, run by the emulator in every thread order: equal to the
//! evaluator within its bounds.

use std::sync::Once;

use codegen_c::cuda::emit;
use emulator::Order;
use ferrofuse::check::{against, expected};
use ferrofuse::{
    CallOptions, CompileOptions, Definition, Error, Executable, PlanOptions, hints, parse_schedule,
};
use ferrofuse_testing::{inputs, stand_in};
use frontend::text::{InputSpec, parse};
use ir::array::{ArrayView, StridedArray};
use ir::graph::Stream;
use kernel::Kernel;
use reference::evaluate::Serial;

/// Runs a definition file of two axes at these numbers of rows and columns, with kernels for any number.
fn check(source: &str, sizes: &[(i64, i64)]) -> String {
    let executable = executable(source, Executable::new);
    sizes.iter().for_each(|&size| agrees(source, &executable, size));
    text(&executable)
}

/// The same for a number of columns that is a multiple of 8, with kernels for such rows.
fn check_whole(source: &str, size: (i64, i64)) -> String {
    check_scheduled(source, size, None)
}

/// The same with a user's schedule for the first segment.
fn check_scheduled(source: &str, (rows, columns): (i64, i64), schedule: Option<&str>) -> String {
    let schedule = schedule.map(|text| (0.into(), parse_schedule(text).expect("a schedule")));
    let plan = PlanOptions { schedules: schedule.into_iter().collect(), ..PlanOptions::default() };
    let file = parse(source).unwrap_or_else(|error| panic!("{}", error.message));
    let specs = file.inputs.as_ref().expect("an `inputs` list");
    let inputs: Vec<StridedArray> =
        (0..specs.len()).map(|place| draw(specs, place, (rows, columns))).collect();
    let views: Vec<ArrayView<'_>> = inputs.iter().map(StridedArray::view).collect();
    let executable = executable(source, |definition, options| {
        let hints = hints(&definition, &views)?;
        Executable::for_inputs(definition, CompileOptions { hints, plan, ..options }, &views)
    });
    agrees(source, &executable, (rows, columns));
    text(&executable)
}

/// An executable on the GPU.
fn executable(
    source: &str,
    compile: impl FnOnce(Definition, CompileOptions) -> Result<Executable, Error>,
) -> Executable {
    static SANITIZED: Once = Once::new();
    SANITIZED.call_once(|| stand_in::set("sanitize", 1));
    let file = parse(source).unwrap_or_else(|error| panic!("{}", error.message));
    let executor = stand_in::gpu().unwrap_or_else(|error| panic!("{error}")).into();
    let options = CompileOptions { executor, ..CompileOptions::default() };
    compile(file.definition, options).unwrap_or_else(|error| panic!("{error}"))
}

/// The text of its kernels.
fn text(executable: &Executable) -> String {
    let variant = executable.latest().expect("compiled");
    let text = |kernel: &Kernel| emit(kernel).expect("it was compiled").source;
    variant.steps.kernels.iter().map(text).collect()
}

/// Asserts that in each order of threads the results are the evaluator's.
fn agrees(source: &str, executable: &Executable, (rows, columns): (i64, i64)) {
    let file = parse(source).unwrap_or_else(|error| panic!("{}", error.message));
    let specs = file.inputs.as_ref().expect("an `inputs` list");
    let inputs: Vec<StridedArray> =
        (0..specs.len()).map(|place| draw(specs, place, (rows, columns))).collect();
    let views: Vec<ArrayView<'_>> = inputs.iter().map(StridedArray::view).collect();
    let expected = expected(&file.definition, &views, Stream::default(), &Serial, usize::MAX)
        .expect("memory for a small test");
    for order in Order::ALL {
        let call = CallOptions { stream: Some(Stream::default()), ..CallOptions::default() };
        let outputs = stand_in::in_order(order, || executable.run_with(&call, &views))
            .unwrap_or_else(|error| panic!("{rows}x{columns}, {order:?}: {error}\n{}", text(executable)));
        let found = against(&expected, outputs.iter().map(|output| output.view()), &Serial)
            .expect("the right shapes");
        for comparison in found {
            let text = text(executable);
            assert!(comparison.matches(), "{rows}x{columns}, {order:?}: {comparison:?}\n{text}");
        }
    }
}

/// An input of the file's distribution with other sizes than the file's: its first input has these rows and columns.
fn draw(specs: &[InputSpec], place: usize, (rows, columns): (i64, i64)) -> StridedArray {
    let tensor = |place: usize| match &specs[place] {
        InputSpec::Tensor(spec) => spec.clone(),
        _ => panic!("tensors only"),
    };
    let (first, mut spec) = (tensor(0).sizes, tensor(place));
    let size = |&size: &i64| match size {
        size if size == first[0] => rows,
        size if size == first[1] => columns,
        size => size,
    };
    spec.sizes = spec.sizes.iter().map(size).collect();
    spec.storage = spec.sizes.iter().product();
    spec.strides = (1..=spec.sizes.len()).map(|axis| spec.sizes[axis..].iter().product()).collect();
    inputs::draw(&InputSpec::Tensor(spec), 5, place).expect("memory for a small test")
}

const SIZES: &[(i64, i64)] = &[(1, 1), (3, 17), (2, 1023), (70, 33), (0, 4), (4, 0)];

#[test]
fn silu_mul() {
    check(include_str!("../../../../examples/silu_mul.py"), SIZES);
}

#[test]
fn softmax() {
    check(include_str!("../../../../examples/softmax.py"), &SIZES[..5]);
}

/// Few rows and many, of `columns` elements.
fn whole_rows(source: &str, columns: i64) -> String {
    [1, 3, 24].map(|rows| check_whole(source, (rows, columns))).into_iter().next_back().expect("three")
}

#[test]
fn neighbours_are_loaded_and_stored_as_vectors() {
    for columns in [64, 72, 4096] {
        for (source, loads) in [
            (include_str!("../../../../examples/silu_mul.py"), 2),
            (include_str!("../../../../examples/softmax.py"), 1),
            (include_str!("../../../../examples/gelu_bias.py"), 2),
        ] {
            let text = whole_rows(source, columns);
            // If a thread takes several vectors, there are separate loads for whole rows.
            let ways = if text.contains("} else {") { 2 } else { 1 };
            assert_eq!(
                (text.matches(" = load<8>").count(), text.matches("store(n").count()),
                (loads * ways, 1),
                "{text}"
            );
        }
    }
}

#[test]
fn rows_are_fetched() {
    for (ring, columns, rows) in [(2, 64, 1), (2, 64, 24), (3, 640, 3), (4, 1024, 24), (3, 4096, 3)] {
        for source in [
            include_str!("../../../../examples/layer_norm_backward.py"),
            include_str!("../../../../tests/kernel/rows_fetched_on_a_gpu.py"),
        ] {
            let loops = "block x0 by 5\ninner x1\nlane x1\nwidth 8\nprivate";
            let schedule = format!("schedule lanes 64 warps 32\n{loops}\nring {ring} fetch\n");
            let text = check_scheduled(source, (rows, columns), Some(&schedule));
            assert!(text.contains("fetch<8>(w"), "{text}");
            assert!(text.contains(&format!("await_fetches<{}>();", ring - 1)), "{text}");
        }
    }
}

#[test]
fn rows_persist_in_registers() {
    for columns in [64, 640, 4096] {
        for source in [
            include_str!("../../../../examples/softmax.py"),
            include_str!("../../../../examples/layer_norm.py"),
            include_str!("../../../../examples/rms_norm.py"),
        ] {
            let text = whole_rows(source, columns);
            // Long rows that are folded three times, kept as they are in memory.
            assert!(text.contains("vec<float, 8> w0[") || text.contains("vec<bf16, 8> w0["), "{text}");
            assert!(!text.contains("smem"), "{text}");
        }
    }
}

/// Rows of more than 8192 elements are kept in registers as they are in memory.
#[test]
fn long_rows_persist_in_registers() {
    for source in [
        include_str!("../../../../examples/softmax.py"),
        include_str!("../../../../examples/layer_norm.py"),
        include_str!("../../../../examples/rms_norm.py"),
    ] {
        let text = check_whole(source, (2, 8_200));
        assert!(text.contains("vec<bf16, 8> w0[4];"), "{text}");
    }
}

/// Rows that do not fit in registers and are folded three times are kept in shared memory, as they are in memory.
#[test]
fn longer_rows_persist_in_shared_memory() {
    let text = check_whole(include_str!("../../../../examples/layer_norm.py"), (2, 16_400));
    assert!(text.contains("bf16* const w0 = (bf16*)smem;"), "{text}");
    assert!(text.contains("*(vec<bf16, 8>*)(w0 + "), "{text}");
}

/// Rows that are padded, folded and divided: the lanes' axis is partitioned, so none of it is kept in registers.
#[test]
fn partitioned_rows_are_not_private() {
    let source = "
def padded_softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.ops.cast(x, dtype=DataType.Float)
    z = fd.ops.cat([y, fd.ops.neg(y)], dim=1)
    peak = fd.ops.max(z, dims=[1], keepdim=True)
    e = fd.ops.exp(fd.ops.sub(z, peak))
    fd.add_output(fd.ops.cast(fd.ops.div(e, fd.ops.sum(e, dims=[1], keepdim=True)), dtype=DataType.BFloat16))

inputs = [torch.randn((2, 64), dtype=torch.bfloat16)]
";
    for columns in [64, 640] {
        let text = whole_rows(source, columns);
        assert!(!text.contains("vec<float, 8> w0["), "{text}");
    }
}

#[test]
fn transposes_go_through_tiles() {
    let sizes = [(1, 1), (64, 64), (70, 33), (3, 200), (130, 65), (0, 4), (4, 0)];
    let text = check(include_str!("../../../../examples/transpose_add.py"), &sizes);
    assert!(text.contains("65 *"), "{text}");
}

#[test]
fn gradients_of_whole_vectors() {
    for columns in [64, 4096] {
        whole_rows(include_str!("../../../../examples/layer_norm_backward.py"), columns);
        whole_rows(include_str!("../../../../examples/rms_norm_backward.py"), columns);
    }
}

#[test]
fn sums_of_columns() {
    check(include_str!("../../../../bench/workloads/sum_outer_f32.py"), SIZES);
}

#[test]
fn layer_norm() {
    check(include_str!("../../../../examples/layer_norm.py"), &SIZES[..5]);
}

/// Columns in another order, `shift` beyond the ones at which all are in range.
fn columns_by_index(shift: i64) -> String {
    format!(
        "
def columns_by_index(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    columns = fd.ops.size(x, 1)
    index = fd.ops.remainder(fd.ops.mul(fd.ops.iota(columns), 7), columns)
    fd.add_output(fd.ops.index_select(fd.ops.exp(x), fd.ops.add(index, {shift}), dim=1))

inputs = [torch.randn((2, 3))]
"
    )
}

#[test]
fn gathers() {
    check(&columns_by_index(0), SIZES);
}

#[test]
fn an_index_out_of_range_is_told_in_every_order() {
    let source = columns_by_index(2);
    let executable = executable(&source, Executable::new);
    let file = parse(&source).expect("it reads");
    let input = draw(&file.inputs.expect("an `inputs` list"), 0, (5, 701));
    for order in Order::ALL {
        let ran = stand_in::in_order(order, || executable.run(&[input.view()]).map(drop));
        let error = ran.expect_err("the last two columns are beyond").to_string();
        assert!(error.contains("index 701 is out of range"), "{order:?}: {error}");
    }
}

#[test]
fn a_fold_with_a_lambda() {
    check(include_str!("definitions/lambda_softmax.py"), &SIZES[..5]);
}

#[test]
fn scans_and_places() {
    check(include_str!("definitions/scans_and_places.py"), &SIZES[..4]);
}

#[test]
fn outputs_in_another_memory_order() {
    check(include_str!("definitions/memory_order.py"), SIZES);
}

#[test]
fn a_normalization_over_groups() {
    check(include_str!("definitions/groups_of_columns.py"), &[(1, 3), (4, 12), (3, 51), (2, 1023), (0, 6)]);
}

#[test]
fn moments_in_two_dtypes() {
    check(include_str!("definitions/moments_in_two_dtypes.py"), &SIZES[..4]);
}

#[test]
fn moments_of_rows() {
    check(include_str!("definitions/moments_of_rows.py"), &[(3, 1024), (2, 130), (4, 1), (2, 0)]);
}

#[test]
fn states_that_depend_on_each_other() {
    check(include_str!("definitions/dependent_states.py"), &[(9, 64), (20, 1024)]);
}

/// Rows that fit in the registers of a cluster of blocks but not of one block; and sums of their columns.
#[test]
fn rows_over_clusters() {
    let half = include_str!("../../../../examples/softmax.py");
    let norm = include_str!("../../../../examples/rms_norm.py");
    let centred = include_str!("definitions/centred.py");
    for (source, sizes, cluster) in
        [(half, (2, 32768), 2), (half, (2, 65528), 4), (norm, (2, 32768), 2), (centred, (70, 16384), 2)]
    {
        let text = check_whole(source, sizes);
        assert!(text.contains(&format!("__cluster_dims__({cluster})")), "{text}");
    }
}
