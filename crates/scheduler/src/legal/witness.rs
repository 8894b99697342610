//! The witness of legality: everything that lowering needs to know of a legal group, with no choice in it.

use index::Expr;
use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use smallvec::SmallVec;

use space::{Atoms, Axis, Space};
use target::limits::MAX_UNROLLED;

const _: () = assert!(MAX_UNROLLED == 4, "messages say so");

/// A legal group's iteration space, what iterates over it, and which axes workers may divide.
#[derive(Clone, Debug)]
pub struct Witness {
    pub space: Space,
    /// The folds of the group, operands before users.
    pub folds: Vec<Fold>,
    /// The values that the group stores, each once, in the order of the view's outputs.
    pub stores: Vec<Store>,
    /// The axes that workers may divide, outermost first: no inner fold reduces them, and every fold and store has them.
    pub workers: Vec<Axis>,
    /// All axes, outermost first.
    pub order: Vec<Axis>,
    /// The axis along which the group scans, which is walked in order and by one worker.
    pub scanned: Option<Axis>,
    /// How many stages follow each other within a worker.
    pub stage_count: u32,
    /// About how many statements the kernel has, jammed rows and partitioned loops not counted.
    pub statements: u64,
    /// The first stage that can compute each node of the group, in order. None for nodes that wait for terminal folds, for
    /// those read only through an index map, whose axes no loop walks, and for complex numbers, of which kernels hold the
    /// parts.
    pub(super) stages: Vec<Option<u32>>,
}

/// A fold of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    pub node: Node,
    /// The axes that it reduces.
    pub reduced: Vec<Axis>,
    /// The atoms of each axis of its result, outermost first.
    pub kept: Vec<Atoms>,
    /// The stage that accumulates it.
    pub stage: u32,
    /// Whether its result only leaves the kernel, so that workers may divide the axes that it reduces.
    pub terminal: bool,
}

impl Fold {
    /// All axes that the fold walks.
    pub fn domain(&self) -> impl Iterator<Item = Axis> + '_ {
        self.kept_axes().chain(self.reduced.iter().copied())
    }

    /// The axes of its result that have loops.
    pub fn kept_axes(&self) -> impl Iterator<Item = Axis> + '_ {
        self.kept.iter().flatten().copied()
    }

    /// Whether its result has an axis.
    pub fn keeps(&self, axis: Axis) -> bool {
        self.kept_axes().any(|own| own == axis)
    }
}

/// A value that a group stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    pub val: Val,
    /// The atoms of each of its axes, outermost first.
    pub axes: SmallVec<[Atoms; 2]>,
    /// When it can be computed.
    pub when: When,
}

impl Store {
    /// All axes that it walks.
    pub fn domain(&self) -> impl Iterator<Item = Axis> + '_ {
        self.axes.iter().flatten().copied()
    }

    /// Whether it walks an axis.
    pub fn walks(&self, axis: Axis) -> bool {
        self.domain().any(|own| own == axis)
    }
}

/// When a stored value can be computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// In this stage.
    Stage(u32),
    /// After these terminal folds (numbers in [`Witness::folds`]) have closed.
    After(SmallVec<[usize; 2]>),
}

impl Witness {
    /// How many elements the axes that workers may divide have together.
    pub fn divided(&self) -> Expr {
        self.workers.iter().fold(Expr::one(), |n, &axis| n * self.space.size(axis).clone())
    }

    /// Whether folds and workers treat two axes the same, so that one loop can walk both.
    pub fn alike(&self, a: Axis, b: Axis) -> bool {
        let folds = self.folds.iter().all(|fold| {
            fold.reduced.contains(&a) == fold.reduced.contains(&b) && fold.keeps(a) == fold.keeps(b)
        });
        let stores = self.stores.iter().all(|store| store.walks(a) == store.walks(b));
        let scanned = self.scanned.is_some_and(|axis| axis == a || axis == b);
        folds && stores && !scanned && self.workers.contains(&a) == self.workers.contains(&b)
    }

    /// Whether a node takes other elements of its operands than its own index, and has one of these axes.
    pub fn is_moved_along(&self, graph: &Graph, node: Node, axes: [Axis; 2]) -> bool {
        let moves = match graph.node(node).op {
            TensorOp::Map(_)
            | TensorOp::Cast(_)
            | TensorOp::Expand(_)
            | TensorOp::Broadcast(_)
            | TensorOp::Squeeze(_)
            | TensorOp::Permute(_)
            | TensorOp::Fold { .. }
            | TensorOp::Scan { .. } => false,
            TensorOp::Reshape(_) => {
                self.space.position(node).is_some_and(|position| self.space.moves(position, 0))
            }
            _ => true,
        };
        moves && self.space.axes_of(node.into()).iter().flatten().any(|axis| axes.contains(axis))
    }

    /// Whether some stage waits for a fold.
    pub fn has_inner_folds(&self) -> bool {
        self.folds.iter().any(|fold| !fold.terminal)
    }

    /// Whether stages wait for folds or a scan.
    pub fn stages_wait(&self) -> bool {
        self.scanned.is_some() || self.has_inner_folds()
    }

    /// Whether the result of a fold has an axis that workers may not divide.
    pub fn keeps_undivided(&self, fold: &Fold) -> bool {
        fold.kept_axes().any(|axis| !self.workers.contains(&axis))
    }

    /// Whether a loop over lanes along an axis can be around the stages: each fold then fits registers of one lane.
    pub fn lanes_fit_outside(&self, lane: Axis) -> bool {
        let crosses = |fold: &Fold| fold.terminal && fold.reduced.contains(&lane);
        !self.folds.iter().any(|fold| self.keeps_undivided(fold) || crosses(fold))
    }

    /// How many indices an axis has, if a loop over others can have its body written once for each.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn unrolled_indices(&self, axis: Axis) -> Result<i64, &'static str> {
        let size = self.space.size(axis).as_const().filter(|size| (1..=MAX_UNROLLED).contains(size));
        match size {
            None => Err("its size is not a number from 1 to 4"),
            Some(_) if self.stage_count > 1 || self.scanned.is_some() => {
                Err("stages wait for folds or a scan")
            }
            Some(_) if self.folds.iter().any(|fold| fold.domain().any(|own| own == axis)) => {
                Err("a fold walks it")
            }
            Some(size) => Ok(size),
        }
    }

    /// The axis that lanes take where they take the last: the one before it, if the last is unrolled.
    pub fn last_axis(&self) -> Option<Axis> {
        let (&last, before) = self.order.split_last()?;
        let is_unrolled = self.unrolled_indices(last).is_ok_and(|indices| indices > 1);
        before.last().copied().filter(|_| is_unrolled).or(Some(last))
    }

    /// The last axis beside that of the lanes that has few indices and of which slices of the group take one each, from
    /// values that all indices then share.
    pub fn sliced_axis(&self, graph: &Graph, view: &Fusion, lane: Axis) -> Option<Axis> {
        let is_few = |axis: Axis| self.unrolled_indices(axis).ok().filter(|&indices| indices > 1);
        let few = self.order.iter().rev().filter(|&&axis| axis != lane);
        few.copied().find(|&axis| {
            is_few(axis).is_some_and(|indices| slices_of(graph, view, indices) > 1)
                && self.is_shared(graph, axis)
        })
    }

    /// Whether a value that has an axis is computed from a value of the group that lacks it and is no scalar.
    fn is_shared(&self, graph: &Graph, axis: Axis) -> bool {
        let has = |axes: &[Atoms]| axes.iter().flatten().any(|&own| own == axis);
        let lacks = |axes: &[Atoms]| !has(axes) && axes.iter().any(|atoms| !atoms.is_empty());
        self.space.nodes().iter().enumerate().any(|(position, &node)| {
            let operands = 0..graph.node(node).operands.len();
            let mut made = operands.filter(|&k| self.space.maker(position, k).is_some());
            has(self.space.axes_of(node.into())) && made.any(|k| lacks(self.space.axes_of_operand(node, k)))
        })
    }

    /// The first stage that can compute a node, if one can.
    pub fn stage_of(&self, node: Node) -> Option<u32> {
        self.stages[self.space.position(node)?]
    }

    /// The nodes that some stage computes, in order.
    pub fn staged(&self) -> impl Iterator<Item = Node> + '_ {
        let nodes = self.space.nodes().iter().zip(&self.stages);
        nodes.filter(|(_, stage)| stage.is_some()).map(|(&node, _)| node)
    }

    /// The number of a fold's node in `folds`.
    pub fn fold_of(&self, node: Node) -> Option<usize> {
        self.folds.iter().position(|fold| fold.node == node)
    }
}

/// How many slices of a group take one index of an axis of `indices` indices.
fn slices_of(graph: &Graph, view: &Fusion, indices: i64) -> usize {
    let takes_one = |node: &&Node| {
        let TensorOp::Slice { sizes, .. } = &graph.node(**node).op else { return false };
        let before = graph.shape(graph.node(**node).operands[0]).iter();
        before.zip(sizes).any(|(before, size)| before.as_const() == Some(indices) && size.is_one())
    };
    view.order().iter().filter(takes_one).count()
}
