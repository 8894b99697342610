//! The order of the loops of a nest: serial ones, tiles, lanes, and innermost the scanned axis.

use ir::graph::Node;

use super::LoopEmitter;
use space::Axis;

/// The loops of a nest that are not open yet, outermost first.
pub(crate) struct LoopOrder {
    pub outer: Vec<Axis>,
    /// Walked in tiles, together with the lanes'.
    pub cross: Option<Axis>,
    /// Mapped to the lanes.
    pub lane: Option<Axis>,
    /// The scanned axis, if the nest scans.
    pub scanned: Option<Axis>,
}

impl LoopEmitter<'_> {
    /// The order of the loops over these axes in a nest that runs these scans. An axis is mapped to the lanes only if they
    /// do not share what an iteration of the scanned axis adds to, as `shares` tells.
    pub fn loop_order(
        &self,
        axes: &[Axis],
        scans: &[Node],
        shares: impl Fn(Axis, Axis) -> bool,
    ) -> LoopOrder {
        let is_scanned = |axis: &Axis| !scans.is_empty() && Some(*axis) == self.witness().scanned;
        let scanned = axes.iter().copied().find(is_scanned);
        let is_unrolled = |axis: &Axis| self.emitter.group.schedule.unroll == Some(*axis);
        let walked = axes.iter().copied().filter(|axis| !is_scanned(axis) && !is_unrolled(axis));
        let mut outer: Vec<Axis> = walked.collect();
        let may_map = |lane: &Axis| {
            !self.emitter.builder.in_lanes() && !scanned.is_some_and(|inner| shares(*lane, inner))
        };
        let lane = outer.last().copied().filter(may_map);
        outer.truncate(outer.len() - usize::from(lane.is_some()));
        let cross = lane.filter(|_| scanned.is_none()).and_then(|lane| self.crossing(&outer, lane));
        outer.retain(|axis| Some(*axis) != cross);
        LoopOrder { outer, cross, lane, scanned }
    }

    /// The axis that crosses the lanes in a nest over these, if the schedule walks it in tiles.
    fn crossing(&self, outer: &[Axis], lane: Axis) -> Option<Axis> {
        let schedule = self.emitter.group.schedule;
        let (cross, _) = schedule.tile.filter(|_| schedule.lane == Some(lane))?;
        outer.contains(&cross).then_some(cross)
    }
}
