//! Kernel text: programs print as written, errors have a place, no text makes the parser panic.

use kernel::{parse, print};

use super::kernel;

const PROGRAMS: [&str; 6] = [
    include_str!("programs/mul_bf16.kernel"),
    include_str!("programs/softmax.kernel"),
    include_str!("programs/column_sum.kernel"),
    include_str!("programs/pad.kernel"),
    include_str!("programs/reverse.kernel"),
    include_str!("programs/welford.kernel"),
];

#[test]
fn programs_print_as_they_are_written() {
    for text in PROGRAMS {
        let printed = kernel(text).to_string();
        let code: String =
            text.lines().filter(|line| !line.starts_with('#')).map(|line| line.to_owned() + "\n").collect();
        assert_eq!(printed, code);
        assert_eq!(kernel(&printed), kernel(text));
    }
}

#[test]
fn a_statement_prints_as_one_line() {
    let kernel = kernel(include_str!("programs/pad.kernel"));
    let head = print::statement(&kernel, kernel.body.last().expect("the loop"));
    assert_eq!(head, "for x0 in 0 .. i0 + i1 + i2 lanes {");
}

#[test]
fn loops_say_who_runs_their_iterations() {
    for kind in ["", " remainder", " transpose", " lanes", " exact", " lanes by 8", " exact by 2"] {
        let head = format!("  for x0 in 0 .. 4*i0{kind} {{\n  }}\n");
        let text =
            format!("kernel k(i0) lanes 4 {{\n  symbols i0, block, x0\n  blocks block in 0 .. 1\n{head}}}\n");
        assert_eq!(kernel(&text).to_string(), text);
    }
}

#[test]
fn heads_say_what_launches_see_to() {
    let text = "kernel k(i0) lanes 64 warps 32 teams 2 {\n  symbols i0, block\n  blocks block in 0 .. 1\n  assume i0 % 64 == 0\n  \
                assume i0 <= 4096\n  read b0: bf16 x align 16\n  private w0: f32[i0]\n}\n";
    assert_eq!(kernel(text).to_string(), text);
    let spread = text.replace("teams 2", "cluster 2");
    assert_eq!(kernel(&spread).to_string(), spread);
}

#[test]
fn blanks_and_comments_do_not_matter() {
    let tight = "kernel k(i0)lanes 4{# c\n\n  symbols i0,b,x # c\nblocks b in 0..i0\nread b0:f32 T\n\
                 for x in 0..i0 lanes{ # lanes\nv0:f32=load b0[ x ]\n}}";
    let error = parse(tight).unwrap_err();
    assert_eq!((error.line, error.column), (8, 2), "{error}");
    let kernel = kernel(&tight.replace("}}", "}\n}"));
    assert!(kernel.to_string().contains("\n    v0: f32 = load b0[x]\n"));
}

/// The error of a kernel with this body; its lines begin at 4.
fn error_in(body: &str) -> String {
    let text =
        format!("kernel k(i0) lanes 4 {{\nsymbols i0, block, x0\nblocks block in 0 .. i0\n{body}\n}}\n");
    parse(&text).expect_err(body).to_string()
}

#[test]
fn errors_say_where_and_what() {
    for (body, expected) in [
        ("v0: f32 = frobnicate v1", "line 4, column 11: no primitive op is named `frobnicate`"),
        ("v0: f33 = const 1", "line 4, column 5: no dtype is named `f33`"),
        ("v0: i32 = const 1.5", "line 4, column 17: expected a constant of dtype i32"),
        ("v0 = const 1", "line 4, column 4: expected `:`"),
        ("hello", "line 4, column 1: expected a statement"),
        ("v0: f32 = load c0[0]", "line 4, column 16: expected a place such as b0[x0] or w0[x0]"),
        ("v0: f32 = load b0[i0 + y]", "line 4, column 24: unknown name `y`"),
        ("v0: f32 = load b0[i0", "line 4, column 21: expected `]`"),
        ("v0: f32 = get v1", "line 4, column 15: expected an accumulator such as a0"),
        ("v0: f32 = reduce frob a0", "line 4, column 18: no monoid is named `frob`"),
        ("v0: f32 = reduce lambda(f32 0; p3 = add p0, p1; p3) a0", "line 4, column 18: this is no lambda"),
        ("v0: f32 = reduce lambda(f32 0; p2 = add p0, p9; p2) a0", "line 4, column 18: this is no lambda"),
        ("v0: f32 = reduce lambda(f32 0; p0", "line 4, column 34: expected `)`"),
        ("v0: f32, v1: f32 = add v2, v3", "line 4, column 20: expected `reduce`"),
        ("store b0[0] = v1 when v2", "line 4, column 18: expected the end of the line"),
        ("for y in 0 .. 4 {", "line 4, column 5: expected a symbol that the line `symbols` declares"),
        ("for x0 in 0 .. 4", "line 4, column 17: expected `{`"),
        ("for x0 in 0 to 4 {", "line 4, column 19: expected `..`"),
        ("barrier barrier", "line 4, column 9: expected the end of the line"),
        ("barriers", "line 4, column 1: expected a statement"),
        ("v0: f32 = const 1\nv0: f32 = const 2", "line 5, column 1: this value is defined twice"),
        ("v1: f32 = const 1", "v0 is missing: ids are numbered without gaps"),
        ("v4000000000: f32 = const 1", "line 4, column 1: expected a statement"),
        ("read b0: f32 T0\nread b0: f32 T1", "line 5, column 6: this buffer is declared twice"),
        ("é: f32 = const 1", "line 4, column 1: expected a statement"),
        ("}", "line 5, column 1: expected nothing after"),
        ("for x0 in 0 .. 4 {", "the text ends too early"),
    ] {
        let error = error_in(body);
        assert!(error.contains(expected), "{body}\n{error}");
    }
}

#[test]
fn errors_in_the_head() {
    for (text, expected) in [
        ("", "line 1, column 1: the text ends too early"),
        ("colonel k() lanes 1 {", "line 1, column 1: expected `kernel`"),
        ("kernel k(i0 i1) lanes 1 {", "line 1, column 13: expected `,`"),
        ("kernel k(i0) lanes many {", "line 1, column 20: expected the number of lanes"),
        (
            "kernel k(i0) lanes 1 {\nsymbols i1\nblocks i1 in 0 .. 1\n}",
            "line 1, column 10: expected an argument",
        ),
        ("kernel k() lanes 1 {\nsymbols b\nblocks b in 1 .. 2\n}", "line 3, column 13: expected `0`"),
    ] {
        let error = parse(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}\n{error}");
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let body = "for x0 in 0 .. 4 {\n".repeat(100_000);
    assert!(
        error_in(&body).contains("line 68, column 5: loops may nest 64 deep, not deeper"),
        "{}",
        error_in(&body)
    );
    assert!(error_in(&format!("v0: i64 = index {}1", "(".repeat(100_000))).contains("nested too deeply"));
}
