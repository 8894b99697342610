//! What `explain --json` printed, by this version or an earlier one, which did not say all that this one does.

use std::fs;
use std::path::Path;

use ferrofuse::Explanation;
use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// A field that earlier versions did not write.
struct Later {
    key: &'static str,
    /// What stands for it; it is not compared.
    stand_in: fn() -> Value,
    /// What differences call it, if they tell of it.
    fact: Option<&'static str>,
}

/// Of an explanation, and of each of its segments.
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

/// An explanation, and what it does not say.
pub struct SavedExplanation {
    pub explanation: Explanation,
    /// As differences call it.
    pub unsaid: Vec<&'static str>,
}

impl SavedExplanation {
    /// Reads a file.
    ///
    /// # Errors
    /// For a file that cannot be read, and for one that no version prints.
    pub fn read(path: &Path) -> Result<SavedExplanation, Failure> {
        let failed = |error: &dyn std::error::Error| Failure::user(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
        let mut value: Value = serde_json::from_str(&text).map_err(|error| failed(&error))?;
        let unsaid = complete(&mut value);
        let explanation = serde_json::from_value(value).map_err(|error| failed(&error))?;
        Ok(SavedExplanation { explanation, unsaid })
    }
}

/// Fills in what earlier versions did not write; gives what that is.
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
