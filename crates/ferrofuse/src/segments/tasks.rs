//! The tasks of a definition in one table: composites, groups, folds and scans by lambdas, and the segments of a plan, over
//! the values of the definition as written.

use compiler::Cut;
use ir::definition::Definition;
use ir::graph::{TaskData, TaskKind, Tasks};

use super::{SegmentError, written_cut};
use crate::lambdas;

/// The tasks of a definition, with the segments of its plan: [`Tasks::tasks_defining`] and [`Tasks::tasks_using`] return
/// those of a value, [`Tasks::is_segment_edge`] whether it passes between segments.
///
/// # Errors
/// When the cut is of another definition, or a user's segmentation is cyclic.
pub fn tasks(definition: &Definition, cut: &Cut) -> Result<Tasks, SegmentError> {
    let written = written_cut(definition, cut)?;
    let mut tasks = definition.tasks.clone();
    let views = written.segmentation.views(&definition.graph, &definition.fusion);
    for (number, view) in views.into_iter().enumerate() {
        let segment =
            TaskData { name: written.segmentation.name(number), kind: TaskKind::Segment, parent: None, view };
        tasks.add(segment).expect("a task without a parent always fits");
    }
    let Definition { graph, fusion, .. } = definition;
    for (node, op, _) in lambdas::of_nodes(graph, fusion.order()) {
        let view = fusion.of_nodes(graph, &[node]).expect("the definition uses what it computes");
        let lambda = TaskData { name: op.to_owned(), kind: TaskKind::Lambda, parent: None, view };
        tasks.add(lambda).expect("a task without a parent always fits");
    }
    Ok(tasks)
}
