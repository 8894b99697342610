//! The output of `explain --json` by this version or an earlier one, which did not report all that this one does.

use std::path::Path;
use std::{fmt, fs};

use ferrofuse::Explanation;
use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// A field that earlier versions did not write.
struct Later {
    key: &'static str,
    /// Its substitute value, which is not compared.
    stand_in: fn() -> Value,
    /// Its name in differences, if they report it.
    fact: Option<&'static str>,
}

/// Fields of an explanation.
const OF_ALL: &[Later] = &[Later { key: "peak_bytes", stand_in: || json!(0), fact: Some("peak memory") }];
const OF_SEGMENTS: &[Later] = &[
    Later { key: "operations", stand_in: || json!([]), fact: None },
    Later { key: "saved", stand_in: || json!([]), fact: None },
    Later { key: "peak_bytes", stand_in: || json!(0), fact: None },
    Later {
        key: "cost_us",
        stand_in: || json!({"memory": 0.0, "computing": 0.0, "launch": 0.0}),
        fact: Some("model's time"),
    },
    Later { key: "bytes", stand_in: || json!(0), fact: Some("moves") },
    Later { key: "bytes_formula", stand_in: || json!(""), fact: None },
];

/// More than the time of any plan.
const MAX_MICROSECONDS: f64 = 1e18;

/// An explanation, and the facts that it lacks.
pub struct SavedExplanation {
    pub explanation: Explanation,
    /// The names of these in differences.
    pub unsaid: Vec<&'static str>,
}

impl SavedExplanation {
    /// Reads a file.
    ///
    /// # Errors
    /// For a file that cannot be read, and for one that no version printed.
    pub fn read(path: &Path) -> Result<SavedExplanation, Failure> {
        let text = fs::read_to_string(path).map_err(|error| Failure::of_file(path, &error))?;
        let no_explanation = |why: &dyn fmt::Display| {
            let message = format!("{}: not a saved explanation: {why}", path.display());
            Failure::user_with_help(message, "`ferrofuse explain FILE --json` prints one")
        };
        let mut value: Value = serde_json::from_str(&text).map_err(|error| no_explanation(&error))?;
        if !value.get("segments").is_some_and(Value::is_array) {
            return Err(no_explanation(&"it has no list of segments"));
        }
        if let Some(place) = wrong_time(&value) {
            return Err(Failure::user(format!("{}: {place} is no time in microseconds", path.display())));
        }
        let unsaid = complete(&mut value);
        let explanation = serde_json::from_value(value).map_err(|error| no_explanation(&error))?;
        Ok(SavedExplanation { explanation, unsaid })
    }
}

/// The path of a time that is negative or too long.
fn wrong_time(value: &Value) -> Option<String> {
    let is_wrong = |time: &Value| time.as_f64().is_some_and(|time| !(0.0..MAX_MICROSECONDS).contains(&time));
    let wrong = |key: &&str| value.get(*key).is_some_and(is_wrong);
    let of_all = ["cost_us", "lower_bound_us"].iter().copied().find(wrong).map(str::to_owned);
    let segments = value.get("segments").and_then(Value::as_array).into_iter().flatten().enumerate();
    let mut of_segments = segments.filter_map(|(number, segment)| {
        let times = segment.get("cost_us")?.as_object()?;
        let (term, _) = times.iter().find(|(_, time)| is_wrong(time))?;
        Some(format!("segments[{number}].cost_us.{term}"))
    });
    of_all.or_else(|| of_segments.next())
}

/// Fills in the fields that earlier versions did not write; returns their facts.
fn complete(value: &mut Value) -> Vec<&'static str> {
    let mut unsaid = value.as_object_mut().map(|object| fill(object, OF_ALL)).unwrap_or_default();
    let segments = value.get_mut("segments").and_then(Value::as_array_mut).into_iter().flatten();
    for segment in segments.filter_map(Value::as_object_mut) {
        unsaid.extend(fill(segment, OF_SEGMENTS));
    }
    unsaid.sort_unstable();
    unsaid.dedup();
    unsaid
}

fn fill(object: &mut Map<String, Value>, fields: &[Later]) -> Vec<&'static str> {
    let missing = fields.iter().filter(|field| !object.contains_key(field.key)).collect::<Vec<_>>();
    for field in &missing {
        object.insert(field.key.to_owned(), (field.stand_in)());
    }
    missing.into_iter().filter_map(|field| field.fact).collect()
}
