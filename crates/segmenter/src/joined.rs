//! Two segments as one. The search asks legality of it, and so does who explains their boundary: the reason is still there.

use ir::graph::{Fusion, Graph, Val};

use super::segmentation::segment_view;

/// Two segments as one.
pub struct Joined {
    /// What it makes: what others read, or the fusion gives back.
    pub made: Vec<Val>,
    /// What only the two read, so that it is no longer kept.
    pub dropped: Vec<Val>,
    pub view: Fusion,
}

impl Joined {
    /// Of two segments of a fusion, where so many segments read a value.
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
