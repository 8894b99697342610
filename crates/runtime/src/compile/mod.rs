//! From a definition to a variant: planned (`planned`), its kernels compiled side by side (`variant`).
//!
//! Where libLLVM is missing, the variant is the whole fusion for the evaluator, with a notice; where a single kernel
//! cannot be compiled, its segment goes to the evaluator, with the reason. Nothing here runs a kernel.

mod planned;
mod variant;

use std::time::Instant;

use codegen::cpu::Error as CodegenError;
use compiler::{PlanError, PlanOptions};
use ir::definition::Definition;
use ir::interrupt::Interrupt;
use ir::layout::LayoutClass;
use kernel::Kernel;

use crate::host::{HostCode, machine_code};
use crate::machine::notice;
use crate::variant_key::VariantKey;
use crate::{CompileOptions, Error, Executor};
use cpu::objects::Alike;
use cpu::perf_map;

pub use planned::{CallFacts, cut_declared, plan_declared, plan_for_call};
pub use variant::Variant;
pub(crate) use variant::{Code, Planned};

/// Compiles a definition for the calls of a key.
pub(crate) fn compile(
    definition: &Definition,
    key: &VariantKey,
    options: &CompileOptions,
    interrupt: &Interrupt,
) -> Result<Variant, Error> {
    let (machine, alike) = (&options.machine, Alike::default());
    let plan = || planned(definition, key, options, interrupt);
    let executor = options.executor.kind();
    match &options.executor {
        Executor::Evaluator => Ok(evaluated(definition, key.layouts(), "the evaluator was asked for", None)),
        Executor::Interpreter => {
            let program =
                |_: &Kernel, _: usize| Ok::<_, CodegenError>(HostCode::Program(options.interpreter));
            Ok(Variant::new(plan()?, executor, 1, interrupt, program, Code::Host)?)
        }
        Executor::Device(device) => {
            let code = |kernel: &Kernel, members: usize| {
                device.device().load(kernel, members, machine.cache(), &alike)
            };
            let (planned, threads) = (plan()?, machine.threads());
            let all = |kernels| Code::Device(device.clone(), kernels);
            Ok(Variant::new(planned, executor, threads, interrupt, code, all)?)
        }
        Executor::Compiled => match machine.llvm() {
            Ok(_) if !machine.runs(options.target) => Err(Error::Target(options.target)),
            Ok(llvm) => {
                let machine_code = |kernel: &Kernel, _: usize| {
                    let (code, origin) =
                        machine_code(kernel, options.target, &llvm, machine.cache(), &alike)?;
                    if machine.has_perf_map() {
                        perf_map::list(&kernel.name, &code);
                    }
                    Ok::<_, CodegenError>(HostCode::Machine { code, origin })
                };
                let (planned, threads) = (plan()?, machine.threads());
                Ok(Variant::new(planned, executor, threads, interrupt, machine_code, Code::Host)?)
            }
            Err(error) => Ok(evaluated(definition, key.layouts(), LLVM_IS_MISSING, Some(notice(&error)))),
        },
    }
}

fn planned(
    definition: &Definition,
    key: &VariantKey,
    options: &CompileOptions,
    interrupt: &Interrupt,
) -> Result<Planned, PlanError> {
    let begin = Instant::now();
    let hints = key.expected().unwrap_or_else(|| options.hints.clone());
    let chosen = PlanOptions { interrupt: interrupt.clone(), ..options.plan.clone() };
    let plan = planned::made(definition, key, &options.facts(), &hints, &chosen, compiler::plan)?;
    Ok(Planned { plan, time: begin.elapsed() })
}

/// Why the evaluator runs everything where there is no libLLVM.
pub const LLVM_IS_MISSING: &str = "libLLVM is missing";

/// The whole definition for the evaluator.
fn evaluated(
    definition: &Definition,
    layouts: &[LayoutClass],
    reason: &str,
    notice: Option<String>,
) -> Variant {
    Variant::evaluated(compiler::evaluated(&definition.graph, &definition.fusion, layouts, reason), notice)
}
