//! Reuse distances: bytes that a call touches from the launch that writes a buffer to the next step that reads it, or to the
//! end of the call (Mattson, Gecsei, Slutz and Traiger 1970, with bytes in place of distinct pages). A buffer with a
//! distance longer than a cache is no longer there when it is read.

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

use crate::{ExecutionPlan, Slot, Step};

/// For each kernel the distance of each of its buffers, in the kernel's order: the shortest of its members'. For buffers
/// that it only reads, the distance to the next step that reads them too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReuseDistances(Vec<SmallVec<[u64; 8]>>);

impl ReuseDistances {
    /// The distances in a plan where `bytes` gives the size of each slot.
    pub fn new(plan: &ExecutionPlan, bytes: impl Fn(Slot) -> u64) -> ReuseDistances {
        let end: u64 = plan.steps.iter().map(|step| touched(step, &bytes)).fold(0, u64::saturating_add);
        let mut read_at: SecondaryMap<Slot, u64> = SecondaryMap::with_default(end);
        let (mut begin, mut distances) = (end, vec![SmallVec::new(); plan.kernels.len()]);
        for step in plan.steps.iter().rev() {
            begin = begin.saturating_sub(touched(step, &bytes));
            if let Step::Launch(launch) = step {
                let places = 0..plan.kernels[launch.kernel].buffers.len();
                let shortest = |place: usize| {
                    launch
                        .members
                        .iter()
                        .map(|member| read_at[member.buffers[place]] - begin)
                        .min()
                        .unwrap_or(0)
                };
                distances[launch.kernel] = places.map(shortest).collect();
            }
            plan.read_by(step).into_iter().for_each(|slot| read_at[slot] = begin);
        }
        ReuseDistances(distances)
    }

    /// The distances of the buffers of a kernel.
    pub fn of(&self, kernel: usize) -> &[u64] {
        &self.0[kernel]
    }
}

/// Bytes that a step reads and writes.
fn touched(step: &Step, bytes: &impl Fn(Slot) -> u64) -> u64 {
    match step {
        Step::Allocate(_) | Step::InitFaults(_) | Step::Free(_) => 0,
        step => step.slots().into_iter().map(bytes).fold(0, u64::saturating_add),
    }
}
