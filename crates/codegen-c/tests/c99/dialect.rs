//! Plain C99 as a dialect: everything that `codegen_c::c` requires of one, in a file. Lanes take turns at barriers
//! (`block.c`).

use ferrofuse_codegen_c::c::{
    Asynchronous, BlockReduction, BlockWords, Dialect, Helper, KernelFunction, LoopShape, Reductions,
    Snippet, Structures, Unpacked, Unrolling, Vectors, standard_type,
};
use ops::{CSpelling, DType, Scalar, ScalarOp};

/// C99 whose blocks and lanes run one after another.
pub static C99: Dialect = Dialect {
    name: "C99",
    preamble: include_str!("block.h"),
    macros: &[],
    is_taken: |name| RESERVED.split_whitespace().any(|word| word == name),
    type_name: standard_type,
    float_of_bits,
    spelling,
    snippet,
    function: KernelFunction {
        launched: |blocks, lanes, _| format!("// Blocks: {blocks}. Lanes of a block: {lanes}.\n"),
        head: |_, _, _| "void".to_owned(),
        restrict: "restrict",
        inline: "static inline",
        most_parameter_bytes: usize::MAX,
        variables: &[],
        batch: None,
    },
    block: BlockWords {
        number: "block_number",
        most: i64::MAX,
        lane: "lane",
        barrier: "barrier();",
        scratch: "extern unsigned char* smem;",
        atomic_min: "lower",
    },
    unrolling: Unrolling {
        pragma: |iterations| format!("#pragma GCC unroll {}", iterations.unwrap_or(64)),
        iterations: |shape: &LoopShape| if shape.statements <= 12 { 4 } else { 1 },
    },
    vectors: Vectors {
        most_in_flight: 4,
        most_bytes: 128,
        most_private: 4,
        register_bytes: |_| u64::MAX,
        declared: |v| format!("struct {{ {} at[{}]; }} {};", v.element, v.width, v.variable),
        declared_as: |v, address| {
            let declared = format!("struct {{ {} at[{}]; }} {};", v.element, v.width, v.variable);
            format!("{declared} {}", copied(&format!("&{}", v.variable), address, v.variable))
        },
        load: |v, address| copied(&format!("&{}", v.variable), address, v.variable),
        store: |v, address| copied(address, &format!("&{}", v.variable), v.variable),
        store_to_scratch: |v, address| copied(address, &format!("&{}", v.variable), v.variable),
    },
    asynchronous: Asynchronous {
        fetch: |width, to, from| format!("memcpy({to}, {from}, {width} * sizeof *({to}));"),
        wait: |_| ";".to_owned(),
    },
    structures: Structures {
        declared: |name, fields| format!("typedef struct {{ {fields} }} {name};\n"),
        value: |name, parts| format!("({name}){{{parts}}}"),
        returned: |name, parts| format!("({name}){{{parts}}}"),
        unpacked,
    },
    reductions: Reductions {
        overloads: false,
        over_block,
        call: |reduction, states| format!("{}({states})", reduction.name()),
        needs: |_| &[],
        bytes: |_| 0,
    },
};

/// Words of C99, and of the text that surrounds names.
const RESERVED: &str = "auto break case char const continue default do double else enum extern float for goto if inline int \
    long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool \
    true false main memcpy barrier lane block_number smem lower";

fn copied(to: &str, from: &str, variable: &str) -> String {
    format!("memcpy({to}, {from}, sizeof {variable});")
}

fn float_of_bits(constant: Scalar) -> String {
    match constant.dtype() {
        DType::F32 => format!("f32_of_bits({:#010x}u)", constant.bits()),
        _ => format!("f64_of_bits({:#018x}ull)", constant.bits()),
    }
}

static MAXIMUM: CSpelling = CSpelling::float("larger_f32({0}, {1})", "larger_f64({0}, {1})")
    .and_int("({1} > {0} ? {1} : {0})")
    .and_bool("({0} || {1})")
    .with_helper(
        "static inline double larger_f64(double a, double b) {\n  if (a != a) return a;\n  if (b != b) return b;\n  \
         return a > b ? a : b > a ? b : signbit(a) ? b : a;\n}\n\
         static inline float larger_f32(float a, float b) { return (float)larger_f64(a, b); }\n",
    );

/// In double, in which the interpreter computes it.
static EXP: CSpelling = CSpelling::float("(float)exp((double)({0}))", "exp({0})");

/// Most ops have the same text in all dialects.
fn spelling(op: ScalarOp) -> &'static CSpelling {
    match op {
        ScalarOp::Maximum => &MAXIMUM,
        ScalarOp::Exp => &EXP,
        _ => &op.row().cuda,
    }
}

fn snippet(snippet: Snippet) -> &'static Helper {
    match snippet {
        Snippet::Vec => &Helper { name: "struct", needs: &[], text: "" },
        Snippet::Fetch => &Helper { name: "memcpy", needs: &[], text: "" },
        Snippet::AwaitFetches => &Helper { name: "await_fetches", needs: &[], text: "" },
        Snippet::Hold => &Helper { name: "hold", needs: &[], text: "#define hold(x)\n" },
        Snippet::Bf16 => &Helper { name: "bf16", needs: &[], text: "typedef unsigned short bf16;\n" },
        Snippet::Bf16ToF32 => &Helper {
            name: "bf16_to_f32",
            needs: &[Snippet::Bf16],
            text: "static inline float bf16_to_f32(bf16 x) { return f32_of_bits((unsigned)x << 16); }\n",
        },
        Snippet::FloorDiv => &Helper {
            name: "floor_div",
            needs: &[],
            text: "static inline long long floor_div(long long a, long long b) {\n  \
                   return a / b - (a % b != 0 && (a < 0) != (b < 0));\n}\n",
        },
        other => unreachable!("no kernel of these tests has {other:?}"),
    }
}

fn unpacked(unpacked: &Unpacked<'_>) -> Vec<String> {
    let all = format!("all_{}", unpacked.fields[0].variable);
    let fields = unpacked.fields.iter();
    let fields = fields.map(|f| format!("const {} {} = {all}.{};", f.type_name, f.variable, f.field));
    let first = format!("const {} {all} = {};", unpacked.structure, unpacked.value);
    [first].into_iter().chain(fields).collect()
}

/// Lane 0 combines the slots of all lanes, first those within a warp.
fn over_block(reduction: &BlockReduction<'_>) -> String {
    let (state, lanes, warp) = (reduction.state_type(), reduction.of.lanes, reduction.of.warp);
    format!(
        "static {state} {name}({state} mine) {{
  static {state} slots[{lanes}];
  slots[lane % {warp} * {warps} + lane / {warp}] = mine;
  barrier();
  for (int stride = {half}; lane == 0 && stride > 0; stride /= 2)
    for (int t = 0; t < stride; t++) slots[t] = combine_{stem}(slots[t], slots[t + stride]);
  barrier();
  mine = slots[0];
  barrier();
  return mine;
}}
",
        name = reduction.name(),
        stem = reduction.stem,
        warps = lanes / warp,
        half = lanes / 2,
    )
}
