//! The results of a definition on its inputs: the evaluator's numbers, which kernels must reproduce, interpreted and
//! compiled for each instruction set that this machine runs.

use std::sync::Arc;

use ferrofuse::check::{against, expected};
use ferrofuse::{Array, CompileOptions, Executor, Generator, Stream, compile, read};
use ir::array::{ArrayView, StridedArray};
use llvm::CpuTarget;
use reference::evaluate::Serial;

use super::{Case, Outcome, Stage};
use crate::differential::targets;
use crate::inputs::draw;

/// Elements of an output that are shown.
const SHOWN: usize = 24;

pub(super) struct Run;

impl Stage for Run {
    fn name(&self) -> &'static str {
        "run"
    }

    fn run(&self, case: &Case) -> Outcome {
        numbers(case).into()
    }
}

fn numbers(case: &Case) -> Result<String, String> {
    let file = read(&case.source).map_err(|error| error.to_string())?;
    let specs = file.inputs.as_deref().unwrap_or_default();
    let draw = |(place, spec)| draw(spec, case.options.seed, place).map_err(|error| error.to_string());
    let inputs: Vec<StridedArray> = specs.iter().enumerate().map(draw).collect::<Result<_, _>>()?;
    let views: Vec<ArrayView<'_>> = inputs.iter().map(StridedArray::view).collect();
    let stream = Stream::new(case.options.seed);
    let meant =
        expected(&file.definition, &views, stream, &Serial, usize::MAX).map_err(|error| error.to_string())?;
    let compiled = targets().iter().map(|&target| (Executor::Compiled, target));
    for (executor, target) in compiled.chain([(Executor::Interpreter, CpuTarget::Host)]) {
        let generator = Arc::new(Generator::new(case.options.seed));
        let name = executor.kind().name();
        let options = CompileOptions { executor, target, generator, ..CompileOptions::default() };
        let executable = compile(file.definition.clone(), options).map_err(|error| error.to_string())?;
        let outputs = executable.run(&views).map_err(|error| error.to_string())?;
        let compared = against(&meant, outputs.iter().map(|output| output.view()), &Serial)
            .map_err(|error| error.to_string())?;
        if let Some((place, worst)) = compared.iter().enumerate().find(|(_, compared)| !compared.matches()) {
            return Err(format!(
                "{name} for {target}: output {place} is {} times its bound off: {worst:?}",
                worst.worst_ratio
            ));
        }
    }
    Ok(meant.outputs.iter().map(|output| shown(&output.value)).collect())
}

fn shown(array: &Array) -> String {
    let elements = array.scalars();
    let shown: Vec<String> = elements.iter().take(SHOWN).map(|scalar| scalar.to_string()).collect();
    let more = if elements.len() > SHOWN { ", …" } else { "" };
    format!("{}{:?} = {}{more}\n", array.dtype(), array.sizes(), shown.join(", "))
}
