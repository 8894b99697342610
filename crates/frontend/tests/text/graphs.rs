//! Definitions as text in, graphs as text out.

use ferrofuse_frontend::define::DefinitionBuilder;
use ferrofuse_frontend::text::{NameStyle, parse, print, print_view};
use ir::definition::{CallArgument, Object};
use ir::graph::{TaskKind, dump};
use ops::{DType, OpRef, Param, ParamDefault, ParamKind, complex_meaning};

/// A body as a file.
fn file(body: &str) -> String {
    let lines: Vec<String> = body.lines().map(|line| format!("    {}", line.trim())).collect();
    format!("def f(fd):\n{}\n", lines.join("\n"))
}

/// The dump of the body of a definition, or the error. A text that parses also prints, reads back and outlines.
fn graph_of(body: &str) -> String {
    let definition = match parse(&file(body)) {
        Ok(file) => file.definition,
        Err(diagnostic) => return diagnostic.to_string(),
    };
    let graph = dump(&definition.graph, &definition.fusion);
    let printed = print(&definition, NameStyle::Long);
    let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}")).definition;
    assert_eq!(dump(&again.graph, &again.fusion), graph, "printed and read back:\n{printed}");
    assert_eq!(print(&again, NameStyle::Long), printed, "printed again");
    let short = print(&definition, NameStyle::Short);
    let again = parse(&short).unwrap_or_else(|error| panic!("{error}\n{short}")).definition;
    assert_eq!(dump(&again.graph, &again.fusion), graph, "printed with short names:\n{short}");
    let outlined = print_view(&definition.graph, &definition.fusion, &definition.record, NameStyle::Long)
        .unwrap_or_else(|error| panic!("outlining: {error}\n{graph}"));
    let again = parse(&outlined).unwrap_or_else(|error| panic!("{error}\n{outlined}")).definition;
    assert_eq!(print(&again, NameStyle::Long), outlined, "the outlined definition printed again");
    assert_eq!(
        kinds(&dump(&again.graph, &again.fusion)),
        kinds(&graph),
        "outlined:\n{outlined}\nof\n{graph}"
    );
    graph
}

/// The ops of a dump, sorted, without sizes, which are separate scalars in an outlined definition.
fn kinds(dump: &str) -> Vec<String> {
    let form = |line: &str| {
        line.split_once(" = ").map(|(_, form)| form.split([' ', '(']).next().unwrap_or("").to_owned())
    };
    let mut kinds: Vec<String> = dump.lines().filter_map(form).collect();
    kinds.retain(|kind| !matches!(kind.as_str(), "size" | "constant"));
    kinds.sort();
    kinds
}

fn check(body: &str, expected: &str) {
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(graph_of(body).trim_end(), expected.join("\n"), "{body}");
}

/// An expression over `a` f32[i0, 4], `b` f32[4], `h` bf16[i1, 4], `n` i32[i2], `m` bool[2, 1], `s` a scalar and `k` an
/// integer scalar, as the last lines of the graph.
fn check_op(expression: &str, expected: &str) {
    let body = format!(
        "a = fd.define_tensor(shape=[-1, 4], contiguity=True)
         b = fd.define_tensor(shape=[4], contiguity=True)
         h = fd.define_tensor(shape=[-1, 4], contiguity=True, dtype=DataType.BFloat16)
         n = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int32)
         m = fd.define_tensor(shape=[2, 1], contiguity=True, dtype=DataType.Bool)
         s = fd.define_scalar(dtype=DataType.Double)
         k = fd.define_scalar(dtype=DataType.Int)
         fd.add_output({expression})"
    );
    let graph = graph_of(&body);
    let lines: Vec<&str> =
        graph.lines().filter(|line| !line.contains(" = input ") && !line.starts_with("output")).collect();
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, expected, "{expression}");
}

#[test]
fn half_types_are_computed_in_f32() {
    check(
        "a = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
         fd.add_output(fd.ops.cast(fd.ops.add(a, 1), DataType.BFloat16))",
        "n0 = input 0 : bf16[i0]
         n1 = cast f32 (n0) : f32[i0]
         n2 = constant 1.0 : f32[]
         n3 = add (n1, n2) : f32[i0]
         n4 = cast bf16 (n3) : bf16[i0]
         output n4",
    );
    check_op(
        "fd.ops.relu(h)",
        "
        n7 = cast f32 (n2) : f32[i1, 4]
        n8 = constant 0.0 : f32[]
        n9 = maximum (n7, n8) : f32[i1, 4]
        n10 = cast bf16 (n9) : bf16[i1, 4]",
    );
}

#[test]
fn promotion_broadcasts_and_casts_numbers() {
    check_op(
        "fd.ops.add(n, 0.5)",
        "
        n7 = cast f32 (n3) : f32[i2]
        n8 = constant 0.5 : f32[]
        n9 = add (n7, n8) : f32[i2]",
    );
    check_op(
        "a * b",
        "
        n7 = broadcast [new, old] (n1) : f32[1, 4]
        n8 = mul (n0, n7) : f32[i0, 4]",
    );
    check_op(
        "fd.ops.where(m, h, 0.0)",
        "
        n7 = cast f32 (n2) : f32[i1, 4]
        n8 = constant 0.0 : f32[]
        n9 = where (n4, n7, n8) : f32[2, 4]
        n10 = cast bf16 (n9) : bf16[2, 4]",
    );
    check_op(
        "-a < s",
        "
        n7 = neg (n0) : f32[i0, 4]
        n8 = cast f32 (n5) : f32[]
        n9 = lt (n7, n8) : bool[i0, 4]",
    );
    check_op(
        "fd.ops.clamp(a, None, 1)",
        "
        n7 = constant float(\"-inf\") : f32[]
        n8 = constant 1.0 : f32[]
        n9 = maximum (n0, n7) : f32[i0, 4]
        n10 = minimum (n9, n8) : f32[i0, 4]",
    );
}

#[test]
fn folds_squeeze_ones_and_widen() {
    check_op(
        "fd.ops.sum(m, [0, 1])",
        "
        n7 = cast i64 (n4) : i64[2, 1]
        n8 = squeeze [1] (n7) : i64[2]
        n9 = fold sum [0] (n8) : i64[]",
    );
    check_op(
        "fd.ops.max(h, dim=-1, keepdim=True)",
        "
        n7 = cast f32 (n2) : f32[i1, 4]
        n8 = fold max [1] (n7) : f32[i1]
        n9 = broadcast [old, new] (n8) : f32[i1, 1]
        n10 = cast bf16 (n9) : bf16[i1, 1]",
    );
    check_op("fd.ops.sum(n, dtype=DataType.Int32)", "n7 = fold sum [0] (n3) : i32[]");
    check_op(
        "fd.ops.var(a, [1])",
        "
        n7 = constant 3.0 : f32[]
        n8, n8.1, n8.2 = fold welford [1] (n0) : f32[i0], f32[i0], f32[i0]
        n9 = div (n8.1, n7) : f32[i0]",
    );
}

#[test]
fn ops_that_change_nothing_add_nothing() {
    for expression in [
        "fd.ops.permute(a, [0, 1])",
        "fd.ops.reshape(a, [-1, 4])",
        "fd.ops.expand(a, [-1, 4])",
        "fd.ops.slice(b, [0], [7])",
        "fd.ops.pad(a, [0, 0])",
        "fd.ops.cat([a])",
        "fd.ops.broadcast(a, [False, False])",
        "fd.ops.cast(a, DataType.Float)",
    ] {
        check_op(expression, "");
    }
}

#[test]
fn shapes_are_worked_out() {
    check_op("fd.ops.reshape(a, [2, -1])", "n7 = reshape [2, 2*i0] (n0) : f32[2, 2*i0]");
    check_op("fd.ops.reshape(b, [1, 4, 1])", "n7 = broadcast [new, old, new] (n1) : f32[1, 4, 1]");
    check_op(
        "fd.ops.pad(b, [1, 2], 7)",
        "
        n7 = constant 7.0 : f32[]
        n8 = pad before [1] after [2] (n1, n7) : f32[7]",
    );
    check_op("fd.ops.slice(a, [1, 1], [3, 3])", "
        n7 = slice from [min(1, i0), 1] size [-min(1, i0) + min(3, i0), 2] (n0) : f32[-min(1, i0) + min(3, i0), 2]");
    check_op(
        "fd.ops.full([2, k], 1, DataType.Half)",
        "
        n7 = constant 1.0 : f16[]
        n8 = broadcast [new, new] (n7) : f16[1, 1]
        n9 = expand [2, i3] (n8) : f16[2, i3]",
    );
    check_op(
        "fd.ops.iota(fd.ops.size(a, 0) * 2, 1, 3)",
        "
        n10 = constant 1 : i64[]
        n11 = constant 3 : i64[]
        n12 = iota 2*i0 (n10, n11) : i64[2*i0]",
    );
    check_op(
        "fd.ops.broadcast_in_dim(b, shape=[k, 4], broadcast_dims=[1])",
        "
        n7 = broadcast [new, old] (n1) : f32[1, 4]
        n8 = expand [i3, 4] (n7) : f32[i3, 4]",
    );
}

#[test]
fn composites_are_patterns() {
    let body = "a = fd.define_tensor(shape=[-1, 4], contiguity=True, dtype=DataType.Half)
        b = fd.ops.softmax(a, dim=-1)
        c = fd.ops.gelu(fd.ops.layer_norm(b, [4]))
        fd.add_output(fd.ops.rms_norm(c, [4]))
        fd.add_output(fd.ops.log_softmax(a, 0))";
    graph_of(body);
    let tasks = parse(&file(body)).expect("it parses").definition.tasks;
    let names: Vec<&str> = tasks.of_kind(TaskKind::Pattern).map(|(_, data)| data.name.as_str()).collect();
    assert_eq!(names, ["softmax", "layer_norm", "gelu", "rms_norm", "log_softmax"]);
}

/// An argument of a kind that most ops accept.
fn sample(param: &Param, tensor: Object, flag: Object) -> Object {
    match (param.kind, param.name) {
        (ParamKind::Operand, "condition" | "cond") => flag,
        (ParamKind::Operand | ParamKind::Tensor, _) => tensor,
        (ParamKind::Tensors, _) => Object::list([tensor.clone(), tensor]),
        (ParamKind::Scalar, "index") => Object::int(0),
        (ParamKind::Combine | ParamKind::Text, _) => Object::Text("argmax".into()),
        (ParamKind::Lambda, _) => Object::None,
        (ParamKind::Scalar | ParamKind::Int | ParamKind::Numbers, _) => Object::int(1),
        (ParamKind::Ints, "dims" | "broadcast_dims" | "stride_order") => Object::ints([0, 1]),
        (ParamKind::Ints, _) => Object::ints([1, 1]),
        (ParamKind::Shape, _) => Object::ints([1, 1]),
        (ParamKind::Bool, _) => Object::bool(false),
        (ParamKind::Bools, _) => Object::list([Object::bool(false), Object::bool(false)]),
        (ParamKind::Contiguity, _) => Object::bool(true),
        (ParamKind::DType, _) => Object::DType(DType::F32),
    }
}

/// Every row of the tables in a minimal call, on each dtype that it accepts; the definition prints and reads back. Ops with
/// a meaning on complex numbers accept them.
#[test]
fn every_op_can_be_called() {
    for op in OpRef::all() {
        let called = [DType::F32, DType::I64, DType::Bool, DType::C64].map(|dtype| calls(op, dtype));
        assert!(called.contains(&true), "`{}` accepts none of the samples", op.name());
        assert!(called[3] || complex_meaning(op.name()).is_none(), "`{}` rejects complex numbers", op.name());
    }
}

#[test]
fn complex_numbers_are_pairs_of_reals() {
    let body = "z = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.ComplexFloat)
        w = fd.ops.mul(z, 2j)
        fd.add_output(fd.ops.imag(w))
        fd.add_output(fd.ops.sum(w, dims=[0]))
        fd.add_output(fd.ops.cast(z, DataType.Double))";
    let printed = graph_of(body);
    let complex: Vec<&str> = printed.lines().filter(|line| line.contains(": c64")).collect();
    assert_eq!(complex.len(), 2, "only an input and an output are complex: {printed}");
    assert!(complex[1].contains("= complex ("), "{printed}");
    assert_eq!(printed.matches("fold sum").count(), 2, "{printed}");
    assert!(!printed.contains(" imag (n0)") || printed.matches(" imag (n0)").count() == 1, "{printed}");
}

#[test]
fn what_complex_numbers_do_not_have_is_rejected() {
    let rejected = |call: &str| {
        let body = format!(
            "z = fd.define_tensor(shape=[4], contiguity=True, dtype=DataType.ComplexFloat)
        x = fd.define_tensor(shape=[4], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.{call})"
        );
        parse(&file(&body)).expect_err(call).to_string()
    };
    for (call, message) in [
        ("lt(x, z)", "argument `rhs` must be real, as `lt` is not defined for complex numbers, but is c64"),
        ("relu(z)", "argument `x` must be real, as `relu` is not defined for complex numbers, but is c64"),
        (
            "max(z, [0])",
            "argument `arg` must be real, as `max` is not defined for complex numbers, but is c64",
        ),
        ("imag(x)", "argument `x` must be a complex number, but is f32"),
        ("complex(z, x)", "argument `real` must be a real number, but is c64"),
        ("where(z, x, x)", "argument `condition` must be a bool, but is c64"),
        (
            "pad(x, [1, 1], 2j)",
            "argument `value` must be a real number, as the tensor is real, but is a complex one",
        ),
        ("full([2], 2j, DataType.Float)", "argument `fill_value` must be a real number"),
        ("cat([x, z], 0)", "`cat` needs tensors of one dtype, but has complex and real ones"),
    ] {
        let error = rejected(call);
        assert!(error.contains(message), "{call}: {error}");
    }
}

fn calls(op: OpRef, dtype: DType) -> bool {
    let mut builder = DefinitionBuilder::new();
    let mut declare = |shape: &[i64], dtype| {
        let arguments = vec![
            CallArgument::positional(Object::ints(shape.iter().copied())),
            CallArgument::keyword("dtype", Object::DType(dtype)),
        ];
        Object::Value(builder.define_tensor(arguments).expect("a fine declaration"))
    };
    let (tensor, flag) = (declare(&[1, 1], dtype), declare(&[1, 1], DType::Bool));
    let row = declare(&[1], dtype);
    let params = op.params();
    let mut required: Vec<CallArgument> = Vec::new();
    for (place, param) in
        params.iter().enumerate().filter(|(_, param)| param.default == ParamDefault::Required)
    {
        let object = match (op.name(), param.name) {
            ("where", _) if place == 0 => flag.clone(),
            ("index_select", "index") => row.clone(),
            ("dropout_backward", "mask") => flag.clone(),
            ("grouped_mm", "offsets") => declare(&[1], DType::I32),
            ("instance_norm" | "instance_norm_backward", _) => declare(&[1; 3], dtype),
            ("sdpfa_bwd", "logsumexp") => declare(&[1; 3], dtype),
            ("sdpfa_fwd" | "sdpfa_bwd", _) => declare(&[1; 4], dtype),
            _ => sample(param, tensor.clone(), flag.clone()),
        };
        required.push(CallArgument::keyword(param.name, object));
    }
    let Ok(result) = builder.call(op.name(), required) else { return false };
    let results = result.as_list().map_or_else(|| vec![result.clone()], <[Object]>::to_vec);
    for result in results {
        if builder.add_output(&result, None).is_err() {
            builder.add_output(&tensor, None).expect("a tensor");
        }
    }
    let definition = builder.finish().expect("it gives something back");
    let printed = print(&definition, NameStyle::Long);
    let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}")).definition;
    assert_eq!(dump(&again.graph, &again.fusion), dump(&definition.graph, &definition.fusion), "{printed}");
    true
}
