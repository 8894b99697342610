//! A composite gives the same results whole and decomposed: on the evaluator, by a library, in a kernel. The bounds are
//! those of the whole, whose sums may run in any order.

use compiler::passes::{decompose, shallow_products};
use ferrofuse::{
    Array, ArrayView, CompileOptions, Definition, PlanOptions, compile, explain, greedy, hints, plan, read,
};
use ferrofuse_testing::inputs::draw;
use ir::graph::Fusion;
use reference::evaluate::{EvaluateOptions, Evaluation, Serial, compare, evaluate};

/// A linear layer of 8 features, in each dtype with products.
fn source(dtype: &str, torch: &str) -> String {
    format!(
        "
def layer(fd):
    x = fd.define_tensor(shape=[-1, 8], contiguity=True, dtype=DataType.{dtype})
    w = fd.define_tensor(shape=[-1, 8], contiguity=True, dtype=DataType.{dtype})
    b = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.{dtype})
    fd.add_output(fd.ops.gelu(fd.ops.linear(x, w, b)))

inputs = [torch.randn(33, 8, dtype=torch.{torch}), torch.randn(70, 8, dtype=torch.{torch}),
          torch.randn(70, dtype=torch.{torch})]
"
    )
}

fn require_within_bounds(of: &Evaluation, outputs: &[ArrayView<'_>], what: &str) {
    for (expected, output) in of.outputs.iter().zip(outputs) {
        let comparison = compare(expected, output, &Serial).expect("equal types");
        assert!(comparison.matches(), "{what}: {comparison:?}");
    }
}

/// The evaluator's results for a definition with its products as they are, and decomposed.
fn evaluated(definition: &Definition, inputs: &[ArrayView<'_>]) -> [Evaluation; 2] {
    let (mut graph, written) = definition.graph.fork(&definition.fusion);
    let products = shallow_products(&graph, &written).into_iter().collect();
    let (apart, _) = decompose(&mut graph, &written, &products);
    assert!(apart.order() != written.order() && shallow_products(&graph, &apart).is_empty());
    let evaluated = |view: &Fusion| evaluate(&graph, view, inputs, &EvaluateOptions::default());
    [&written, &apart].map(|view| evaluated(view).expect("inputs that fit"))
}

#[test]
fn a_linear_layer_is_the_same_as_a_pattern_and_taken_apart() {
    for (dtype, torch) in
        [("Float", "float32"), ("Double", "float64"), ("BFloat16", "bfloat16"), ("Half", "float16")]
    {
        let file = read(&source(dtype, torch)).unwrap();
        let specs = file.inputs.as_ref().unwrap().iter().enumerate();
        let drawn: Vec<_> = specs.map(|(place, spec)| draw(spec, 7, place).unwrap()).collect();
        let inputs: Vec<ArrayView<'_>> = drawn.iter().map(|input| input.view()).collect();
        let definition = file.definition;
        let [pattern, apart] = evaluated(&definition, &inputs);
        require_within_bounds(&pattern, &[apart.outputs[0].value.view()], "the evaluator, taken apart");

        let by_library = greedy(&definition.graph, &definition.fusion, &definition.tasks);
        for (chosen, who) in [(Some(by_library), "library"), (None, "kernel")] {
            let options = CompileOptions {
                plan: PlanOptions { segmentation: chosen, ..PlanOptions::default() },
                ..CompileOptions::default()
            };
            let sizes = hints(&definition, &inputs).unwrap();
            let with_sizes = CompileOptions { hints: sizes.clone(), ..options.clone() };
            let planned = plan(&definition, &with_sizes).unwrap();
            let runs = explain(&definition, &planned, &sizes).unwrap();
            assert_eq!(runs.segments.iter().any(|segment| segment.library.is_some()), who == "library");
            let executable = compile(definition.clone(), options).unwrap();
            let outputs: Vec<Array> =
                executable.run(&inputs).unwrap().iter().map(|output| output.to_array().unwrap()).collect();
            require_within_bounds(&pattern, &[outputs[0].view()], who);
        }
    }
}
