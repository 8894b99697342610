//! Which values of a definition each segment makes, for a cut that is over what the passes made of it.
//!
//! Takes a definition and its cut; gives a segmentation over values of the definition in which every output is made. Values
//! that only passes know of are computed by whoever reads them, of the nearest values that can be kept instead; views of inputs are a
//! last segment.

use compiler::passes::in_memory;
use compiler::segment::Wait;
use compiler::{Cut, SegmentPlan};
use ir::definition::Definition;
use ir::graph::{Graph, Output, Val};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Segmentation;

/// A segmentation over values of a definition, and for each segment those of the cut that it is made of: mostly one, none where it
/// makes views.
pub(super) struct WrittenCut {
    pub segmentation: Segmentation,
    pub planned: Vec<Vec<usize>>,
}

/// The segmentation of a definition that a cut stands for.
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

/// The segments of a cut over the values of the definition: planned with these, it becomes the same. Outputs that are views are no
/// segment's.
pub(super) fn planned_cut(definition: &Definition, cut: &Cut) -> Segmentation {
    match &cut.chosen {
        Some(chosen) => chosen.clone(),
        None => Makers::of(cut).written(definition, &cut.to_make, &cut.to_make),
    }
}

/// A cut's segmentation over the values of the definition that became what it keeps. What only passes know of is left out, or that
/// kept of which it is computed, the nearest.
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
    let mut segmentation = Segmentation { segments };
    // What several segments would keep is the first one's.
    let mut kept = FxHashSet::default();
    segmentation.segments.iter_mut().for_each(|made| made.retain(|&val| kept.insert(val)));
    segmentation.segments.retain(|made| !made.is_empty());
    segmentation
}

/// Those of some outputs that no segment makes yet and that are no inputs.
fn missing(definition: &Definition, segmentation: &Segmentation, outputs: &[Val]) -> Vec<Val> {
    let kept = segmentation.kept();
    let is_missing = |val: &Val| !definition.fusion.is_input(*val) && !kept.contains(val);
    let mut missing: Vec<Val> = outputs.iter().copied().filter(is_missing).collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

/// A segmentation without what neither the definition gives back nor another segment reads: that of which an output is a view.
fn without_unread(definition: &Definition, mut segmentation: Segmentation) -> Segmentation {
    let views = segmentation.views(&definition.graph, &definition.fusion);
    let read: FxHashSet<Val> = views.iter().flat_map(|view| view.inputs()).copied().collect();
    for made in &mut segmentation.segments {
        made.retain(|val| definition.fusion.is_output(*val) || read.contains(val));
    }
    segmentation.segments.retain(|made| !made.is_empty());
    segmentation
}

fn appended(mut segmentation: Segmentation, missing: Vec<Val>) -> Segmentation {
    segmentation.segments.extend((!missing.is_empty()).then_some(missing));
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

/// The values of a definition that became those of its cut.
struct Olds {
    olds: FxHashMap<Val, Val>,
}

impl Olds {
    /// Of equal values these come first, then those that the definition writes, then those inside composites; what is expanded or
    /// permuted of them comes last.
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
        // What is permuted for an op has that for which it is.
        for new in cut.segmentation.kept() {
            let source = cut.graph.permuted(new).and_then(|source| olds.get(&source).copied());
            if let Some(old) = source {
                olds.entry(new).or_insert(old);
            }
        }
        Olds { olds }
    }

    /// The value that became this one; without one, those that became what it is computed of.
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

/// Which segment of a cut makes what.
struct Makers<'c> {
    cut: &'c Cut,
    makers: FxHashMap<Val, usize>,
    /// What each output that is a view is one of.
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

    /// The segment of the cut that makes what a value of the definition became, or what that is a view of.
    fn of_value(&self, val: Val) -> Option<usize> {
        let new = self.cut.map.get(val)?;
        let whole = self.sources.get(&new).copied().unwrap_or(new);
        let made = [new, whole, in_memory(&self.cut.graph, val, whole)];
        made.iter().find_map(|val| self.makers.get(val).copied())
    }

    fn of_any(&self, made: &[Val]) -> Option<usize> {
        made.iter().find_map(|&val| self.of_value(val))
    }

    /// The segment that makes one of these values, with those that belong to the same segment of the user's.
    fn parts(&self, made: &[Val]) -> Vec<usize> {
        let parts = &self.cut.parts;
        let Some(maker) = self.of_any(made) else { return Vec::new() };
        match parts.is_empty() {
            true => vec![maker],
            false => (0..parts.len()).filter(|&number| parts[number] == parts[maker]).collect(),
        }
    }

    /// The cut's segmentation over values of the definition, in which these outputs are made; of equal values it keeps the first of
    /// these.
    fn written(&self, definition: &Definition, first: &[Val], outputs: &[Val]) -> Segmentation {
        let olds = Olds::of(definition, self.cut, first);
        let written =
            |keeps_nearest| self.completed(definition, written(self.cut, &olds, keeps_nearest), outputs);
        // The nearest values may make a cycle. So may the others: where a pass moved an expansion behind an op, the op reads another
        // value in the definition, which a later segment may make.
        written(true).or_else(|_| written(false)).unwrap_or_else(|_| {
            let segmentation = self::written(self.cut, &olds, false);
            let missing = missing(definition, &segmentation, outputs);
            without_cycles(definition, appended(segmentation, missing))
        })
    }

    /// The segmentation with those outputs that it lacks, in order.
    fn completed(
        &self,
        definition: &Definition,
        segmentation: Segmentation,
        outputs: &[Val],
    ) -> Result<Segmentation, Vec<Wait>> {
        let missing = missing(definition, &segmentation, outputs);
        let in_order =
            |segmentation: &Segmentation| segmentation.in_order(&definition.graph, &definition.fusion);
        // An output that needs more than the segment that makes its equal is computed at the end.
        in_order(&self.joined(segmentation.clone(), &missing))
            .or_else(|_| in_order(&appended(segmentation, missing)))
    }

    /// The segmentation with further values, each made where its equal or its source is, else by a last segment.
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
