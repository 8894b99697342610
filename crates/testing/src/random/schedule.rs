//! A random schedule that fits a witness: drawn freely, and drawn again until the check accepts it.

use compiler::legal::Witness;
use compiler::schedule::Prefetch;
use compiler::space::Axis;
use ferrofuse::Schedule;
use ir::graph::{Node, Val};

use super::draws::Draws;

/// How often a schedule is drawn before the plainest one is taken.
const TRIES: usize = 30;

/// A random schedule.
pub fn schedule(witness: &Witness, draws: &mut Draws) -> Schedule {
    let drawn = (0..TRIES).map(|_| draw(witness, draws)).find(|drawn| drawn.check(witness).is_ok());
    drawn.unwrap_or_else(|| Schedule::plain(witness))
}

fn draw(witness: &Witness, draws: &mut Draws) -> Schedule {
    let mut schedule = Schedule { lanes: 1 << draws.below(7), ..Schedule::plain(witness) };
    if draws.percent(30) {
        schedule.warp = Some(1 << draws.below(schedule.lanes.ilog2() as usize + 1));
    }
    if draws.percent(50) {
        schedule.fused = runs(witness, draws);
    }
    let mut loops = schedule.loops_of(witness.order.iter().copied());
    if draws.percent(50) {
        draws.shuffle(&mut loops);
    }
    (schedule.rows, schedule.inner) = (Vec::new(), Vec::new());
    for &axis in &loops {
        match draws.below(3) {
            _ if !witness.workers.contains(&axis) => schedule.inner.push(axis),
            0 => schedule.rows.push(axis),
            1 => schedule.inner.push(axis),
            _ => schedule.blocks.push((axis, chunk(draws))),
        }
    }
    map_lanes(&mut schedule, &loops, draws);
    schedule.tile = tile(&mut schedule, draws);
    schedule.combine = draws.percent(30).then(|| 1 << draws.below(7));
    schedule.pad = if schedule.tile.is_some() && draws.percent(30) { 1 } else { 0 };
    if schedule.tile.is_none() && schedule.lane.is_some() && !schedule.lanes_outside && draws.percent(30) {
        schedule.width = if witness.scanned.is_none() { 1 << draws.between(1, 4) } else { 1 };
    }
    if let Some(&row) =
        schedule.outer().last().filter(|_| !schedule.lanes_outside && witness.scanned.is_none())
        && draws.percent(50)
    {
        schedule.jam = Some((row, draws.between(2, 5) as u32));
    }
    let along = if draws.percent(50) { schedule.lane } else { schedule.outer().last().copied() };
    let prefetch = |axis| Prefetch { axis, distance: draws.between(1, 40) as u32, l2: draws.percent(50) };
    schedule.prefetch = along.map(prefetch).filter(|_| draws.percent(30));
    if schedule.check(witness).is_err() {
        schedule.prefetch = None;
    }
    let jammed = schedule.jam.map(|(axis, _)| axis);
    let tiled = if schedule.tile.is_some() { schedule.lane } else { None };
    let crossing = schedule.tile.map(|(axis, _)| axis);
    let whole = [jammed, tiled, crossing, witness.scanned];
    let plain = |axis: &&Axis| schedule.run(**axis).len() == 1 && !whole.contains(&Some(**axis));
    schedule.partition = loops.iter().filter(plain).copied().filter(|_| draws.percent(30)).collect();
    keep_small(&mut schedule.blocks);
    if draws.percent(60) && !schedule.lanes_outside {
        schedule.persistent = persistent(witness, draws);
        schedule.private = draws.percent(50);
        schedule.private &= schedule.check(witness).is_ok();
    }
    schedule
}

/// Tiles of an inner axis and that of the lanes, which blocks may cut or not.
fn tile(schedule: &mut Schedule, draws: &mut Draws) -> Option<(Axis, u32)> {
    let crossing: Vec<Axis> =
        schedule.inner.iter().copied().filter(|axis| Some(*axis) != schedule.lane).collect();
    if crossing.is_empty() || schedule.lane.is_none() || schedule.lanes_outside || draws.percent(40) {
        return None;
    }
    let cross = draws.one_of(&crossing);
    if draws.percent(30) {
        schedule.blocks.push((cross, chunk(draws)));
    }
    Some((cross, 1 << draws.below(5)))
}

/// A few of the values that some stage computes.
fn persistent(witness: &Witness, draws: &mut Draws) -> Vec<Val> {
    let mut nodes: Vec<Node> = witness.staged().filter(|&node| witness.fold_of(node).is_none()).collect();
    draws.shuffle(&mut nodes);
    nodes.truncate(draws.below(4));
    nodes.into_iter().map(Val::from).collect()
}

fn chunk(draws: &mut Draws) -> u64 {
    let most = draws.one_of(&[2, 9, 70]);
    draws.between(1, most) as u64
}

/// Cuts chunks down where arrays of all of them together would be beyond what an interpreter keeps for a block.
fn keep_small(blocks: &mut [(Axis, u64)]) {
    const MOST: u64 = 1 << 14;
    let mut elements = 1;
    for (_, chunk) in blocks {
        *chunk = (*chunk).min((MOST / elements).max(1));
        elements *= *chunk;
    }
}

/// Chooses the axis of the lanes: none, one around the stages, or the last one within them; cut by blocks or not.
fn map_lanes(schedule: &mut Schedule, loops: &[Axis], draws: &mut Draws) {
    if loops.is_empty() || draws.percent(15) {
        return;
    }
    schedule.lanes_outside = draws.percent(40);
    let axis = match schedule.inner.last() {
        Some(&last) if !schedule.lanes_outside => last,
        _ => draws.one_of(loops),
    };
    schedule.lane = Some(axis);
    schedule.rows.retain(|&row| row != axis);
    schedule.inner.retain(|&inner| inner != axis);
    if !schedule.lanes_outside {
        schedule.inner.push(axis);
    }
    let is_cut = schedule.chunk(axis).is_some();
    match draws.percent(40) {
        true if !is_cut => {
            schedule.blocks.insert(draws.below(schedule.blocks.len() + 1), (axis, chunk(draws)))
        }
        false => schedule.blocks.retain(|(block, _)| *block != axis),
        true => {}
    }
}

/// Runs of axes that one loop may walk, in any order.
fn runs(witness: &Witness, draws: &mut Draws) -> Vec<Vec<Axis>> {
    let mut axes = witness.order.clone();
    if draws.percent(30) {
        draws.shuffle(&mut axes);
    }
    let mut runs: Vec<Vec<Axis>> = Vec::new();
    for axis in axes {
        match runs.last_mut() {
            Some(run) if witness.alike(run[run.len() - 1], axis) && draws.percent(70) => run.push(axis),
            _ => runs.push(vec![axis]),
        }
    }
    runs.retain(|run| run.len() > 1);
    runs
}
