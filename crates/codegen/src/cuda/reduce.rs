//! The functions that combine the copies of an accumulator over a block: one per monoid and dtypes, called by all
//! threads, giving all threads the result.
//!
//! The order is that of the kernel interpreter: for stride = lanes/2, lanes/4, …, 1, thread `t` below the stride takes
//! `combine(t, t + stride)`. Strides of a warp and more go through shared memory, smaller ones through shuffles.

use ir::DType;
use ir::Scalar;
use ir::ops::{ExprNode, Monoid, Operand, ScalarExpr, signature};

use super::EmitError;
use super::dtype::{in_register, literal};
use super::prelude::Prelude;
use super::spelling::{bare, fill, template};

const WARP: u32 = 32;

/// A reduction over `lanes` threads, at least 2. The states are all of one dtype, in which the monoid computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reduction {
    pub(super) monoid: Monoid,
    pub(super) dtype: DType,
    pub(super) lanes: u32,
}

impl Reduction {
    /// The function that a kernel calls with its copies of the states.
    pub(super) fn name(&self) -> String {
        format!("block_{}", self.monoid.name())
    }

    /// Bytes of shared memory: a slot per thread and one for the result.
    pub(super) fn shared_bytes(&self) -> u32 {
        let state = (self.states().len() * self.dtype.size()) as u32;
        if self.lanes <= WARP { 0 } else { state * (self.lanes + 1) }
    }

    /// Defines what the kernel calls; what that calls in turn goes into the prelude.
    pub(super) fn text(&self, prelude: &mut Prelude) -> Result<String, EmitError> {
        let combine = self.combine(prelude)?;
        let over_block = if self.lanes <= WARP { self.within_warp() } else { self.through_shared() };
        Ok(format!("{}{combine}{over_block}", self.structure()))
    }

    fn states(&self) -> Vec<&'static str> {
        self.monoid.row().states.iter().map(|state| state.name).collect()
    }

    /// The type of all states together: the dtype of the only one, or a structure.
    fn state_type(&self) -> String {
        if self.states().len() == 1 {
            in_register(self.dtype).to_owned()
        } else {
            format!("{}_{}", self.monoid.name(), self.dtype)
        }
    }

    fn structure(&self) -> String {
        let states = self.states();
        if states.len() == 1 {
            return String::new();
        }
        format!("struct {} {{ {} {}; }};\n", self.state_type(), in_register(self.dtype), states.join(", "))
    }

    /// The monoid's expression over the states of two runs `a` and `b`.
    fn combine(&self, prelude: &mut Prelude) -> Result<String, EmitError> {
        let (states, state_type) = (self.states(), self.state_type());
        let of = |run: &str| match states.as_slice() {
            [_] => vec![run.to_owned()],
            _ => states.iter().map(|state| format!("{run}.{state}")).collect(),
        };
        let (lines, results) =
            expression(&self.monoid.exprs().combine, &[of("a"), of("b")].concat(), self.dtype, prelude)?;
        let result = match results.as_slice() {
            [result] => bare(result).to_owned(),
            _ => format!("{{{}}}", results.iter().map(|text| bare(text)).collect::<Vec<_>>().join(", ")),
        };
        Ok(format!(
            "static __device__ inline {state_type} combine_{}({state_type} a, {state_type} b) {{\n{lines}  return {result};\n}}\n",
            self.monoid.name()
        ))
    }

    /// The partner's states, `stride` lanes up in the warp.
    fn shuffled_down(&self) -> String {
        self.each_state(|mine| match self.lanes {
            ..WARP => format!("__shfl_down_sync({}, {mine}, stride, {})", self.mask(), self.lanes),
            _ => format!("__shfl_down_sync({}, {mine}, stride)", self.mask()),
        })
    }

    fn shuffled_from_first(&self) -> String {
        self.each_state(|mine| format!("__shfl_sync({}, {mine}, 0)", self.mask()))
    }

    /// A shuffled bool comes back as an int, which overloads for int and bool could not tell apart.
    fn each_state(&self, shuffled: impl Fn(&str) -> String) -> String {
        let cast = if self.dtype == DType::Bool { "(bool)" } else { "" };
        let text = |mine: &str| format!("{cast}{}", shuffled(mine));
        match self.states().as_slice() {
            [_] => text("mine"),
            states => {
                let texts: Vec<String> = states.iter().map(|state| text(&format!("mine.{state}"))).collect();
                format!("{}{{{}}}", self.state_type(), texts.join(", "))
            }
        }
    }

    /// The lanes of a warp that exist.
    fn mask(&self) -> String {
        let mask = if self.lanes >= WARP { u32::MAX } else { (1 << self.lanes) - 1 };
        format!("{mask:#010x}u")
    }

    /// The steps of the tree that stay within a warp.
    fn shuffles(&self, indent: &str) -> String {
        format!(
            "{indent}for (unsigned stride = {}; stride > 0; stride /= 2)\n{indent}  mine = combine_{}(mine, {});\n",
            self.lanes.min(WARP) / 2,
            self.monoid.name(),
            self.shuffled_down(),
        )
    }

    fn within_warp(&self) -> String {
        format!("{}{}  return {};\n}}\n", self.head(), self.shuffles("  "), self.shuffled_from_first())
    }

    /// A thread writes its slot and the result only after the barriers that follow all reads of an earlier call.
    fn through_shared(&self) -> String {
        format!(
            "{head}  __shared__ {state} slots[{lanes}], total;
  slots[threadIdx.x] = mine;
  for (unsigned stride = {first}; stride >= {WARP}; stride /= 2) {{
    __syncthreads();
    if (threadIdx.x < stride) slots[threadIdx.x] = mine = combine_{name}(mine, slots[threadIdx.x + stride]);
  }}
  if (threadIdx.x < {WARP}) {{
{shuffles}    if (threadIdx.x == 0) total = mine;
  }}
  __syncthreads();
  return total;
}}
",
            head = self.head(),
            state = self.state_type(),
            lanes = self.lanes,
            first = self.lanes / 2,
            name = self.monoid.name(),
            shuffles = self.shuffles("    "),
        )
    }

    fn head(&self) -> String {
        format!(
            "// The {} of all threads' states, for every thread, by a tree of strides {}, …, 1.\nstatic __device__ {state} {}({state} mine) {{\n",
            self.monoid.name(),
            self.lanes / 2,
            self.name(),
            state = self.state_type(),
        )
    }
}

/// Lines that compute an expression over `params`, all of `dtype`, and the texts of its results.
fn expression(
    expr: &ScalarExpr,
    params: &[String],
    dtype: DType,
    prelude: &mut Prelude,
) -> Result<(String, Vec<String>), EmitError> {
    let used = |number: usize| {
        expr.nodes()
            .iter()
            .any(|node| matches!(node, ExprNode::Apply(_, operands) if operands.contains(&number)))
    };
    let mut lines = String::new();
    let mut nodes: Vec<(String, DType)> = Vec::with_capacity(expr.nodes().len());
    for (number, node) in expr.nodes().iter().enumerate() {
        let known = match node {
            ExprNode::Param(place) => (params[*place].clone(), dtype),
            ExprNode::Constant(value) => (literal(Scalar::written(dtype, *value)), dtype),
            ExprNode::Apply(prim, operands) => {
                let dtypes: Vec<Operand> = operands.iter().map(|&o| Operand::tensor(nodes[o].1)).collect();
                let computes = nodes[operands[operands.len() - 1]].1;
                let unspelled = EmitError::Unspelled { op: prim.name(), dtype: computes };
                let result = signature(*prim, &dtypes).map_err(|_| unspelled)?.result_compute;
                let texts: Vec<String> = operands.iter().map(|&o| nodes[o].0.clone()).collect();
                let text = fill(*prim, template(*prim, computes)?, &texts, prelude);
                if used(number) {
                    let line = format!("  const {} t{number} = {};\n", in_register(result), bare(&text));
                    lines.push_str(&line);
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
