//! The invariants of a graph and its views, checked after each pass in debug builds.
//!
//! * operands come before their users;
//! * every operand names a result that its node has;
//! * the types stored with a node are those its shape rule gives;
//! * no two nodes are equal;
//! * inputs have distinct ordinals among the nodes of a view;
//! * a view's order is ascending, complete and closed: each operand of a node in it is computed by the view or is an
//!   input of it;
//! * a view's outputs are computed by it or are inputs of it;
//! * a view computes no arguments: those are inputs;
//! * a nested task computes nothing that its parent does not.
//!
//! Errors are collected, not stopped at the first.

use index::Facts;
use rustc_hash::FxHashSet;

use super::container::Graph;
use super::fusion::Fusion;
use super::node::{Node, NodeData, TensorOp, Type, Val};
use super::shape::{ShapeError, infer};
use super::task::Tasks;

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Where.
    pub node: Option<Node>,
    /// What, in words.
    pub message: String,
}

impl Graph {
    /// The first node whose shape rule rejects its operands under these facts, and why. Facts about sizes grow after a node
    /// was added, and together may contradict it in a way that no single fact shows.
    pub fn rejected(&self, facts: &Facts) -> Option<(Node, ShapeError)> {
        let mut facts = facts.clone();
        self.nodes().find_map(|(node, data)| {
            let operands: Vec<&Type> = data.operands.iter().map(|&val| self.ty(val)).collect();
            infer(&data.op, &operands, &mut facts).err().map(|error| (node, error))
        })
    }

    /// The broken invariants of the graph itself.
    pub fn verify(&self, facts: &Facts) -> Vec<Broken> {
        let mut broken = Vec::new();
        let mut known: FxHashSet<(&TensorOp, &[Val])> = FxHashSet::default();
        for (node, data) in self.nodes() {
            let mut report = |message: String| broken.push(Broken { node: Some(node), message });
            if !known.insert((&data.op, &data.operands)) {
                report("equal to an earlier node".to_owned());
            }
            match self.check_operands(node, data) {
                Err(message) => report(message),
                Ok(()) => self.check_types(data, facts, &mut report),
            }
        }
        broken
    }

    fn check_operands(&self, node: Node, data: &NodeData) -> Result<(), String> {
        for val in &data.operands {
            if val.node >= node {
                return Err(format!("operand {val} does not come before it"));
            }
            if val.result as usize >= self.node(val.node).results.len() {
                return Err(format!("operand {val} is a result that its node does not have"));
            }
        }
        Ok(())
    }

    fn check_types(&self, data: &NodeData, facts: &Facts, report: &mut impl FnMut(String)) {
        let operands: Vec<&Type> = data.operands.iter().map(|&val| self.ty(val)).collect();
        match infer(&data.op, &operands, &mut facts.clone()) {
            Err(error) => report(format!("its shape rule rejects it: {error}")),
            Ok(types) => {
                let same = types.len() == data.results.len()
                    && types.iter().zip(&data.results).all(|(a, b)| same_type(a, b, facts));
                if !same {
                    report(format!("stored types {:?} are not {types:?}", data.results));
                }
            }
        }
    }

    /// The broken invariants of a view of this graph.
    pub fn verify_view(&self, view: &Fusion) -> Vec<Broken> {
        let mut broken = Vec::new();
        view.assert_of(self);
        if !view.order().is_sorted() {
            broken.push(Broken { node: None, message: "the order is not ascending".to_owned() });
        }
        let mut ordinals = FxHashSet::default();
        for &input in view.inputs() {
            if let TensorOp::Input { ordinal, .. } = self.op(input)
                && !ordinals.insert(*ordinal)
            {
                let message = format!("two inputs have the ordinal {ordinal}");
                broken.push(Broken { node: Some(input.node), message });
            }
        }
        let known = |val: Val| view.is_input(val) || view.contains(val.node);
        for &node in view.order() {
            if let TensorOp::Input { .. } = self.node(node).op {
                broken.push(Broken { node: Some(node), message: "an argument inside the view".to_owned() });
            }
            for &operand in self.node(node).operands.iter().filter(|&&val| !known(val)) {
                let message = format!("operand {operand} is neither computed nor an input");
                broken.push(Broken { node: Some(node), message });
            }
        }
        for output in view.outputs().iter().filter(|output| !known(output.val)) {
            let message = format!("output {} is neither computed nor an input", output.val);
            broken.push(Broken { node: Some(output.val.node), message });
        }
        broken
    }

    /// The broken invariants of the tasks of this graph.
    pub fn verify_tasks(&self, tasks: &Tasks) -> Vec<Broken> {
        let mut broken = Vec::new();
        for (_, data) in tasks.iter() {
            broken.extend(self.verify_view(&data.view));
            let Some(parent) = data.parent else { continue };
            let outer = tasks.get(parent);
            for &node in data.view.order().iter().filter(|&&node| !outer.view.contains(node)) {
                let message =
                    format!("task {} computes it but its parent {} does not", data.name, outer.name);
                broken.push(Broken { node: Some(node), message });
            }
        }
        broken
    }

    /// Panics with the list of broken invariants, in debug builds; passes call it when they are done.
    pub fn debug_verify(&self, view: &Fusion) {
        if cfg!(debug_assertions) {
            let mut broken = self.verify(view.facts());
            broken.extend(self.verify_view(view));
            assert!(broken.is_empty(), "broken graph: {broken:#?}\n{}", super::dump::dump(self, view));
        }
    }
}

fn same_type(a: &Type, b: &Type, facts: &Facts) -> bool {
    a.dtype == b.dtype
        && a.rank() == b.rank()
        && a.shape.iter().zip(&b.shape).all(|(x, y)| facts.prove_eq(x, y))
}
