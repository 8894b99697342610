//! A random schedule that fits a witness: drawn freely, and drawn again until the check accepts it.

use compiler::Witness;
use ferrofuse::Schedule;

use super::Draws;

/// How often a schedule is drawn before the plainest one is taken.
const TRIES: usize = 30;

/// A random schedule.
pub fn schedule(witness: &Witness, draws: &mut Draws) -> Schedule {
    let drawn = (0..TRIES).map(|_| Schedule::draw(witness, draws)).find(|drawn| drawn.check(witness).is_ok());
    drawn.unwrap_or_else(|| Schedule::plain(witness))
}
