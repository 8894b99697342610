//! Two segments as one. The search asks legality about the result; `explain` asks again, to report why two segments were not
//! joined.

use ir::graph::{Fusion, Graph, Val};

use super::segmentation::segment_view;

/// Two segments as one.
#[derive(Debug)]
pub struct Joined {
    /// The values that it makes: those that others read, and outputs of the fusion.
    pub made: Vec<Val>,
    /// The values that only the two read, so that they are no longer kept.
    pub dropped: Vec<Val>,
    pub view: Fusion,
}

impl Joined {
    /// Of two segments of a fusion; `readers` counts the segments that read a value.
    pub fn of(graph: &Graph, fusion: &Fusion, pair: [&Fusion; 2], readers: impl Fn(Val) -> usize) -> Joined {
        let is_read = |&val: &Val| {
            let own = pair.iter().filter(|view| view.is_input(val)).count();
            fusion.is_output(val) || readers(val) > own
        };
        let made = pair.iter().flat_map(|view| view.outputs()).map(|output| output.val);
        let (mut made, dropped): (Vec<Val>, Vec<Val>) = made.partition(is_read);
        made.sort_unstable();
        let is_kept = |val: Val| pair.iter().any(|view| view.is_input(val)) && !dropped.contains(&val);
        let view = segment_view(graph, fusion, &made, is_kept);
        Joined { made, dropped, view }
    }
}
