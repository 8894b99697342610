//! Lambdas that equal the moments monoid: for two runs of elements they combine the means, the sums of squared deviations
//! from them and the counts like Chan, Golub and LeVeque (1983, Algorithms for computing the sample variance).
//!
//! The body is evaluated on rational functions of the states, whose normal form shows whether the results are equal. So the
//! form of the body does not matter: factored or not, weighted means or an update, guards for empty runs or none. `ratio.rs`
//! has the functions, `terms.rs` the steps. The result for two empty runs is not checked, as there may be a quotient of
//! zeros.

mod ratio;
mod terms;

use index::{Expr, Sym};

use crate::{Body, DType, Lambda};
use ratio::{Known, Ratio};
use terms::{Term, Terms};

/// Which state of a lambda is which moment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MomentStates {
    /// The mean of the elements.
    pub mean: usize,
    /// The sum of their squared deviations from it.
    pub squares: usize,
    /// How many elements there are.
    pub count: usize,
}

/// The orders of three states.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// The states of a lambda that combines moments, beginning with none.
pub fn moments(lambda: &Lambda) -> Option<MomentStates> {
    let (body, init) = (lambda.body(), lambda.identity());
    let begins_empty = init.len() == 3 && init.iter().all(|scalar| scalar.as_f64() == 0.0);
    let orders = ORDERS.iter().filter(|_| begins_empty);
    orders
        .map(|&[mean, squares, count]| MomentStates { mean, squares, count })
        .find(|states| states.are_of(body))
}

impl MomentStates {
    /// Whether a body combines these states.
    fn are_of(&self, body: &Body) -> bool {
        let [mean, squares, count] = [self.mean, self.squares, self.count].map(|state| body.params()[state]);
        let is_real = |dtype| matches!(dtype, DType::F32 | DType::F64);
        let fit = is_real(mean) && mean == squares && (is_real(count) || count.holds_sizes());
        let runs = [[true, true], [true, false], [false, true]];
        fit && runs.into_iter().all(|has_elements| self.are_combined(body, has_elements))
    }

    /// Whether a body combines them for two runs that have elements, or have none.
    fn are_combined(&self, body: &Body, has_elements: [bool; 2]) -> bool {
        let sym = |run: usize, moment: usize| Sym::from_u32((3 * run + moment) as u32);
        let runs = [0, 1].map(|run| {
            [0, 1, 2].map(|moment| if has_elements[run] { Expr::sym(sym(run, moment)) } else { Expr::zero() })
        });
        let known = Known::of([sym(0, 2), sym(1, 2)]);
        let Some(combined) = combined(&runs, &known) else { return false };
        let dtypes = body.params();
        let mut params = vec![Term::Other; 6];
        for (run, moments) in runs.into_iter().enumerate() {
            for (state, moment) in [self.mean, self.squares, self.count].into_iter().zip(moments) {
                let term = if dtypes[state].is_int() { Term::Integer } else { Term::Real };
                params[3 * run + state] = term(Ratio::of_state(moment, state == self.count));
            }
        }
        let results = body.eval(&mut Terms { dtype: dtypes[self.mean], known }, &params);
        let states = [self.mean, self.squares, self.count].into_iter();
        states.zip(&combined).all(|(state, moment)| results[state].is(moment))
    }
}

/// Mean, squared deviations and count of two runs together.
fn combined(runs: &[[Expr; 3]; 2], known: &Known) -> Option<[Ratio; 3]> {
    let [[mean_a, squares_a, count_a], [mean_b, squares_b, count_b]] = runs;
    let ratio = |numerator: Expr| Ratio::of_state(numerator, false);
    let count = ratio(count_a + count_b);
    let share = count.reciprocal(known)?;
    let total = ratio(count_a * mean_a + count_b * mean_b);
    let apart = mean_b - mean_a;
    let between = ratio(&apart * &apart * count_a * count_b).times(&share);
    Some([total.times(&share), ratio(squares_a + squares_b).plus(&between), count])
}
