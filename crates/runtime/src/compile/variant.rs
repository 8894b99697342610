//! Variants: plans with the code of their kernels, made side by side.

use std::collections::HashMap;
use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use compiler::Plan;
use ir::graph::{SizeError, Sizes};
use ir::interrupt::{Interrupt, Interrupted};
use kernel::Kernel;

use crate::accelerator::{DeviceHandle, LoadedKernel};
use crate::extents::{Extents, extents};
use crate::host::HostCode;
use crate::report::{CallReport, KernelReport, Reported, SegmentReport};
use crate::{ExecutorKind, Report};
use cpu::last_call::LastCall;
use cpu::side_by_side::side_by_side;
use execution::{ExecutedSegment, ExecutionPlan, Launch, Step};

/// An executable's code for one layout of the inputs.
#[derive(Debug)]
pub struct Variant {
    /// What the compiler decided.
    pub plan: Plan,
    /// The steps of a call.
    pub steps: ExecutionPlan,
    /// How it was compiled.
    pub report: Report,
    /// The kernels of `steps`.
    pub(crate) code: Code,
    /// The extents of the sizes of the last call.
    extents: LastCall<Extents>,
}

/// The kernels of a plan, in order.
#[derive(Debug)]
pub(crate) enum Code {
    /// For the host.
    Host(Vec<HostCode>),
    /// Loaded into a device.
    Device(DeviceHandle, Vec<LoadedKernel>),
}

/// A plan, and how long it took.
pub(crate) struct Planned {
    pub plan: Plan,
    pub time: Duration,
}

impl Variant {
    /// Makes the code of every kernel, for the members of its batch; a segment with a kernel that has none goes to the
    /// evaluator.
    ///
    /// # Errors
    /// When it is interrupted between two kernels.
    pub(crate) fn new<C: Reported + Send + Sync, E: Display + Send + Sync>(
        planned: Planned,
        executor: ExecutorKind,
        threads: usize,
        interrupt: &Interrupt,
        make: impl Fn(&Kernel, usize) -> Result<C, E> + Sync,
        all: impl FnOnce(Vec<C>) -> Code,
    ) -> Result<Variant, Interrupted> {
        let Planned { mut plan, time } = planned;
        let begin = Instant::now();
        let mut code: Vec<C> = Vec::new();
        for (batch, made) in make_all(&plan, threads, interrupt, make)? {
            match made {
                Ok(made) => code.extend(made),
                Err(error) => {
                    plan.leave_to_evaluator(batch, &format!("its kernel could not be compiled: {error}"));
                }
            }
        }
        let steps = ExecutionPlan::new(&plan);
        let segments = segments(&steps, &code);
        let report = Report { executor, notice: None, segments, plan: time, compile: begin.elapsed() };
        Ok(Variant { plan, steps, report, code: all(code), extents: LastCall::default() })
    }

    /// The extents that the sizes of a call determine.
    ///
    /// # Errors
    /// What is wrong with the sizes.
    pub(crate) fn extents(&self, sizes: &Sizes) -> Result<Arc<Extents>, SizeError> {
        extents(&self.extents, &self.steps, sizes)
    }

    /// Adds its compile time to the report of a call, if it was compiled for this call: to the steps of a timed call
    /// the time of their kernels.
    pub(crate) fn add_compile(&self, compile: Option<Duration>, report: &mut CallReport) {
        let Some(compile) = compile else { return };
        report.compile = compile;
        if report.steps.is_empty() {
            return;
        }
        let times = self.compile_times();
        for step in &mut report.steps {
            step.compile = times.get(&step.name).copied().unwrap_or_default();
        }
    }

    /// For the name of each launch the time that its kernel spent in libLLVM or NVRTC.
    fn compile_times(&self) -> HashMap<String, Duration> {
        let kernels = self.report.segments.iter().flat_map(|segment| &segment.kernels);
        let own: HashMap<&str, Duration> =
            kernels.map(|kernel| (kernel.name.as_str(), kernel.compile)).collect();
        let launches = self.steps.steps.iter().filter_map(|step| match step {
            Step::Launch(launch) => Some(launch),
            _ => None,
        });
        let time = |launch: &Launch| {
            let members = launch.members.iter().filter_map(|member| own.get(member.name.as_str()));
            (launch.name(), members.sum())
        };
        launches.map(time).collect()
    }

    /// A whole definition for the evaluator.
    pub(crate) fn evaluated(plan: Plan, notice: Option<String>) -> Variant {
        let steps = ExecutionPlan::new(&plan);
        let report = Report {
            executor: ExecutorKind::Evaluator,
            notice,
            segments: segments::<HostCode>(&steps, &[]),
            plan: Duration::ZERO,
            compile: Duration::ZERO,
        };
        Variant { plan, steps, report, code: Code::Host(Vec::new()), extents: LastCall::default() }
    }
}

/// A batch, with the code of its kernels or the first error.
type Made<C, E> = (Range<usize>, Result<Vec<C>, E>);

/// The code of each batch's kernels, made on several threads.
fn make_all<C: Send + Sync, E: Send + Sync>(
    plan: &Plan,
    threads: usize,
    interrupt: &Interrupt,
    make: impl Fn(&Kernel, usize) -> Result<C, E> + Sync,
) -> Result<Vec<Made<C, E>>, Interrupted> {
    let kernels: Vec<(usize, &Kernel)> = kernels(plan).collect();
    let made = side_by_side(&kernels, threads, interrupt, |&(batch, kernel)| {
        make(kernel, plan.batches[batch].len())
    })?;
    let mut all: Vec<Made<C, E>> = plan.batches.iter().map(|batch| (batch.clone(), Ok(Vec::new()))).collect();
    for ((batch, _), code) in kernels.iter().zip(made) {
        match (&mut all[*batch].1, code) {
            (Ok(list), Ok(code)) => list.push(code),
            (place @ Ok(_), Err(error)) => *place = Err(error),
            (Err(_), _) => {}
        }
    }
    Ok(all)
}

/// All kernels of a plan, in order, with the number of their batch.
fn kernels(plan: &Plan) -> impl Iterator<Item = (usize, &Kernel)> {
    plan.batches.iter().enumerate().flat_map(|(number, batch)| {
        let lowered = &plan.lowered[batch.start];
        lowered.kernels.iter().map(move |lowered| (number, &lowered.kernel))
    })
}

/// The report on each segment.
fn segments<C: Reported>(steps: &ExecutionPlan, code: &[C]) -> Vec<SegmentReport> {
    let kernels_of = |number: usize| {
        let launches = steps.steps.iter().filter_map(|step| match step {
            Step::Launch(launch) => Some(launch),
            _ => None,
        });
        let of_segment = launches.filter_map(|launch| {
            let place = launch.members.iter().position(|member| member.segment == number)?;
            let report = code[launch.kernel].report(&launch.members[place].name);
            // The code is that of the first member.
            Some(KernelReport { compile: if place == 0 { report.compile } else { Duration::ZERO }, ..report })
        });
        of_segment.collect()
    };
    let report = |(number, segment): (usize, &ExecutedSegment)| SegmentReport {
        name: segment.name.clone(),
        evaluator_reason: segment.evaluator_reason.clone(),
        library: segment.external_op,
        kernels: kernels_of(number),
    };
    steps.segments.iter().enumerate().map(report).collect()
}
