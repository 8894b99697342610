//! Segmentations to compare a plan with.

use std::str::FromStr;

use ir::definition::Definition;
use ir::layout::LayoutClass;
use segmenter::{greedy, unfused};

use crate::outputs::{computed, views};
use crate::plan::PlanOptions;

/// A segmentation to compare a plan with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Producers and consumers merged pair by pair, nothing computed twice to save bytes.
    Greedy,
    /// Each op by itself.
    Unfused,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Baseline; 2] = [Baseline::Greedy, Baseline::Unfused];

    /// As users write it.
    pub fn name(self) -> &'static str {
        match self {
            Baseline::Greedy => "greedy",
            Baseline::Unfused => "unfused",
        }
    }

    /// The options that plan a definition so, if its inputs have these layouts. Outputs that are views of inputs are left
    /// out, because they move no bytes in any plan, and there is no limit on memory.
    pub fn options(self, definition: &Definition, layouts: &[LayoutClass]) -> PlanOptions {
        let Definition { graph, fusion, tasks, .. } = definition;
        let made = computed(graph, fusion, &views(graph, fusion, layouts));
        let segmentation = match self {
            Baseline::Greedy => greedy(graph, &made, tasks),
            Baseline::Unfused => unfused(graph, &made, tasks),
        };
        PlanOptions { segmentation: Some(segmentation), ..PlanOptions::default() }
    }
}

impl FromStr for Baseline {
    type Err = String;

    fn from_str(name: &str) -> Result<Baseline, String> {
        let named = Baseline::ALL.into_iter().find(|baseline| baseline.name() == name);
        named.ok_or_else(|| format!("expected \"greedy\" or \"unfused\", given {name:?}"))
    }
}
