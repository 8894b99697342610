//! Lowering: the kernels of each segment that runs by kernels.

use std::ops::Range;

use index::Sym;
use kernel::{Scratch, ScratchLayout, fetched_arrays};
use scheduler::lower::{KernelArgument, Lowered, LoweredSegment, lower};
use target::Processor;
use target::gpu::MAX_LONG_ROW_ELEMENTS;

use super::Compilation;
use crate::in_place::note_shared_memory;
use crate::plan::{PlanError, SegmentPlan};
use crate::segment::parallel::join;

/// Segments from which two threads lower them.
const MIN_HALVED: usize = 16;

/// The stage.
pub(super) fn kernels(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    let count = compilation.segments.len();
    compilation.lowered = if count < MIN_HALVED {
        compilation.lowered(0..count)?
    } else {
        let (compilation, half) = (&*compilation, count / 2);
        let (first, second) = join(|| compilation.lowered(0..half), || compilation.lowered(half..count));
        first?.into_iter().chain(second?).collect()
    };
    Ok(())
}

impl Compilation<'_> {
    /// The kernels of segments with these numbers.
    fn lowered(&self, numbers: Range<usize>) -> Result<Vec<LoweredSegment>, PlanError> {
        let lowered = |number: usize| {
            self.request.options.interrupt.check()?;
            let segment = &self.segments[number];
            let mut lowered = self.lower(segment);
            note_shared_memory(&self.optimized.fusion, segment, &mut lowered);
            if self.chosen_schedule(number).is_some() {
                self.check_scratch(segment, &lowered)?;
            }
            Ok(lowered)
        };
        numbers.map(lowered).collect()
    }

    fn lower(&self, segment: &SegmentPlan) -> LoweredSegment {
        let lowered = segment.group(&self.graph).map(|group| lower(&group));
        lowered.map_or_else(LoweredSegment::default, |lowered| {
            lowered.expect("the stage before checked the schedule")
        })
    }

    /// Rejects a user's schedule that no launch could have, because blocks of a GPU have limited memory.
    fn check_scratch(&self, segment: &SegmentPlan, lowered: &LoweredSegment) -> Result<(), PlanError> {
        let most = self.request.target.block_bytes;
        let bytes = lowered.kernels.iter().map(|lowered| self.scratch_bytes(lowered)).max().unwrap_or(0);
        if bytes <= most || matches!(self.request.target.processor, Processor::Cpu(_)) {
            return Ok(());
        }
        Err(PlanError::Scratch { segment: segment.name.clone(), bytes, most })
    }

    /// Bytes of a block's scratch arrays, except for those in registers and those of unknown sizes.
    fn scratch_bytes(&self, Lowered { kernel, arguments, .. }: &Lowered) -> u64 {
        let value = |sym: Sym| {
            let place = kernel.arguments.iter().position(|&argument| argument == sym)?;
            let KernelArgument::Size(size) = &arguments[place] else { return None };
            i64::try_from(self.request.hints.value(size)).ok().filter(|_| self.request.hints.has_all(size))
        };
        let in_registers = MAX_LONG_ROW_ELEMENTS as i64 * i64::from(kernel.lanes);
        let fetched = fetched_arrays(kernel);
        let is_in_memory = |array: Scratch| {
            let decl = &kernel.scratch[array];
            let may_be_in_registers = decl.private && !fetched.contains(&array);
            decl.len.eval(&value).is_ok_and(|elements| !may_be_in_registers || elements > in_registers)
        };
        let bytes = ScratchLayout::of(kernel, is_in_memory).bytes.eval(&value);
        bytes.map_or(u64::MAX, |bytes| bytes.max(0) as u64)
    }
}
