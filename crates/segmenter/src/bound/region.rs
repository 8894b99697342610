//! The values between one that a kernel computes and those that the kernel surely does not compute.

use ir::graph::{Node, Val};
use rustc_hash::FxHashSet;

use super::chain::Chains;
use crate::flow_network::FlowNetwork;

/// How a kernel gets a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The kernel may compute it.
    Computed,
    /// It is an input of the fusion.
    Input,
    /// An earlier segment computes it.
    Before,
    /// An earlier segment computes it, or an earlier sweep.
    Swept,
}

/// The values of a region, between one that a kernel computes and those that it surely does not.
pub(super) struct Region {
    pub target: Node,
    /// The values before the target, ascending, each with how the target gets it.
    vals: Vec<(Val, Origin)>,
    /// Nodes that earlier segments compute.
    pub before: FxHashSet<Node>,
    /// Folds that an earlier sweep of the same segment may compute.
    pub swept: FxHashSet<Node>,
    pub edges: usize,
}

impl Region {
    /// The region before a target; `None` where it has more edges than may be looked at.
    pub(super) fn of(chains: &Chains<'_>, target: Node, origin: impl Fn(Val) -> Origin) -> Option<Region> {
        let (before, swept) = Default::default();
        let mut region = Region { target, vals: Vec::new(), before, swept, edges: 0 };
        let mut seen: FxHashSet<Val> = FxHashSet::default();
        let mut stack = vec![target];
        while let Some(node) = stack.pop() {
            for &val in &chains.graph.node(node).operands {
                region.edges += 1;
                if region.edges > chains.budget {
                    return None;
                }
                if !seen.insert(val) {
                    continue;
                }
                let origin = origin(val);
                region.vals.push((val, origin));
                match origin {
                    Origin::Computed => stack.push(val.node),
                    Origin::Input => {}
                    Origin::Before => _ = region.before.insert(val.node),
                    Origin::Swept => _ = region.swept.insert(val.node),
                }
            }
        }
        region.vals.sort_unstable_by_key(|&(val, _)| val);
        Some(region)
    }

    /// The number of a value of the region.
    fn number(&self, val: Val) -> usize {
        self.vals.binary_search_by_key(&val, |&(val, _)| val).expect("a value of the region")
    }

    /// Bytes of a minimum cut in front of the target, of its component. A value that is written only for this counts twice, one
    /// that is computed behind the cut what `computing` says.
    pub(super) fn cut(
        &self,
        chains: &Chains<'_>,
        computing: impl Fn(Val) -> u64,
        is_written: impl Fn(Val) -> bool,
    ) -> u64 {
        let component = chains.connections.components.of_node(self.target);
        let mut network = FlowNetwork::default();
        let mut weights: Vec<u64> = Vec::with_capacity(self.vals.len());
        // A value has the vertex of its number; what computing it takes is a source in front of that.
        let mut computed: Vec<(usize, u64)> = Vec::new();
        for &(val, origin) in &self.vals {
            let is_made = origin != Origin::Input && !chains.forced.views.contains(&val);
            let weight = match origin {
                Origin::Swept => 0,
                _ if chains.connections.components.of_val(val) != component => 0,
                _ => chains.bytes(val).saturating_mul(1 + u64::from(is_made && is_written(val))),
            };
            let vertex = network.vertex(weight);
            weights.push(weight);
            match origin {
                Origin::Computed => {
                    let operands = chains.graph.operands(val).iter();
                    operands.for_each(|&operand| network.arc(self.number(operand), vertex));
                    computed.extend(Some((vertex, computing(val))).filter(|&(_, bytes)| bytes > 0));
                }
                _ => network.source(vertex),
            }
        }
        for (vertex, bytes) in computed {
            let before = network.vertex(bytes);
            weights.push(bytes);
            network.source(before);
            network.arc(before, vertex);
        }
        let sink = network.vertex(u64::MAX);
        let operands = &chains.graph.node(self.target).operands;
        operands.iter().for_each(|&operand| network.arc(self.number(operand), sink));
        network.minimum_cut(sink).into_iter().map(|vertex| weights[vertex]).fold(0, u64::saturating_add)
    }
}
