//! How long legality takes to say whether a group can be one kernel: random connected groups of 100 ops of generated chains.

use std::fmt::Write;
use std::time::Instant;

use compiler::layout::LayoutClass;
use compiler::segment::Legality;
use compiler::target::Target;
use compiler::{Hints, Plan, PlanOptions, plan};

use crate::parts::views;
use crate::random::Draws;

/// Groups that are asked about, and how often all of them are.
const GROUPS: usize = 200;
const ROUNDS: usize = 10;

/// Ops of a group, and of the definition that it is part of.
const OPS: usize = 100;
const OPS_OF_DEFINITION: usize = 200;

/// What is asked about groups of a chain.
#[derive(Clone, Copy, Debug)]
pub struct Questions {
    /// What the chain is made of.
    pub chain: &'static str,
    /// Groups that were asked about.
    pub groups: usize,
    /// Ops of each.
    pub ops: usize,
    /// Microseconds of a question, the best of several times for each group, the mean of all. No group was asked about before;
    /// what the groups of a definition have in common is found in the first question.
    pub us: f64,
}

/// Asks about groups of each chain.
pub fn ask_all() -> Vec<Questions> {
    let chains =
        [("elementwise", 0, 0), ("rows", 12, 0), ("rows and columns", 25, 25), ("scans and shifts", 8, 50)];
    chains.into_iter().map(|(chain, every, other)| ask(chain, &definition(every, other))).collect()
}

/// Asks about groups of a definition.
fn ask(chain: &'static str, text: &str) -> Questions {
    let parsed = frontend::text::parse(text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let (graph, fusion) = (&parsed.definition.graph, &parsed.definition.fusion);
    let layouts = vec![LayoutClass::Dense; fusion.inputs().len()];
    let (target, hints, options) = (Target::cpu(512), Hints::default(), PlanOptions::default());
    let plan = plan(graph, fusion, &layouts, &target, &hints, &options).expect("no choices, no errors");
    Questions { chain, groups: GROUPS, ops: OPS, us: microseconds(&plan) }
}

/// Microseconds of a question about a part of a plan's definition.
pub fn microseconds(plan: &Plan) -> f64 {
    let views = views(plan, GROUPS, OPS, 0);
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

/// The text of a chain over recent values. Each so many ops one is a mean of rows, or another op that comes less often.
fn definition(every: usize, other: usize) -> String {
    let mut draws = Draws::new(1);
    let mut text = "def chain(fd):\n    x0 = fd.define_tensor(shape=[-1, -1], contiguity=True)\n".to_owned();
    text += "    x1 = fd.define_tensor(shape=[-1, -1], contiguity=True)\n";
    let is_time = |number: usize, every: usize| every > 0 && number.is_multiple_of(every);
    for number in 2..OPS_OF_DEFINITION {
        let [x, y] = [0, 1].map(|_| number - 1 - draws.below(number.min(4)));
        let value = match () {
            () if is_time(number, other) && every == other => centered(x, 0),
            () if is_time(number, other) => format!("fd.ops.pad(fd.ops.cumsum(x{x}, 0), [1, -1], 0.0)"),
            () if is_time(number + 1, every) => centered(x, 1),
            () if draws.percent(40) => {
                format!("fd.ops.{}(x{x})", draws.one_of(&["neg", "tanh", "relu", "sin"]))
            }
            () => format!("fd.ops.{}(x{x}, x{y})", draws.one_of(&["add", "sub", "mul", "maximum"])),
        };
        writeln!(text, "    x{number} = {value}").expect("text has room");
    }
    text + &format!("    fd.add_output(x{})\n", OPS_OF_DEFINITION - 1)
}

/// Minus the mean along an axis.
fn centered(x: usize, axis: usize) -> String {
    format!("fd.ops.sub(x{x}, fd.ops.mean(x{x}, dims=[{axis}], keepdim=True))")
}
