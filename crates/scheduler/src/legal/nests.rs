//! The loop nests of a kernel, each with the values that it asks for, and their code size where no index map is among them:
//! then a nest computes each value at most once, and one walk over a group counts for all its nests.

use ir::graph::{Fusion, Graph, Val};
use smallvec::SmallVec;

use super::code::Weights;
use super::witness::{Fold, Store, When};
use space::{Axis, Source, Space};

/// A set of nests, each a bit.
type NestSet = u64;

/// A stage and the axes that are walked, ascending.
type NestKey = (u32, SmallVec<[Axis; 4]>);

/// The loop nests of a kernel.
pub(super) struct Nests {
    nests: Vec<(NestKey, SmallVec<[Val; 4]>)>,
}

impl Nests {
    /// The loop nests of a group: one for each stage and for each set of axes.
    pub fn of(graph: &Graph, folds: &[Fold], stores: &[Store]) -> Nests {
        let mut nests = Nests { nests: Vec::new() };
        for fold in folds {
            nests.ask(fold.stage, fold.domain(), &graph.node(fold.node).operands);
        }
        for store in stores {
            let stage = match store.when {
                When::Stage(stage) => stage,
                When::After(_) => u32::MAX,
            };
            nests.ask(stage, store.domain(), &[store.val]);
        }
        nests.nests.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        nests
    }

    fn ask(&mut self, stage: u32, axes: impl Iterator<Item = Axis>, vals: &[Val]) {
        let mut key: NestKey = (stage, axes.collect());
        key.1.sort_unstable();
        match self.nests.iter_mut().find(|(known, _)| *known == key) {
            Some((_, roots)) => roots.extend_from_slice(vals),
            None => self.nests.push((key, SmallVec::from_slice(vals))),
        }
    }

    /// What each nest asks for, the first stage first.
    pub fn roots(&self) -> impl Iterator<Item = &[Val]> {
        self.nests.iter().map(|(_, roots)| &roots[..])
    }

    /// What all nests count as together; `None` where index maps may ask for a value several times.
    pub fn without_index_maps(
        &self,
        graph: &Graph,
        view: &Fusion,
        space: &Space,
        weights: &Weights<'_>,
    ) -> Option<u64> {
        if space.has_index_maps() || self.nests.len() > NestSet::BITS as usize {
            return None;
        }
        let mut asked = Asked::none(view);
        for (number, roots) in self.roots().enumerate() {
            for &val in roots {
                let input = view.input_place(val).map(|place| Source::Input(place as u32));
                let maker = || space.position(val.node).map(|position| Source::Maker(position as u32));
                asked.add(input.or_else(maker).expect("a value of the group"), 1 << number);
            }
        }
        let mut sum = 0_u64;
        // Users come after their operands, so all nests of the last node are known.
        for position in (0..view.order().len()).rev() {
            let nests = asked.nodes[position];
            let node = view.order()[position];
            let data = graph.node(node);
            if nests == 0 || data.op.is_fold() {
                continue;
            }
            sum = sum.saturating_add((weights.node)(node).saturating_mul(nests.count_ones().into()));
            (0..data.operands.len()).for_each(|k| asked.add(space.source(position, k), nests));
        }
        let loads: u32 = asked.inputs.iter().map(|nests| nests.count_ones()).sum();
        Some(sum.saturating_add(weights.access.saturating_mul(loads.into())))
    }
}

/// The nests that ask for each value.
struct Asked {
    /// Of the nodes of the group, by position.
    nodes: Vec<NestSet>,
    /// Of its inputs.
    inputs: Vec<NestSet>,
}

impl Asked {
    fn none(view: &Fusion) -> Asked {
        Asked { nodes: vec![0; view.order().len()], inputs: vec![0; view.inputs().len()] }
    }

    /// Notes that nests ask for a value from this source.
    fn add(&mut self, source: Source, nests: NestSet) {
        match source {
            Source::Maker(position) => self.nodes[position as usize] |= nests,
            Source::Input(place) => self.inputs[place as usize] |= nests,
        }
    }
}
