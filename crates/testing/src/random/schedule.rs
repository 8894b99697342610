//! A random schedule that fits a witness: drawn freely, and drawn again until the check accepts it.

use compiler::Witness;
use ferrofuse::Schedule;

use super::Draws;

/// How often a schedule is drawn before the plainest one is taken.
const TRIES: usize = 30;

/// A random schedule, of those that the machine can run.
pub fn schedule(witness: &Witness, draws: &mut Draws, can_run: impl Fn(&Schedule) -> bool) -> Schedule {
    let fits = |drawn: &Schedule| drawn.check(witness).is_ok() && can_run(drawn);
    let drawn = (0..TRIES).map(|_| Schedule::draw(witness, draws)).find(fits);
    drawn.unwrap_or_else(|| Schedule::plain(witness))
}
