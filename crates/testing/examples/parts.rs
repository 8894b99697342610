//! Random connected parts of definitions, 10,000 of each file: `cargo run --release --package ferrofuse-testing --example parts
//! -- FILE…`, and how long legality takes for one of 100 ops. The corpus is written by `cd bench; python3 -m corpus FOLDER`.

use std::fs;

use compiler::layout::LayoutClass;
use compiler::target::Target;
use compiler::{Hints, PlanOptions, plan};
use ferrofuse_testing::parts::PartTally;
use ferrofuse_testing::questions::microseconds;

/// Parts of each definition.
const PARTS: usize = 10_000;

fn main() {
    for path in std::env::args().skip(1) {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let parsed = frontend::text::parse(&text).unwrap_or_else(|error| panic!("{path}: {error:?}"));
        let (graph, fusion) = (&parsed.definition.graph, &parsed.definition.fusion);
        let layouts = vec![LayoutClass::Dense; fusion.inputs().len()];
        let options = PlanOptions { tasks: parsed.definition.tasks.clone(), ..PlanOptions::default() };
        let plan = plan(graph, fusion, &layouts, &Target::cpu(512), &Hints::default(), &options)
            .unwrap_or_else(|error| panic!("{path}: {error}"));
        println!("{path}: {:?}, {:.0} us a question", PartTally::of(&plan, PARTS, 0), microseconds(&plan));
    }
}
