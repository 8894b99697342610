//! Calls that the builder rejects.

use ferrofuse_frontend::define::{DefineError, DefinitionBuilder};
use ir::definition::{CallArgument, Object};
use ir::graph::dump;

/// `a` f32[i0, 4], `b` f32[i1, 4], `c` f32[i2, 5] and `k` an integer scalar.
fn declared() -> (DefinitionBuilder, [Object; 4]) {
    let mut builder = DefinitionBuilder::new();
    let tensor = |builder: &mut DefinitionBuilder, size| {
        let shape = vec![CallArgument::keyword("shape", Object::ints([-1, size]))];
        Object::Value(builder.define_tensor(shape).expect("a shape"))
    };
    let [a, b, c] = [4, 4, 5].map(|size| tensor(&mut builder, size));
    let k = builder.define_scalar(vec![CallArgument::positional(Object::DType(ops::DType::I64))]);
    (builder, [a, b, c, k.expect("a scalar")])
}

fn call(builder: &mut DefinitionBuilder, op: &str, arguments: &[&Object]) -> Result<Object, DefineError> {
    builder.call(op, arguments.iter().map(|&argument| CallArgument::positional(argument.clone())).collect())
}

#[test]
fn a_rejected_call_leaves_the_builder_as_it_was() {
    let finished = |rejected: &dyn Fn(&mut DefinitionBuilder, &[Object; 4]) -> bool| {
        let (mut builder, inputs) = declared();
        assert!(rejected(&mut builder, &inputs), "rejected");
        let [a, b, ..] = &inputs;
        let sum = call(&mut builder, "add", &[a, b]).expect("sizes that may be equal");
        let drawn = call(&mut builder, "rand_like", &[&sum]).expect("a tensor");
        builder.add_output(&drawn, None).expect("a tensor");
        let definition = builder.finish().expect("it has an output");
        let facts = definition.fusion.facts();
        let constraints = definition.record.constraints(facts);
        let graph = dump(&definition.graph, &definition.fusion);
        (graph, facts.clone(), definition.graph.len(), constraints, definition.draws)
    };
    let untouched = finished(&|_, _| true);
    // i0 is assumed to equal i2 before 4 is found to differ from 5.
    let sizes = finished(&|builder, [a, _, c, _]| call(builder, "add", &[a, c]).is_err());
    assert_eq!(sizes, untouched);
    // The difference of `a` and `b`, and the fact that i0 equals i1, are added before the weight is rejected.
    let nodes = finished(&|builder, [a, b, c, _]| call(builder, "lerp", &[a, b, c]).is_err());
    assert_eq!(nodes, untouched);
    // A symbol for a computed value, which cannot be a size.
    let symbols = finished(&|builder, [a, _, _, k]| {
        let half = call(builder, "div", &[k, &Object::float(2.0)]).expect("a scalar");
        let made = Object::list([half, Object::int(-2)]);
        call(builder, "reshape", &[a, &made]).is_err()
    });
    assert_eq!(symbols.1, untouched.1);
    // A draw whose dtype is rejected takes no position in the sequence.
    let draws = finished(&|builder, _| {
        let shape = Object::ints([2, 2]);
        let (low, high, dtype) = (Object::int(0), Object::int(1), Object::DType(ops::DType::I32));
        call(builder, "uniform", &[&low, &high, &shape, &dtype]).is_err()
    });
    assert_eq!(draws, untouched);
    let outputs = finished(&|builder, [a, _, c, _]| builder.add_output(a, Some(c)).is_err());
    assert_eq!(outputs, untouched);
}
