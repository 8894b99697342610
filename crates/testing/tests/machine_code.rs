//! Every example, compiled by NVIDIA's own compiler for three architectures: registers suffice, and what should move 16 bytes
//! at a time does. Where NVRTC could not be fetched, the test says so and checks nothing.

use std::fs;
use std::path::Path;

use compiler::{Plan, PlanOptions, plan};
use ferrofuse::{CodeTarget, EmitOptions, File, Stage, emit, read};
use ferrofuse_testing::inputs::facts_of;
use ferrofuse_testing::machine_code::{Counts, Tools};

const ARCHITECTURES: [&str; 3] = ["sm_80", "sm_90", "sm_100"];

/// Kernels that keep something in local memory, and why.
const LOCAL: [(&str, &str); 2] = [
    ("layer_norm", "a register is saved around a division in f64"),
    ("rope_backward", "a register is saved around the division of indices"),
];

/// Examples whose global accesses are not nearly all of 16 bytes, and why.
const NARROW: [(&str, &str); 10] = [
    ("adam_step", "the step is one element"),
    ("batch_norm", "the batches lie apart from each other"),
    ("cross_entropy", "labels are gathered"),
    ("gelu_bias_backward", COMBINE),
    ("layer_norm_backward", COMBINE),
    ("modulated_layer_norm_backward", COMBINE),
    ("reduction_broadcast_add", COMBINE),
    ("rms_norm_backward", COMBINE),
    ("rope_backward", HALVES),
    ("transpose_add", "tiles are copied one element at a time"),
];

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

/// The counts of all kernels, a list for each architecture.
fn counts(tools: &Tools, source: &str) -> Vec<Vec<Counts>> {
    let file = read(source).expect("it reads");
    let (definition, target) = (&file.definition, CodeTarget::CUDA);
    let plan = planned(&file);
    let missing = ::llvm::Error::NotFound { tried: Vec::new(), hint: "not needed" };
    let of = |architecture: &str| {
        let segment = |segment: usize| {
            let options = EmitOptions { target, segment: Some(segment), llvm: Err(&missing) };
            let text = emit(Stage::Cuda, definition, &plan, &options).expect("it has text");
            tools
                .counts(&text, architecture)
                .unwrap_or_else(|error| panic!("{architecture}: {error}\n{text}"))
        };
        (0..plan.segments.len()).flat_map(segment).collect()
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
    let page = include_str!("../../../docs/cuda.md");
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
            "cuda" => Stage::Cuda,
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
    for (name, source) in examples().into_iter().filter(|(name, _)| !EXTERNAL.contains(&name.as_str())) {
        for (architecture, kernels) in ARCHITECTURES.into_iter().zip(counts(&tools, &source)) {
            let has_local = kernels.iter().any(|kernel| kernel.local_bytes > 0);
            let whole = kernels.iter().map(Counts::share_of_vectors).fold(f64::INFINITY, f64::min);
            if has_local && !within(&LOCAL, &name) || (whole < 0.9) != within(&NARROW, &name) {
                let text: String = kernels.iter().map(Counts::to_string).collect();
                failures
                    .push(format!("{name} for {architecture}, {whole} of its bytes are vectors:\n{text}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
