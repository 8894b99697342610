//! `ferrofuse bench`: a row has every field, and an unknown workload is named. Nothing here asserts a speed.

use super::{ferrofuse, fine};

#[test]
fn a_row_has_every_field() {
    let text = fine("bench rope_bf16 --json");
    let row: serde_json::Value = serde_json::from_str(text.trim()).expect("one object a line");
    for field in [
        "ms",
        "gbps",
        "fraction",
        "copy_gbps",
        "kernels",
        "traffic_ratio",
        "compile_ms",
        "first_call_ms",
        "call_us",
    ] {
        assert!(row[field].as_f64().is_some_and(|number| number > 0.0), "{field}: {row}");
    }
    assert_eq!((&row["workload"], &row["device"]), (&"rope_bf16".into(), &"cpu".into()));
    assert_eq!((row["rows"].as_i64(), row["columns"].as_i64()), (Some(32 * 1024), Some(128)));
}

#[test]
fn an_unknown_workload_is_the_users_mistake() {
    let ended = ferrofuse(["bench", "sum_sideways"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("there is no workload `sum_sideways`"), "{}", ended.stderr);
    assert!(ended.stderr.contains("sum_inner_f32"), "{}", ended.stderr);
}
