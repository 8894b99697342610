//! The memory accesses of a GPU's warps in each kernel, counted by the interpreter.

use ferrofuse::Hints;

use super::{Case, Outcome, Stage, planned};
use crate::inputs::facts_of;
use crate::warps::counted_blocks;

pub(super) struct Warps;

impl Stage for Warps {
    fn name(&self) -> &'static str {
        "warps"
    }

    fn run(&self, case: &Case) -> Outcome {
        counted(case).into()
    }
}

fn counted(case: &Case) -> Result<String, String> {
    let (file, plan) = planned(case)?;
    let hints = |specs: &Vec<_>| facts_of(&file.definition, specs).0;
    let hints = file.inputs.as_ref().map_or_else(Hints::default, hints);
    Ok(counted_blocks(&plan, &hints)?.iter().map(ToString::to_string).collect())
}
