//! The explanation of a segment as it runs: its own definition and its schedule, in the names of the whole definition.

use compiler::{Decision, SegmentPlan};
use frontend::text::numbers;
use index::Expr;
use ir::definition::{Definition, EntryData};
use ir::graph::{TensorOp, Val};
use runtime::{CompileOptions, SegmentDefinition};
use rustc_hash::{FxHashMap, FxHashSet};
use scheduler::hints::Hints;

use super::{Segment, SegmentError};
use crate::names::names_in;
use crate::other_definition::require_cut_of;
use crate::{CodeTarget, Cut, Error, Explanation, Plan, explain, plan_for};

/// Before the names of values of the whole definition, until those that are only in the segment have its name before theirs.
const OUTSIDE: &str = "whole.";

/// Explanations in place of those of segments by hand, of segments that run nothing because all that they give is seen in
/// memory that is there, and of those that only the whole leaves to the evaluator; the others are as `explanation` of the
/// whole `cut` has them.
///
/// `segments` are those that run, and `options` have the sizes to explain with. Segments that were neither edited nor
/// scheduled are not planned again, unless they may run nothing.
///
/// # Errors
/// When a schedule does not fit, or the cut is of another definition or not one into these segments.
pub fn explain_segments(
    explanation: Explanation,
    definition: &Definition,
    cut: &Cut,
    segments: &[Segment],
    target: CodeTarget,
    options: &CompileOptions,
) -> Result<Explanation, SegmentError> {
    require_cut_of(definition, cut)?;
    super::require_segments(definition, segments)?;
    let is_evaluated = |part: &SegmentPlan| matches!(part.decision, Decision::Evaluate { .. });
    let is_other = |segment: &Segment| segment.is_by_hand() || segment.only_moves();
    if !segments.iter().any(is_other) && !cut.segments.iter().any(is_evaluated) {
        return Ok(explanation);
    }
    let planned = super::segments(definition, cut, &options.hints)?;
    let mut explanation = explanation;
    for segment in segments {
        let Some(replaced) = planned.iter().find(|other| other.outputs == segment.outputs) else { continue };
        let parts: Vec<&SegmentPlan> = replaced.planned.iter().map(|&number| &cut.segments[number]).collect();
        let is_left = parts.iter().any(|part| is_evaluated(part));
        if !is_other(segment) && !is_left {
            continue;
        }
        let names: Vec<String> = parts.iter().map(|part| part.name.clone()).collect();
        let own = segment.explained(definition, target, options)?;
        if own.segments.is_empty() {
            explanation.show_as_views(&names);
        } else if segment.is_by_hand() || is_left {
            explanation.replace(&names, own, segment.is_edited);
        }
    }
    Ok(explanation)
}

impl Segment {
    /// The plan of its definition with its schedule, in which segments have its name: `seg1`, or `seg1.seg0`, … if there
    /// are several; kernels are named after its number.
    ///
    /// # Errors
    /// When the schedule does not fit.
    pub(crate) fn planned_alone(
        &self,
        whole: &Definition,
        target: CodeTarget,
        options: &CompileOptions,
    ) -> Result<Plan, Error> {
        let options = CompileOptions { hints: self.hints(whole, &options.hints), ..options.clone() };
        let options = SegmentDefinition::from(self).options(&options)?;
        let mut plan = plan_for(&self.definition, target, &options)?;
        let is_alone = plan.segments.len() == 1;
        for (part, lowered) in plan.cut.segments.iter_mut().zip(&mut plan.lowered) {
            let name = &self.name;
            let name = if is_alone { name.clone() } else { format!("{name}.{}", part.name) };
            let own = format!("seg{}", self.number);
            let kernel = if is_alone { own } else { format!("{own}_{}", part.kernel) };
            for lowered in lowered.kernels.iter_mut().map(|lowered| &mut lowered.kernel) {
                lowered.name = lowered.name.replacen(&part.kernel, &kernel, 1);
            }
            (part.name, part.kernel) = (name, kernel);
        }
        Ok(plan)
    }

    /// Whether the user edited or scheduled it.
    fn is_by_hand(&self) -> bool {
        self.is_edited || self.schedule.is_some()
    }

    /// Whether it computes nothing: all that it gives may be seen in what it takes.
    fn only_moves(&self) -> bool {
        let graph = &self.definition.graph;
        self.definition.fusion.order().iter().all(|&node| {
            let op = &graph.node(node).op;
            let reads = matches!(op, TensorOp::Constant(_) | TensorOp::Size(_) | TensorOp::Input { .. });
            reads || op.is_view() || matches!(op, TensorOp::Slice { .. } | TensorOp::Reshape(_))
        })
    }

    /// The explanation of its definition and schedule.
    fn explained(
        &self,
        whole: &Definition,
        target: CodeTarget,
        options: &CompileOptions,
    ) -> Result<Explanation, SegmentError> {
        let (definition, words) = self.named_as_in(whole);
        let own_names: FxHashSet<String> = names_in(&definition).into_values().collect();
        let options = CompileOptions { hints: self.hints(whole, &options.hints), ..options.clone() };
        let own = SegmentDefinition { definition, ..SegmentDefinition::from(self) };
        let planned = own.options(&options)?;
        let plan = plan_for(&own.definition, target, &planned)?;
        let mut explanation = explain(&own.definition, &plan, &planned.hints)?;
        let sizes = self.sizes_in_words(whole);
        explanation.rename(&|name| match name.strip_prefix(OUTSIDE) {
            Some(outside) => Some(outside.to_owned()),
            None if words.contains_key(name) => words.get(name).cloned(),
            None if own_names.contains(name) || is_of_graph(name) => Some(format!("{}.{name}", self.name)),
            None => sizes.get(name).cloned(),
        });
        Ok(explanation)
    }

    /// Its definition, in which values of the whole one have their names after [`OUTSIDE`], each name once. Values that the
    /// user named keep these names; the map has other words for them.
    fn named_as_in(&self, whole: &Definition) -> (Definition, FxHashMap<String, String>) {
        let (mut definition, named) = (self.definition.clone(), names_in(whole));
        let outside = numbers(whole).into_iter();
        let outside: FxHashMap<usize, Val> =
            outside.map(|(entry, number)| (number, whole.record.entry(entry).val)).collect();
        let outputs = self.definition.fusion.outputs().iter().map(|output| output.val).zip(&self.outputs);
        let inputs = self.definition.fusion.inputs().iter().copied().zip(&self.inputs);
        let given: FxHashMap<Val, &String> = outputs.chain(inputs).collect();
        let mut taken: FxHashSet<&String> = given.values().copied().collect();
        let (own, mut words) = (names_in(&self.definition), FxHashMap::default());
        for (entry, number) in numbers(&self.definition) {
            let EntryData { val, name: user, .. } = self.definition.record.entry(entry);
            let val = *val;
            let same = self.index_map.get(&number).filter(|_| !self.is_edited);
            let same = same.and_then(|number| named.get(outside.get(number)?));
            let name = given.get(&val).copied().or_else(|| same.filter(|name| taken.insert(name)));
            match (user.as_ref().and(own.get(&val)), name) {
                (Some(shown), name) => {
                    let here = || format!("{}.{shown}", self.name);
                    words.entry(shown.clone()).or_insert_with(|| name.cloned().unwrap_or_else(here));
                }
                (None, Some(name)) => definition.record.set_name(entry, &format!("{OUTSIDE}{name}")),
                (None, None) => {}
            }
        }
        (definition, words)
    }

    /// The known sizes of its inputs, given those of the whole definition.
    pub fn hints(&self, whole: &Definition, hints: &Hints) -> Hints {
        let hints = hints.clone().with_implied(whole.fusion.facts());
        let sizes =
            SegmentDefinition::from(self).sizes(whole).into_iter().filter(|(_, size)| hints.has_all(size));
        Hints::new(sizes.map(|(symbol, size)| (symbol, hints.value(&size) as i64)))
    }

    /// For each of its size symbols the formula in the whole definition.
    fn sizes_in_words(&self, whole: &Definition) -> FxHashMap<String, String> {
        let sizes = SegmentDefinition::from(self).sizes(whole).into_iter();
        sizes.map(|(symbol, size)| (Expr::sym(symbol).to_string(), size.to_string())).collect()
    }
}

/// Whether a name is that of a value of a graph: `n7`.
fn is_of_graph(name: &str) -> bool {
    let number = name.strip_prefix('n').filter(|number| !number.is_empty());
    number.is_some_and(|number| number.chars().all(|digit| digit.is_ascii_digit()))
}
