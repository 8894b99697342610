//! The function that combines the states of two runs; the reduction over a block calls it.

use ops::{Body, BodyStep, DType, ExprNode, Monoid, Operand, Scalar, ScalarExpr, signature};

use super::EmitError;
use super::cast::cast;
use super::prelude::Prelude;
use super::reduce::BlockReduction;
use super::spelling::{bare, fill};

/// Defines the function, by the monoid's expression over the states of two runs `a` and `b`.
pub(super) fn combine(reduction: &BlockReduction<'_>, prelude: &mut Prelude) -> Result<String, EmitError> {
    let (states, state_type) = (reduction.states(), reduction.state_type());
    let of = |run: &str| match states.as_slice() {
        [_] => vec![run.to_owned()],
        _ => states.iter().map(|state| format!("{run}.{state}")).collect(),
    };
    let (monoid, dtypes) = (&reduction.of.monoid, &reduction.of.dtypes);
    // Several reductions of one state each combine state by state.
    let own = if monoid.is_symmetric() { 1 } else { states.len() };
    let (mut lines, mut results) = (String::new(), Vec::new());
    for ((a, b), dtypes) in of("a").chunks(own).zip(of("b").chunks(own)).zip(dtypes.chunks(own)) {
        let (more, result) = combined(monoid, &[a, b].concat(), dtypes, prelude)?;
        lines.push_str(&more);
        results.extend(result);
    }
    let result = match results.as_slice() {
        [result] => bare(result).to_owned(),
        _ => {
            let parts = results.iter().map(|text| bare(text)).collect::<Vec<_>>().join(", ");
            (prelude.dialect.structures.returned)(&state_type, &parts)
        }
    };
    let (inline, stem) = (prelude.dialect.function.inline, reduction.stem);
    let head = format!("{inline} {state_type} combine_{stem}({state_type} a, {state_type} b)");
    Ok(match lines.as_str() {
        "" => format!("{head} {{ return {result}; }}\n"),
        _ => format!("{head} {{\n{lines}  return {result};\n}}\n"),
    })
}

/// Lines that combine the states of two runs, and the texts of the results.
fn combined(
    monoid: &Monoid,
    params: &[String],
    dtypes: &[DType],
    prelude: &mut Prelude,
) -> Result<(String, Vec<String>), EmitError> {
    match (monoid, monoid.exprs()) {
        (Monoid::Lambda(lambda), _) => body(lambda.body(), params, prelude),
        (_, Some(exprs)) => expression(&exprs.combine, params, dtypes, prelude),
        (_, None) => unreachable!("a monoid is a body or a row"),
    }
}

/// Lines that compute a body, a line a step.
fn body(body: &Body, params: &[String], prelude: &mut Prelude) -> Result<(String, Vec<String>), EmitError> {
    let mut lines = String::new();
    let mut texts = params.to_vec();
    for step in body.steps() {
        let number = texts.len();
        let text = match step {
            BodyStep::Constant(scalar) => {
                texts.push(prelude.dialect.literal(*scalar));
                continue;
            }
            BodyStep::Cast(to, arg) => cast(body.dtypes()[*arg], *to, &texts[*arg], prelude),
            BodyStep::Apply(scalar_op, args) => {
                let computes = body.dtypes()[args[args.len() - 1]];
                let args: Vec<String> = args.iter().map(|&arg| texts[arg].clone()).collect();
                fill(*scalar_op, prelude.dialect.template(*scalar_op, computes)?, &args, prelude)
            }
        };
        lines.push_str(&format!(
            "  const {} t{number} = {};\n",
            (prelude.dialect.type_name)(body.dtypes()[number]),
            bare(&text)
        ));
        texts.push(format!("t{number}"));
    }
    Ok((lines, body.results().iter().map(|&result| texts[result].clone()).collect()))
}

/// Lines that compute an expression over `params`, the states of two runs of these dtypes, and the texts of its results.
fn expression(
    expr: &ScalarExpr,
    params: &[String],
    dtypes: &[DType],
    prelude: &mut Prelude,
) -> Result<(String, Vec<String>), EmitError> {
    let used = |number: usize| {
        expr.nodes()
            .iter()
            .any(|node| matches!(node, ExprNode::Apply(_, operands) if operands.contains(&number)))
    };
    let dialect = prelude.dialect;
    let mut lines = String::new();
    let mut nodes: Vec<(String, DType)> = Vec::with_capacity(expr.nodes().len());
    for (number, node) in expr.nodes().iter().enumerate() {
        let known = match node {
            ExprNode::Param(place) => (params[*place].clone(), dtypes[place % dtypes.len()]),
            ExprNode::Constant(value) => (dialect.literal(Scalar::written(dtypes[0], *value)), dtypes[0]),
            ExprNode::Apply(scalar_op, operands) => {
                let typed: Vec<Operand> = operands.iter().map(|&o| Operand::tensor(nodes[o].1)).collect();
                let computes = nodes[operands[operands.len() - 1]].1;
                let signature = signature(*scalar_op, &typed);
                let result = signature.map_err(|_| dialect.unspelled(*scalar_op, computes))?.result_compute;
                let texts: Vec<String> = operands.iter().map(|&o| nodes[o].0.clone()).collect();
                let text = fill(*scalar_op, dialect.template(*scalar_op, computes)?, &texts, prelude);
                if used(number) {
                    let type_name = (dialect.type_name)(result);
                    lines.push_str(&format!("  const {type_name} t{number} = {};\n", bare(&text)));
                    (format!("t{number}"), result)
                } else {
                    (text, result)
                }
            }
        };
        nodes.push(known);
    }
    let results = expr.results().iter().map(|&number| nodes[number].0.clone()).collect();
    Ok((lines, results))
}
