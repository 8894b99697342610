//! Definitions as text in, graphs as text out.

use crate::graph::dump;
use crate::text::parse;

/// The dump of the body of a definition, or what is wrong with it.
fn graph_of(body: &str) -> String {
    let lines: Vec<String> = body.lines().map(|line| format!("    {}", line.trim())).collect();
    match parse(&format!("def f(fd):\n{}\n", lines.join("\n"))) {
        Ok(file) => dump(&file.definition.graph, &file.definition.fusion),
        Err(diagnostic) => diagnostic.message,
    }
}

fn check(body: &str, expected: &str) {
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(graph_of(body).trim_end(), expected.join("\n"), "{body}");
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
}
