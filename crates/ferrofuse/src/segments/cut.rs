//! The values of a definition that each segment makes, for a cut over the values that the passes made of the definition's.
//!
//! Takes a definition and its cut; returns a segmentation over values of the definition in which every output is made. A
//! value that only passes made is computed by each segment that reads it, from the nearest values that can be kept instead;
//! views of inputs are a last segment.

use compiler::passes::in_memory;
use compiler::{Cut, SegmentPlan};
use ir::definition::Definition;
use ir::graph::{Graph, Output, Val};
use rustc_hash::{FxHashMap, FxHashSet};
use segmenter::Wait;

use crate::Segmentation;

/// A segmentation over values of a definition, and for each segment the segments of the cut that it consists of: mostly one,
/// none for a segment of views.
pub(super) struct WrittenCut {
    pub segmentation: Segmentation,
    pub planned: Vec<Vec<usize>>,
}

/// The segmentation of a definition that a cut represents.
///
/// # Errors
/// The cycle of a segmentation that the user chose.
pub(super) fn written_cut(definition: &Definition, cut: &Cut) -> Result<WrittenCut, Vec<Wait>> {
    let makers = Makers::of(cut);
    let outputs: Vec<Val> = definition.fusion.outputs().iter().map(|output| output.val).collect();
    let segmentation = match &cut.chosen {
        Some(chosen) => makers.completed(definition, chosen.clone(), &outputs)?,
        None => without_unread(definition, makers.written(definition, &[], &outputs)),
    };
    let planned = segmentation.segments.iter().map(|made| makers.parts(made)).collect();
    Ok(WrittenCut { segmentation, planned })
}

/// The segments of a cut over the values of the definition: planning with them gives the same cut. Outputs that are views
/// belong to no segment.
pub(super) fn planned_cut(definition: &Definition, cut: &Cut) -> Segmentation {
    match &cut.chosen {
        Some(chosen) => chosen.clone(),
        None => Makers::of(cut).written(definition, &cut.to_make, &cut.to_make),
    }
}

/// A cut's segmentation over the values of the definition that became the values that it keeps. A kept value that only
/// passes made is left out, or replaced by the nearest values that it is computed from.
fn written(cut: &Cut, olds: &Olds, keeps_nearest: bool) -> Segmentation {
    let old = |val: Val| match keeps_nearest {
        true => olds.nearest(&cut.graph, val),
        false => olds.olds.get(&val).copied().into_iter().collect(),
    };
    let made = |made: &Vec<Val>| {
        let mut made: Vec<Val> = made.iter().flat_map(|&val| old(val)).collect();
        made.sort_unstable();
        made.dedup();
        made
    };
    let segments = cut.segmentation.segments.iter().map(made).filter(|made| !made.is_empty()).collect();
    let mut segmentation = Segmentation::new(segments);
    // A value that several segments would keep is kept by the first.
    let mut kept = FxHashSet::default();
    segmentation.segments.iter_mut().for_each(|made| made.retain(|&val| kept.insert(val)));
    segmentation.drop_empty();
    segmentation
}

/// The outputs that no segment makes yet and that are no inputs.
fn missing(definition: &Definition, segmentation: &Segmentation, outputs: &[Val]) -> Vec<Val> {
    let kept = segmentation.kept();
    let is_missing = |val: &Val| !definition.fusion.is_input(*val) && !kept.contains(val);
    let mut missing: Vec<Val> = outputs.iter().copied().filter(is_missing).collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

/// The segmentation without values that are neither outputs of the definition nor read by another segment, such as the
/// source of an output that is a view.
fn without_unread(definition: &Definition, mut segmentation: Segmentation) -> Segmentation {
    let views = segmentation.views(&definition.graph, &definition.fusion);
    let read: FxHashSet<Val> = views.iter().flat_map(|view| view.inputs()).copied().collect();
    for made in &mut segmentation.segments {
        made.retain(|val| definition.fusion.is_output(*val) || read.contains(val));
    }
    segmentation.drop_empty();
    segmentation
}

fn appended(mut segmentation: Segmentation, missing: Vec<Val>) -> Segmentation {
    if !missing.is_empty() {
        segmentation.push(missing);
    }
    segmentation
}

/// The segmentation in topological order; segments that form a cycle are joined.
fn without_cycles(definition: &Definition, mut segmentation: Segmentation) -> Segmentation {
    loop {
        let cycle = match segmentation.in_order(&definition.graph, &definition.fusion) {
            Ok(ordered) => return ordered,
            Err(cycle) => cycle,
        };
        let mut waiting: Vec<usize> = cycle.iter().map(|wait| wait.segment).collect();
        waiting.sort_unstable();
        let joined: Vec<Vec<Val>> =
            waiting[1..].iter().rev().map(|&number| segmentation.segments.remove(number)).collect();
        segmentation.segments[waiting[0]].extend(joined.into_iter().flatten());
        segmentation.segments[waiting[0]].sort_unstable();
    }
}

/// For each value of a cut the value of the definition that became it.
struct Olds {
    olds: FxHashMap<Val, Val>,
}

impl Olds {
    /// Of equal values `first` has priority, then values that the definition writes, then values inside composites; sources
    /// of expansions and permutations come last.
    fn of(definition: &Definition, cut: &Cut, first: &[Val]) -> Olds {
        let record = &definition.record;
        let results = record.statements().iter().flat_map(|statement| &statement.results);
        let written: FxHashSet<Val> = results.map(|&entry| record.entry(entry).val).collect();
        let is_made = |&(old, _): &(Val, Val)| !definition.fusion.is_input(old);
        let mut pairs: Vec<(Val, Val)> = cut.map.iter().filter(is_made).collect();
        pairs.sort_unstable_by_key(|(old, _)| (!first.contains(old), !written.contains(old), *old));
        let mut olds = FxHashMap::default();
        for &(old, new) in &pairs {
            olds.entry(new).or_insert(old);
        }
        for (old, new) in pairs {
            olds.entry(in_memory(&cut.graph, old, new)).or_insert(old);
        }
        // A value permuted for an op is represented by the source of the permutation.
        for new in cut.segmentation.kept() {
            let source = cut.graph.permuted(new).and_then(|source| olds.get(&source).copied());
            if let Some(old) = source {
                olds.entry(new).or_insert(old);
            }
        }
        Olds { olds }
    }

    /// The value that became this one; if there is none, the nearest such values that it is computed from.
    fn nearest(&self, graph: &Graph, new: Val) -> Vec<Val> {
        let (mut nearest, mut waiting, mut seen) = (Vec::new(), vec![new], FxHashSet::default());
        while let Some(val) = waiting.pop() {
            match self.olds.get(&val) {
                Some(&old) => nearest.push(old),
                None => waiting.extend(graph.operands(val).iter().filter(|&&of| seen.insert(of))),
            }
        }
        nearest
    }
}

/// Which segment of a cut makes which value.
struct Makers<'c> {
    cut: &'c Cut,
    makers: FxHashMap<Val, usize>,
    /// The source of each output that is a view.
    sources: FxHashMap<Val, Val>,
}

impl<'c> Makers<'c> {
    fn of(cut: &'c Cut) -> Makers<'c> {
        let made = |(number, segment): (usize, &'c SegmentPlan)| {
            segment.view.outputs().iter().map(move |output| (output.val, number))
        };
        let makers = cut.segments.iter().enumerate().flat_map(made).collect();
        let outputs = cut.fusion.outputs().iter().zip(&cut.views);
        let source = |(output, view): (&Output, &Option<_>)| {
            view.as_ref().map(|view: &compiler::outputs::View| (output.val, view.source))
        };
        Makers { cut, makers, sources: outputs.filter_map(source).collect() }
    }

    /// The segment of the cut that makes what a value of the definition became, or the source of that view.
    fn of_value(&self, val: Val) -> Option<usize> {
        let new = self.cut.map.get(val)?;
        let whole = self.sources.get(&new).copied().unwrap_or(new);
        let made = [new, whole, in_memory(&self.cut.graph, val, whole)];
        made.iter().find_map(|val| self.makers.get(val).copied())
    }

    fn of_any(&self, made: &[Val]) -> Option<usize> {
        made.iter().find_map(|&val| self.of_value(val))
    }

    /// The segments that belong to the same segment of the user's as the maker of these values; without such, the maker.
    fn parts(&self, made: &[Val]) -> Vec<usize> {
        let parts = &self.cut.parts;
        let Some(maker) = self.of_any(made) else { return Vec::new() };
        match parts.is_empty() {
            true => vec![maker],
            false => (0..parts.len()).filter(|&number| parts[number] == parts[maker]).collect(),
        }
    }

    /// The cut's segmentation over values of the definition in which `outputs` are made; of equal values it keeps those of
    /// `first`.
    fn written(&self, definition: &Definition, first: &[Val], outputs: &[Val]) -> Segmentation {
        let olds = Olds::of(definition, self.cut, first);
        let written =
            |keeps_nearest| self.completed(definition, written(self.cut, &olds, keeps_nearest), outputs);
        // The nearest values may form a cycle. So may the others: if a pass moved an expansion after an op, the op reads
        // another value in the definition, which a later segment may make.
        written(true).or_else(|_| written(false)).unwrap_or_else(|_| {
            let segmentation = self::written(self.cut, &olds, false);
            let missing = missing(definition, &segmentation, outputs);
            without_cycles(definition, appended(segmentation, missing))
        })
    }

    /// The segmentation with the missing outputs added, in order.
    fn completed(
        &self,
        definition: &Definition,
        segmentation: Segmentation,
        outputs: &[Val],
    ) -> Result<Segmentation, Vec<Wait>> {
        let missing = missing(definition, &segmentation, outputs);
        let in_order =
            |segmentation: &Segmentation| segmentation.in_order(&definition.graph, &definition.fusion);
        // An output that needs more than the segment of its equal value provides is computed at the end.
        in_order(&self.joined(segmentation.clone(), &missing))
            .or_else(|_| in_order(&appended(segmentation, missing)))
    }

    /// The segmentation with further values, each in the segment that makes its equal or its source, else in a last segment.
    fn joined(&self, mut segmentation: Segmentation, more: &[Val]) -> Segmentation {
        let planned: Vec<Option<usize>> =
            segmentation.segments.iter().map(|made| self.of_any(made)).collect();
        let mut last = Vec::new();
        for &val in more {
            let maker = self.of_value(val);
            match planned.iter().position(|planned| planned.is_some() && *planned == maker) {
                Some(place) => segmentation.segments[place].push(val),
                None => last.push(val),
            }
        }
        segmentation.segments.iter_mut().for_each(|made| made.sort_unstable());
        appended(segmentation, last)
    }
}
