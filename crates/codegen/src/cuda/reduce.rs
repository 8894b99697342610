//! The functions that combine the copies of an accumulator over a block: one per monoid and dtypes, called by all
//! threads, giving all threads the result.
//!
//! The order is that of the kernel interpreter: for stride = lanes/2, lanes/4, …, 1, thread `t` below the stride takes
//! `combine(t, t + stride)`; first within each warp of the kernel, then over the warps. Warps as the machine has them go
//! through shuffles, and over slots in shared memory at the price of one barrier: calls take turns at two sets of slots, so
//! that nobody writes where another may still read. Other orders go through a slot per thread.

use ops::{Body, BodyStep, DType, ExprNode, Monoid, Operand, Scalar, ScalarExpr, signature};

use super::EmitError;
use super::cast::cast;
use super::dtype::{in_register, literal};
use super::prelude::Prelude;
use super::spelling::{bare, fill, template};

const WARP: u32 = 32;

/// A reduction over `lanes` threads, at least 2, of states of these dtypes, in which the monoid computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reduction {
    pub(super) monoid: Monoid,
    pub(super) dtypes: Vec<DType>,
    pub(super) lanes: u32,
    /// Threads that combine first.
    pub(super) warp: u32,
}

/// A reduction and what its functions are named after: the monoid, or `lambda` and a number.
pub(super) struct Named<'r> {
    pub(super) reduction: &'r Reduction,
    pub(super) stem: &'r str,
}

/// How threads meet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// By shuffles alone.
    Warp,
    /// By shuffles, then by a slot per warp.
    Warps,
    /// By a slot per thread.
    Slots,
}

impl Reduction {
    /// How the threads of a reduction meet.
    pub(super) fn way(&self) -> Way {
        match (self.lanes, self.warp) {
            (..=WARP, warp) if warp == self.lanes => Way::Warp,
            (lanes, WARP) if lanes > WARP => Way::Warps,
            _ => Way::Slots,
        }
    }

    /// Bytes of shared memory: a slot per thread and one for the result, as the structure of the states is laid out.
    pub(super) fn shared_bytes(&self) -> u32 {
        let widest = self.dtypes.iter().map(|dtype| dtype.size()).max().unwrap_or(1);
        let fields =
            self.dtypes.iter().fold(0, |end: usize, dtype| end.next_multiple_of(dtype.size()) + dtype.size());
        let state = fields.next_multiple_of(widest) as u32;
        match self.way() {
            Way::Warp => 0,
            Way::Warps => state * 2 * (self.lanes / WARP),
            Way::Slots => state * (self.lanes + 1),
        }
    }
}

impl Named<'_> {
    /// The function that a kernel calls with its copies of the states.
    pub(super) fn name(&self) -> String {
        format!("block_{}", self.stem)
    }

    /// Defines what the kernel calls; what that calls in turn goes into the prelude.
    pub(super) fn text(&self, prelude: &mut Prelude) -> Result<String, EmitError> {
        let combine = self.combine(prelude)?;
        let over_block = match self.reduction.way() {
            Way::Warp => self.within_warp(),
            Way::Warps => self.over_warps(),
            Way::Slots => self.through_shared(),
        };
        Ok(format!("{}{combine}{over_block}", self.structure()))
    }

    fn states(&self) -> Vec<String> {
        match self.reduction.monoid.row() {
            Some(row) => row.states.iter().map(|state| state.name.to_owned()).collect(),
            None => (0..self.reduction.dtypes.len()).map(|state| format!("s{state}")).collect(),
        }
    }

    /// The dtype of all states, if they have one.
    fn common_dtype(&self) -> Option<DType> {
        let dtypes = &self.reduction.dtypes;
        dtypes.iter().all(|dtype| *dtype == dtypes[0]).then(|| dtypes[0])
    }

    /// The type of all states together: the dtype of the only one, or a structure.
    pub(super) fn state_type(&self) -> String {
        let dtypes = &self.reduction.dtypes;
        match (dtypes.len(), self.common_dtype()) {
            (1, _) => in_register(dtypes[0]).to_owned(),
            (_, Some(dtype)) => format!("{}_{dtype}", self.stem),
            _ => {
                let names: Vec<String> = dtypes.iter().map(DType::to_string).collect();
                format!("{}_{}", self.stem, names.join("_"))
            }
        }
    }

    fn structure(&self) -> String {
        let states = self.states();
        if states.len() == 1 {
            return String::new();
        }
        let fields = match self.common_dtype() {
            Some(dtype) => format!("{} {};", in_register(dtype), states.join(", ")),
            None => {
                let typed = states.iter().zip(&self.reduction.dtypes);
                let fields: Vec<String> =
                    typed.map(|(state, &dtype)| format!("{} {state};", in_register(dtype))).collect();
                fields.join(" ")
            }
        };
        format!("struct {} {{ {fields} }};\n", self.state_type())
    }

    /// The monoid's expression over the states of two runs `a` and `b`.
    fn combine(&self, prelude: &mut Prelude) -> Result<String, EmitError> {
        let (states, state_type) = (self.states(), self.state_type());
        let of = |run: &str| match states.as_slice() {
            [_] => vec![run.to_owned()],
            _ => states.iter().map(|state| format!("{run}.{state}")).collect(),
        };
        let params = [of("a"), of("b")].concat();
        let (lines, results) = combined(&self.reduction.monoid, &params, &self.reduction.dtypes, prelude)?;
        let result = match results.as_slice() {
            [result] => bare(result).to_owned(),
            _ => format!("{{{}}}", results.iter().map(|text| bare(text)).collect::<Vec<_>>().join(", ")),
        };
        Ok(format!(
            "static __device__ inline {state_type} combine_{}({state_type} a, {state_type} b) {{\n{lines}  return {result};\n}}\n",
            self.stem
        ))
    }

    /// The partner's states, `stride` lanes up in the warp.
    fn shuffled_down(&self) -> String {
        self.each_state(|mine| match self.reduction.lanes {
            ..WARP => format!("__shfl_down_sync({}, {mine}, stride, {})", self.mask(), self.reduction.lanes),
            _ => format!("__shfl_down_sync({}, {mine}, stride)", self.mask()),
        })
    }

    fn shuffled_from_first(&self) -> String {
        self.each_state(|mine| format!("__shfl_sync({}, {mine}, 0)", self.mask()))
    }

    /// A shuffled bool comes back as an int, which overloads for int and bool could not tell apart.
    fn each_state(&self, shuffled: impl Fn(&str) -> String) -> String {
        let text = |mine: &str, dtype: DType| {
            let cast = if dtype == DType::Bool { "(bool)" } else { "" };
            format!("{cast}{}", shuffled(mine))
        };
        let dtypes = &self.reduction.dtypes;
        match self.states().as_slice() {
            [_] => text("mine", dtypes[0]),
            states => {
                let typed = states.iter().zip(dtypes);
                let texts: Vec<String> =
                    typed.map(|(state, &dtype)| text(&format!("mine.{state}"), dtype)).collect();
                format!("{}{{{}}}", self.state_type(), texts.join(", "))
            }
        }
    }

    /// The lanes of a warp that exist.
    fn mask(&self) -> String {
        let mask = if self.reduction.lanes >= WARP { u32::MAX } else { (1 << self.reduction.lanes) - 1 };
        format!("{mask:#010x}u")
    }

    /// The steps of the tree that stay within a warp.
    fn shuffles(&self, indent: &str) -> String {
        format!(
            "{indent}for (unsigned stride = {}; stride > 0; stride /= 2)\n{indent}  mine = combine_{}(mine, {});\n",
            self.reduction.lanes.min(WARP) / 2,
            self.stem,
            self.shuffled_down(),
        )
    }

    /// One barrier a call. A thread can be one call ahead of others, which then still read the other set of slots.
    fn over_warps(&self) -> String {
        let warps = self.reduction.lanes / WARP;
        format!(
            "// The {name} of all threads' states, for every thread: of each warp, then of the warps, by halves.
static __device__ {state} block_{name}({state} mine, unsigned call) {{
  __shared__ {state} slots[2][{warps}];
{shuffles}  if (threadIdx.x % {WARP} == 0) slots[call % 2][threadIdx.x / {WARP}] = mine;
  __syncthreads();
  mine = slots[call % 2][threadIdx.x % {warps}];
  for (unsigned stride = {first}; stride > 0; stride /= 2)
    mine = combine_{name}(mine, {down});
  return {total};
}}
",
            name = self.stem,
            state = self.state_type(),
            shuffles = self.shuffles("  "),
            first = warps / 2,
            down = self.shuffled_down(),
            total = self.shuffled_from_first(),
        )
    }

    fn within_warp(&self) -> String {
        format!("{}{}  return {};\n}}\n", self.head(), self.shuffles("  "), self.shuffled_from_first())
    }

    /// A thread writes its slot and the result only after the barriers that follow all reads of an earlier call.
    fn through_shared(&self) -> String {
        format!(
            "{head}  __shared__ {state} slots[{lanes}], total;
  slots[{slot}] = mine;{permuted}
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
            slot = self.slot(),
            permuted =
                if self.is_permuted() { "\n  __syncthreads();\n  mine = slots[threadIdx.x];" } else { "" },
            lanes = self.reduction.lanes,
            first = self.reduction.lanes / 2,
            name = self.stem,
            shuffles = self.shuffles("    "),
        )
    }

    fn is_permuted(&self) -> bool {
        self.reduction.warp < self.reduction.lanes
    }

    /// The slot of a thread: places within a warp first, so that halves of the slots are halves of every warp.
    fn slot(&self) -> String {
        let Reduction { warp, lanes, .. } = *self.reduction;
        if !self.is_permuted() {
            return "threadIdx.x".to_owned();
        }
        format!("threadIdx.x % {warp} * {} + threadIdx.x / {warp}", lanes / warp)
    }

    fn head(&self) -> String {
        format!(
            "// The {} of all threads' states, for every thread, by a tree of strides {}, …, 1.\nstatic __device__ {state} {}({state} mine) {{\n",
            self.stem,
            self.reduction.lanes / 2,
            self.name(),
            state = self.state_type(),
        )
    }
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
                texts.push(literal(*scalar));
                continue;
            }
            BodyStep::Cast(to, arg) => cast(body.dtypes()[*arg], *to, &texts[*arg], prelude),
            BodyStep::Apply(scalar_op, args) => {
                let computes = body.dtypes()[args[args.len() - 1]];
                let args: Vec<String> = args.iter().map(|&arg| texts[arg].clone()).collect();
                fill(*scalar_op, template(*scalar_op, computes)?, &args, prelude)
            }
        };
        lines.push_str(&format!(
            "  const {} t{number} = {};\n",
            in_register(body.dtypes()[number]),
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
    let mut lines = String::new();
    let mut nodes: Vec<(String, DType)> = Vec::with_capacity(expr.nodes().len());
    for (number, node) in expr.nodes().iter().enumerate() {
        let known = match node {
            ExprNode::Param(place) => (params[*place].clone(), dtypes[place % dtypes.len()]),
            ExprNode::Constant(value) => (literal(Scalar::written(dtypes[0], *value)), dtypes[0]),
            ExprNode::Apply(scalar_op, operands) => {
                let typed: Vec<Operand> = operands.iter().map(|&o| Operand::tensor(nodes[o].1)).collect();
                let computes = nodes[operands[operands.len() - 1]].1;
                let unspelled = EmitError::Unspelled { op: scalar_op.name(), dtype: computes };
                let result = signature(*scalar_op, &typed).map_err(|_| unspelled)?.result_compute;
                let texts: Vec<String> = operands.iter().map(|&o| nodes[o].0.clone()).collect();
                let text = fill(*scalar_op, template(*scalar_op, computes)?, &texts, prelude);
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
