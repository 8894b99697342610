//! One test per rule of the verifier: a kernel that breaks it, and the message.

use cranelift_entity::{EntityRef, PrimaryMap};
use index::{Expr, Sym};
use kernel::{Accumulator, Assumption, Buffer, Kernel, Loop, LoopKind, Place, Stmt, Value, parse, verify};
use ops::{DType, Scalar};

use super::kernel;

/// A kernel with this body among declarations of every kind.
fn around(body: &str) -> Kernel {
    kernel(&format!(
        "kernel k(i0) lanes 4 {{\nsymbols i0, block, x0, x1, x2\nblocks block in 0 .. i0\nread b0: f32 T0\n\
         write b1: f32 T1\nscratch w0: f32[8]\n{body}\n}}\n"
    ))
}

/// Asserts that the kernel is rejected with a message that contains these words, about this statement.
fn rejected(kernel: &Kernel, statement: &str, message: &str) {
    let violations = verify(kernel).expect_err(message).0;
    let found = violations.iter().any(|v| v.statement.contains(statement) && v.message.contains(message));
    assert!(found, "{violations:#?}");
}

fn body_rejected(body: &str, statement: &str, message: &str) {
    rejected(&around(body), statement, message);
}

fn changed(change: impl FnOnce(&mut Kernel)) -> Kernel {
    let mut kernel = around("v0: f32 = const 1.0");
    assert_eq!(verify(&kernel), Ok(()));
    change(&mut kernel);
    kernel
}

#[test]
fn names() {
    rejected(&changed(|k| k.name = "soft max".into()), "kernel", "no identifier");
    rejected(&changed(|k| k.name.clear()), "kernel", "no identifier");
    rejected(&changed(|k| k.symbols[Sym::new(2)] = "0x".into()), "kernel", "`0x` is no identifier");
    rejected(&changed(|k| k.symbols[Sym::new(2)] = "x1".into()), "kernel", "two symbols are named `x1`");
    rejected(&changed(|k| k.symbols[Sym::new(2)] = "max".into()), "kernel", "`max` is no name for a symbol");
    rejected(&changed(|k| k.buffers[Buffer::new(0)].name = "a-b".into()), "kernel", "`a-b` is no identifier");
}

#[test]
fn teams() {
    for teams in [0, 3, 512] {
        rejected(&changed(|k| k.teams = teams), "kernel", "teams: not a power of two, or of more than 1024");
    }
    rejected(&changed(|k| k.teams = 2), "kernel", "lanes of one of several teams share scratch");
    rejected(&changed(|k| (k.teams, k.body) = (2, vec![Stmt::Barrier])), "barrier", "wait for each other");
    let total = around(
        "v0: f32 = const 0.0\nacc a0: f32 = v0\nfor x0 in 0 .. 64 lanes {\nset a0 = v0\n}\n\
                        v1: f32 = reduce sum a0",
    );
    let of_team = |lanes, warp| Kernel { lanes, warp, teams: 2, ..total.clone() };
    rejected(&of_team(64, 64), "reduce", "reduce at most 32 at once");
    rejected(&of_team(32, 16), "reduce", "reduce at most 32 at once");
}

#[test]
fn clusters() {
    let body = "v0: f32 = const 0.0\nacc a0: f32 = v0\nfor x0 in 0 .. 64 lanes {\nset a0 = v0\n}\nv1: f32 = reduce sum a0";
    let plain = Kernel { scratch: PrimaryMap::new(), ..around(body) };
    let of = |lanes, warp, cluster| Kernel { lanes, warp, cluster, ..plain.clone() };
    assert_eq!(verify(&of(64, 32, 2)), Ok(()));
    assert_eq!(verify(&of(8192, 32, 8)), Ok(()));
    for cluster in [0, 3, 16] {
        rejected(&of(1024, 32, cluster), "kernel", "blocks: not a power of two from 1 to 8");
    }
    rejected(&of(4096, 32, 2), "kernel", "4096 lanes: not a power of two from 1 to 2048");
    rejected(&of(64, 16, 2), "kernel", "whole warps of 32 lanes");
    rejected(&of(64, 32, 4), "kernel", "whole warps of 32 lanes");
    rejected(&Kernel { teams: 2, ..of(64, 32, 2) }, "kernel", "each is several teams");
    let shared = Kernel { lanes: 64, warp: 32, cluster: 2, ..around(body) };
    rejected(&shared, "kernel", "blocks: they share scratch");
    rejected(&Kernel { body: vec![Stmt::Barrier], ..of(64, 32, 2) }, "barrier", "of one block of a cluster");
}

#[test]
fn transposes() {
    let copy = |from: &str, to: &str, columns: &str| {
        format!(
            "for x0 in 0 .. i0 transpose {{\nfor x1 in 0 .. {columns} lanes {{\nv0: f32 = load {from}\nstore {to} = v0\n}}\n}}"
        )
    };
    for (from, to) in [
        ("b0[4*x0 + x1]", "w0[x0 + 2*x1]"),
        ("w0[x0 + 2*x1]", "b1[x0*i0 + x1]"),
        ("w0[x0 + x1]", "b1[x0*i0 + x1]"),
    ] {
        assert_eq!(verify(&around(&copy(from, to, "4"))), Ok(()));
    }
    let head = "for x0 in 0 .. i0 transpose";
    for (from, to, columns) in [
        ("b0[4*x0 + x1]", "w0[4*x0 + x1]", "4"),
        ("b0[4*x0 + x1]", "w0[2*x0 + 2*x1]", "4"),
        ("b0[4*x0 + 2*x1]", "w0[x0 + 2*x1]", "4"),
        ("b0[4*x0 + x1]", "b1[x0 + 2*x1]", "4"),
        ("w0[4*x0 + x1]", "w0[x0 + 2*x1]", "4"),
        ("b0[4*x0 + x1]", "w0[x0 + 2*x1]", "x0"),
    ] {
        body_rejected(&copy(from, to, columns), head, "to copy a rectangle from a buffer to scratch or back");
    }
    body_rejected(
        "for x0 in 0 .. 2 transpose {\nbarrier\n}",
        head.replace("i0", "2").as_str(),
        "and no more",
    );
    let in_lanes = format!("for x2 in 0 .. 2 lanes {{\n{}\n}}", copy("b0[4*x0 + x1]", "w0[x0 + 2*x1]", "4"));
    body_rejected(&in_lanes, "for x1 in 0 .. 4 lanes", "a loop over lanes inside another");
}

#[test]
fn prefetches() {
    body_rejected("prefetch b1[0]", "prefetch b1[0]", "load from b1, which is written");
    body_rejected("prefetch b0[x0]", "prefetch b0[x0]", "not in scope here: x0");
}

#[test]
fn fetches() {
    let declared = |body: &str| {
        let kernel = around(body).to_string();
        parse(&kernel.replace(
            "  scratch w0: f32[8]\n",
            "  scratch w0: f32[8]\n  private w1: f32[8]\n  private w2: i32[8]\n",
        ))
        .expect("a kernel")
    };
    let in_lanes = |fetch: &str| declared(&format!("for x0 in 0 .. 8 lanes {{\n{fetch}\n}}\nawait 0"));
    assert_eq!(verify(&in_lanes("fetch w1[x0] = b0[x0]")), Ok(()));
    rejected(&in_lanes("fetch w0[x0] = b0[x0]"), "fetch", "w0 is not private");
    rejected(&in_lanes("fetch w2[x0] = b0[x0]"), "fetch", "w2 and b0 are of different dtypes");
    rejected(&in_lanes("fetch w1[x0] = b1[x0]"), "fetch", "load from b1, which is written");
    rejected(&in_lanes("fetch w1[x1] = b0[x0]"), "fetch", "not in scope here: x1");
    rejected(&in_lanes("await 1"), "await", "await inside a loop over lanes");
    rejected(&declared("fetch w1[0] = b0[0]\nawait 0"), "fetch", "fetch outside a loop over lanes");
}

#[test]
fn lanes() {
    for lanes in [0, 3, 2048] {
        rejected(&changed(|k| k.lanes = lanes), "kernel", "not a power of two from 1 to 1024");
    }
}

#[test]
fn warps() {
    for warp in [0, 3, 8] {
        rejected(&changed(|k| k.warp = warp), "kernel", "not a power of two from 1 to the lanes");
    }
}

#[test]
fn widths() {
    for width in [0, 3, 32] {
        let text = format!("for x0 in 0 .. 4 lanes by {width} {{\n}}");
        body_rejected(&text, "for x0 in", "not a power of two from 1 to 16");
    }
    body_rejected("for x0 in 0 .. 4 by 2 {\n}", "for x0 in", "only lanes take several at a time");
}

#[test]
fn assumptions_and_alignment() {
    rejected(
        &changed(|k| k.assumptions.push(Assumption::Multiple { symbol: k.block, of: 4 })),
        "kernel",
        "of no argument",
    );
    let one = |k: &mut Kernel| k.assumptions.push(Assumption::Multiple { symbol: k.arguments[0], of: 1 });
    rejected(&changed(one), "kernel", "1 divides anything or nothing");
    for align in [1, 12] {
        rejected(&changed(|k| k.buffers[Buffer::new(0)].align = align), "kernel", "aligned to");
    }
}

#[test]
fn arguments_and_block() {
    rejected(&changed(|k| k.block = Sym::new(0)), "kernel", "not all different");
    rejected(&changed(|k| k.arguments.push(Sym::new(0))), "kernel", "not all different");
    rejected(&changed(|k| k.arguments.push(Sym::new(9))), "kernel", "is not declared");
}

#[test]
fn sizes_over_arguments() {
    rejected(&changed(|k| k.blocks = Expr::sym(k.block)), "kernel", "the number of blocks does not depend");
    let scratch = "kernel k() lanes 4 {\nsymbols block\nblocks block in 0 .. 1\nscratch w0: f32[block]\n}";
    rejected(&kernel(scratch), "kernel", "the length of w0 does not depend on arguments alone");
}

#[test]
fn definitions() {
    let value = Value::new(0);
    let constant = || Stmt::Const { value, constant: Scalar::one(DType::F32) };
    rejected(&changed(|k| k.body.push(constant())), "v0", "v0 is defined twice");
    rejected(&changed(|k| k.body.clear()), "kernel", "v0 is never defined");
    rejected(
        &changed(|k| {
            k.accumulators.push(DType::F32);
        }),
        "kernel",
        "a0 is never opened",
    );
    rejected(&changed(|k| k.values.clear()), "v0", "v0 is not declared");
    let open = Stmt::Open { accumulator: Accumulator::new(0), init: value };
    rejected(&changed(|k| k.body.push(open.clone())), "acc a0", "a0 is not declared");
    let twice = changed(|k| {
        k.accumulators.push(DType::F32);
        k.body.extend([open.clone(), open]);
    });
    rejected(&twice, "acc a0", "a0 is opened twice");
}

#[test]
fn places_are_declared() {
    let index = Expr::constant(0);
    let place = Place::Buffer(Buffer::new(7));
    let store = Stmt::Store { place, index, value: Value::new(0), guard: None };
    rejected(&changed(|k| k.body.push(store)), "store b7", "b7 is not declared");
}

#[test]
fn scopes_of_values() {
    body_rejected("v0: f32 = add v1, v1\nv1: f32 = const 1.0", "v0", "v1 is used before its definition");
    body_rejected("v0: f32 = add v0, v0", "v0", "v0 is used before its definition");
    let leaves = "for x0 in 0 .. 4 {\nv0: f32 = const 1.0\n}\nv1: f32 = add v0, v0";
    body_rejected(leaves, "v1", "v0 is used outside the body that defines it");
    body_rejected("store b1[0] = v9", "store", "v9 is used before");
}

#[test]
fn scopes_of_accumulators() {
    let leaves = "for x0 in 0 .. 4 {\nv0: f32 = const 1.0\nacc a0: f32 = v0\n}\nv1: f32 = get a0";
    body_rejected(leaves, "v1", "a0 is used outside the body that opens it");
    body_rejected(
        "v0: f32 = const 1.0\nset a0 = v0\nacc a0: f32 = v0",
        "set",
        "a0 is used before it is opened",
    );
}

#[test]
fn loops_nest_so_deep_and_no_deeper() {
    let nest = |depth: usize| {
        let empty = |var| Loop {
            var,
            begin: Expr::zero(),
            end: Expr::one(),
            kind: LoopKind::Serial,
            width: 1,
            body: vec![],
        };
        changed(|k| {
            for level in 0..depth {
                let var = k.symbols.push(format!("y{level}"));
                let body = std::mem::take(&mut k.body);
                k.body.push(Stmt::For(Loop { body, ..empty(var) }));
            }
        })
    };
    assert_eq!(verify(&nest(64)), Ok(()));
    rejected(&nest(65), "kernel", "loops nest more than 64 deep");
}

#[test]
fn loop_variables() {
    let again = "for x0 in 0 .. 4 {\nfor x0 in 0 .. 4 {\n}\n}";
    body_rejected(again, "for x0", "the loop's variable is in use already");
    body_rejected("for block in 0 .. 4 {\n}", "for block", "the loop's variable is in use already");
    body_rejected("for i0 in 0 .. 4 {\n}", "for i0", "the loop's variable is in use already");
    let undeclared = changed(|k| {
        let (var, kind) = (Sym::new(99), LoopKind::Serial);
        k.body.push(Stmt::For(Loop {
            var,
            begin: Expr::zero(),
            end: Expr::one(),
            kind,
            width: 1,
            body: vec![],
        }));
    });
    rejected(&undeclared, "for ?", "the loop's variable is not declared");
    assert_eq!(verify(&around("for x0 in 0 .. 4 {\n}\nfor x0 in 0 .. 4 lanes {\n}")), Ok(()));
}

#[test]
fn symbols_in_scope() {
    body_rejected("v0: i64 = index overflow", "v0", "an index expression outgrew the algebra");
    body_rejected("v0: i64 = index x0", "v0", "not in scope here: x0");
    body_rejected("for x0 in 0 .. x0 {\n}", "for x0", "not in scope here: x0");
    body_rejected("for x0 in 0 .. 4 {\n}\nv0: f32 = load b0[x0 + x1]", "v0", "not in scope here: x0, x1");
    assert_eq!(verify(&around("for x0 in 0 .. 4 {\nfor x1 in x0 .. i0 + block {\n}\n}")), Ok(()));
}

#[test]
fn one_loop_over_lanes() {
    let nested = "for x0 in 0 .. 4 lanes {\nfor x1 in 0 .. 2 {\nfor x2 in 0 .. 2 lanes {\n}\n}\n}";
    body_rejected(nested, "for x2", "a loop over lanes inside another");
}

#[test]
fn bounds_are_uniform() {
    let varying = "for x0 in 0 .. 4 lanes {\nfor x1 in 0 .. x0 {\n}\n}";
    body_rejected(varying, "for x1", "a bound depends on the lane");
}

#[test]
fn uniform_code() {
    body_rejected("for x0 in 0 .. 4 lanes {\nbarrier\n}", "barrier", "barrier inside a loop over lanes");
    let reduce = "v0: f32 = const 1.0\nacc a0: f32 = v0\nfor x0 in 0 .. 4 lanes {\nset a0 = v0\n\
                  v1: f32 = reduce sum a0\n}";
    body_rejected(reduce, "reduce", "reduce inside a loop over lanes");
}

#[test]
fn copies_per_lane() {
    let set = "v0: f32 = const 1.0\nacc a0: f32 = v0\nfor x0 in 0 .. 4 lanes {\nset a0 = v0\n}\n";
    body_rejected(&format!("{set}v1: f32 = get a0"), "get a0", "a0 has a copy per lane");
    assert_eq!(verify(&around(&format!("{set}v1: f32 = reduce sum a0"))), Ok(()));
    let single = "v0: f32 = const 1.0\nacc a0: f32 = v0\nv1: f32 = reduce sum a0";
    body_rejected(single, "reduce", "a0 has one copy only");
}

#[test]
fn operands() {
    body_rejected("v0: bf16 = const 1.0\nv1: f32 = add v0, v0", "add", "operands must be cast to f32, f32");
    let mixed = "v0: f32 = const 1.0\nv1: f64 = const 1.0\nv2: f64 = add v0, v1";
    body_rejected(mixed, "add", "operands must be cast to f64, f64");
    body_rejected("v0: f32 = const 1.0\nv1: f32 = add v0", "add", "2 operand");
    body_rejected("v0: f32 = const 1.0\nv1: f64 = add v0, v0", "add", "the result is of dtype f32");
    body_rejected("v0: bool = const true\nv1: bool = sub v0, v0", "sub", "must be a number");
}

#[test]
fn dtypes_of_memory_and_accumulators() {
    let value = "v0: f64 = const 1.0\n";
    body_rejected("v0: f64 = load b0[0]", "load", "an element of b0 is of dtype f32, but v0 of f64");
    body_rejected(&format!("{value}store w0[0] = v0"), "store", "an element of w0 is of dtype f32");
    body_rejected(&format!("{value}acc a0: f32 = v0"), "acc", "a0 is of dtype f32, but v0 of f64");
    let opened = format!("{value}v1: f32 = const 1.0\nacc a0: f32 = v1\n");
    body_rejected(&format!("{opened}set a0 = v0"), "set", "a0 is of dtype f32, but v0 of f64");
    body_rejected(&format!("{opened}v2: f64 = get a0"), "get", "a0 is of dtype f32, but v2 of f64");
    let reduced = format!("{opened}for x0 in 0 .. 4 lanes {{\nset a0 = v1\n}}\nv2: i64 = reduce sum a0");
    body_rejected(&reduced, "reduce", "a0 is of dtype f32, but v2 of i64");
    body_rejected("v0: i32 = index i0", "index", "an index is of dtype i64, but v0 of i32");
    body_rejected("v0: i64 = index 1\nv1: f32 = load b0[0] if v0", "load", "a guard is of dtype bool");
    let constant = changed(|k| k.values[Value::new(0)] = DType::F64);
    rejected(&constant, "const", "the constant is of dtype f32, but v0 of f64");
}

#[test]
fn states() {
    let one = "v0: f32 = const 1.0\nacc a0: f32 = v0\nfor x0 in 0 .. 4 lanes {\nset a0 = v0\n}\n";
    body_rejected(&format!("{one}v1: f32 = reduce welford a0"), "reduce", "welford has 4 states");
    body_rejected(&format!("{one}v1: f32, v2: f32 = reduce sum a0"), "reduce", "sum has 1 states");
    assert_eq!(verify(&around(&format!("{one}v1: f64 = reduce sum a0"))), Ok(()));
    let double = one.replace("f32", "f64");
    body_rejected(&format!("{double}v1: f32 = reduce sum a0"), "reduce", "a0 is of dtype f64, but v1 of f32");
    let half = one.replace("f32", "bf16");
    body_rejected(&format!("{half}v1: bf16 = reduce sum a0"), "reduce", "sum does not compute in bf16");
    let whole = one.replace("f32", "i64").replace("1.0", "1");
    let states = "v1: i64, v2: i64, v3: i64, v4: i64 = reduce welford a0, a0, a0, a0";
    body_rejected(&format!("{whole}{states}"), "reduce", "welford does not compute in i64");
    let lambda = "v1: f32 = reduce lambda(f64 0; p2 = add p0, p1; p2) a0";
    body_rejected(&format!("{one}{lambda}"), "reduce", "lambda does not compute in f32");
    let lambda = "v1: f32 = reduce lambda(f32 0; p2 = add p0, p1; p2) a0";
    assert_eq!(verify(&around(&format!("{one}{lambda}"))), Ok(()));
}

#[test]
fn access() {
    body_rejected("v0: f32 = load b1[0]", "load", "load from b1, which is written");
    body_rejected("v0: f32 = const 1.0\nstore b0[0] = v0", "store", "store to b0, which is read");
}

#[test]
fn all_violations_are_collected() {
    let kernel = around("v0: f32 = load b1[x0]\nbarrier\nv1: i32 = index x1");
    assert_eq!(verify(&kernel).unwrap_err().0.len(), 4);
}

#[test]
fn bound_symbols() {
    body_rejected("v0: i64 = const 1\nbind x0 = v0\nbind x0 = v0", "bind x0 = v0", "in use already");
    body_rejected("v0: i64 = const 1\nbind i0 = v0", "bind i0 = v0", "in use already");
    body_rejected("v0: i32 = const 1\nbind x0 = v0", "bind x0 = v0", "a bound value is of dtype i64");
    body_rejected("v0: i64 = index x0\nbind x0 = v0", "v0: i64 = index x0", "not in scope here: x0");
    let inner = "for x1 in 0 .. 4 {\nv0: i64 = index x1\nbind x0 = v0\n}\nv1: i64 = index x0";
    body_rejected(inner, "v1: i64 = index x0", "not in scope here: x0");
    let varying = "for x1 in 0 .. 4 lanes {\nv0: i64 = index x1\nbind x0 = v0\nfor x2 in 0 .. x0 {\n}\n}";
    body_rejected(varying, "for x2 in 0 .. x0 {", "a bound depends on the lane");
}

#[test]
fn faults() {
    let told = "v0: i64 = const 1\nv1: bool = const true\n";
    body_rejected(&format!("{told}fault b1[0] = v0 if v1"), "fault b1[0]", "fault in b1, which is written");
    let words = around(&format!("faults b2: i64 words\n{told}fault b2[3] = v0 if v1"));
    assert_eq!(verify(&words), Ok(()));
    body_rejected(
        &format!("faults b2: i64 words\n{told}store b2[0] = v0"),
        "store b2[0]",
        "store to b2, which holds fault words",
    );
    body_rejected(
        &format!("faults b2: i64 words\n{told}fault b2[0] = v0 if v0"),
        "fault b2[0]",
        "a guard is of dtype bool",
    );
}
