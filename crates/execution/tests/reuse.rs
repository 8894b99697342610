//! Reuse distances of a plan, counted in tensors.

use compiler::{PlanOptions, PlanRequest, plan};
use ferrofuse_execution::{ExecutionPlan, ReuseDistances};
use ir::layout::LayoutClass;
use kernel::Access;
use scheduler::hints::Hints;
use target::Target;

/// A chain of three kernels.
const CHAIN: &str = "
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    a = fd.ops.segment_set(fd.ops.exp(x))
    b = fd.ops.segment_set(fd.ops.sin(a))
    fd.add_output(fd.ops.mul(a, b))
    fd.add_output(b)
";

/// For each kernel the reuse distances of its outputs, with one byte for each tensor.
fn distances(text: &str) -> Vec<Vec<u64>> {
    let definition = frontend::text::parse(text).expect("defines").definition;
    let layouts = vec![LayoutClass::Dense; definition.fusion.inputs().len()];
    let (graph, fusion) = (&definition.graph, &definition.fusion);
    let planned = plan(PlanRequest {
        graph,
        fusion,
        tasks: &definition.tasks,
        layouts: &layouts,
        target: &Target::cpu(256),
        hints: &Hints::default(),
        options: &PlanOptions::default(),
    });
    let steps = ExecutionPlan::new(&planned.expect("no choices of a user"));
    let reuse = ReuseDistances::new(&steps, |_| 1);
    let written = |kernel: usize| {
        let buffers = steps.kernels[kernel].buffers.values().zip(reuse.of(kernel));
        buffers.filter(|(decl, _)| decl.access == Access::Write).map(|(_, &distance)| distance).collect()
    };
    (0..steps.kernels.len()).map(written).collect()
}

#[test]
fn outputs_have_the_distance_to_their_next_reader() {
    let segments = distances(CHAIN);
    // exp reads x and writes a; sin reads a and writes b; the product reads both and writes the output.
    assert_eq!(segments, [vec![2], vec![2], vec![3]]);
}

#[test]
fn a_launch_of_several_segments_is_as_near_as_the_nearest_of_them() {
    let pairs: String = (0..3)
        .map(|number| {
            format!(
                "    x{number} = fd.define_tensor(shape=[-1], contiguity=True)\n    fd.add_output(fd.ops.exp(x{number}))\n"
            )
        })
        .collect();
    let launch = distances(&format!("def f(fd):\n{pairs}"));
    assert_eq!(launch, [vec![6]], "three read and three written until the end");
}
