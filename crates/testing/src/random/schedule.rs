//! A random valid schedule: drawn freely, and drawn again until the check accepts it.

use ferrofuse::Schedule;
use scheduler::legal::Witness;

use super::Draws;

/// How often a schedule is drawn before the simplest one is taken.
const TRIES: usize = 30;

/// A random schedule among those that the machine can run.
pub fn schedule(witness: &Witness, draws: &mut Draws, can_run: impl Fn(&Schedule) -> bool) -> Schedule {
    let fits = |drawn: &Schedule| drawn.check(witness).is_ok() && can_run(drawn);
    let drawn = (0..TRIES).map(|_| Schedule::draw(witness, draws)).find(fits);
    drawn.unwrap_or_else(|| Schedule::plain(witness))
}

#[cfg(test)]
mod tests {
    use compiler::PlanRequest;
    use ferrofuse::{Decision, Hints, LayoutClass, PlanOptions};
    use target::Target;

    use super::*;

    /// For a softmax: every schedule prints and parses, and some spread their lanes over each possible cluster.
    #[test]
    fn all_clusters_are_drawn() {
        let source = include_str!("../../../../examples/softmax.py");
        let definition = frontend::text::parse(source).expect("an example").definition;
        let (graph, fusion) = (&definition.graph, &definition.fusion);
        let layouts = vec![LayoutClass::Dense; fusion.inputs().len()];
        let (hints, options) = (Hints::default(), PlanOptions::default());
        let plan = compiler::plan(PlanRequest {
            graph,
            fusion,
            tasks: &definition.tasks,
            layouts: &layouts,
            target: &Target::cuda(),
            hints: &hints,
            options: &options,
        })
        .expect("a plan");
        let Decision::Kernels(kernels) = &plan.segments[0].decision else { panic!("it has a kernel") };
        let mut drawn = [0; 9];
        for seed in 0..1000 {
            let schedule = schedule(&kernels.witness, &mut Draws::new(seed), |_| true);
            assert_eq!(scheduler::schedule::parse(&schedule.to_string()).as_ref(), Ok(&schedule));
            drawn[schedule.cluster as usize] += 1;
        }
        assert!([2, 4, 8].iter().all(|&blocks| drawn[blocks] > 5), "{drawn:?}");
    }
}
