//! Definitions as text in, graphs as text out.

use crate::graph::dump;
use crate::text::{Names, parse, print, print_view};

/// A body as a file.
fn file(body: &str) -> String {
    let lines: Vec<String> = body.lines().map(|line| format!("    {}", line.trim())).collect();
    format!("def f(fd):\n{}\n", lines.join("\n"))
}

/// The dump of the body of a definition, or what is wrong with it. What parses also prints, reads back and lifts.
fn graph_of(body: &str) -> String {
    let definition = match parse(&file(body)) {
        Ok(file) => file.definition,
        Err(diagnostic) => return diagnostic.to_string(),
    };
    let graph = dump(&definition.graph, &definition.fusion);
    let printed = print(&definition, Names::Long);
    let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}")).definition;
    assert_eq!(dump(&again.graph, &again.fusion), graph, "printed and read back:\n{printed}");
    assert_eq!(print(&again, Names::Long), printed, "printed again");
    let short = print(&definition, Names::Short);
    let again = parse(&short).unwrap_or_else(|error| panic!("{error}\n{short}")).definition;
    assert_eq!(dump(&again.graph, &again.fusion), graph, "printed with short names:\n{short}");
    let lifted = print_view(&definition.graph, &definition.fusion, &definition.record, Names::Long)
        .unwrap_or_else(|error| panic!("lifting: {error}\n{graph}"));
    let again = parse(&lifted).unwrap_or_else(|error| panic!("{error}\n{lifted}")).definition;
    assert_eq!(print(&again, Names::Long), lifted, "the lifted definition printed again");
    assert_eq!(kinds(&dump(&again.graph, &again.fusion)), kinds(&graph), "lifted:\n{lifted}\nof\n{graph}");
    graph
}

/// The forms of a dump without sizes, which are scalars of their own in a lifted definition, sorted.
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
fn halves_are_computed_in_f32() {
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
