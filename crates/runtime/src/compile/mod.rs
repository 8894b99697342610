//! From a definition to a variant: planned, its kernels compiled side by side (`variant`).
//!
//! Where libLLVM is missing, the variant is the whole fusion for the evaluator, with a notice; where a single kernel
//! cannot be compiled, its segment goes to the evaluator, with the reason. Nothing here runs a kernel.

mod variant;

use std::time::Instant;

use codegen::cpu::Error as CodegenError;
use compiler::layout::LayoutClass;
use compiler::target::Target;
use compiler::{Cut, Plan, PlanError, PlanOptions, PlanRequest, cut, plan};
use ir::definition::Definition;
use ir::interrupt::Interrupt;
use kernel::Kernel;

use crate::background::in_background;
use crate::host::{HostCode, machine_code};
use crate::inputs::declared_layouts;
use crate::variant_key::VariantKey;
use crate::{CompileOptions, Error, Executor};
use cpu::objects::Alike;
use cpu::perf_map;

pub use variant::Variant;
pub(crate) use variant::{Code, Planned};

/// Plans a definition for inputs with the declared layouts, of any size, and for any machine, and compiles nothing: what
/// `explain` and `emit` need. Kernels of calls whose rows are whole vectors are these without the remainder.
///
/// # Errors
/// [`Error::Plan`] when choices of the user do not fit the definition.
pub fn plan_declared(
    definition: &Definition,
    target: &Target,
    options: &CompileOptions,
) -> Result<Plan, Error> {
    of_declared(definition, target, options, plan)
}

/// Cuts a definition as [`plan_declared`], and makes no kernels.
///
/// # Errors
/// As [`plan_declared`].
pub fn cut_declared(
    definition: &Definition,
    target: &Target,
    options: &CompileOptions,
) -> Result<Cut, Error> {
    of_declared(definition, target, options, cut)
}

/// A function of the compiler over a definition.
type Make<T> = fn(PlanRequest<'_>) -> Result<T, PlanError>;

fn of_declared<T: Send + 'static>(
    definition: &Definition,
    target: &Target,
    options: &CompileOptions,
    make: Make<T>,
) -> Result<T, Error> {
    let (definition, target, options) = (definition.clone(), target.clone(), options.clone());
    let interrupt = options.plan.interrupt.clone();
    let made = move || {
        let Definition { graph, fusion, tasks, .. } = &definition;
        let chosen = PlanOptions { tasks: tasks.clone(), ..options.plan };
        let made = make(PlanRequest {
            graph,
            fusion,
            layouts: &declared_layouts(&definition),
            target: &target,
            hints: &options.hints,
            options: &chosen,
        });
        made.map_err(|error| in_words(error, &definition))
    };
    Ok(in_background(&interrupt, made)??)
}

/// Compiles a definition for the calls of a key.
pub(crate) fn compile(
    definition: &Definition,
    key: &VariantKey,
    options: &CompileOptions,
    interrupt: &Interrupt,
) -> Result<Variant, Error> {
    let (machine, alike) = (&options.machine, Alike::default());
    let plan = || planned(definition, key, options, interrupt);
    match options.executor {
        Executor::Evaluator => Ok(evaluated(definition, key.layouts(), "the evaluator was asked for", None)),
        Executor::Interpreter => {
            let program =
                |_: &Kernel, _: usize| Ok::<_, CodegenError>(HostCode::Program(options.interpreter));
            Ok(Variant::new(plan()?, options.executor, 1, interrupt, program, Code::Host)?)
        }
        Executor::Device(_) => {
            let device = options.opened_device()?;
            let code = |kernel: &Kernel, members: usize| {
                device.device().load(kernel, members, machine.cache(), &alike)
            };
            let (planned, threads) = (plan()?, machine.threads());
            let all = |kernels| Code::Device(device.clone(), kernels);
            Ok(Variant::new(planned, options.executor, threads, interrupt, code, all)?)
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
                Ok(Variant::new(planned, options.executor, threads, interrupt, machine_code, Code::Host)?)
            }
            Err(error) => {
                let notice = format!("running on the evaluator, which is slow: {error}");
                Ok(evaluated(definition, key.layouts(), "libLLVM is missing", Some(notice)))
            }
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
    let expected = key.expected();
    let hints = expected.as_ref().unwrap_or(&options.hints);
    let (fusion, target) = (key.known(&definition.fusion), options.facts());
    let tasks = definition.tasks.clone();
    let chosen = PlanOptions { interrupt: interrupt.clone(), tasks, ..options.plan.clone() };
    let plan = plan(PlanRequest {
        graph: &definition.graph,
        fusion: &fusion,
        layouts: key.layouts(),
        target: &target,
        hints,
        options: &chosen,
    });
    Ok(Planned { plan: plan.map_err(|error| in_words(error, definition))?, time: begin.elapsed() })
}

/// A plan error in words of the definition.
fn in_words(error: PlanError, definition: &Definition) -> PlanError {
    match error {
        PlanError::Group(error) => error.in_words(|val| definition.record.in_words(val)).into(),
        error => error,
    }
}

/// The whole definition for the evaluator.
fn evaluated(
    definition: &Definition,
    layouts: &[LayoutClass],
    reason: &str,
    notice: Option<String>,
) -> Variant {
    Variant::evaluated(compiler::evaluated(&definition.graph, &definition.fusion, layouts, reason), notice)
}
