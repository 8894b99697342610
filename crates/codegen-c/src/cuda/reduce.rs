//! How the threads of a block combine their states.
//!
//! Hardware warps combine by shuffles, and then through slots in shared memory with one barrier: calls alternate between two
//! sets of slots, so that nobody writes where another may still read. Other orders use a slot per thread.

use kernel::GPU_WARP;
use ops::DType;

use crate::c::{BlockReduction, Reduction, Reductions, Snippet};

/// The functions that combine the states of all threads.
pub(super) const REDUCTIONS: Reductions = Reductions {
    overloads: true,
    over_block,
    call,
    needs: |reduction| match Way::of(reduction) {
        Way::Cluster => &[Snippet::OverCluster],
        Way::Warps => &[Snippet::OverBlock],
        _ => &[],
    },
    bytes: |all| {
        let own = all.iter().enumerate().filter(|(at, it)| !shares(it, &all[..*at]));
        let arrivals = if all.iter().any(|it| it.cluster > 1) { ARRIVALS_BYTES } else { 0 };
        own.map(|(_, it)| shared_bytes(it)).sum::<u32>() + arrivals
    },
};

/// Bytes of `arrivals`, which counts what blocks of a cluster store for each other.
const ARRIVALS_BYTES: u32 = 16;

/// How threads exchange states.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By shuffles alone.
    Warp,
    /// By shuffles, then by a slot per warp, for states whose order does not matter.
    Warps,
    /// The same for states whose order matters.
    OrderedWarps,
    /// By a slot per warp in each block of a cluster.
    Cluster,
    /// By a slot per thread.
    Slots,
}

impl Way {
    /// How the threads of a reduction exchange states.
    fn of(reduction: &Reduction) -> Way {
        match (reduction.lanes, reduction.warp) {
            _ if reduction.cluster > 1 => Way::Cluster,
            (..=GPU_WARP, warp) if warp == reduction.lanes => Way::Warp,
            (lanes, GPU_WARP) if lanes > GPU_WARP && reduction.monoid.is_symmetric() => Way::Warps,
            (lanes, GPU_WARP) if lanes > GPU_WARP => Way::OrderedWarps,
            _ => Way::Slots,
        }
    }
}

/// Whether a reduction shares the slots of another: for numbers of the same type, combined in the same way.
fn shares(reduction: &Reduction, others: &[&Reduction]) -> bool {
    let slots = |it: &Reduction| (it.dtypes.clone(), it.lanes, Way::of(it), it.monoid.is_symmetric());
    let has_one = matches!(Way::of(reduction), Way::Warps | Way::Cluster) && reduction.dtypes.len() == 1;
    has_one && others.iter().any(|other| slots(other) == slots(reduction))
}

/// Bytes of shared memory: a slot per thread and one for the result, with the layout of the structure of states.
fn shared_bytes(reduction: &Reduction) -> u32 {
    let widest = reduction.dtypes.iter().map(|dtype| dtype.size()).max().unwrap_or(1);
    let fields = reduction
        .dtypes
        .iter()
        .fold(0, |end: usize, dtype| end.next_multiple_of(dtype.size()) + dtype.size());
    let state = fields.next_multiple_of(widest) as u32;
    match Way::of(reduction) {
        Way::Warp => 0,
        Way::Warps | Way::OrderedWarps => state * 2 * (reduction.lanes / GPU_WARP),
        Way::Cluster => state.next_multiple_of(4) * 2 * (reduction.lanes / GPU_WARP),
        Way::Slots => state * (reduction.lanes + 1),
    }
}

/// A call of the function, with the number of the call if calls alternate between two sets of slots.
fn call(reduction: &BlockReduction<'_>, states: &str) -> String {
    let (name, stem, Reduction { lanes, cluster, .. }) = (reduction.name(), reduction.stem, reduction.of);
    let warps = lanes / cluster / GPU_WARP;
    match Way::of(reduction.of) {
        Way::Cluster => {
            let is_ordered = !reduction.of.monoid.is_symmetric();
            let function = format!("over_cluster<{cluster}, {warps}, {is_ordered}>");
            format!("{function}({states}, combine_{stem}, cluster_calls++)")
        }
        Way::Warps => format!("over_block<{warps}>({states}, combine_{stem}, calls++)"),
        Way::OrderedWarps => format!("{name}({states}, calls++)"),
        Way::Warp | Way::Slots => format!("{name}({states})"),
    }
}

/// The reduction's own function, which the kernel calls.
fn over_block(reduction: &BlockReduction<'_>) -> String {
    let function = OverBlock { reduction, lanes: reduction.of.lanes, stem: reduction.stem };
    match Way::of(reduction.of) {
        Way::Warp => function.within_warp(),
        Way::Warps | Way::Cluster => function.partner(),
        Way::OrderedWarps => function.over_warps(),
        Way::Slots => function.through_shared(),
    }
}

/// The function over a block.
struct OverBlock<'r> {
    reduction: &'r BlockReduction<'r>,
    lanes: u32,
    stem: &'r str,
}

impl OverBlock<'_> {
    /// The states of the partner, `stride` lanes up in the warp, or down if that is equivalent: then all lanes get the
    /// total.
    fn shuffled(&self) -> String {
        let is_symmetric = self.reduction.of.monoid.is_symmetric();
        self.shuffle(if is_symmetric { "__shfl_xor_sync" } else { "__shfl_down_sync" }, "stride")
    }

    /// The return value of a lane of a warp.
    fn total(&self) -> String {
        match self.reduction.of.monoid.is_symmetric() {
            true => "mine".to_owned(),
            false => self.shuffle("__shfl_sync", "0"),
        }
    }

    fn shuffle(&self, function: &str, from: &str) -> String {
        let width = if self.lanes < GPU_WARP { format!(", {}", self.lanes) } else { String::new() };
        self.each_state(|mine| format!("{function}({}, {mine}, {from}{width})", self.mask()))
    }

    /// A shuffled bool is returned as an int, for which overloads for int and bool would be ambiguous.
    fn each_state(&self, shuffled: impl Fn(&str) -> String) -> String {
        let text = |mine: &str, dtype: DType| {
            let cast = if dtype == DType::Bool { "(bool)" } else { "" };
            format!("{cast}{}", shuffled(mine))
        };
        let dtypes = &self.reduction.of.dtypes;
        match self.reduction.states().as_slice() {
            [_] => text("mine", dtypes[0]),
            states => {
                let typed = states.iter().zip(dtypes);
                let texts: Vec<String> =
                    typed.map(|(state, &dtype)| text(&format!("mine.{state}"), dtype)).collect();
                format!("{}{{{}}}", self.reduction.state_type(), texts.join(", "))
            }
        }
    }

    /// The lanes of a warp that exist; of several teams in it, those of the thread's own.
    fn mask(&self) -> String {
        let lanes = self.lanes;
        let mask = if lanes >= GPU_WARP { u32::MAX } else { (1 << lanes) - 1 };
        match self.reduction.of.teams {
            2.. if lanes < GPU_WARP => format!("{mask:#x}u << threadIdx.x % {GPU_WARP} / {lanes} * {lanes}"),
            _ => format!("{mask:#010x}u"),
        }
    }

    /// The steps of the tree that stay within a warp.
    fn shuffles(&self, indent: &str) -> String {
        format!(
            "{indent}for (unsigned stride = {}; stride > 0; stride /= 2)\n{indent}  mine = combine_{}(mine, {});\n",
            self.lanes.min(GPU_WARP) / 2,
            self.stem,
            self.shuffled(),
        )
    }

    /// The function that reads the states of a partner, if there are several.
    fn partner(&self) -> String {
        let (state, states) = (self.reduction.state_type(), self.reduction.states());
        let partners: Vec<String> = states.iter().map(|it| format!("partner(x.{it}, stride)")).collect();
        match states.len() {
            1 => String::new(),
            _ => format!(
                "static __device__ inline {state} partner({state} x, unsigned stride) {{\n  return {{{}}};\n}}\n",
                partners.join(", ")
            ),
        }
    }

    /// One barrier per call. A thread can be one call ahead of others, which then still read the other set of slots.
    fn over_warps(&self) -> String {
        let warps = self.lanes / GPU_WARP;
        format!(
            "// The {name} of all threads' states, for every thread: of each warp, then of the warps, by halves.
static __device__ {state} block_{name}({state} mine, unsigned call) {{
  __shared__ {state} slots[2][{warps}];
{shuffles}  if (threadIdx.x % {GPU_WARP} == 0) slots[call % 2][threadIdx.x / {GPU_WARP}] = mine;
  __syncthreads();
  mine = slots[call % 2][threadIdx.x % {warps}];
  for (unsigned stride = {first}; stride > 0; stride /= 2)
    mine = combine_{name}(mine, {shuffled});
  return {total};
}}
",
            name = self.stem,
            state = self.reduction.state_type(),
            shuffles = self.shuffles("  "),
            first = warps / 2,
            shuffled = self.shuffled(),
            total = self.total(),
        )
    }

    fn within_warp(&self) -> String {
        format!("{}{}  return {};\n}}\n", self.head(), self.shuffles("  "), self.total())
    }

    /// A thread writes its slot and the result only after the barriers that follow all reads of an earlier call.
    fn through_shared(&self) -> String {
        format!(
            "{head}  __shared__ {state} slots[{lanes}], total;
  slots[{slot}] = mine;{permuted}
  for (unsigned stride = {first}; stride >= {GPU_WARP}; stride /= 2) {{
    __syncthreads();
    if (threadIdx.x < stride) slots[threadIdx.x] = mine = combine_{name}(mine, slots[threadIdx.x + stride]);
  }}
  if (threadIdx.x < {GPU_WARP}) {{
{shuffles}    if (threadIdx.x == 0) total = mine;
  }}
  __syncthreads();
  return total;
}}
",
            head = self.head(),
            state = self.reduction.state_type(),
            slot = self.slot(),
            permuted =
                if self.is_permuted() { "\n  __syncthreads();\n  mine = slots[threadIdx.x];" } else { "" },
            lanes = self.lanes,
            first = self.lanes / 2,
            name = self.stem,
            shuffles = self.shuffles("    "),
        )
    }

    fn is_permuted(&self) -> bool {
        self.reduction.of.warp < self.lanes
    }

    /// The slot of a thread: places within a warp first, so that halves of the slots are halves of every warp.
    fn slot(&self) -> String {
        let Reduction { warp, lanes, .. } = *self.reduction.of;
        if !self.is_permuted() {
            return "threadIdx.x".to_owned();
        }
        format!("threadIdx.x % {warp} * {} + threadIdx.x / {warp}", lanes / warp)
    }

    fn head(&self) -> String {
        format!(
            "// The {} of {} threads' states, for each of them, by a tree of strides {}, …, 1.\nstatic __device__ {state} {}({state} mine) {{\n",
            self.stem,
            if self.reduction.of.teams > 1 { "a team's" } else { "all" },
            self.lanes / 2,
            self.reduction.name(),
            state = self.reduction.state_type(),
        )
    }
}
