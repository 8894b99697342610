//! CUDA C++ as a dialect of C: its words, and the parameters of its loops and vectors.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use kernel::MAX_LANES;
use ops::{CSpelling, DType, Scalar, ScalarOp};

use super::reduce::REDUCTIONS;
use super::snippets::snippet;
use crate::c::{
    Asynchronous, BatchForm, BatchText, BlockWords, Dialect, KernelFunction, LoopShape, Structures, Unpacked,
    Unrolling, Vectors, standard_type, taken_words,
};

/// CUDA C++ without includes: a lane is a thread, a block's scratch is shared memory.
pub static CUDA: Dialect = Dialect {
    name: "CUDA",
    preamble: "",
    macros: &[("PTX", PTX)],
    is_taken: |name| TAKEN.contains(name),
    type_name: standard_type,
    float_of_bits,
    spelling,
    snippet,
    function: KernelFunction {
        launched: |blocks, lanes, cluster| {
            let clusters =
                if cluster > 1 { format!(" Blocks of a cluster: {cluster}.") } else { String::new() };
            format!("// Blocks: {blocks}. Threads of a block: {lanes}.{clusters}\n")
        },
        // Such a block may use all registers of a multiprocessor; two blocks would have half each. So may a block whose
        // threads have loads of several iterations in flight.
        head: |lanes, cluster, walks| {
            let blocks = if walks || lanes == MAX_LANES { ", 1" } else { "" };
            let clusters = if cluster > 1 { format!(" __cluster_dims__({cluster})") } else { String::new() };
            format!("extern \"C\" __global__ void __launch_bounds__({lanes}{blocks}){clusters}")
        },
        restrict: "__restrict__",
        inline: "static __device__ inline",
        // For sm_70 and newer, since CUDA 12.1; older compilers reject more than 4096.
        most_parameter_bytes: 32764,
        variables: &[
            ("calls", "unsigned calls = 0;"),
            ("cluster_calls", "unsigned cluster_calls = begin_cluster();"),
        ],
        batch: Some(BatchForm {
            // For all drivers: newer ones take as much as `most_parameter_bytes`.
            most_bytes: 4096,
            head: "static __device__ __forceinline__ void",
            block: "block_of_member",
            launched: launched_for_members,
        }),
    },
    block: BlockWords {
        number: "blockIdx.x",
        most: i32::MAX as i64,
        lane: "threadIdx.x",
        barrier: "__syncthreads();",
        scratch: "extern __shared__ __align__(16) unsigned char smem[];",
        atomic_min: "atomicMin",
    },
    unrolling: Unrolling {
        pragma: |iterations| match iterations {
            Some(iterations) => format!("#pragma unroll {iterations}"),
            None => "#pragma unroll".to_owned(),
        },
        iterations: unrolled_iterations,
    },
    vectors: Vectors {
        most_in_flight: 8,
        most_bytes: 256,
        most_private: 8,
        register_bytes: |lanes| 4 * (REGISTERS / lanes.max(1)).min(MOST_REGISTERS) as u64,
        declared: |v| format!("vec<{}, {}> {};", v.element, v.width, v.variable),
        declared_as: |v, address| format!("const auto {} = load<{}>({address});", v.variable, v.width),
        load: |v, address| format!("{} = load<{}>({address});", v.variable, v.width),
        store: |v, address| format!("store({address}, {});", v.variable),
        store_to_scratch: |v, address| {
            format!("*(vec<{}, {}>*)({address}) = {};", v.element, v.width, v.variable)
        },
    },
    asynchronous: Asynchronous {
        fetch: |width, to, from| format!("fetch<{width}>({to}, {from});"),
        wait: |pending| format!("await_fetches<{pending}>();"),
    },
    structures: Structures {
        declared: |name, fields| format!("struct {name} {{ {fields} }};\n"),
        value: |name, parts| format!("{name}{{{parts}}}"),
        returned: |_, parts| format!("{{{parts}}}"),
        unpacked,
    },
    reductions: REDUCTIONS,
};

/// Registers of a multiprocessor, and the most of a thread, from sm_80 on.
const REGISTERS: u32 = 1 << 16;
const MOST_REGISTERS: u32 = 255;

/// Each instruction follows the C code that does the same. The emulator has no instructions and runs the C.
const PTX: &str = "\
#ifndef CUEMU
#define PTX(...) asm(__VA_ARGS__)
#endif
";

/// Words of C++ and CUDA, and of the text around names.
const RESERVED: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t \
    class compl const const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit \
    export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr \
    operator or or_eq private protected public register reinterpret_cast return short signed sizeof static \
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union \
    unsigned using virtual void volatile wchar_t while xor xor_eq blockDim blockIdx gridDim threadIdx warpSize \
    atomicMin main smem calls cluster_calls block_of_member load store cuemu CUEMU PTX";

static TAKEN: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| taken_words(RESERVED, spelling, snippet));

/// The templates of the op table.
fn spelling(op: ScalarOp) -> &'static CSpelling {
    &op.row().cuda
}

fn float_of_bits(constant: Scalar) -> String {
    match constant.dtype() {
        DType::F32 => format!("__uint_as_float({:#010x}u)", constant.bits()),
        _ => format!("__longlong_as_double({:#018x}ll)", constant.bits()),
    }
}

/// How many iterations are unrolled. The values of many statements do not stay in registers; of few statements, as many
/// iterations as hide the latency of memory.
fn unrolled_iterations(shape: &LoopShape) -> u64 {
    match (shape.in_lanes, shape.statements) {
        (_, 17..) => 1,
        (true, ..=12) => 32,
        (true, _) => 8,
        (false, ..=8) if shape.is_once => 16,
        (false, _) => 4,
    }
}

/// The table is a parameter, so that it is in constant memory and needs no copy before the launch. A binary search finds the
/// last member that begins at or before the block.
fn launched_for_members(text: &BatchText<'_>) -> String {
    let BatchText { head, name, members, types } = text;
    let words = types.iter().enumerate();
    let words = words.map(|(place, of)| format!("\n      ({of})table.words[member][{place}],"));
    format!(
        "
// A launch runs {members} members at most, the blocks of one after those of another.
struct {name}_members {{
  unsigned long long begins[{members}], words[{members}][{}];
}};

{head} {name}(const __grid_constant__ {name}_members table) {{
  unsigned member = 0;
  for (unsigned step = {}; step > 0; step /= 2)
    if (member + step < {members} && blockIdx.x >= table.begins[member + step]) member += step;
  {name}_member({}
      blockIdx.x - (long long)table.begins[member]);
}}
",
        types.len(),
        members.next_power_of_two() / 2,
        words.collect::<String>(),
    )
}

fn unpacked(unpacked: &Unpacked<'_>) -> Vec<String> {
    let names: Vec<&str> = unpacked.fields.iter().map(|field| field.variable.as_str()).collect();
    vec![format!("const auto [{}] = {};", names.join(", "), unpacked.value)]
}
