//! Random connected parts of definitions, 10,000 of each file: `cargo run --release --package ferrofuse-testing --example parts
//! -- FILE…`, and how long legality takes for one of 100 ops. The corpus is written by `cd bench; python3 -m corpus FOLDER`.

use std::fs;
use std::time::Instant;

use compiler::Plan;
use ferrofuse_testing::parts::{PartTally, planned, views};
use segmenter::Legality;

/// Parts of each definition.
const PARTS: usize = 10_000;

/// Parts whose legality is timed, the ops of each, and how often each is asked about.
const TIMED: usize = 200;
const OPS: usize = 100;
const ROUNDS: usize = 10;

/// Microseconds that legality takes for a part of a plan's definition: the best of several for each, the mean of all. No part
/// was asked about before; what those of a definition have in common is found for the first.
fn microseconds(plan: &Plan) -> f64 {
    let views = views(plan, TIMED, OPS, 0);
    let mut best = vec![f64::INFINITY; views.len()];
    for _ in 0..ROUNDS {
        let legality = Legality::default();
        for (best, view) in best.iter_mut().zip(&views) {
            let begin = Instant::now();
            legality.of(&plan.graph, view);
            *best = best.min(begin.elapsed().as_secs_f64());
        }
    }
    1e6 * best.iter().sum::<f64>() / views.len() as f64
}

fn main() {
    for path in std::env::args().skip(1) {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let plan = planned(&path, &text);
        println!("{path}: {:?}, {:.0} us each", PartTally::of(&plan, PARTS, 0), microseconds(&plan));
    }
}
