//! LLVM IR, which libLLVM accepts.

use ferrofuse::{EmitOptions, NameStyle, emit};
use llvm::LlvmOptions;

use super::{Case, Outcome, Stage, planned};

pub(super) struct Llvm;

impl Stage for Llvm {
    fn name(&self) -> &'static str {
        "llvm"
    }

    fn run(&self, case: &Case) -> Outcome {
        match llvm::Llvm::open(&LlvmOptions::default()) {
            Ok(llvm) => text(case, &llvm).into(),
            Err(error) => Outcome::Skipped(error.to_string()),
        }
    }
}

fn text(case: &Case, llvm: &llvm::Llvm) -> Result<String, String> {
    let (file, plan) = planned(case)?;
    let options = EmitOptions {
        target: case.options.target,
        segment: case.options.segment,
        names: NameStyle::default(),
        llvm: Ok(llvm),
    };
    let made = |stage| emit(stage, &file.definition, &plan, &options).map_err(|error| error.to_string());
    // Assembly exists only for IR that parses, verifies and selects.
    made(ferrofuse::Stage::Asm)?;
    made(ferrofuse::Stage::Llvm)
}
