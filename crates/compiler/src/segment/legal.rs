//! Whether a group can be one kernel, decided on the whole group in closed form, with the witness or the reason.
//!
//! Of a group's folds, one is *terminal* when its result only leaves the kernel: workers may divide what it
//! reduces, leaving partial results to a combine step. Any other is *inner*: each worker must see all that it
//! reduces. Workers may divide the axes that every fold and every store knows and no inner fold reduces.
//!
//! A scan walks its axis in order, so workers may not divide it, and a group scans along one axis only. What needs a
//! scan walks the axis behind it in the same loop.
//!
//! The rule is hereditary: fewer values in a group need no more of it.

use index::Expr;
use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use rustc_hash::FxHashMap;

use super::code::{LARGEST, statements};
use super::external::external_nodes;
use super::moved::reject_moved_folds;
use super::witness::{Fold, Store, When, Witness};
use crate::space::{Axis, Space};

/// Elements up to which one worker may do a whole group alone.
pub(super) const ALONE: i64 = 1 << 16;

/// Why a group cannot be one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The value that stands in the way.
    pub val: Val,
    /// The reason, as a sentence without a subject: "is …".
    pub reason: String,
}

/// The witness that a group can be one kernel.
///
/// # Errors
/// The value in the way and the reason.
pub fn legal(graph: &Graph, view: &Fusion) -> Result<Witness, Rejection> {
    reject_large(view)?;
    reject_cut(graph, view)?;
    reject_external(graph, view)?;
    let space = Space::of(graph, view).map_err(|conflict| Rejection {
        val: conflict.val,
        reason: "would have two of its axes walked by one loop".to_owned(),
    })?;
    let below = folds_below(graph, view);
    let scans = scans_below(graph, view);
    reject_moved_folds(graph, view, &space, &below, &scans)?;
    let scanned = scanned_axis(graph, view, &space)?;
    let mut folds = collect_folds(graph, view, &space, &below);
    mark_terminal(graph, view, &space, &below, &scans, &mut folds);
    let stores = collect_stores(graph, view, &space, &below, &folds);
    let statements = statements(graph, view, &space, &folds, &stores);
    reject_long(graph, view, statements)?;
    let order = axis_order(graph, view, &space, &folds, &stores);
    let may_divide = |axis: &Axis| Some(*axis) != scanned && divisible(*axis, &folds, &stores);
    let workers: Vec<Axis> = order.iter().copied().filter(may_divide).collect();
    let levels = 1 + stores.iter().filter_map(level).max().unwrap_or(0).max(last_level(&folds));
    let walked =
        |node: &Node| space.axes_of(graph, (*node).into()).iter().flatten().all(|axis| order.contains(axis));
    let mut stages = stages(&below, &folds);
    // Of complex numbers kernels hold the parts, so the whole is nowhere but in memory.
    let is_real = |node: &Node| !graph.dtype((*node).into()).is_complex();
    stages.retain(|node, _| walked(node) && is_real(node));
    let witness = Witness { space, folds, stores, workers, order, scanned, levels, statements, stages };
    reject_alone(view, &witness)?;
    Ok(witness)
}

/// The first stage that can compute each node.
fn stages(below: &FxHashMap<Node, Vec<Node>>, folds: &[Fold]) -> FxHashMap<Node, u32> {
    let after = |node: &Node| folds.iter().find(|fold| fold.node == *node).filter(|fold| !fold.terminal);
    let stage = |needed: &[Node]| {
        needed.iter().try_fold(0, |stage: u32, node| after(node).map(|fold| stage.max(fold.level + 1)))
    };
    below.iter().filter_map(|(&node, needed)| stage(needed).map(|stage| (node, stage))).collect()
}

fn level(store: &Store) -> Option<u32> {
    match store.when {
        When::Level(level) => Some(level),
        When::After(_) => None,
    }
}

fn last_level(folds: &[Fold]) -> u32 {
    folds.iter().map(|fold| fold.level).max().unwrap_or(0)
}

fn reject_large(view: &Fusion) -> Result<(), Rejection> {
    match view.order() {
        [.., last] if view.order().len() as u64 > LARGEST => Err(Rejection {
            val: (*last).into(),
            reason: format!("would make a kernel of more than {LARGEST} operations"),
        }),
        _ => Ok(()),
    }
}

/// Code that is too long is cut between operations; a single one is never too long.
fn reject_long(graph: &Graph, view: &Fusion, statements: u64) -> Result<(), Rejection> {
    let is_operation =
        |node: &&Node| !matches!(graph.node(**node).op, TensorOp::Constant(_) | TensorOp::Size(_));
    let mut operations = view.order().iter().filter(is_operation).rev();
    match (operations.next(), operations.next()) {
        (Some(&last), Some(_)) if statements > LARGEST => {
            let what = "what stages and index maps compute again included";
            let reason = format!("would make a kernel of more than {LARGEST} statements, {what}");
            Err(Rejection { val: last.into(), reason })
        }
        _ => Ok(()),
    }
}

/// A value that the user cut must come from memory: a group may end in it but not compute past it.
fn reject_cut(graph: &Graph, view: &Fusion) -> Result<(), Rejection> {
    let cut = view.order().iter().find(|&&node| {
        matches!(graph.node(node).op, TensorOp::Map(ops::ScalarOp::SegmentSet))
            && !view.uses(node.into()).is_empty()
    });
    match cut {
        Some(&node) => Err(Rejection {
            val: node.into(),
            reason: "is a boundary that the definition asks for".to_owned(),
        }),
        None => Ok(()),
    }
}

/// What a library computes is in no kernel.
fn reject_external(graph: &Graph, view: &Fusion) -> Result<(), Rejection> {
    match external_nodes(graph, view).next() {
        Some((node, op)) => {
            let reason = format!("is computed by {}, which a library runs", op.name());
            Err(Rejection { val: node.into(), reason })
        }
        None => Ok(()),
    }
}

/// For each node, the nearest folds that its value depends on, ascending: a fold stands for those before it.
fn folds_below(graph: &Graph, view: &Fusion) -> FxHashMap<Node, Vec<Node>> {
    let mut below: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    for &node in view.order() {
        let folds = match graph.node(node).op {
            TensorOp::Fold { .. } => vec![node],
            _ => folds_of_operands(graph, view, node, &below),
        };
        below.insert(node, folds);
    }
    below
}

fn folds_of_operands(
    graph: &Graph,
    view: &Fusion,
    node: Node,
    below: &FxHashMap<Node, Vec<Node>>,
) -> Vec<Node> {
    let computed = graph.node(node).operands.iter().filter(|val| !view.is_input(**val));
    let mut folds: Vec<Node> = computed.flat_map(|val| below[&val.node].iter().copied()).collect();
    folds.sort_unstable();
    folds.dedup();
    folds
}

/// For each node, a scan that its value depends on otherwise than through a fold.
fn scans_below(graph: &Graph, view: &Fusion) -> FxHashMap<Node, Node> {
    let mut below: FxHashMap<Node, Node> = FxHashMap::default();
    for &node in view.order() {
        let data = graph.node(node);
        let operands = data.operands.iter().filter(|val| !view.is_input(**val));
        let scan = match data.op {
            TensorOp::Fold { .. } => None,
            TensorOp::Scan { .. } => Some(node),
            _ => operands.filter_map(|val| below.get(&val.node).copied()).min(),
        };
        below.extend(scan.map(|scan| (node, scan)));
    }
    below
}

/// The axis of the scans of a group, if it has any of which a loop walks the axis.
fn scanned_axis(graph: &Graph, view: &Fusion, space: &Space) -> Result<Option<Axis>, Rejection> {
    let mut scanned: Option<Axis> = None;
    for &node in view.order() {
        let TensorOp::Scan { axis, .. } = graph.node(node).op else { continue };
        let Some(&own) = space.axes_of(graph, node.into())[axis as usize].first() else { continue };
        if *scanned.get_or_insert(own) != own {
            let reason = "is a scan along another axis than one before it".to_owned();
            return Err(Rejection { val: node.into(), reason });
        }
    }
    Ok(scanned)
}

fn collect_folds(
    graph: &Graph,
    view: &Fusion,
    space: &Space,
    below: &FxHashMap<Node, Vec<Node>>,
) -> Vec<Fold> {
    let mut folds: Vec<Fold> = Vec::new();
    for &node in view.order() {
        let TensorOp::Fold { axes, .. } = &graph.node(node).op else { continue };
        let operand = space.axes_of_operand(graph, view, node, 0);
        let (reduced, kept): (Vec<_>, Vec<_>) =
            operand.into_iter().enumerate().partition(|(axis, _)| axes.contains(&(*axis as u8)));
        let earlier = folds_of_operands(graph, view, node, below);
        let level_of =
            |node: &Node| folds.iter().find(|fold| fold.node == *node).map_or(0, |fold| fold.level + 1);
        folds.push(Fold {
            node,
            reduced: reduced.into_iter().flat_map(|(_, atoms)| atoms).collect(),
            kept: kept.into_iter().map(|(_, atoms)| atoms).collect(),
            level: earlier.iter().map(level_of).max().unwrap_or(0),
            terminal: true,
        });
    }
    folds
}

/// A fold stays terminal when all that depends on it are stores over axes that it keeps, which need no inner fold,
/// no terminal fold of another shape and no scan.
fn mark_terminal(
    graph: &Graph,
    view: &Fusion,
    space: &Space,
    below: &FxHashMap<Node, Vec<Node>>,
    scans: &FxHashMap<Node, Node>,
    folds: &mut [Fold],
) {
    for k in 0..folds.len() {
        for earlier in folds_of_operands(graph, view, folds[k].node, below) {
            set_inner(folds, earlier);
        }
    }
    loop {
        let mut inner: Vec<Node> = Vec::new();
        for output in view.outputs() {
            let Some(needed) = below.get(&output.val.node) else { continue };
            let needed: Vec<&Fold> = folds.iter().filter(|fold| needed.contains(&fold.node)).collect();
            let axes = space.axes_of(graph, output.val);
            let fits = |fold: &&Fold| axes.iter().flatten().all(|&axis| fold.keeps(axis));
            let alike = |fold: &&Fold| fold.terminal && same_shape(fold, needed[0]);
            let scans = !needed.is_empty() && scans.contains_key(&output.val.node);
            if scans || !needed.iter().all(|fold| fits(fold) && alike(fold)) {
                inner.extend(needed.iter().filter(|fold| fold.terminal).map(|fold| fold.node));
            }
        }
        if inner.is_empty() {
            return;
        }
        inner.into_iter().for_each(|node| set_inner(folds, node));
    }
}

fn set_inner(folds: &mut [Fold], node: Node) {
    folds.iter_mut().filter(|fold| fold.node == node).for_each(|fold| fold.terminal = false);
}

fn same_shape(a: &Fold, b: &Fold) -> bool {
    let sorted = |axes: &mut dyn Iterator<Item = Axis>| {
        let mut axes: Vec<Axis> = axes.collect();
        axes.sort_unstable();
        axes
    };
    // What they keep lies in one order, as they are finished together.
    sorted(&mut a.reduced.iter().copied()) == sorted(&mut b.reduced.iter().copied())
        && a.kept_axes().eq(b.kept_axes())
}

fn collect_stores(
    graph: &Graph,
    view: &Fusion,
    space: &Space,
    below: &FxHashMap<Node, Vec<Node>>,
    folds: &[Fold],
) -> Vec<Store> {
    let mut stores: Vec<Store> = Vec::new();
    for output in view.outputs() {
        if stores.iter().any(|store| store.val == output.val) || view.is_input(output.val) {
            continue;
        }
        let needed: Vec<usize> =
            (0..folds.len()).filter(|&k| below[&output.val.node].contains(&folds[k].node)).collect();
        let when = if !needed.is_empty() && needed.iter().all(|&k| folds[k].terminal) {
            When::After(needed)
        } else {
            When::Level(needed.iter().map(|&k| folds[k].level + 1).max().unwrap_or(0))
        };
        stores.push(Store { val: output.val, axes: space.axes_of(graph, output.val), when });
    }
    stores
}

/// All axes in the order of the value with the most of them; axes that it lacks come first.
fn axis_order(graph: &Graph, view: &Fusion, space: &Space, folds: &[Fold], stores: &[Store]) -> Vec<Axis> {
    let folded = folds.iter().map(|fold| space.axes_of_operand(graph, view, fold.node, 0));
    let stored = stores.iter().map(|store| store.axes.clone());
    let lists: Vec<Vec<Axis>> =
        folded.chain(stored).map(|axes| axes.into_iter().flatten().collect()).collect();
    let walked = |axis: &Axis| lists.iter().any(|list| list.contains(axis));
    let longest = lists.iter().rev().max_by_key(|list| list.len()).cloned().unwrap_or_default();
    let mut order: Vec<Axis> = space.axes().filter(|axis| walked(axis) && !longest.contains(axis)).collect();
    order.extend(longest);
    order
}

/// Whether workers may divide an axis.
fn divisible(axis: Axis, folds: &[Fold], stores: &[Store]) -> bool {
    let known_to_folds = folds.iter().all(|fold| fold.domain().any(|known| known == axis));
    let free = folds.iter().all(|fold| fold.terminal || !fold.reduced.contains(&axis));
    let in_stage = stores.iter().filter(|store| matches!(store.when, When::Level(_)));
    known_to_folds && free && in_stage.into_iter().all(|store| store.walks(axis))
}

/// With nothing to divide one worker does all the work, which is only right where there is little of it, or where
/// nothing but a scan walks any axis.
fn reject_alone(view: &Fusion, witness: &Witness) -> Result<(), Rejection> {
    let only_scanned = witness.order.iter().all(|axis| Some(*axis) == witness.scanned);
    if !witness.workers.is_empty() || only_scanned {
        return Ok(());
    }
    let volume = witness.order.iter().fold(Expr::one(), |n, &axis| n * witness.space.size(axis).clone());
    match view.facts().normalize(&volume).as_const() {
        Some(elements) if elements <= ALONE => Ok(()),
        _ => {
            let val = witness.folds.first().map_or_else(|| view.outputs()[0].val, |fold| fold.node.into());
            Err(Rejection { val, reason: "leaves no axis that workers could divide".to_owned() })
        }
    }
}
