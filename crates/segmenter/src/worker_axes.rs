//! Whether a group surely leaves no axis for workers to divide, decided from classes of axes without its iteration space:
//! legality rejects such a group, but takes hundreds of times as long.
//!
//! Other groups may be rejected all the same. Workers may divide an axis if each fold walks it, and no fold reduces it whose
//! result is used inside: by another fold, or for a value that has other axes than the fold keeps.

use std::cell::RefCell;

use cranelift_entity::SecondaryMap;
use index::Expr;
use ir::graph::{Cone, Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::FxHashMap;
use target::limits::MAX_SERIAL_ELEMENTS;

use super::axis_classes::{AxisClasses, Class};

/// A set of classes of axes that folds walk, each a bit.
type ClassSet = u64;

/// The most classes that are distinguished; with more, nothing is decided.
const MAX_CLASSES: usize = 62;

/// The class of axes that no fold walks.
const OTHER: ClassSet = 1 << MAX_CLASSES;

/// A bit beside the classes: another fold uses a value.
const FOLDED: ClassSet = 1 << 63;

/// Whether `elements` are too many for one worker.
pub(super) fn is_large(fusion: &Fusion, elements: &Expr) -> bool {
    fusion.facts().normalize(elements).as_const().is_none_or(|elements| elements > MAX_SERIAL_ELEMENTS)
}

/// The axes of a fold.
#[derive(Clone, Copy)]
struct FoldAxes {
    kept: ClassSet,
    all: ClassSet,
    /// Whether they are too much for one worker.
    is_large: bool,
}

/// The axes that workers could divide in groups of a fusion.
pub(super) struct WorkerAxes<'a> {
    graph: &'a Graph,
    classes: AxisClasses,
    /// The bits of the classes that folds walk.
    bits: FxHashMap<Class, ClassSet>,
    folds: SecondaryMap<Node, Option<FoldAxes>>,
    /// Whether nothing is decided about groups with this node.
    is_open: SecondaryMap<Node, bool>,
    used: RefCell<Used>,
}

impl<'a> WorkerAxes<'a> {
    /// The worker axes of a fusion.
    pub fn of(graph: &'a Graph, fusion: &Fusion) -> WorkerAxes<'a> {
        let classes = AxisClasses::of(graph, fusion);
        let (bits, folds, is_open, used) = Default::default();
        let mut axes = WorkerAxes { graph, classes, bits, folds, is_open, used };
        for &node in fusion.order() {
            let data = graph.node(node);
            let is_zero = |size: &Expr| fusion.facts().normalize(size).is_zero();
            let is_empty = |val: Val| graph.shape(val).iter().any(is_zero);
            match data.op {
                _ if graph.results(node).chain(data.operands.iter().copied()).any(is_empty) => {
                    axes.is_open[node] = true;
                }
                TensorOp::Fold { .. } => axes.folds[node] = Some(axes.of_fold(fusion, node)),
                TensorOp::Scan { .. } | TensorOp::External(_) => axes.is_open[node] = true,
                _ => {}
            }
        }
        axes
    }

    /// Whether a group that makes these values surely leaves none.
    pub fn none_in(&self, made: &[Val], cone: &Cone) -> bool {
        if self.bits.len() > MAX_CLASSES {
            return false;
        }
        let used = &mut *self.used.borrow_mut();
        used.group += 1;
        made.iter().for_each(|&val| used.add(val.node, self.set_of(val)));
        let (mut divisible, mut is_large) = (ClassSet::MAX, false);
        for &node in cone.order().iter().rev() {
            if self.is_open[node] {
                return false;
            }
            let mut uses = used.of(node);
            if let Some(fold) = &self.folds[node] {
                divisible &= if uses & !fold.kept == 0 { fold.all } else { fold.kept };
                is_large |= fold.is_large;
                uses = FOLDED;
            }
            let computed = self.graph.node(node).operands.iter().filter(|val| !self.is_read(**val, cone));
            computed.for_each(|operand| used.add(operand.node, uses));
        }
        divisible == 0 && is_large
    }

    /// Whether a group reads a value even if it may compute its node for another result.
    fn is_read(&self, val: Val, cone: &Cone) -> bool {
        self.graph.node(val.node).results.len() > 1 && cone.inputs().binary_search(&val).is_ok()
    }

    fn of_fold(&mut self, fusion: &Fusion, node: Node) -> FoldAxes {
        let [kept, reduced] = [false, true].map(|is_reduced| {
            let classes = self.classes.of_fold(self.graph, node, is_reduced);
            classes.into_iter().fold(0, |set, class| set | self.bit(class))
        });
        let elements = self.graph.ty(self.graph.node(node).operands[0]).numel();
        FoldAxes { kept, all: kept | reduced, is_large: is_large(fusion, &elements) }
    }

    fn bit(&mut self, class: Class) -> ClassSet {
        let next = self.bits.len().min(MAX_CLASSES);
        *self.bits.entry(class).or_insert(1 << next)
    }

    /// The classes of a value's axes.
    fn set_of(&self, val: Val) -> ClassSet {
        let classes = self.classes.of_val(self.graph, val);
        classes.fold(0, |set, class| set | self.bits.get(&class).copied().unwrap_or(OTHER))
    }
}

/// The uses of the nodes of one group at a time: memory that is reused for the next.
#[derive(Default)]
struct Used {
    /// The number of the group.
    group: u32,
    /// The last group that a node was in, with the classes of the results that it computes from the node other than through
    /// folds.
    of: SecondaryMap<Node, (u32, ClassSet)>,
}

impl Used {
    fn add(&mut self, node: Node, more: ClassSet) {
        let known = self.of(node);
        self.of[node] = (self.group, known | more);
    }

    fn of(&self, node: Node) -> ClassSet {
        let (group, uses) = self.of[node];
        if group == self.group { uses } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::legality::Legality;
    use crate::segmentation::{segment_cone, view_of};

    /// Means of rows and of columns in turn, each taken from a tensor of which several may be kept, in every way.
    #[test]
    fn groups_without_worker_axes_are_rejected() {
        const FOLDS: usize = 6;
        let step = |fold: usize| {
            let mean = format!("fd.ops.mean(y, dims=[{}], keepdim=True)", fold % 2);
            format!("    y = fd.ops.exp(fd.ops.sub(y, {mean}))\n")
        };
        let steps: String = (0..FOLDS).map(step).collect();
        let input = "    y = fd.define_tensor(shape=[-1, -1], contiguity=True)\n";
        let source = format!("def f(fd):\n{input}{steps}    fd.add_output(y)\n");
        let definition = frontend::text::parse(&source).expect("a definition").definition;
        let (graph, fusion) = (&definition.graph, &definition.fusion);
        let is_exp = |node: &Node| matches!(graph.node(*node).op, TensorOp::Map(ops::ScalarOp::Exp));
        let tensors: Vec<Val> = fusion.order().iter().copied().filter(is_exp).map(Val::from).collect();
        assert_eq!(tensors.len(), FOLDS);
        let (axes, legality) = (WorkerAxes::of(graph, fusion), Legality::default());
        let (mut told, mut rejected) = (0, 0);
        for kept in 0..1_usize << (FOLDS - 1) {
            let is_kept =
                |val: Val| tensors.iter().position(|&other| other == val).is_some_and(|k| kept >> k & 1 == 1);
            for &made in tensors.iter().filter(|&&val| is_kept(val) || fusion.is_output(val)) {
                let cone = segment_cone(graph, fusion, &[made], is_kept);
                let is_told = axes.none_in(&[made], &cone);
                let is_rejected = !legality.allows(graph, &view_of(graph, fusion, &[made], cone));
                assert!(is_rejected || !is_told, "{made} with {kept:b}");
                told += usize::from(is_told);
                rejected += usize::from(is_rejected);
            }
        }
        assert!(told > 0 && told == rejected, "{told} of {rejected}");
    }
}
