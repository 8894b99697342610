//! Which values are kept in memory: found by a search, or chosen by the user and checked.

use ir::graph::{Fusion, Graph, Output, Val, ValMap};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Compilation, Optimized};
use crate::passes::{before_expansion, in_memory};
use crate::plan::{PlanError, PlanRequest};
use segmenter::{Engine, Lifetimes, SearchProblem, Segmentation, greedy_with, search, search_within};

/// Runs the stage.
pub(super) fn segments(compilation: &mut Compilation<'_>) -> Result<(), PlanError> {
    compilation.place();
    let chosen = compilation.optimized.chosen.take();
    let is_given = chosen.is_some();
    let (segmentation, search_steps) = match chosen {
        Some(chosen) => (compilation.divided(&chosen)?, 0),
        None => compilation.as_one().map_or_else(|| compilation.searched(), |one| (one, 0)),
    };
    let Optimized { computed, constraints, .. } = &compilation.optimized;
    let views = segmentation.views(&compilation.graph, computed);
    segmentation.check_views(&views, computed)?;
    constraints.check(&views, |number| segmentation.name(number))?;
    if let Some(limit) = compilation.request.options.peak_memory {
        match compilation.peak_memory(&views) {
            peak if peak <= limit => {}
            peak if is_given => return Err(PlanError::MemoryOfGiven { limit, peak }),
            lowest => return Err(PlanError::Memory { limit, lowest }),
        }
    }
    (compilation.segmentation, compilation.search_steps) = (segmentation, search_steps);
    compilation.segment_views = views;
    Ok(())
}

impl Compilation<'_> {
    /// The segmentation of a definition that is itself a segment and one kernel.
    fn as_one(&self) -> Option<Segmentation> {
        let fusion = &self.optimized.computed;
        let is_kernel = || matches!(&*self.legality.of(&self.graph, fusion), Ok(Engine::Kernel(_)));
        let is_one = || self.request.options.is_segment && is_kernel();
        Segmentation::whole(fusion).filter(|_| is_one()).map(|whole| self.apart(whole))
    }

    /// The best segmentation that the search finds, and the nodes that it looked at.
    fn searched(&self) -> (Segmentation, usize) {
        let problem = self.problem(&self.optimized.computed);
        let found = match self.request.options.peak_memory {
            Some(limit) => search_within(problem, merged(problem), limit),
            None => search(problem, merged(problem)),
        };
        (self.gathered(&self.apart(found.segmentation)), found.steps)
    }

    /// The user's segmentation, with each segment that no kernel can compute divided by the search, if its parts can run in
    /// some order; otherwise the evaluator runs that segment.
    fn divided(&mut self, chosen: &Segmentation) -> Result<Segmentation, PlanError> {
        let (graph, fusion) = (&self.graph, &self.optimized.computed);
        let mut divided = completed(chosen, graph, fusion);
        divided.check(graph, fusion)?;
        self.optimized.constraints.check(&divided.views(graph, fusion), |number| divided.name(number))?;
        let names = std::mem::take(&mut divided.names);
        // Segments are identified by one of the values that they make, because their numbers change.
        let numbered = divided.segments.iter().enumerate();
        let mut parts: FxHashMap<Val, usize> = numbered.map(|(number, made)| (made[0], number)).collect();
        let mut evaluated: FxHashSet<Val> = FxHashSet::default();
        while let Some((place, view)) = self.without_kernel(&divided, &evaluated) {
            let (first, problem) = (divided.segments[place][0], self.problem(&view));
            let found = search(problem, merged(problem)).segmentation.segments;
            let made: Vec<Val> = found.iter().map(|made| made[0]).collect();
            let mut finer = divided.clone();
            finer.segments.splice(place..=place, found);
            match finer.in_order(graph, fusion) {
                Ok(ordered) if made.len() > 1 => {
                    let part = parts[&first];
                    parts.extend(made.into_iter().map(|made| (made, part)));
                    divided = ordered;
                }
                _ => _ = evaluated.insert(first),
            }
        }
        self.parts = divided.segments.iter().map(|made| parts[&made[0]]).collect();
        divided.names = names_of_parts(&names, &self.parts);
        Ok(divided)
    }

    /// The first segment that no kernel can compute, with its number; segments that make a value of `but` are skipped.
    fn without_kernel(&self, segmentation: &Segmentation, but: &FxHashSet<Val>) -> Option<(usize, Fusion)> {
        let views = segmentation.views(&self.graph, &self.optimized.computed);
        let is_asked = |place: usize| !but.contains(&segmentation.segments[place][0]);
        let rejected = |view: &Fusion| self.legality.of(&self.graph, view).is_err();
        views.into_iter().enumerate().find(|(place, view)| is_asked(*place) && rejected(view))
    }

    /// The search for the segments of the fusion or of a part of it.
    fn problem<'p>(&'p self, fusion: &'p Fusion) -> SearchProblem<'p> {
        let Compilation { graph, legality, request: PlanRequest { hints, target, .. }, .. } = self;
        SearchProblem { graph, fusion, constraints: &self.optimized.constraints, legality, hints, target }
    }

    /// The most bytes of values made by segments that are in memory at a time, if the segments run in this order.
    fn peak_memory(&self, segments: &[Fusion]) -> u64 {
        let bytes = |val: Val| self.bytes(val);
        let order: Vec<usize> = (0..segments.len()).collect();
        Lifetimes::of(&self.optimized.computed, segments.iter(), bytes).peak(&order)
    }
}

/// The names of segments that are parts of segments with these names: `rows.seg0`, `rows.seg1`, … if there are several.
fn names_of_parts(names: &[String], parts: &[usize]) -> Vec<String> {
    let count = |part: usize, parts: &[usize]| parts.iter().filter(|&&other| other == part).count();
    let name = |(number, &part): (usize, &usize)| {
        let name = names.get(part)?;
        let is_alone = count(part, parts) == 1;
        Some(if is_alone { name.clone() } else { format!("{name}.seg{}", count(part, &parts[..number])) })
    };
    parts.iter().enumerate().filter_map(name).collect()
}

/// The segmentation that greedy merging finds.
fn merged(problem: SearchProblem<'_>) -> Segmentation {
    greedy_with(problem.graph, problem.fusion, problem.constraints, problem.legality)
}

/// The user's segmentation, in terms of the values that the passes made of the definition's. The first segment that makes or
/// needs one of several values that became equal makes it; no segment makes a value that became an input. For a value that
/// became an expansion or a permutation, its source is kept.
pub(super) fn behind(chosen: &Segmentation, graph: &Graph, fusion: &Fusion, map: &ValMap) -> Segmentation {
    let mut viewed: FxHashSet<Val> = fusion.inputs().iter().copied().collect();
    let mut segments = Vec::new();
    for made in &chosen.segments {
        let moved = made.iter().map(|&val| match map.get(val).unwrap_or(val) {
            became if fusion.is_output(became) => before_expansion(graph, became),
            became => in_memory(graph, val, became),
        });
        let mut made: Vec<Val> = moved.filter(|&val| viewed.insert(val)).collect();
        made.sort_unstable();
        segments.push(made);
    }
    let mut mapped = Segmentation { segments, names: chosen.names.clone() };
    while let Some((early, late, val)) = needed_early(&mapped, graph, fusion) {
        mapped.segments[late].retain(|&other| other != val);
        mapped.segments[early].push(val);
        mapped.segments[early].sort_unstable();
    }
    mapped.drop_empty();
    mapped
}

/// A segment that needs a value which a later segment makes: the numbers of both, and the value.
fn needed_early(mapped: &Segmentation, graph: &Graph, fusion: &Fusion) -> Option<(usize, usize, Val)> {
    let views = mapped.views(graph, fusion);
    views.iter().enumerate().find_map(|(early, view)| {
        let made_by = |val: Val| mapped.segments.iter().position(|made| made.contains(&val));
        let late = |&val: &Val| made_by(val).filter(|&late| late > early).map(|late| (early, late, val));
        view.inputs().iter().find_map(late)
    })
}

/// The segmentation, extended to make every output: the passes may have moved an expansion to an output. The first segment
/// that computes the output makes it, else the one that makes the source of the expansion.
pub(super) fn completed(chosen: &Segmentation, graph: &Graph, fusion: &Fusion) -> Segmentation {
    let mut segmentation = chosen.clone();
    for &Output { val, .. } in fusion.outputs().iter().filter(|output| !fusion.is_input(output.val)) {
        if segmentation.kept().contains(&val) {
            continue;
        }
        let views = segmentation.views(graph, fusion);
        let small = before_expansion(graph, val);
        let makes = |made: &Vec<Val>| made.contains(&small);
        let computing = views.iter().position(|view| view.contains(val.node));
        match computing.or_else(|| segmentation.segments.iter().position(makes)) {
            Some(first) => {
                segmentation.segments[first].push(val);
                segmentation.segments[first].sort_unstable();
            }
            // An expansion of an input.
            None => segmentation.push(vec![val]),
        }
    }
    segmentation
}
