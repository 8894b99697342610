//! The search for a segmentation and its lower bound, compared with all possible segmentations of small random definitions,
//! in seconds of the cost model.
//!
//! `draw` (the definitions) · `oracle` (all segmentations).

mod draw;
mod oracle;

use scheduler::hints::Hints;
use segmenter::{Constraints, Legality, SearchProblem, greedy, optimum, search};
use target::Target;

use crate::random::Draws;
use oracle::Oracle;

/// Rounding of sums of seconds.
const ROUNDING: f64 = 1e-9;

/// Nodes of segments that branch and bound may look at.
const STEPS_OF_ALL: usize = 1 << 15;

/// The comparison over many definitions.
#[derive(Default, Debug)]
pub struct Tally {
    /// How many were compared.
    pub graphs: usize,
    /// For how many one kernel is best.
    pub of_one_kernel: usize,
    /// For how many the search found the best segmentation.
    pub found: usize,
    /// For how many the bound equals the best segmentation's time.
    pub proved: usize,
    /// For how many branch and bound considers all segmentations that may be faster than twice the best.
    pub exhausted: usize,
    /// The others, the worst ratio first.
    pub missed: Vec<Miss>,
}

/// A definition for which the search did not find the best segmentation.
#[derive(Debug)]
pub struct Miss {
    /// The time of the found segmentation divided by that of the best.
    pub ratio: f64,
    /// The definition, with both segmentations.
    pub text: String,
}

impl Tally {
    /// The tally of the definitions of the first `seeds` seeds that have at most `values` values.
    ///
    /// # Panics
    /// When a bound is above the value that it bounds.
    pub fn of(seeds: u64, values: usize) -> Tally {
        let mut tally = Tally::default();
        (0..seeds).for_each(|seed| tally.add(seed, values));
        tally.missed.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
        tally
    }

    /// The worst ratio of a found segmentation's time to the best time.
    pub fn worst(&self) -> f64 {
        self.missed.first().map_or(1.0, |miss| miss.ratio)
    }

    /// Compares the search for the definition of a seed.
    fn add(&mut self, seed: u64, values: usize) {
        let text = draw::definition(&mut Draws::new(seed), 3 + (seed % 3) as usize);
        let definition =
            frontend::text::parse(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}")).definition;
        let (graph, fusion) = (&definition.graph, &definition.fusion);
        let (target, hints, legality) = (Target::cpu(512), Hints::default(), Legality::default());
        let oracle = Oracle { graph, fusion, target: &target, hints: &hints, legality: &legality };
        if !(3..=values).contains(&oracle.keepable().len()) {
            return;
        }
        if seed.is_multiple_of(4) {
            // Blocks with little scratch, so that kernels read their inputs again.
            let target = Target { block_bytes: 16 << 10, strip: 64, ..target.clone() };
            let oracle = Oracle { target: &target, ..oracle };
            oracle.check_bound(&text, &oracle.best().expect("there is one"));
        }
        let (constraints, merged) = (Constraints::default(), greedy(graph, fusion, &definition.tasks));
        let (constraints, legality, hints, target) = (&constraints, &legality, &hints, &target);
        let problem = SearchProblem { graph, fusion, constraints, legality, hints, target };
        let found = search(problem, merged).segmentation;
        let Some(seconds) = oracle.seconds(&found) else { return };
        let best = oracle.best().expect("one was found");
        let bound = oracle.check_bound(&text, &best);
        assert!(best.seconds <= seconds * (1.0 + ROUNDING), "better than the best of\n{text}");
        let all = optimum(problem, 2.0 * best.seconds, STEPS_OF_ALL).filter(|all| all.is_proved);
        if let Some(all) = all {
            let is_best = (all.seconds - best.seconds).abs() <= best.seconds * ROUNDING;
            assert!(is_best, "{} instead of {} for\n{text}", all.seconds, best.seconds);
            self.exhausted += 1;
        }
        self.graphs += 1;
        self.of_one_kernel += usize::from(best.segmentation.segments.len() == 1);
        self.proved += usize::from(bound >= best.seconds * (1.0 - ROUNDING));
        if seconds <= best.seconds * (1.0 + ROUNDING) {
            self.found += 1;
            return;
        }
        let both = [&found, &best.segmentation].map(|segmentation| &segmentation.segments);
        let text = format!("{text}found {:?}\nbest {:?}", both[0], both[1]);
        self.missed.push(Miss { ratio: seconds / best.seconds, text });
    }
}
