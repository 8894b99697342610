//! What every segmentation keeps in memory: operands and results of external ops, and values that the user cut.

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::FxHashSet;
use scheduler::legal::external_nodes;

/// The values in memory in any segmentation.
pub(super) struct Forced {
    /// Values that no kernel computes past: results of external ops, and values that the user cut.
    pub sources: FxHashSet<Val>,
    /// Values that segments write, each once. All views of a value among the operands of external ops count once, too.
    pub written: FxHashSet<Val>,
    /// The same, and their views on the way to external ops: any of them may be the one that is written.
    pub views: FxHashSet<Val>,
    /// What each external op reads, without views.
    pub external: Vec<(Node, Vec<Val>)>,
}

impl Forced {
    pub(super) fn of(graph: &Graph, fusion: &Fusion) -> Forced {
        let outputs = fusion.outputs().iter().map(|output| output.val).filter(|&val| !fusion.is_input(val));
        let written: FxHashSet<Val> = outputs.collect();
        let views = written.clone();
        let mut forced = Forced { sources: FxHashSet::default(), written, views, external: Vec::new() };
        for &node in fusion.order() {
            let is_cut = graph.node(node).op.is_boundary();
            let is_external = matches!(graph.node(node).op, TensorOp::External(_));
            if is_cut || is_external {
                let used = graph.results(node).filter(|&val| !fusion.uses(val).is_empty());
                used.for_each(|val| forced.force(val));
            }
        }
        for (node, _) in external_nodes(graph, fusion) {
            forced.add_external(graph, fusion, node);
        }
        forced
    }

    fn force(&mut self, val: Val) {
        self.sources.insert(val);
        self.written.insert(val);
        self.views.insert(val);
    }

    fn add_external(&mut self, graph: &Graph, fusion: &Fusion, node: Node) {
        let mut read: Vec<Val> = Vec::new();
        for &operand in &graph.node(node).operands {
            let mut val = operand;
            let mut passed = vec![val];
            while !fusion.is_input(val) && !self.sources.contains(&val) && graph.op(val).is_view() {
                val = graph.operands(val)[0];
                passed.push(val);
            }
            let is_constant = matches!(graph.op(val), TensorOp::Constant(_) | TensorOp::Size(_));
            if !read.contains(&val) && (fusion.is_input(val) || !is_constant) {
                read.push(val);
            }
            if !fusion.is_input(val) && !is_constant {
                self.written.insert(val);
                self.views.extend(passed);
            }
        }
        self.external.push((node, read));
    }
}
