//! What checks covered: counts of executed kernels and compared elements, and how near results came to their bounds.

use ferrofuse::ArrayView;
use reference::evaluate::{Evaluated, Serial, compare};
use serde::{Deserialize, Serialize};

use super::failure::{Failure, Kind};

/// The counts of one check, or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Covered {
    /// Kernels that were run.
    pub kernels: usize,
    /// Kernels that the emulator ran, included in `kernels`.
    pub emulated: usize,
    /// Segments that the evaluator ran.
    pub evaluated: usize,
    /// Elements that were compared.
    pub elements: usize,
    /// Elements with an infinite bound, so that anything matches.
    pub unbounded: usize,
    /// The largest error divided by its bound.
    pub worst_ratio: f64,
}

impl Covered {
    /// This and another check together.
    pub fn add(&mut self, other: &Covered) {
        self.kernels += other.kernels;
        self.emulated += other.emulated;
        self.evaluated += other.evaluated;
        self.elements += other.elements;
        self.unbounded += other.unbounded;
        self.worst_ratio = self.worst_ratio.max(other.worst_ratio);
    }

    /// Compares an executor's output within its bound.
    pub(super) fn compare(
        &mut self,
        executor: &str,
        number: usize,
        expected: &Evaluated,
        actual: &ArrayView<'_>,
    ) -> Result<(), Failure> {
        let mismatch =
            |what: String| Failure::new(Kind::Mismatch, format!("{executor}, output {number}{what}"));
        let found = compare(expected, actual, &Serial).map_err(|error| mismatch(format!(": {error}")))?;
        self.elements += expected.value.numel();
        self.unbounded += unbounded(expected);
        if found.matches() {
            self.worst_ratio = self.worst_ratio.max(found.worst_ratio);
            return Ok(());
        }
        Err(mismatch(format!(
            " at {:?}: expected {:?}, got {:?}, {} times the bound; {} of {} elements are beyond it",
            found.at,
            found.expected.map(|scalar| scalar.to_string()),
            found.got.map(|scalar| scalar.to_string()),
            found.worst_ratio,
            found.mismatches,
            expected.value.numel()
        )))
    }
}

/// The number of elements that anything matches. A bound is an f32; a complex number has one for each part.
fn unbounded(expected: &Evaluated) -> usize {
    let Some(Ok(bound)) = expected.bound.as_ref().map(|bound| bound.view().to_array()) else { return 0 };
    let bytes = bound.as_bytes().chunks_exact(4);
    let bounds = bytes.map(|bytes| f32::from_ne_bytes(bytes.try_into().expect("four bytes")));
    bounds.filter(|bound| !bound.is_finite()).count()
}
