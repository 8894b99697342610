//! Whether a group can be one kernel, decided for the whole group in closed form, with the witness or the reason.
//!
//! A fold is *terminal* if its result only leaves the kernel: workers may divide the axes that it reduces, leaving partial
//! results to a combine step. Any other fold is *inner*: each worker must walk all that it reduces. Workers may divide the
//! axes that every fold and store has and no inner fold reduces.
//!
//! A scan walks its axis in order, so workers may not divide it, and a group scans along one axis only. What uses a scan
//! runs after it in the same loop over that axis.
//!
//! A part of a legal group is nearly always legal too. It may not be if a value becomes a store and lacks an axis that
//! workers of the whole group divide. `Rejection::is_monotone` says which rejections hold for all larger groups.
//!
//! `witness` (what lowering needs to know) · `needs` (folds and scans before each node) · `moved` (index maps downstream of
//! folds) · `code` (statements of a kernel) · `cpu_code` (those of each op) · `nests` (its loop nests).

mod code;
mod cpu_code;
mod moved;
mod needs;
mod nests;
mod witness;

use cranelift_entity::EntityRef;
use index::Expr;
use ir::graph::{ExternalOp, Fusion, Graph, Node, TensorOp, Val};

pub use code::{Count, Weights, cut, is_short_when_cut};
use moved::reject_moved_folds;
use needs::Needs;
pub use witness::{Fold, Store, When, Witness};

use space::{Atoms, Axis, AxisTable, Made, Space};
use target::limits::{MAX_SERIAL_ELEMENTS, MAX_STATEMENTS};

/// Why a group cannot be one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The value that is in the way.
    pub val: Val,
    /// The reason, as a sentence without a subject: "is …".
    pub reason: String,
    /// Whether the reason holds for all groups with the same nodes and more. It does for too many operations, for a value
    /// that the user cut, for external ops, and for axes that ops make one: more nodes remove none of these.
    pub is_monotone: bool,
}

/// The witness that a group can be one kernel.
///
/// # Errors
/// The value in the way and the reason.
pub fn legal(graph: &Graph, view: &Fusion) -> Result<Witness, Rejection> {
    legal_with(graph, view, &mut AxisTable::new(view.facts()))
}

/// The same, for a fusion about which something is known already.
pub fn legal_with(graph: &Graph, view: &Fusion, table: &mut AxisTable) -> Result<Witness, Rejection> {
    reject_large(view)?;
    reject_boundaries(graph, view)?;
    let space = Space::with(graph, view, table).map_err(|conflict| Rejection {
        val: conflict.val,
        reason: "would have two of its axes walked by one loop".to_owned(),
        is_monotone: true,
    })?;
    let needs = Needs::of(graph, view, &space);
    reject_moved_folds(graph, view, &space, &needs, table)?;
    let scanned = scanned_axis(graph, view, &space)?;
    let mut folds = collect_folds(graph, &space, &needs);
    mark_terminal(&space, &needs, &mut folds);
    let stores = collect_stores(&space, &needs, &folds);
    let order = axis_order(view, &space, &folds, &stores);
    let may_divide = |axis: &Axis| Some(*axis) != scanned && divisible(*axis, &folds, &stores);
    let workers: Vec<Axis> = order.iter().copied().filter(may_divide).collect();
    let stage_count = stage_count(&folds, &stores);
    // One worker is right where nothing but a scan walks any axis.
    if workers.is_empty() && order.iter().any(|axis| Some(*axis) != scanned) {
        reject_alone(view, &space, &folds, &order)?;
    }
    let most = code::max_statements(graph, view, &space);
    let statements = code::statements(graph, view, &space, (&folds, &stores), most);
    reject_long(graph, view, statements, most)?;
    let stages = stages_of(graph, view, &space, &folds, &order, &needs);
    Ok(Witness { space, folds, stores, workers, order, scanned, stage_count, statements, stages })
}

/// The first stage that can compute each node, by position.
fn stages_of(
    graph: &Graph,
    view: &Fusion,
    space: &Space,
    folds: &[Fold],
    order: &[Axis],
    needs: &Needs,
) -> Vec<Option<u32>> {
    let mut walked = vec![false; space.axes().len()];
    order.iter().for_each(|axis| walked[axis.index()] = true);
    let is_walked = space.of_results(|axes| axes.iter().flatten().all(|axis| walked[axis.index()]));
    let after = |&fold: &u32| Some(&folds[fold as usize]).filter(|fold| !fold.terminal);
    let stage = |(position, &node): (usize, &Node)| {
        // Kernels hold the parts of complex numbers; the whole is in memory only.
        if !is_walked[position] || graph.dtype(node.into()).is_complex() {
            return None;
        }
        needs.folds(position).iter().try_fold(0, |stage: u32, fold| Some(stage.max(after(fold)?.stage + 1)))
    };
    view.order().iter().enumerate().map(stage).collect()
}

fn stage_count(folds: &[Fold], stores: &[Store]) -> u32 {
    let stored = stores.iter().filter_map(|store| match store.when {
        When::Stage(stage) => Some(stage),
        When::After(_) => None,
    });
    1 + stored.chain(folds.iter().map(|fold| fold.stage)).max().unwrap_or(0)
}

fn reject_large(view: &Fusion) -> Result<(), Rejection> {
    match view.order() {
        [.., last] if view.order().len() as u64 > MAX_STATEMENTS => Err(Rejection {
            val: (*last).into(),
            reason: format!("would make a kernel of more than {MAX_STATEMENTS} operations"),
            is_monotone: true,
        }),
        _ => Ok(()),
    }
}

/// Code that is too long is cut between operations; a single one is never too long.
fn reject_long(graph: &Graph, view: &Fusion, statements: u64, most: u64) -> Result<(), Rejection> {
    let is_operation =
        |node: &&Node| !matches!(graph.node(**node).op, TensorOp::Constant(_) | TensorOp::Size(_));
    let mut operations = view.order().iter().filter(is_operation).rev();
    match (operations.next(), operations.next()) {
        (Some(&last), Some(_)) if statements > most => {
            let what = "what stages and index maps compute again included";
            let reason = format!("would make a kernel of more than {most} statements, {what}");
            Err(Rejection { val: last.into(), reason, is_monotone: false })
        }
        _ => Ok(()),
    }
}

/// A value that the user cut must come from memory: a group may end with it but not compute past it. An external op is in no
/// kernel.
fn reject_boundaries(graph: &Graph, view: &Fusion) -> Result<(), Rejection> {
    let mut external = None;
    for &node in view.order() {
        match &graph.node(node).op {
            op if op.is_boundary() && !view.uses(node.into()).is_empty() => {
                let reason = "is a boundary that the definition asks for".to_owned();
                return Err(Rejection { val: node.into(), reason, is_monotone: true });
            }
            TensorOp::External(op) => external = external.or(Some((node, op))),
            _ => {}
        }
    }
    external.map_or(Ok(()), |(node, op)| {
        let reason = format!("is computed by {}, which a library runs", op.name());
        Err(Rejection { val: node.into(), reason, is_monotone: true })
    })
}

/// The nodes of a group that are external ops.
pub fn external_nodes<'g>(
    graph: &'g Graph,
    view: &'g Fusion,
) -> impl Iterator<Item = (Node, &'g ExternalOp)> {
    view.order().iter().filter_map(|&node| match &graph.node(node).op {
        TensorOp::External(op) => Some((node, op)),
        _ => None,
    })
}

/// The axis of the scans of a group, if a loop walks it for any of them.
fn scanned_axis(graph: &Graph, view: &Fusion, space: &Space) -> Result<Option<Axis>, Rejection> {
    let mut scanned: Option<Axis> = None;
    if !space.has_scans() {
        return Ok(None);
    }
    for &node in view.order() {
        let TensorOp::Scan { axis, .. } = graph.node(node).op else { continue };
        let Some(&own) = space.axes_of(node.into())[axis as usize].first() else { continue };
        if *scanned.get_or_insert(own) != own {
            let reason = "is a scan along another axis than one before it".to_owned();
            return Err(Rejection { val: node.into(), reason, is_monotone: false });
        }
    }
    Ok(scanned)
}

fn collect_folds(graph: &Graph, space: &Space, needs: &Needs) -> Vec<Fold> {
    let mut folds: Vec<Fold> = Vec::with_capacity(needs.all_folds().len());
    for (number, &node) in needs.all_folds().iter().enumerate() {
        let TensorOp::Fold { axes, .. } = &graph.node(node).op else { unreachable!("a fold") };
        let (mut reduced, mut kept) = (Vec::new(), Vec::new());
        for (atoms, axis) in space.axes_of_operand(node, 0).iter().zip(0_u8..) {
            if axes.contains(&axis) { reduced.extend_from_slice(atoms) } else { kept.push(copied(atoms)) }
        }
        let level_of = |&fold: &u32| folds[fold as usize].stage + 1;
        let stage = needs.before_fold(number).iter().map(level_of).max().unwrap_or(0);
        folds.push(Fold { node, reduced, kept, stage, terminal: true });
    }
    folds
}

/// A fold stays terminal if nothing depends on it but stores over axes that it keeps, which need no inner fold, no terminal
/// fold of another shape and no scan.
fn mark_terminal(space: &Space, needs: &Needs, folds: &mut [Fold]) {
    for number in 0..folds.len() {
        needs.before_fold(number).iter().for_each(|&earlier| folds[earlier as usize].terminal = false);
    }
    loop {
        let mut inner: Vec<u32> = Vec::new();
        for made in space.made() {
            let needed = needs.folds(made.position);
            let Some(&first) = needed.first() else { continue };
            let of = |&number: &u32| &folds[number as usize];
            let axes = space.axes_of_made(made);
            let fits = |fold: &Fold| axes.iter().flatten().all(|&axis| fold.keeps(axis));
            let alike = |fold: &Fold| fold.terminal && same_shape(fold, of(&first));
            if needs.scan(made.position).is_some()
                || !needed.iter().map(of).all(|fold| fits(fold) && alike(fold))
            {
                inner.extend(needed.iter().filter(|number| of(number).terminal));
            }
        }
        if inner.is_empty() {
            return;
        }
        inner.into_iter().for_each(|number| folds[number as usize].terminal = false);
    }
}

fn same_shape(a: &Fold, b: &Fold) -> bool {
    let sorted = |axes: &[Axis]| {
        let mut axes = axes.to_vec();
        axes.sort_unstable();
        axes
    };
    // The axes that they keep are in one order, as they are finished together.
    sorted(&a.reduced) == sorted(&b.reduced) && a.kept_axes().eq(b.kept_axes())
}

fn collect_stores(space: &Space, needs: &Needs, folds: &[Fold]) -> Vec<Store> {
    let store = |made: &Made| {
        let needed = needs.folds(made.position);
        let of = |&number: &u32| &folds[number as usize];
        let when = if !needed.is_empty() && needed.iter().map(of).all(|fold| fold.terminal) {
            When::After(needed.iter().map(|&number| number as usize).collect())
        } else {
            When::Stage(needed.iter().map(|number| of(number).stage + 1).max().unwrap_or(0))
        };
        Store { val: made.val, axes: space.axes_of_made(made).iter().map(copied).collect(), when }
    };
    space.made().iter().map(store).collect()
}

/// Copies the slice with a memcpy; `clone` goes through an iterator.
fn copied(atoms: &Atoms) -> Atoms {
    Atoms::from_slice(atoms)
}

/// All axes in the order of the value with the most of them, as in its memory; axes that it lacks come first.
fn axis_order(view: &Fusion, space: &Space, folds: &[Fold], stores: &[Store]) -> Vec<Axis> {
    let folded = folds.iter().map(|fold| (space.axes_of_operand(fold.node, 0), None));
    let stored = stores.iter().map(|store| (&store.axes[..], Some(store.val)));
    let lists: Vec<(&[Atoms], Option<Val>)> = folded.chain(stored).collect();
    let mut is_walked = vec![false; space.axes().len()];
    lists.iter().flat_map(|(list, _)| *list).flatten().for_each(|axis| is_walked[axis.index()] = true);
    let length = |(list, _): &&(&[Atoms], _)| list.iter().map(|atoms| atoms.len()).sum::<usize>();
    let (longest, stored) = lists.iter().rev().max_by_key(length).copied().unwrap_or_default();
    let output = view.outputs().iter().find(|output| Some(output.val) == stored && !output.order.is_empty());
    let longest: Vec<Axis> = match output {
        Some(output) => output.order.iter().flat_map(|&axis| &longest[usize::from(axis)]).copied().collect(),
        None => longest.iter().flatten().copied().collect(),
    };
    let is_other = |axis: &Axis| is_walked[axis.index()] && !longest.contains(axis);
    let mut order: Vec<Axis> = space.axes().filter(is_other).collect();
    order.extend(longest);
    order
}

/// Whether workers may divide an axis.
fn divisible(axis: Axis, folds: &[Fold], stores: &[Store]) -> bool {
    let known_to_folds = folds.iter().all(|fold| fold.domain().any(|known| known == axis));
    let free = folds.iter().all(|fold| fold.terminal || !fold.reduced.contains(&axis));
    let in_stage = stores.iter().filter(|store| matches!(store.when, When::Stage(_)));
    known_to_folds && free && in_stage.into_iter().all(|store| store.walks(axis))
}

/// Rejects a group in which workers can divide nothing, unless it is small: one worker would do all the work.
fn reject_alone(view: &Fusion, space: &Space, folds: &[Fold], order: &[Axis]) -> Result<(), Rejection> {
    let volume = order.iter().fold(Expr::one(), |n, &axis| n * space.size(axis).clone());
    match view.facts().normalize(&volume).as_const() {
        Some(elements) if elements <= MAX_SERIAL_ELEMENTS => Ok(()),
        _ => {
            let val = folds.first().map_or_else(|| view.outputs()[0].val, |fold| fold.node.into());
            let reason = "leaves no axis that workers could divide".to_owned();
            Err(Rejection { val, reason, is_monotone: false })
        }
    }
}
