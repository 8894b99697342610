//! The result of planning for the groups of a definition: the segments that compute each, or why none does.

use std::iter;

use compiler::Plan;
use ir::definition::Definition;
use ir::graph::{Fusion, GroupDecl, TaskKind, Tasks};
use serde::{Deserialize, Serialize};

/// Why no segment computes a group without ops.
const NO_OPS: &str = "it has no ops of its own: equal ops are in the group of the first";

/// A group, and the segments that compute ops of it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct GroupExplanation {
    /// Its name.
    pub name: String,
    /// The name of the group around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Whether one segment computes all of it.
    pub stay: bool,
    /// Its device, or that of the group around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Its stream, or that of the group around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<u32>,
    /// The segments, in the order they run.
    pub segments: Vec<String>,
    /// Why no segment computes any of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<String>,
}

/// The groups in the order in which they were opened.
pub(super) fn groups(definition: &Definition, plan: &Plan) -> Vec<GroupExplanation> {
    let declared = definition.record.groups();
    let around = |group: &GroupDecl| group.parent.map(|parent| &declared[parent]);
    let group = |group: &GroupDecl| {
        let all_around = iter::successors(around(group), |outer| around(outer));
        let at = all_around.fold(group.options.at.clone(), |at, outer| at.or(&outer.options.at));
        let has_ops = definition.tasks.groups().any(|(_, data, _)| data.name == group.name);
        let dropped = plan.dropped.iter().find(|dropped| dropped.name == group.name);
        GroupExplanation {
            name: group.name.clone(),
            parent: around(group).map(|outer| outer.name.clone()),
            stay: group.options.stay,
            device: at.device.as_deref().map(str::to_owned),
            stream: at.stream,
            segments: segments(plan, &group.name),
            dropped: match dropped {
                _ if !has_ops => Some(NO_OPS.to_owned()),
                dropped => dropped.map(|dropped| dropped.reason.clone()),
            },
        }
    };
    declared.iter().map(group).collect()
}

/// The segments of a plan that compute the ops that passes left of a group.
fn segments(plan: &Plan, name: &str) -> Vec<String> {
    let tasks: &Tasks = &plan.tasks;
    let group = tasks.groups().find(|(_, data, _)| data.name == name);
    group.map_or_else(Vec::new, |(_, group, _)| computing(plan, &group.view))
}

/// The segments of a plan that compute ops of a view.
pub(super) fn computing(plan: &Plan, view: &Fusion) -> Vec<String> {
    let ops = || view.order().iter().filter(|&&node| super::is_operation(&plan.graph.node(node).op));
    let computes = |segment: &Fusion| ops().any(|&node| segment.contains(node));
    let segments = plan.tasks.of_kind(TaskKind::Segment).filter(|(_, data)| computes(&data.view));
    segments.map(|(_, data)| data.name.clone()).collect()
}

impl GroupExplanation {
    /// As a line: what it requests, and which segments compute it.
    pub(super) fn line(&self) -> String {
        let stay = self.stay.then(|| "stays in one segment".to_owned());
        let device = self.device.as_ref().map(|device| format!("device {device}"));
        let stream = self.stream.map(|stream| format!("stream {stream}"));
        let asked: Vec<String> = [stay, device, stream].into_iter().flatten().collect();
        let asked = if asked.is_empty() { String::new() } else { format!(" ({})", asked.join(", ")) };
        let made = match (&self.dropped, &self.segments[..]) {
            (Some(reason), _) => reason.clone(),
            (None, []) => "no segment makes it".to_owned(),
            (None, segments) => format!("in {}", segments.join(", ")),
        };
        format!("group {}{asked}: {made}", self.name)
    }
}
