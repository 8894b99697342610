//! The differences between two explanations: of two definitions, segmentations or versions of the compiler.
//!
//! Segments are matched by the tensors that they write. A fact that one version does not report yet is not compared, but
//! named.

use std::time::Duration;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::{Explanation, SegmentExplanation};
use crate::table;

/// The differences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Totals that differ.
    pub totals: Vec<Changed>,
    /// Facts that differ of segments that write the same tensors.
    pub segments: Vec<Changed>,
    /// The tensors written by segments that only the first has.
    pub only_first: Vec<String>,
    /// The tensors written by segments that only the second has.
    pub only_second: Vec<String>,
    /// Facts that one of the two does not report, so that they are not compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsaid: Vec<String>,
}

/// A fact that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changed {
    /// The name of the fact.
    pub what: String,
    /// Its value in the first.
    pub first: String,
    /// Its value in the second.
    pub second: String,
}

/// The differences between two explanations.
pub fn difference(first: &Explanation, second: &Explanation) -> Difference {
    let by_outputs = |explanation: &Explanation| -> FxHashMap<String, SegmentExplanation> {
        explanation.segments.iter().map(|segment| (written(segment), segment.clone())).collect()
    };
    let [ours, theirs] = [first, second].map(by_outputs);
    let only = |explanation: &Explanation, other: &FxHashMap<String, SegmentExplanation>| {
        explanation.segments.iter().map(written).filter(|name| !other.contains_key(name)).collect()
    };
    let both = first.segments.iter().filter_map(|segment| Some((segment, theirs.get(&written(segment))?)));
    let segments = both.flat_map(|(segment, other)| {
        changes(&written(segment), segment_facts(segment), segment_facts(other))
    });
    Difference {
        totals: changes("", totals(first), totals(second)),
        segments: segments.collect(),
        only_first: only(first, &theirs),
        only_second: only(second, &ours),
        unsaid: Vec::new(),
    }
}

impl Difference {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.totals.is_empty()
            && self.segments.is_empty()
            && self.only_first.is_empty()
            && self.only_second.is_empty()
    }

    /// The same without the facts `unsaid`, which one of the two does not report because it is from an earlier version.
    pub fn without(mut self, unsaid: &[&str]) -> Difference {
        let is_said = |changed: &Changed| {
            let fact = changed.what.rsplit(": ").next().unwrap_or_default();
            !unsaid.contains(&fact)
        };
        self.totals.retain(is_said);
        self.segments.retain(is_said);
        self.unsaid.extend(unsaid.iter().map(|&fact| fact.to_owned()));
        self.unsaid.sort_unstable();
        self.unsaid.dedup();
        self
    }

    /// Readable lines, which call the two `first` and `second`.
    pub fn lines(&self, first: &str, second: &str) -> String {
        let unsaid = match self.unsaid.is_empty() {
            true => String::new(),
            false => {
                format!("not compared, as an earlier version does not say it: {}\n", self.unsaid.join(", "))
            }
        };
        if self.is_empty() {
            return format!("no difference\n{unsaid}");
        }
        let heading = ["", first, second].map(str::to_owned).to_vec();
        let row =
            |changed: &Changed| vec![changed.what.clone(), changed.first.clone(), changed.second.clone()];
        let rows: Vec<Vec<String>> =
            std::iter::once(heading).chain(self.totals.iter().chain(&self.segments).map(row)).collect();
        let only = |name: &str, made: &[String]| -> String {
            made.iter().map(|made| format!("only in {name}: a segment that writes {made}\n")).collect()
        };
        format!(
            "{}{}{}{unsaid}",
            table::columns(&rows),
            only(first, &self.only_first),
            only(second, &self.only_second)
        )
    }
}

type Fact = (&'static str, String);

fn written(segment: &SegmentExplanation) -> String {
    segment.outputs.iter().map(|tensor| tensor.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn totals(explanation: &Explanation) -> Vec<Fact> {
    vec![
        ("segments", explanation.segments.len().to_string()),
        ("moved", table::bytes(explanation.bytes)),
        ("compulsory", table::bytes(explanation.compulsory_bytes)),
        ("traffic ratio", format!("{:.3}", explanation.traffic_ratio)),
        ("peak memory", table::bytes(explanation.peak_bytes)),
        ("model's time", table::time(Duration::from_secs_f64(explanation.cost_us() / 1e6))),
    ]
}

fn segment_facts(segment: &SegmentExplanation) -> Vec<Fact> {
    let names = |names: &mut dyn Iterator<Item = &String>| {
        let names: Vec<&str> = names.map(String::as_str).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    };
    vec![
        ("ops", segment.ops.to_string()),
        ("reads", names(&mut segment.inputs.iter().map(|tensor| &tensor.name))),
        ("computes again", names(&mut segment.recomputed.iter())),
        ("moves", table::bytes(segment.bytes)),
        ("sweeps", segment.passes.to_string()),
        ("runs as", super::table::runs_as(segment)),
        ("schedule", segment.schedule.clone().unwrap_or_default().trim().replace('\n', "; ")),
    ]
}

fn changes(of: &str, first: Vec<Fact>, second: Vec<Fact>) -> Vec<Changed> {
    let what = |name: &str| if of.is_empty() { name.to_owned() } else { format!("{of}: {name}") };
    let pairs = first.into_iter().zip(second).filter(|(first, second)| first != second);
    pairs.map(|((name, first), (_, second))| Changed { what: what(name), first, second }).collect()
}
