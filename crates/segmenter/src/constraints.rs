//! What the user's groups ask of segments: a group that stays together is computed by one segment, once and whole, and a
//! segment runs on one device, in one stream.
//!
//! Every change of a segmentation asks [`Constraints::allow`]; a segmentation that the user gives is checked. Knows nothing
//! of kernels: legality says whether one can compute a group.

use std::collections::BTreeSet;

use ir::graph::{DeviceStream, Fusion, Graph, Node, Tasks, TensorOp, Val, ValMap};
use rustc_hash::{FxHashMap, FxHashSet};
use scheduler::legal::Rejection;
use thiserror::Error;

use super::free::free_nodes;
use super::legality::Legality;

/// Why segments do not fit the user's groups.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GroupError {
    /// No kernel can compute a group that must stay in one segment.
    #[error("group `{group}` cannot stay in one segment: in one kernel {} {reason}", name.as_ref().unwrap_or(&val.to_string()))]
    Kernel {
        group: String,
        /// The value that is in the way.
        val: Val,
        /// Its name, if known.
        name: Option<String>,
        reason: String,
    },
    /// Segments that share a group which stays in one.
    #[error("group `{group}` stays in one segment, but {} compute ops of it", segments.join(" and "))]
    Split {
        group: String,
        /// The names of the segments.
        segments: Vec<String>,
    },
    /// A segment on two devices, or in two streams.
    #[error(
        "{segment} computes ops for {first} and ops for {second}; a segment has one device and one stream"
    )]
    Spans {
        /// The name of the segment.
        segment: String,
        /// Where some of its ops run.
        first: DeviceStream,
        /// Where others do.
        second: DeviceStream,
    },
}

impl GroupError {
    /// The same error about the value from which the passes made this one.
    pub fn of_written(self, map: &ValMap) -> GroupError {
        match self {
            GroupError::Kernel { group, val, name, reason } => {
                let written = map.iter().find(|(_, new)| *new == val).map_or(val, |(old, _)| old);
                GroupError::Kernel { group, val: written, name, reason }
            }
            error => error,
        }
    }

    /// The same error with a description of the value in the way.
    pub fn in_words(self, words: impl Fn(Val) -> String) -> GroupError {
        match self {
            GroupError::Kernel { group, val, reason, .. } => {
                GroupError::Kernel { group, val, name: Some(words(val)), reason }
            }
            error => error,
        }
    }
}

/// A group that must stay in one segment.
#[derive(Clone, Debug)]
struct Stay {
    name: String,
    /// In order.
    nodes: Vec<Node>,
}

/// The constraints that the user's groups put on the segments of a fusion.
#[derive(Clone, Debug, Default)]
pub struct Constraints {
    /// The device and stream of nodes for which the user chose any.
    places: FxHashMap<Node, DeviceStream>,
    /// The groups that stay together, without those inside others.
    stays: Vec<Stay>,
    /// Which of them a node is in.
    stay_of: FxHashMap<Node, usize>,
    /// Nodes that are computed anywhere.
    free: FxHashSet<Node>,
    /// Nodes whose results may be views, for which nothing runs.
    views: FxHashSet<Node>,
}

impl Constraints {
    /// The constraints of the groups among tasks on a fusion.
    pub fn new(graph: &Graph, fusion: &Fusion, tasks: &Tasks) -> Constraints {
        let mut constraints = Constraints::default();
        if tasks.groups().next().is_none() {
            return constraints;
        }
        // Seeds of random numbers are scalar inputs in the definition of a segment, constants in a whole definition.
        constraints.free = free_nodes(graph, fusion, |input| graph.shape(input).is_empty());
        let is_view = |node: &Node| may_be_view(&graph.node(*node).op);
        constraints.views = fusion.order().iter().copied().filter(is_view).collect();
        for (task, data, options) in tasks.groups() {
            let is_bound = |node: &Node| fusion.contains(*node) && !constraints.free.contains(node);
            let nodes: Vec<Node> = data.view.order().iter().copied().filter(is_bound).collect();
            // A group comes after the one around it, and is more specific.
            let place = tasks.device_stream(task);
            if place != DeviceStream::default() {
                constraints.places.extend(nodes.iter().map(|&node| (node, place.clone())));
            }
            if options.stay && nodes.first().is_some_and(|node| !constraints.stay_of.contains_key(node)) {
                let number = constraints.stays.len();
                constraints.stay_of.extend(nodes.iter().map(|&node| (node, number)));
                constraints.stays.push(Stay { name: data.name.clone(), nodes });
            }
        }
        constraints
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty() && self.stays.is_empty()
    }

    /// Whether segments that compute `after` may replace those that compute `before`: each has one device and stream, and
    /// each group that stays together is computed as often as before, and whole.
    pub fn allow(&self, after: &[&[Node]], before: &[&[Node]]) -> bool {
        if self.is_empty() {
            return true;
        }
        let [new, old] = [after, before]
            .map(|segments| segments.iter().map(|nodes| self.touched(nodes)).collect::<Vec<_>>());
        let count = |segments: &[BTreeSet<usize>], stay: usize| {
            segments.iter().filter(|touched| touched.contains(&stay)).count()
        };
        let as_often = |stay: &usize| before.is_empty() || count(&new, *stay) == count(&old, *stay);
        after.iter().all(|nodes| self.place_of(nodes).is_ok())
            && new.iter().zip(after).all(|(touched, nodes)| {
                touched.iter().all(|stay| as_often(stay) && self.is_whole(*stay, nodes))
            })
            && old.iter().flatten().all(as_often)
    }

    /// The nodes that a node must be with, itself among them.
    pub(super) fn together(&self, node: Node) -> Option<&[Node]> {
        self.stay_of.get(&node).map(|&stay| self.stays[stay].nodes.as_slice())
    }

    /// The device and the stream of a segment that computes these nodes. Views are where the others are.
    ///
    /// # Errors
    /// Two of which one segment would run on both.
    pub fn place_of(&self, nodes: &[Node]) -> Result<DeviceStream, [DeviceStream; 2]> {
        let anywhere = DeviceStream::default();
        let computed = nodes.iter().filter(|node| !self.free.contains(node) && !self.views.contains(node));
        let mut places = computed.map(|node| self.places.get(node).unwrap_or(&anywhere));
        let Some(first) = places.next() else {
            return Ok(nodes.iter().find_map(|node| self.places.get(node)).cloned().unwrap_or(anywhere));
        };
        match places.find(|place| *place != first) {
            Some(second) => Err([first.clone(), second.clone()]),
            None => Ok(first.clone()),
        }
    }

    /// Rejects groups that must stay in one segment if no kernel and no external op computes them.
    ///
    /// # Errors
    /// The first, with the value that stands in the way.
    pub fn require_legal(
        &self,
        graph: &Graph,
        fusion: &Fusion,
        legality: &Legality,
    ) -> Result<(), GroupError> {
        for Stay { name, nodes } in &self.stays {
            let Some(view) = fusion.of_nodes(graph, nodes) else { continue };
            if let Err(Rejection { reason, val, .. }) = &*legality.of(graph, &view) {
                let (group, reason) = (name.clone(), reason.clone());
                return Err(GroupError::Kernel { group, val: *val, name: None, reason });
            }
        }
        Ok(())
    }

    /// Rejects segments that do not fit the groups, by these names.
    ///
    /// # Errors
    /// The first segment that spans two places, or the first group that is split.
    pub fn check(&self, segments: &[Fusion], name: impl Fn(usize) -> String) -> Result<(), GroupError> {
        for (number, view) in segments.iter().enumerate() {
            let place = self.place_of(view.order());
            let spans = |[first, second]: [DeviceStream; 2]| GroupError::Spans {
                segment: name(number),
                first,
                second,
            };
            place.map_err(spans)?;
        }
        for (stay, Stay { name: group, .. }) in self.stays.iter().enumerate() {
            let is_of = |node: &Node| self.stay_of.get(node) == Some(&stay) && !self.views.contains(node);
            let computes = |number: &usize| segments[*number].order().iter().any(is_of);
            let computing: Vec<usize> = (0..segments.len()).filter(computes).collect();
            if computing.len() > 1 {
                let segments = computing.into_iter().map(&name).collect();
                return Err(GroupError::Split { group: group.clone(), segments });
            }
        }
        Ok(())
    }

    /// The groups staying together that contain some of these nodes.
    fn touched(&self, nodes: &[Node]) -> BTreeSet<usize> {
        nodes.iter().filter_map(|node| self.stay_of.get(node).copied()).collect()
    }

    fn is_whole(&self, stay: usize, nodes: &[Node]) -> bool {
        self.stays[stay].nodes.iter().all(|node| nodes.binary_search(node).is_ok())
    }
}

/// Whether an op's result can be a view of its operand, if the layout of that allows it.
fn may_be_view(op: &TensorOp) -> bool {
    op.is_view() || matches!(op, TensorOp::Reshape(_) | TensorOp::Slice { .. })
}
