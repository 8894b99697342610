//! Lowering: the kernels of each segment that runs by kernels.

use std::collections::BTreeMap;

use index::Sym;
use kernel::{Scratch, ScratchLayout, fetched_arrays};
use lowering::{KernelArgument, Lowered, LoweredSegment, lower};
use rustc_hash::FxHashMap;
use target::Processor;
use target::gpu::MAX_LONG_ROW_ELEMENTS;

use super::Compilation;
use super::schedules::LaidOutClass;
use crate::in_place::note_shared_memory;
use crate::plan::{Decision, PlanError, SegmentPlan};
use segmenter::parallel::join;

/// Segments from which two threads lower them.
const MIN_HALVED: usize = 16;

/// The stage.
pub(super) fn kernels(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    let first = compilation.first_of_class();
    let firsts: Vec<usize> = (0..first.len()).filter(|&number| first[number] == number).collect();
    let mut lowered = compilation.lower_all(&firsts)?;
    for number in 0..first.len() {
        if first[number] != number {
            let like = compilation.lowered_like(number, &lowered[&first[number]])?;
            lowered.insert(number, like);
        }
    }
    for (number, lowered) in &mut lowered {
        note_shared_memory(&compilation.optimized.fusion, &compilation.segments[*number], lowered);
    }
    compilation.lowered = lowered.into_values().collect();
    Ok(())
}

impl Compilation<'_> {
    /// For each segment the first one of its class, whose kernels are its own but for names.
    fn first_of_class(&self) -> Vec<usize> {
        let mut known: FxHashMap<(LaidOutClass, bool), usize> = FxHashMap::default();
        let first = |(number, segment): (usize, &SegmentPlan)| match &segment.decision {
            Decision::Kernels(kernels) if self.chosen_schedule(number).is_none() => {
                *known.entry((self.class_of(&segment.view), kernels.general)).or_insert(number)
            }
            _ => number,
        };
        self.segments.iter().enumerate().map(first).collect()
    }

    /// The kernels of segments with these numbers.
    fn lower_all(&self, numbers: &[usize]) -> Result<BTreeMap<usize, LoweredSegment>, PlanError> {
        let lowered = |numbers: &[usize]| -> Result<Vec<_>, PlanError> {
            numbers.iter().map(|&number| Ok((number, self.lower(number)?))).collect()
        };
        let (first, second) = match numbers {
            few if few.len() < MIN_HALVED => (lowered(few)?, Vec::new()),
            _ => {
                let (first, second) = numbers.split_at(numbers.len() / 2);
                let (first, second) = join(|| lowered(first), || lowered(second));
                (first?, second?)
            }
        };
        Ok(first.into_iter().chain(second).collect())
    }

    /// The kernels of a segment, given those of one of the same class.
    fn lowered_like(&self, number: usize, first: &LoweredSegment) -> Result<LoweredSegment, PlanError> {
        let group = self.segments[number].group(&self.graph).expect("segments of a class run by kernels");
        let Some(renamed) = first.renamed(&group) else { return self.lower(number) };
        debug_assert!(
            self.lower(number).is_ok_and(|own| unassuming(own) == unassuming(renamed.clone())),
            "segments of a class have the same kernels"
        );
        Ok(renamed)
    }

    /// The kernels of the segment with a number.
    fn lower(&self, number: usize) -> Result<LoweredSegment, PlanError> {
        self.request.options.interrupt.check()?;
        let segment = &self.segments[number];
        let Some(group) = segment.group(&self.graph) else { return Ok(LoweredSegment::default()) };
        let lowered = lower(&group).expect("the stage before checked the schedule");
        if self.chosen_schedule(number).is_some() {
            self.check_scratch(segment, &lowered)?;
        }
        Ok(lowered)
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

/// The kernels without assumptions: of two sizes that facts say are equal each has its own, which holds for both.
fn unassuming(mut lowered: LoweredSegment) -> LoweredSegment {
    lowered.kernels.iter_mut().for_each(|lowered| lowered.kernel.assumptions.clear());
    lowered
}
