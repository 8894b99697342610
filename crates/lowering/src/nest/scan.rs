//! Scans inside a kernel: states that run along with the loop of the scanned axis.
//!
//! A scan is not a stage. Each loop nest of a stage that needs it, directly or through elementwise values, reruns it, as it
//! would recompute any other value:
//!
//! ```text
//! for rows and other axes            the last of them mapped to the lanes, where there is one
//!   acc a0 = identity                one set of states a lane, or one where no axis is left to map
//!   for x in 0 .. size               the scanned axis, walked in order by whoever holds the states
//!     element = …                    what is scanned, at this index
//!     set a0 = step(a0, element)
//!     …                              whatever needs the scan at this index
//! ```
//!
//! So the scanned axis is the innermost loop of the nest, lanes take the axis before it, and a scan, what feeds it and what
//! follows it share one pass. Legality ensures that a group scans along one axis only, that workers do not divide it, and
//! that nothing asks for a scan at another index than that of the loops. A scan of a scan steps in the same iteration, after
//! it. Jammed rows have their own states, so the processor steps one row while another waits for its last step.

use ir::graph::Node;

use super::Nest;
use crate::loops::Walk;
use crate::states::States;

impl Nest<'_> {
    /// Opens the states of scans, walks the scanned axis around what `body` emits, and steps before it in each iteration.
    pub fn run_scans(&mut self, scans: &[Node], walk: impl FnOnce(&mut Self), body: impl FnOnce(&mut Self)) {
        let group = self.emitter.group;
        let mut running = Vec::with_capacity(scans.len());
        for &scan in scans {
            let (states, mut rows) = (States::of(group.graph, scan), Vec::new());
            self.each_row(|nest| rows.push(nest.emitter.open_accumulators(states.total_identity())));
            running.push((scan, states, rows));
        }
        walk(self);
        for (scan, states, rows) in running {
            let mut rows = rows.iter();
            self.each_row(|nest| {
                let accumulators = rows.next().expect("each row has its own");
                let element = nest.element(scan);
                let new = states.advance(&mut nest.emitter, accumulators, &element);
                let results = states.finish(&mut nest.emitter, &new);
                nest.know(scan, group.witness.space.axes_of(scan.into()), &results);
            });
        }
        body(self);
    }
}
