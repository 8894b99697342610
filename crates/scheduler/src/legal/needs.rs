//! The folds and scans that each node of a group depends on.

use ir::graph::{Fusion, Graph, Node, TensorOp};
use smallvec::SmallVec;

use crate::space::Space;

/// Folds, by number, ascending.
type Folds = SmallVec<[u32; 4]>;

/// What the nodes of a group need, by position.
pub(super) struct Needs {
    /// The folds of the group, in order.
    all_folds: Vec<Node>,
    /// The nearest folds that each fold depends on.
    before: Vec<Folds>,
    /// The nearest folds that a value depends on: a fold stands for those before it.
    folds: Vec<Folds>,
    /// A scan that a value depends on otherwise than through a fold.
    scans: Vec<Option<Node>>,
}

impl Needs {
    /// Those of a group.
    pub fn of(graph: &Graph, view: &Fusion, space: &Space) -> Needs {
        let count = view.order().len();
        let mut needs = Needs {
            all_folds: Vec::new(),
            before: Vec::new(),
            folds: Vec::with_capacity(count),
            scans: Vec::with_capacity(count),
        };
        for (position, &node) in view.order().iter().enumerate() {
            let data = graph.node(node);
            let makers = (0..data.operands.len()).filter_map(|k| space.maker(position, k));
            let nearest = needs.nearest(makers.clone());
            let (folds, scan) = match data.op {
                TensorOp::Fold { .. } => {
                    let number = needs.all_folds.len() as u32;
                    needs.all_folds.push(node);
                    needs.before.push(nearest);
                    (SmallVec::from_slice(&[number]), None)
                }
                TensorOp::Scan { .. } => (nearest, Some(node)),
                _ => (nearest, makers.filter_map(|maker| needs.scans[maker]).min()),
            };
            needs.folds.push(folds);
            needs.scans.push(scan);
        }
        needs
    }

    fn nearest(&self, makers: impl Iterator<Item = usize>) -> Folds {
        let mut nearest = Folds::new();
        for maker in makers {
            let folds = &self.folds[maker];
            if *folds != nearest {
                nearest.extend_from_slice(folds);
            }
        }
        if nearest.len() > 1 {
            nearest.sort_unstable();
            nearest.dedup();
        }
        nearest
    }

    /// The folds of the group.
    pub fn all_folds(&self) -> &[Node] {
        &self.all_folds
    }

    /// The nearest folds that the fold with a number depends on.
    pub fn before_fold(&self, number: usize) -> &[u32] {
        &self.before[number]
    }

    /// The nearest folds that the node at a position depends on.
    pub fn folds(&self, position: usize) -> &[u32] {
        &self.folds[position]
    }

    /// A scan that the node at a position depends on otherwise than through a fold.
    pub fn scan(&self, position: usize) -> Option<Node> {
        self.scans[position]
    }
}
