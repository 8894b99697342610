//! From a definition to a variant: planned, its kernels compiled side by side.
//!
//! Where libLLVM is missing, the variant is the whole fusion for the evaluator, with a notice; where a single kernel
//! cannot be compiled, its segment goes to the evaluator, with the reason. Nothing here runs a kernel.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use codegen::cpu::llvm::{CpuTarget, Llvm, Times};
use codegen::cpu::{CompiledKernel, Error as CodegenError, Isa, Module, emit};
use compiler::layout::LayoutClass;
use compiler::target::Target;
use compiler::{Decision, Hints, Plan, PlanError, PlanOptions, plan};
use ir::definition::Definition;
use ir::interrupt::{Interrupt, Interrupted};
use ir::kernel::Kernel;

use crate::alike::{Alike, SYMBOL, without_comments};
use crate::background::in_background;
use crate::cpu::objects::{Key, ObjectCache};
use crate::cpu::perf_map;
use crate::extents::Extents;
use crate::host::HostCode;
use crate::inputs::declared;
use crate::last_call::LastCall;
use crate::plan::{ExecutedSegment, ExecutionPlan, Step};
use crate::report::{KernelReport, SegmentReport};
use crate::variant_key::VariantKey;
use crate::{CompileOptions, Error, Executor, Report};

/// Stack of a compiling thread: LLVM recurses over deep code.
const STACK: usize = 16 << 20;

/// An executable's code for one layout of the inputs.
#[derive(Debug)]
pub struct Variant {
    /// What the compiler decided; nothing where the evaluator runs the whole.
    pub plan: Option<Plan>,
    /// What a call does.
    pub steps: ExecutionPlan,
    /// How it came about.
    pub report: Report,
    /// The kernels of `steps`, in order.
    pub(crate) code: Vec<HostCode>,
    /// What the sizes of the last call determine.
    pub(crate) extents: LastCall<Extents>,
}

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
    let (definition, target, options) = (definition.clone(), target.clone(), options.clone());
    let interrupt = options.plan.interrupt.clone();
    let made = move || {
        let Definition { graph, fusion, tasks, .. } = &definition;
        let chosen = PlanOptions { tasks: tasks.clone(), ..options.plan };
        let planned = plan(graph, fusion, &declared(&definition), &target, &options.hints, &chosen);
        planned.map_err(|error| in_words(error, &definition))
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
    let begin = Instant::now();
    let expected = key.expected();
    let hints = expected.as_ref().unwrap_or(&options.hints);
    match options.executor {
        Executor::Evaluator => Ok(evaluated(definition, key.layouts(), "the evaluator was asked for", None)),
        Executor::Interpreter => {
            let plan = planned(definition, key, hints, options, interrupt)?;
            let time = begin.elapsed();
            let program = |_: &Kernel| Ok(HostCode::Program(options.interpreter));
            Ok(Variant::new(plan, Executor::Interpreter, time, 1, interrupt, program)?)
        }
        Executor::Compiled => match options.machine.llvm() {
            Ok(_) if !options.machine.runs(options.target) => Err(Error::Target(options.target)),
            Ok(llvm) => {
                let plan = planned(definition, key, hints, options, interrupt)?;
                let alike = Alike::default();
                let machine_code = |kernel: &Kernel| {
                    let code = machine_code(kernel, options.target, &llvm, options.machine.cache(), &alike)?;
                    if options.machine.has_perf_map() {
                        perf_map::list(&kernel.name, &code);
                    }
                    Ok(HostCode::Machine(code))
                };
                let (time, threads) = (begin.elapsed(), options.machine.threads());
                Ok(Variant::new(plan, Executor::Compiled, time, threads, interrupt, machine_code)?)
            }
            Err(error) => {
                let notice = format!("running on the evaluator, which is slow: {error}");
                Ok(evaluated(definition, key.layouts(), "libLLVM is missing", Some(notice)))
            }
        },
    }
}

/// The machine code of a kernel: that of an equal one, or from the cache if it is there, else compiled, and kept for the next
/// process.
fn machine_code(
    kernel: &Kernel,
    target: CpuTarget,
    llvm: &Llvm,
    cache: Option<&ObjectCache>,
    alike: &Alike,
) -> Result<CompiledKernel, CodegenError> {
    let isa = Isa::new(llvm, target);
    let module = emit(&Kernel { name: SYMBOL.to_owned(), ..kernel.clone() }, &isa)?;
    let code = without_comments(&module.ir);
    let key = cache.map(|cache| (cache, Key::new(&[&llvm.recipe(isa.spec()), &code])));
    let object = alike.object_of(code);
    let mut object = object.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(object) = &*object {
        // It was not kept from before, and takes no time.
        return CompiledKernel::load(module.symbol, module.ir, object.clone(), Some(Times::default()));
    }
    let kernel = match key {
        Some((cache, key)) => kept_or_compiled(module, &isa, llvm, cache, &key)?,
        None => CompiledKernel::compile(module, &isa, llvm)?,
    };
    *object = Some(kernel.object.clone());
    Ok(kernel)
}

fn kept_or_compiled(
    module: Module,
    isa: &Isa,
    llvm: &Llvm,
    cache: &ObjectCache,
    key: &Key,
) -> Result<CompiledKernel, CodegenError> {
    if let Some(object) = cache.get(key) {
        match CompiledKernel::load(module.symbol.clone(), module.ir.clone(), object, None) {
            Ok(kernel) => return Ok(kernel),
            Err(_) => cache.reject(key),
        }
    }
    let kernel = CompiledKernel::compile(module, isa, llvm)?;
    cache.put(key, &kernel.object);
    Ok(kernel)
}

fn planned(
    definition: &Definition,
    key: &VariantKey,
    hints: &Hints,
    options: &CompileOptions,
    interrupt: &Interrupt,
) -> Result<Plan, PlanError> {
    let (fusion, target) = (key.known(&definition.fusion), options.machine.target(options.target));
    let tasks = definition.tasks.clone();
    let chosen = PlanOptions { interrupt: interrupt.clone(), tasks, ..options.plan.clone() };
    let planned = plan(&definition.graph, &fusion, key.layouts(), &target, hints, &chosen);
    planned.map_err(|error| in_words(error, definition))
}

/// What is wrong with a plan in words of the definition.
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
    let steps = ExecutionPlan::evaluated(&definition.graph, &definition.fusion, layouts, reason);
    let report = Report {
        executor: Executor::Evaluator,
        notice,
        segments: segments(&steps, &[]),
        plan: Duration::ZERO,
        compile: Duration::ZERO,
    };
    Variant { plan: None, steps, report, code: Vec::new(), extents: LastCall::default() }
}

impl Variant {
    /// Makes the code of every kernel; a segment with a kernel that has none goes to the evaluator.
    ///
    /// # Errors
    /// When it is interrupted between two kernels.
    pub(crate) fn new(
        mut plan: Plan,
        executor: Executor,
        time: Duration,
        threads: usize,
        interrupt: &Interrupt,
        make: impl Fn(&Kernel) -> Result<HostCode, CodegenError> + Sync,
    ) -> Result<Variant, Interrupted> {
        let begin = Instant::now();
        let mut code = Vec::new();
        for (segment, made) in make_all(&plan, threads, interrupt, make)?.into_iter().enumerate() {
            match made {
                Ok(made) => code.extend(made),
                Err(error) => {
                    let val = plan.segments[segment].view.outputs()[0].val;
                    let reason = format!("its kernel could not be compiled: {error}");
                    plan.segments[segment].decision = Decision::Evaluate { reason, val };
                }
            }
        }
        let steps = ExecutionPlan::new(&plan);
        let segments = segments(&steps, &code);
        let report = Report { executor, notice: None, segments, plan: time, compile: begin.elapsed() };
        Ok(Variant { plan: Some(plan), steps, report, code, extents: LastCall::default() })
    }
}

/// The code of each segment's kernels, made on several threads; the first error of a segment in its place.
fn make_all(
    plan: &Plan,
    threads: usize,
    interrupt: &Interrupt,
    make: impl Fn(&Kernel) -> Result<HostCode, CodegenError> + Sync,
) -> Result<Vec<Result<Vec<HostCode>, CodegenError>>, Interrupted> {
    let kernels: Vec<(usize, &Kernel)> = kernels(plan).collect();
    let made: Vec<OnceLock<Result<HostCode, CodegenError>>> =
        kernels.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some((_, kernel)) = kernels.get(place).filter(|_| !interrupt.is_requested()) else { return };
            made[place].get_or_init(|| make(kernel));
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.min(kernels.len()) {
            // Where the system gives no thread, the last one below does all that is left.
            let _ = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        }
    });
    work();
    interrupt.check()?;
    let mut segments: Vec<Result<Vec<HostCode>, CodegenError>> =
        plan.segments.iter().map(|_| Ok(Vec::new())).collect();
    for ((segment, _), code) in kernels.iter().zip(made) {
        let code = code.into_inner().expect("every kernel was taken by some thread");
        match (&mut segments[*segment], code) {
            (Ok(list), Ok(code)) => list.push(code),
            (place @ Ok(_), Err(error)) => *place = Err(error),
            (Err(_), _) => {}
        }
    }
    Ok(segments)
}

/// All kernels of a plan, in order, with the number of their segment.
fn kernels(plan: &Plan) -> impl Iterator<Item = (usize, &Kernel)> {
    plan.segments.iter().enumerate().flat_map(|(number, segment)| {
        let lowered = match &segment.decision {
            Decision::Kernels(kernels) => kernels.lowered.kernels.as_slice(),
            Decision::Evaluate { .. } | Decision::External(_) => &[],
        };
        lowered.iter().map(move |lowered| (number, &lowered.kernel))
    })
}

/// What the report says of each segment.
fn segments(steps: &ExecutionPlan, code: &[HostCode]) -> Vec<SegmentReport> {
    let kernel_report = |(kernel, code): (&Kernel, &HostCode)| match code {
        HostCode::Machine(compiled) => KernelReport {
            name: kernel.name.clone(),
            compile: compiled.times.as_ref().map_or(Duration::ZERO, Times::total),
            code_bytes: compiled.code_bytes(),
            cached: compiled.times.is_none(),
        },
        HostCode::Program(_) => {
            KernelReport { name: kernel.name.clone(), compile: Duration::ZERO, code_bytes: 0, cached: false }
        }
    };
    let kernels_of = |number: usize| {
        let launches = steps.steps.iter().filter_map(|step| match step {
            Step::Launch(launch) if launch.segment == number => Some(launch.kernel),
            _ => None,
        });
        launches.map(|kernel| kernel_report((&steps.kernels[kernel], &code[kernel]))).collect()
    };
    let report = |(number, segment): (usize, &ExecutedSegment)| SegmentReport {
        name: segment.name.clone(),
        evaluator_reason: segment.evaluator_reason.clone(),
        library: segment.library,
        kernels: kernels_of(number),
    };
    steps.segments.iter().enumerate().map(report).collect()
}
