//! Segmentations: read for a definition whose values have names, then checked against it.
#![no_main]

use compiler::segment::Segmentation;
use frontend::text::parse;

const DEFINITION: &str = "
def softmax(fd):
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    T1 = fd.ops.max(T0, dims=[1], keepdim=True)
    T2 = fd.ops.exp(fd.ops.sub(T0, T1))
    T3 = fd.ops.sum(T2, dims=[1], keepdim=True)
    T4 = fd.ops.div(T2, T3)
    fd.add_output(T4)
";

libfuzzer_sys::fuzz_target!(|text: &str| {
    let definition = parse(DEFINITION).expect("a definition").definition;
    let (graph, fusion) = (&definition.graph, &definition.fusion);
    let values = || fusion.order().iter().flat_map(|&node| graph.results(node));
    let value = |name: &str| values().find(|&val| definition.name_of(val) == name);
    if let Ok(segmentation) = Segmentation::parse(text, &value) {
        let _ = segmentation.check(graph, fusion);
        let printed = segmentation.to_text(&|val| definition.name_of(val));
        assert_eq!(Segmentation::parse(&printed, &value).ok(), Some(segmentation));
    }
});
