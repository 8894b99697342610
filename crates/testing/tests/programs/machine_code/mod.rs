//! The machine code of NVIDIA's own compiler for kernels, and the excerpts in the page about them. If NVRTC could not be
//! downloaded, a test says so and checks nothing.

mod cycles;
mod exceptions;
mod kernels;
mod lengths;
mod page;

use std::fs;
use std::path::{Path, PathBuf};

use compiler::{Plan, PlanOptions, PlanRequest, plan};
use ferrofuse::{CodeTarget, Definition, EmitOptions, File, LayoutClass, NameStyle, Stage, emit, read};
use ferrofuse_testing::inputs::facts_of;
use scheduler::hints::Hints;

/// Examples without a kernel.
pub(crate) const EXTERNAL: [&str; 1] = ["nanogpt_attention"];

/// The names and texts of the definitions in a folder of the repository, in order, without those that have no kernel.
pub(crate) fn files_of(folder: &str) -> Vec<(String, String)> {
    files_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder))
}

fn files_in(folder: &Path) -> Vec<(String, String)> {
    let paths =
        fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("readable").path());
    let named = |path: PathBuf| {
        let name = path.file_stem()?.to_str()?.to_owned();
        let has_kernel = path.extension()? == "py" && !EXTERNAL.contains(&name.as_str());
        has_kernel.then(|| (name, fs::read_to_string(&path).expect("readable")))
    };
    let mut found: Vec<(String, String)> = paths.filter_map(named).collect();
    found.sort();
    found
}

/// The plan of a file for a GPU, at its own sizes, and these sizes.
pub(crate) fn planned(file: &File) -> (Plan, Hints) {
    let (hints, layouts) = facts_of(&file.definition, file.inputs.as_ref().expect("an `inputs` list"));
    (planned_for(&file.definition, &hints, &layouts), hints)
}

/// The plan of a definition for a GPU at these sizes.
fn planned_for(definition: &Definition, hints: &Hints, layouts: &[LayoutClass]) -> Plan {
    let fusion = CodeTarget::CUDA.fusion(definition, hints);
    let facts = CodeTarget::CUDA.facts(|| unreachable!("it is no host"));
    plan(PlanRequest {
        graph: &definition.graph,
        fusion: &fusion,
        tasks: &definition.tasks,
        layouts,
        target: &facts,
        hints,
        options: &PlanOptions::default(),
    })
    .expect("it is planned")
}

/// The text of a stage of a definition file.
fn text_of(stage: Stage, source: &str) -> String {
    let file = read(source).expect("it reads");
    let (plan, _) = planned(&file);
    let missing = ::llvm::Error::NotFound { tried: Vec::new(), hint: "not needed" };
    let options = EmitOptions {
        target: CodeTarget::CUDA,
        segment: None,
        names: NameStyle::default(),
        llvm: Err(&missing),
    };
    emit(stage, &file.definition, &plan, &options).expect("it has text")
}
