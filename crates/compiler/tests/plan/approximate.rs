//! What is made cheaper, and what is not.

use ferrofuse_compiler::passes::{PassContext, approximate};
use ir::graph::TensorOp;
use ops::ScalarOp;
use rustc_hash::FxHashSet;

/// The cheaper ops in the view that the pass makes of a definition, in order.
fn cheaper(body: &str) -> Vec<&'static str> {
    let others = [ScalarOp::ReciprocalHalf, ScalarOp::ReciprocalSigned, ScalarOp::Tanh];
    let is_cheaper =
        |op: &ScalarOp| *op != ScalarOp::Exp && op.is_exp() || op.is_short_exp2() || others.contains(op);
    let cheaper: Vec<&str> = ScalarOp::ALL.iter().filter(|op| is_cheaper(op)).map(|op| op.name()).collect();
    ops(body).into_iter().filter(|name| cheaper.contains(name)).collect()
}

/// All ops in that view.
fn ops(body: &str) -> Vec<&'static str> {
    let text = format!("def f(fd):\n    x = fd.define_tensor(shape=[-1, -1], dtype=DataType.Float)\n{body}");
    let definition = frontend::text::parse(&text).unwrap_or_else(|error| panic!("{error:?}")).definition;
    let (mut graph, view) = definition.graph.fork(&definition.fusion);
    let (view, _) =
        approximate(&mut graph, &PassContext { fusion: &view, expanded: &[], kept: &FxHashSet::default() });
    let scalar_ops = view.order().iter().filter_map(|&node| match graph.node(node).op {
        TensorOp::Map(op) => Some(op.name()),
        _ => None,
    });
    scalar_ops.collect()
}

/// A definition that gives back an expression over x as bf16.
fn rounded(expression: &str) -> Vec<&'static str> {
    rounded_to("BFloat16", expression)
}

fn rounded_to(dtype: &str, expression: &str) -> Vec<&'static str> {
    cheaper(&format!("    y = {expression}\n    fd.add_output(fd.ops.cast(y, dtype=DataType.{dtype}))\n"))
}

#[test]
fn what_is_rounded_to_a_half_type_may_be_cheaper() {
    assert_eq!(rounded("fd.ops.exp(x)"), ["exp2_bf16"]);
    assert_eq!(rounded("fd.ops.silu(x)"), ["exp2_bf16_addend", "reciprocal_half"]);
    assert_eq!(rounded_to("Half", "fd.ops.silu(x)"), ["exp2_half_addend", "reciprocal_half"]);
    assert_eq!(rounded("fd.ops.tanh_gelu(x)"), ["exp2_bf16_addend", "reciprocal_half"]);
    assert_eq!(rounded("fd.ops.softmax(x, dim=1)"), ["exp2_bf16_nonpositive", "reciprocal_half"]);
}

#[test]
fn ranges_of_exponentials_follow_from_operands_and_uses() {
    let of = |body: &str| cheaper(&format!("{body}    fd.add_output(y)\n"));
    assert_eq!(of("    y = fd.ops.softmax(x, dim=1)\n"), ["exp_nonpositive"]);
    assert_eq!(of("    y = fd.ops.sigmoid(x)\n"), ["exp_addend"]);
    assert_eq!(of("    y = fd.ops.add(fd.ops.exp(x), 0.25)\n"), [""; 0]);
    // Stored, or used otherwise as well.
    assert_eq!(of("    e = fd.ops.exp(x)\n    fd.add_output(e)\n    y = fd.ops.add(e, 1.0)\n"), [""; 0]);
    assert_eq!(of("    e = fd.ops.exp(x)\n    y = fd.ops.div(e, fd.ops.add(e, 1.0))\n"), [""; 0]);
}

#[test]
fn the_max_of_another_row_is_no_bound() {
    let square = |axis: usize, user: &str| {
        let text = format!(
            "    s = fd.define_tensor(shape=[8, 8], dtype=DataType.Float)\n    m = fd.ops.max(s, dims=[1])\n    \
             b = fd.ops.broadcast_in_dim(m, shape=[8, 8], broadcast_dims=[{axis}])\n    \
             e = fd.ops.exp(fd.ops.sub(s, b))\n    fd.add_output({user})\n"
        );
        cheaper(&text)
    };
    assert_eq!(square(0, "e"), ["exp_nonpositive"]);
    assert_eq!(square(1, "e"), [""; 0]);
    assert_eq!(square(0, "fd.ops.sum(e, dims=[1])"), ["exp_term"]);
    assert_eq!(square(1, "fd.ops.sum(e, dims=[1])"), [""; 0]);
}

#[test]
fn factors_of_two_of_a_gelu_cancel() {
    let products = |factor: &str| {
        let body = format!(
            "    y = fd.ops.mul(fd.ops.mul(x, {factor}), fd.ops.add(fd.ops.tanh(fd.ops.mul(x, 0.75)), 1.0))\n    \
             fd.add_output(fd.ops.cast(y, dtype=DataType.BFloat16))\n"
        );
        ops(&body).into_iter().filter(|&name| name == "mul").count()
    };
    assert_eq!(products("0.5"), 2);
    assert_eq!(products("0.25"), 4);
}

#[test]
fn factors_of_an_exponent_are_one() {
    let products = |exponent: &str| {
        let body = format!(
            "    y = fd.ops.exp({exponent})\n    fd.add_output(fd.ops.cast(y, dtype=DataType.BFloat16))\n"
        );
        ops(&body)
    };
    assert_eq!(products("fd.ops.neg(x)"), ["mul", "exp2_bf16"]);
    assert_eq!(products("fd.ops.mul(x, -1.702)"), ["mul", "exp2_bf16"]);
    assert_eq!(products("fd.ops.mul(x, 3e38)"), ["mul", "mul", "exp2_bf16"]);
}

#[test]
fn the_cubic_of_a_gelu_is_one_product_and_a_sum() {
    let exponent = |cubic: &str| {
        let text = format!(
            "    y = fd.ops.exp(fd.ops.mul(fd.ops.add(x, {cubic}), 0.75))\n    \
             fd.add_output(fd.ops.cast(y, dtype=DataType.BFloat16))\n"
        );
        let names = ops(&text);
        names.into_iter().filter(|&name| name != "exp2_bf16").collect::<Vec<_>>()
    };
    let short = ["mul", "mul_add", "mul"];
    assert_eq!(exponent("fd.ops.mul(fd.ops.mul(fd.ops.mul(x, x), x), 0.045)"), short);
    assert_eq!(exponent("fd.ops.mul(fd.ops.mul(fd.ops.mul(0.045, x), x), x)"), short);
    assert_eq!(exponent("fd.ops.mul(x, fd.ops.mul(x, x))"), short);
    // Neither other powers nor values with too small a factor.
    assert_eq!(exponent("fd.ops.mul(fd.ops.mul(x, x), fd.ops.mul(x, x))"), ["mul", "mul_add", "mul"]);
    assert_eq!(
        exponent("fd.ops.mul(fd.ops.mul(fd.ops.mul(x, x), x), 1e-40)"),
        ["mul", "mul", "mul_add", "mul"]
    );
}

#[test]
fn what_is_stored_in_full_is_not() {
    assert_eq!(cheaper("    fd.add_output(fd.ops.exp(x))\n"), [""; 0]);
    assert_eq!(rounded_to("Double", "fd.ops.exp(x)"), [""; 0]);
    let both = "    y = fd.ops.exp(x)\n    fd.add_output(y)\n    fd.add_output(fd.ops.cast(y, dtype=DataType.Half))\n";
    assert_eq!(cheaper(both), [""; 0]);
}

#[test]
fn powers_beside_the_max_may_be_cheaper() {
    let powers = |max: &str, power: &str, user: &str| {
        cheaper(&format!(
            "    m = fd.ops.max({max}, dims=[1], keepdim=True)\n    e = fd.ops.exp({power})\n    \
             s = fd.ops.sum(e, dims=[1])\n    fd.add_output(fd.ops.log(s))\n{user}"
        ))
    };
    assert_eq!(powers("x", "fd.ops.sub(x, m)", ""), ["exp_term"]);
    // Values that are stored in full, divided, folded otherwise, or smaller than 1 are not.
    assert_eq!(powers("x", "fd.ops.sub(x, m)", "    fd.add_output(e)\n"), ["exp_nonpositive"]);
    assert_eq!(powers("x", "fd.ops.sub(x, m)", "    fd.add_output(fd.ops.div(e, m))\n"), ["exp_nonpositive"]);
    assert_eq!(
        powers("x", "fd.ops.sub(x, m)", "    fd.add_output(fd.ops.prod(e, dims=[1]))\n"),
        ["exp_nonpositive"]
    );
    assert_eq!(
        powers("x", "fd.ops.sub(x, m)", "    fd.add_output(fd.ops.sum(e, dims=[0]))\n"),
        ["exp_nonpositive"]
    );
    assert_eq!(powers("fd.ops.neg(x)", "fd.ops.sub(x, m)", ""), [""; 0]);
    assert_eq!(powers("x", "fd.ops.sub(m, x)", ""), [""; 0]);
    assert_eq!(powers("x", "x", ""), [""; 0]);
}

#[test]
fn powers_behind_a_guard_beside_the_max_may_be_cheaper() {
    let guarded = |guard: &str, user: &str| {
        cheaper(&format!(
            "    m = fd.ops.max(x, dims=[1], keepdim=True)\n    e = fd.ops.exp(fd.ops.sub(x, m))\n    \
             g = {guard}\n    fd.add_output(fd.ops.sum(g, dims=[1]))\n{user}"
        ))
    };
    let one = "fd.ops.where(fd.ops.eq(x, m), 1.0, e)";
    assert_eq!(guarded(one, ""), ["exp_term"]);
    // Values that are not 1, or where x is not m, or that are stored in full, are not.
    assert_eq!(guarded(&one.replace("1.0", "0.5"), ""), ["exp_nonpositive"]);
    assert_eq!(guarded(&one.replace("eq", "lt"), ""), ["exp_nonpositive"]);
    assert_eq!(guarded(one, "    fd.add_output(g)\n"), ["exp_nonpositive"]);
    assert_eq!(guarded(one, "    fd.add_output(e)\n"), ["exp_nonpositive"]);
}

#[test]
fn differences_and_steep_functions_need_what_they_are_given() {
    assert_eq!(rounded("fd.ops.sub(fd.ops.exp(x), 1.0)"), [""; 0]);
    assert_eq!(rounded("fd.ops.add(fd.ops.exp(x), x)"), [""; 0]);
    assert_eq!(rounded("fd.ops.sin(fd.ops.exp(x))"), [""; 0]);
    assert_eq!(rounded("fd.ops.exp(fd.ops.exp(x))"), ["exp2_bf16"]);
}

#[test]
fn tolerances_run_out() {
    let powers = (0..12).fold("fd.ops.reciprocal(x)".to_owned(), |inner, _| {
        format!("fd.ops.reciprocal(fd.ops.add(1.0, fd.ops.exp(fd.ops.mul({inner}, 0.0))))")
    });
    let mut expected = vec!["exp_addend"; 11];
    expected.extend(["exp2_bf16_addend", "reciprocal_half"]);
    assert_eq!(rounded(&powers), expected);
    let product = (0..20).fold("x".to_owned(), |inner, _| format!("fd.ops.reciprocal(fd.ops.abs({inner}))"));
    assert!(rounded(&product).len() < 20);
}

#[test]
fn quotients_by_what_may_be_tiny_stay() {
    assert_eq!(rounded("fd.ops.div(x, fd.ops.abs(x))"), [""; 0]);
    assert_eq!(rounded("fd.ops.div(x, fd.ops.add(fd.ops.abs(x), 1.0))"), ["reciprocal_half"]);
}

#[test]
fn a_tanh_that_others_need_stays() {
    let text = "    t = fd.ops.tanh(x)\n    y = fd.ops.mul(t, fd.ops.add(t, 1.0))\n    \
                fd.add_output(fd.ops.cast(y, dtype=DataType.BFloat16))\n";
    assert_eq!(cheaper(text), ["tanh"]);
}

#[test]
fn sums_take_their_products_where_a_half_type_hides_it() {
    let sums = |body: &str| {
        let fused = ["mul_add", "neg", "add", "sub", "mul"];
        ops(body).into_iter().filter(|name| fused.contains(name)).collect::<Vec<_>>()
    };
    let rounded = |sum: &str, user: &str| {
        sums(&format!(
            "    y = {sum}\n    z = {user}\n    fd.add_output(fd.ops.cast(z, dtype=DataType.BFloat16))\n"
        ))
    };
    assert_eq!(rounded("fd.ops.add(fd.ops.mul(x, 3.0), x)", "y"), ["mul_add"]);
    assert_eq!(
        rounded("fd.ops.add(x, fd.ops.mul(x, 3.0))", "fd.ops.sum(fd.ops.sin(y), dims=[1])"),
        ["mul_add"]
    );
    assert_eq!(rounded("fd.ops.sub(fd.ops.mul(x, 3.0), x)", "y"), ["neg", "mul_add"]);
    assert_eq!(rounded("fd.ops.sub(x, fd.ops.mul(x, 3.0))", "y"), ["neg", "mul_add"]);
    assert_eq!(rounded("fd.ops.add(fd.ops.mul(x, x), fd.ops.mul(x, 3.0))", "y"), ["mul", "mul_add"]);
    // Values that are stored in full or compared, and products that others need, stay as they are.
    assert_eq!(sums("    fd.add_output(fd.ops.add(fd.ops.mul(x, 3.0), x))\n"), ["mul", "add"]);
    assert_eq!(rounded("fd.ops.add(fd.ops.mul(x, 3.0), x)", "fd.ops.floor(y)"), ["mul", "add"]);
    assert_eq!(
        rounded("fd.ops.add(fd.ops.mul(x, 3.0), x)", "fd.ops.where(fd.ops.gt(y, x), x, 0.0)"),
        ["mul", "add"]
    );
    assert_eq!(rounded("fd.ops.mul(x, 3.0)", "fd.ops.mul(fd.ops.add(y, x), y)"), ["mul", "add", "mul"]);
}
