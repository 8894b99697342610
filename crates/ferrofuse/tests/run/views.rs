//! Outputs that only re-index an input: the same memory, the right strides; and those that must be copies.

use ferrofuse::{
    Argument, ArrayView, CompileOptions, DType, Executable, ExecutorKind, compile, define, explain,
};
use ir::array::Layout;
use reference::evaluate::{EvaluateOptions, Serial, compare, evaluate};

use crate::gpu::{EXECUTORS, options};
use crate::tensors::random;

fn compiled(body: &str, executor: ExecutorKind) -> Executable {
    let text = format!(
        "def f(fd):
    x = fd.define_tensor(shape=[4, 6, 5], contiguity=False, dtype=DataType.Float)
    column = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float)
{body}"
    );
    let options = options(executor);
    compile(define(&text).expect("defines"), options).expect("compiles")
}

/// The output's strides, and the input whose memory it shares.
type OutputMemory<'a> = (&'a [isize], Option<usize>);

/// Bodies, and the layout of their output if `x` is dense of 4 by 6 by 5 and `column` of 4.
const BODIES: &[(&str, OutputMemory<'static>)] = &[
    ("x", (&[30, 5, 1], Some(0))),
    ("fd.ops.set(x)", (&[30, 5, 1], Some(0))),
    ("fd.ops.permute(x, dims=[2, 0, 1])", (&[1, 30, 5], Some(0))),
    ("fd.ops.slice(x, start_indices=[1, 2, 0], end_indices=[4, 5, 4])", (&[30, 5, 1], Some(0))),
    ("fd.ops.broadcast(x, is_broadcast_dim=[False, True, False, False])", (&[30, 0, 5, 1], Some(0))),
    ("fd.ops.expand(column, shape=[4, 7])", (&[1, 0], Some(1))),
    ("fd.ops.squeeze(column, dims=[1])", (&[1], Some(1))),
    ("fd.ops.reshape(x, new_shape=[4, 30])", (&[30, 1], Some(0))),
    ("fd.ops.reshape(x, new_shape=[2, 2, 3, 2, 5])", (&[60, 30, 10, 5, 1], Some(0))),
    ("fd.ops.reshape(fd.ops.permute(x, dims=[2, 0, 1]), new_shape=[5, 24])", (&[1, 5], Some(0))),
    // Views that strides cannot express are copied, and computed values are new.
    ("fd.ops.reshape(fd.ops.permute(x, dims=[1, 0, 2]), new_shape=[6, 20])", (&[20, 1], None)),
    ("fd.ops.slice(fd.ops.add(x, 1.0), start_indices=[1, 2, 0], end_indices=[4, 5, 4])", (&[12, 4, 1], None)),
    ("fd.ops.full(shape=[3, 2], fill_value=1.0, dtype=DataType.Float)", (&[2, 1], None)),
    // A computed and permuted value has the layout in which it was computed.
    ("fd.ops.permute(fd.ops.add(x, 1.0), dims=[0, 2, 1])", (&[30, 1, 5], None)),
    (
        "fd.ops.reshape(fd.ops.permute(fd.ops.add(x, 1.0), dims=[2, 0, 1]), new_shape=[5, 2, 12])",
        (&[1, 60, 5], None),
    ),
    (
        "fd.ops.permute(fd.ops.reshape(fd.ops.permute(x, dims=[1, 0, 2]), new_shape=[6, 20]), dims=[1, 0])",
        (&[1, 20], None),
    ),
    (
        "fd.ops.permute(fd.ops.broadcast(fd.ops.sum(x, dims=[2]), is_broadcast_dim=[False, True, False]), dims=[2, 1, 0])",
        (&[1, 0, 6], None),
    ),
    (
        "fd.ops.stride_order(fd.ops.permute(fd.ops.add(x, 1.0), dims=[0, 2, 1]), stride_order=[2, 1, 0])",
        (&[30, 6, 1], None),
    ),
    // Expanded axes keep the stride 0.
    ("fd.ops.expand(fd.ops.add(column, 1.0), shape=[4, 7])", (&[1, 0], None)),
    (
        "fd.ops.broadcast_in_dim(fd.ops.sum(x, dims=[1]), shape=[4, 6, 5], broadcast_dims=[0, 2])",
        (&[5, 0, 1], None),
    ),
    // The sum over a repeated axis does not repeat, nor does a value with distinct elements there, nor a filled tensor.
    ("fd.ops.sum(fd.ops.expand(column, shape=[4, 7]), dims=[1])", (&[1], None)),
    ("fd.ops.add(fd.ops.expand(column, shape=[4, 6]), fd.ops.sum(x, dims=[2]))", (&[6, 1], None)),
    ("fd.ops.exp(fd.ops.full(shape=[3, 2], fill_value=1.0, dtype=DataType.Float))", (&[2, 1], None)),
    ("fd.ops.rand_like(fd.ops.expand(column, shape=[4, 7]))", (&[7, 1], None)),
    // Values computed from repeated elements repeat.
    ("fd.ops.mul(fd.ops.exp(fd.ops.expand(column, shape=[4, 7])), 2.0)", (&[1, 0], None)),
    (
        "fd.ops.cast(fd.ops.permute(fd.ops.expand(fd.ops.neg(column), shape=[4, 7]), dims=[1, 0]), dtype=DataType.Double)",
        (&[0, 1], None),
    ),
    (
        "fd.ops.sum(fd.ops.neg(fd.ops.broadcast_in_dim(x, shape=[4, 6, 7, 5], broadcast_dims=[0, 1, 3])), dims=[1])",
        (&[5, 0, 1], None),
    ),
    ("fd.ops.permute(fd.ops.exp(fd.ops.expand(column, shape=[4, 7])), dims=[1, 0])", (&[0, 1], None)),
    // Also beside an axis with distinct elements.
    (
        "fd.ops.sum(fd.ops.broadcast_in_dim(fd.ops.sum(x, dims=[1]), shape=[4, 6, 5, 7], broadcast_dims=[0, 2]), dims=[3])",
        (&[5, 0, 1], None),
    ),
    (
        "fd.ops.sum(fd.ops.mul(fd.ops.expand(column, shape=[4, 6]), fd.ops.expand(column, shape=[4, 6])), dims=[0])",
        (&[0], None),
    ),
];

#[test]
fn views_share_the_memory_of_their_input() {
    let (x, column) = (random(DType::F32, &[4, 6, 5], 1), random(DType::F32, &[4, 1], 2));
    let inputs = [x.view(), column.view()];
    for executor in EXECUTORS {
        for (body, (strides, shared)) in BODIES {
            let executable = compiled(&format!("    fd.add_output({body})\n"), executor);
            let definition = executable.definition();
            let meant = evaluate(&definition.graph, &definition.fusion, &inputs, &EvaluateOptions::default());
            let outputs = executable.run(&inputs).expect("runs");
            let real = outputs[0].sizes().iter().zip(outputs[0].strides()).zip(*strides);
            let lies = real.filter(|((size, _), _)| **size != 1).all(|((_, found), wanted)| found == wanted);
            assert!(lies, "{executor:?} of {body}: {:?}", outputs[0].strides());
            assert_eq!(outputs[0].input(), *shared, "{executor:?} of {body}");
            let found = compare(&meant.expect("evaluates").outputs[0], &outputs[0].view(), &Serial)
                .expect("same type");
            assert!(found.matches(), "{executor:?} of {body}: {found:?}");
            let place = |view: &ArrayView<'_>| view.as_ptr() as usize;
            if let Some(input) = shared {
                let memory = place(&inputs[*input])..place(&inputs[*input]) + 4 * inputs[*input].numel();
                assert!(memory.contains(&place(&outputs[0].view())), "{executor:?} of {body}");
            }
        }
    }
}

#[test]
fn a_view_of_a_strided_input_has_its_strides() {
    let wide = random(DType::F32, &[4, 6, 10], 1);
    let layout = Layout { sizes: [4, 6, 5].into_iter().collect(), ..wide.view().layout().clone() };
    let x = wide.view().relaid(layout).expect("inside");
    let column = random(DType::F32, &[4, 1], 2);
    // Inputs with gaps are copied to a GPU without the gaps.
    for executor in EXECUTORS.into_iter().filter(|&executor| executor != ExecutorKind::CUDA) {
        for (shape, strides) in
            [("24, 5", Some(&[10, 1][..])), ("4, 30", None), ("2, 2, 6, 5", Some(&[120, 60, 10, 1]))]
        {
            let body = format!("    fd.add_output(fd.ops.reshape(x, new_shape=[{shape}]))\n");
            let executable = compiled(&body, executor);
            let outputs = executable.run(&[x.clone(), column.view()]).expect("runs");
            // If only the call determines strides, it is not known whether neighbouring axes can be merged.
            match strides.filter(|_| shape != "24, 5") {
                Some(strides) => {
                    assert_eq!((outputs[0].strides(), outputs[0].input()), (strides, Some(0)), "{shape}")
                }
                None => assert_eq!(outputs[0].input(), None, "{shape}"),
            }
        }
    }
}

#[test]
fn every_output_of_computed_memory_has_its_own() {
    let body = "    y = fd.ops.add(column, 1.0)
    wide = fd.ops.expand(y, shape=[4, 3])
    fd.add_output(y)
    fd.add_output(wide)
    fd.add_output(wide)
    fd.add_output(x)
    fd.add_output(x)
";
    let (x, column) = (random(DType::F32, &[4, 6, 5], 1), random(DType::F32, &[4, 1], 2));
    for executor in EXECUTORS {
        let executable = compiled(body, executor);
        let outputs = executable.run(&[x.view(), column.view()]).expect("runs");
        let places: Vec<*const u8> = outputs.iter().map(|output| output.view().as_ptr()).collect();
        assert!(places[0] != places[1] && places[1] != places[2] && places[0] != places[2]);
        assert_eq!(places[3..], [x.view().as_ptr(); 2]);
        assert_eq!(outputs[1].strides(), [1, 0]);
    }
}

/// A view of an input that the same call writes to has the old contents.
#[test]
fn views_of_what_is_written_to_are_copies() {
    let bodies = [
        "    fd.add_output(fd.ops.add(x, 1.0), x)\n    fd.add_output(fd.ops.permute(x, dims=[2, 1, 0]))\n",
        "    fd.add_output(fd.ops.permute(x, dims=[2, 1, 0]))\n    fd.add_output(fd.ops.add(x, 1.0), x)\n",
    ];
    for (body, executor) in bodies.iter().flat_map(|body| EXECUTORS.map(|executor| (body, executor))) {
        let executable = compiled(body, executor);
        let (mut x, mut column) = (random(DType::F32, &[4, 6, 5], 1), random(DType::F32, &[4, 1], 2));
        let transposed = x.view().layout().permuted([2, 1, 0]);
        let old = x.view().relaid(transposed).expect("inside").to_array().expect("memory");
        let mut arguments = [x.view_mut().into(), column.view_mut().into()];
        let outputs = executable.run_in_place(&mut arguments).expect("runs");
        assert_eq!(outputs[0].input(), None);
        assert_eq!(outputs[0].to_array().expect("memory").as_bytes(), old.as_bytes());
    }
}

/// Two inputs over one memory; one of them is written to, the other returned.
#[test]
fn views_of_what_overlaps_are_copies() {
    let text = "
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    y = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    z = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.neg(x), x)
    fd.add_output(y)
    fd.add_output(z)
";
    let executable = compile(define(text).expect("defines"), CompileOptions::default()).expect("compiles");
    let mut memory: Vec<f32> = (0..12).map(|k| k as f32).collect();
    let base = memory.as_mut_ptr();
    let at = |start: usize| {
        // SAFETY: all reach 4 floats of the 12 from their start on; only this call touches them.
        unsafe { Argument::from_raw_parts(base.wrapping_add(start).cast(), DType::F32, Layout::dense(&[4])) }
    };
    let mut arguments = [at(0), at(2), at(8)];
    let outputs = executable.run_in_place(&mut arguments).expect("runs");
    let elements = |place: usize| outputs[place].to_array().expect("memory").as_slice::<f32>().to_vec();
    assert_eq!((outputs[0].input(), elements(0)), (None, vec![2.0, 3.0, 4.0, 5.0]));
    assert_eq!((outputs[1].input(), elements(1)), (Some(2), vec![8.0, 9.0, 10.0, 11.0]));
    drop(outputs);
    assert_eq!(memory[..6], [-0.0, -1.0, -2.0, -3.0, 4.0, 5.0]);
}

#[test]
fn views_move_no_bytes() {
    let executable =
        compiled("    fd.add_output(fd.ops.permute(x, dims=[2, 1, 0]))\n", ExecutorKind::Compiled);
    let variant = executable.latest().expect("compiled");
    let plan = &variant.plan;
    let explanation =
        explain(executable.definition(), plan, &ferrofuse::Hints::default()).expect("its own plan");
    assert_eq!((explanation.segments.len(), explanation.bytes, explanation.traffic_ratio), (0, 0, 1.0));
    assert_eq!(explanation.outputs[0].view_of.as_deref(), Some("x"));
    assert!(explanation.to_string().contains("is a view of x"));
}
