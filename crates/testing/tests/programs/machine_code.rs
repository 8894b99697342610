//! Every example, compiled by NVIDIA's own compiler for three architectures: registers suffice, what should move 16 bytes at a
//! time does, and enough of that is in flight. Where NVRTC could not be fetched, the test says so and checks nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use compiler::target::{BlockNeeds, GpuModel};
use compiler::{Plan, PlanOptions, plan};
use ferrofuse::{CodeTarget, EmitOptions, File, KernelOnGpu, Stage, emit, explain, read};
use ferrofuse_testing::inputs::facts_of;
use ferrofuse_testing::machine_code::{Counts, Tools};

const ARCHITECTURES: [&str; 3] = ["sm_80", "sm_90", "sm_100"];

/// Kernels that keep something in local memory, and why.
const LOCAL: [(&str, &str); 5] = [
    ("cross_entropy", "registers are saved around the division of indices"),
    ("group_norm", "a register is saved around a division in f64"),
    ("rms_norm_backward", "registers of the combine step are saved around the division of indices"),
    ("rope_backward", "a register is saved around the division of indices"),
    ("transpose_add", "registers are saved around the division of indices"),
];

/// Examples whose global accesses are not nearly all of 16 bytes, and why.
const NARROW: [(&str, &str); 10] = [
    ("adam_step", "the step is one element"),
    ("batch_norm", COMBINE),
    ("cross_entropy", "labels are gathered"),
    ("gelu_bias_backward", COMBINE),
    ("layer_norm_backward", COMBINE),
    ("modulated_layer_norm_backward", COMBINE),
    ("reduction_broadcast_add", COMBINE),
    ("rms_norm_backward", COMBINE),
    ("rope_backward", HALVES),
    ("transpose_add", "tiles are copied one element at a time"),
];

/// Examples of whose main kernels a multiprocessor of some architecture has fewer than [`IN_FLIGHT`] bytes in flight, and why.
const FEW_IN_FLIGHT: [(&str, &str); 2] = [
    ("adam_step", "the step is one element"),
    ("transpose_add", "on sm_80 40 registers, and loads that are not moved together"),
];

/// Bytes that a multiprocessor loads before it uses the first of them, so that memory is busy.
const IN_FLIGHT: u64 = 40_000;

const COMBINE: &str = "combine steps load one element at a time";
const HALVES: &str = "halves of a row are subranges of a loop";

/// Examples without a kernel.
const EXTERNAL: [&str; 1] = ["nanogpt_attention"];

fn examples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let paths =
        fs::read_dir(folder).expect("the examples are there").map(|entry| entry.expect("readable").path());
    let named = |path: std::path::PathBuf| {
        let name = path.file_stem()?.to_str()?.to_owned();
        (path.extension()? == "py").then(|| (name, fs::read_to_string(&path).expect("readable")))
    };
    let mut found: Vec<(String, String)> = paths.filter_map(named).collect();
    found.sort();
    found
}

/// An example's plan for a GPU, at its own sizes.
fn planned(file: &File) -> Plan {
    let definition = &file.definition;
    let (hints, layouts) = facts_of(definition, file.inputs.as_ref().expect("an `inputs` list"));
    let target = CodeTarget::CUDA;
    let fusion = target.fusion(definition, &hints);
    let facts = target.facts(|| unreachable!("it is no host"));
    let options = PlanOptions { tasks: definition.tasks.clone(), ..PlanOptions::default() };
    plan(&definition.graph, &fusion, &layouts, &facts, &hints, &options).expect("it is planned")
}

/// A kernel's counts, and the bytes that a multiprocessor has in flight of it.
struct Counted {
    counts: Counts,
    in_flight: u64,
}

/// All kernels, a list for each architecture.
fn counted(tools: &Tools, source: &str) -> Vec<Vec<Counted>> {
    let file = read(source).expect("it reads");
    let (definition, target) = (&file.definition, CodeTarget::CUDA);
    let plan = planned(&file);
    let (hints, _) = facts_of(definition, file.inputs.as_ref().expect("an `inputs` list"));
    let explained = explain(definition, &plan, &hints);
    let kernels: Vec<&KernelOnGpu> = explained.segments.iter().flat_map(|segment| &segment.kernels).collect();
    let missing = ::llvm::Error::NotFound { tried: Vec::new(), hint: "not needed" };
    let of = |architecture: &str| {
        let segment = |segment: usize| {
            let options = EmitOptions { target, segment: Some(segment), llvm: Err(&missing) };
            let text = emit(Stage::CUDA, definition, &plan, &options).expect("it has text");
            tools
                .counts(&text, architecture)
                .unwrap_or_else(|error| panic!("{architecture}: {error}\n{text}"))
        };
        let model = GpuModel::named(architecture).expect("it is in the table");
        let counted = |counts: Counts| {
            let kernel = kernels.iter().find(|kernel| kernel.name == counts.kernel).expect("it is explained");
            let threads = u64::from(kernel.threads);
            let registers = Some(counts.registers.into());
            let needs = BlockNeeds { threads, registers, shared_bytes: kernel.shared_bytes };
            let blocks = model.multiprocessor.blocks_of(&needs);
            Counted { in_flight: blocks * threads * u64::from(counts.in_flight_bytes), counts }
        };
        (0..plan.segments.len()).flat_map(segment).map(counted).collect()
    };
    ARCHITECTURES.into_iter().map(of).collect()
}

/// The text of a stage of an example.
fn text_of(stage: Stage, source: &str) -> String {
    let file = read(source).expect("it reads");
    let plan = planned(&file);
    let missing = ::llvm::Error::NotFound { tried: Vec::new(), hint: "not needed" };
    let options = EmitOptions { target: CodeTarget::CUDA, segment: None, llvm: Err(&missing) };
    emit(stage, &file.definition, &plan, &options).expect("it has text")
}

/// Every excerpt of a stage in `docs/cuda.md` stands in the text of the example that was named last before it.
#[test]
fn the_page_shows_what_is_emitted() {
    let page = include_str!("../../../../docs/cuda.md");
    let mut sources = examples();
    sources.retain(|(name, _)| page.contains(&format!("`examples/{name}.py`")));
    let mut shown = 0;
    for (place, _) in page.match_indices("```\n\n") {
        let Some((before, excerpt)) = page[..place].rsplit_once("\n```") else { continue };
        let Some((stage, excerpt)) = excerpt.split_once('\n') else { continue };
        let named = sources.iter().max_by_key(|(name, _)| before.rfind(&format!("`examples/{name}.py`")));
        let (name, source) = named.expect("an example is named first");
        let stage = match stage {
            "schedule" => Stage::Schedule,
            "kernel" => Stage::Kernel,
            "cuda" => Stage::CUDA,
            _ => continue, // Python, which tests of the package run
        };
        let text = text_of(stage, source);
        assert!(text.contains(excerpt), "{name}:\n{excerpt}\n---\n{text}");
        shown += 1;
    }
    assert!(shown >= 8, "{shown} excerpts");
}

#[test]
fn examples_compile_for_every_architecture() {
    let tools = match Tools::find() {
        Ok(tools) => tools,
        Err(reason) => return eprintln!("not checked: {reason}"),
    };
    let within = |table: &[(&str, &str)], name: &str| table.iter().any(|(known, _)| *known == name);
    let mut failures = Vec::new();
    let mut few: BTreeSet<String> = BTreeSet::new();
    for (name, source) in examples().into_iter().filter(|(name, _)| !EXTERNAL.contains(&name.as_str())) {
        for (architecture, kernels) in ARCHITECTURES.into_iter().zip(counted(&tools, &source)) {
            let counts = || kernels.iter().map(|kernel| &kernel.counts);
            let has_local = counts().any(|counts| counts.local_bytes > 0);
            let whole = counts().map(Counts::share_of_vectors).fold(f64::INFINITY, f64::min);
            // Combine steps move few bytes.
            let main = kernels.iter().filter(|kernel| !kernel.counts.kernel.contains("_combine"));
            let in_flight = main.map(|kernel| kernel.in_flight).min().expect("it has kernels");
            few.extend((in_flight < IN_FLIGHT).then(|| name.clone()));
            if has_local && !within(&LOCAL, &name)
                || (whole < 0.9) != within(&NARROW, &name)
                || in_flight < IN_FLIGHT && !within(&FEW_IN_FLIGHT, &name)
            {
                let text: String = counts().map(Counts::to_string).collect();
                failures.push(format!(
                    "{name} for {architecture}, {whole} of its bytes are vectors, {in_flight} in flight:\n{text}"
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(few, FEW_IN_FLIGHT.map(|(name, _)| name.to_owned()).into());
}

/// Ops of f32 whose cycles in the cost model are not what their instructions are, and why.
const FEWER_CYCLES: [(&str, &str); 2] =
    [("sin", "large arguments take a way of their own"), ("cos", "large arguments take a way of their own")];

const UNARY: [&str; 26] = [
    "reciprocal",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "tanh",
    "erf",
    "erfc",
    "lgamma",
    "erfinv",
    "erfcinv",
    "floor",
    "ceil",
    "round",
    "trunc",
];

const BINARY: [&str; 8] = ["mul", "div", "fmod", "minimum", "maximum", "atan2", "pow", "nextafter"];

/// Elements that a lane takes in an iteration, each with instructions of its own.
const NEIGHBOURS: f64 = 8.0;

/// Lanes of the unit for special functions: one for so many of the others.
const SPECIAL: f64 = 8.0;

/// A chain of so many of an op, each with an addition, whose memory has any stride.
fn chain(call: &str, length: usize) -> String {
    let input = "fd.define_tensor(shape=[-1], contiguity=False, dtype=DataType.Float)";
    let step = format!("    y = fd.ops.add({call}, x)\n");
    format!(
        "def chain(fd: FusionDefinition) -> None:\n    x = {input}\n    y = {input}\n{}    fd.add_output(y)\n\n\n\
         inputs = [torch.randn(({ELEMENTS},)), torch.randn(({ELEMENTS},))]\n",
        step.repeat(length)
    )
}

const ELEMENTS: u64 = 1 << 20;

/// Cycles that the cost model expects of an element of a chain.
fn modelled(source: &str) -> f64 {
    let file = read(source).unwrap_or_else(|error| panic!("{error:?}\n{source}"));
    let plan = planned(&file);
    let (hints, _) = facts_of(&file.definition, file.inputs.as_ref().expect("an `inputs` list"));
    let explained = explain(&file.definition, &plan, &hints);
    let seconds: f64 = explained.segments.iter().map(|segment| segment.cost_us.computing / 1e6).sum();
    seconds * plan.target.throughput / ELEMENTS as f64
}

/// Cycles of an element of a chain by its machine code: instructions, and those of the unit for special functions.
fn counted_cycles(tools: &Tools, source: &str) -> [f64; 2] {
    let text = text_of(Stage::CUDA, source);
    let counts = tools.counts(&text, "sm_90").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let of_element = |count: u32| f64::from(count) / NEIGHBOURS;
    [of_element(counts[0].instructions), SPECIAL * of_element(counts[0].special)]
}

/// What the cost model says of an op is what its machine code has, within half as much again.
#[test]
fn cycles_of_the_cost_model_are_instructions() {
    let tools = match Tools::find() {
        Ok(tools) => tools,
        Err(reason) => return eprintln!("not checked: {reason}"),
    };
    let unary = UNARY.iter().map(|op| (*op, format!("fd.ops.{op}(y)")));
    let binary = BINARY.iter().map(|op| (*op, format!("fd.ops.{op}(y, x)")));
    let mut wrong = Vec::new();
    for (op, call) in unary.chain(binary) {
        let [short, long] = [2, 6].map(|length| chain(&call, length));
        let [few, many] = [&short, &long].map(|source| counted_cycles(&tools, source));
        // An addition is one of them.
        let counted = ((many[0] - few[0]) / 4.0 - 1.0).max((many[1] - few[1]) / 4.0);
        let modelled = (modelled(&long) - modelled(&short)) / 4.0 - 1.0;
        let is_right = (counted / 1.5 - 0.5..=counted * 1.5 + 0.5).contains(&modelled);
        if is_right == FEWER_CYCLES.iter().any(|(known, _)| *known == op) {
            wrong.push(format!("{op}: {counted} counted, {modelled} in the cost model"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
