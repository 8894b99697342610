//! How a workload is cut: its segments, the bytes they move, and the expected cost, beside other ways to cut.

use std::sync::Arc;

use ferrofuse::{Baseline, CodeTarget, CompileOptions, Machine, Plan, PlanOptions, explain, table};
use serde::Serialize;
use testing::inputs::facts_of;

use super::cases::Case;
use crate::failure::Failure;

/// A workload's plan in numbers.
#[derive(Debug, Serialize)]
pub struct Row {
    name: &'static str,
    /// Operations of all segments.
    ops: usize,
    segments: usize,
    /// Bytes that all segments move.
    bytes: u64,
    /// Bytes that no plan can avoid.
    compulsory_bytes: u64,
    /// `bytes` divided by `compulsory_bytes`.
    traffic_ratio: f64,
    /// Microseconds that the cost model expects.
    cost_us: f64,
    /// The same where producers and consumers are merged pair by pair.
    greedy_cost_us: f64,
    /// The same where each operation is a segment.
    unfused_cost_us: f64,
}

/// Plans a case, for a machine that need not be this one.
pub fn plan(case: &Case, machine: &Arc<Machine>, target: CodeTarget) -> Result<Row, Failure> {
    let (file, specs) = case.read();
    let (hints, layouts) = facts_of(&file.definition, &specs);
    let planned = |plan: PlanOptions| {
        let options = CompileOptions {
            machine: Arc::clone(machine),
            hints: hints.clone(),
            plan,
            ..CompileOptions::default()
        };
        ferrofuse::plan_for(&file.definition, target, &options).map_err(Failure::machine)
    };
    let cost_us = |plan: &Plan| 1e6 * plan.seconds(&hints);
    let baseline_cost_us = |baseline: Baseline| {
        let plan = planned(baseline.options(&file.definition, &layouts))?;
        Ok::<f64, Failure>(cost_us(&plan))
    };
    let plan = planned(PlanOptions::default())?;
    let chosen = explain(&file.definition, &plan, &hints).map_err(Failure::user)?;
    Ok(Row {
        name: case.workload.id,
        ops: chosen.segments.iter().map(|segment| segment.ops).sum(),
        segments: chosen.segments.len(),
        bytes: chosen.bytes,
        compulsory_bytes: chosen.compulsory_bytes,
        traffic_ratio: chosen.traffic_ratio,
        cost_us: cost_us(&plan),
        greedy_cost_us: baseline_cost_us(Baseline::Greedy)?,
        unfused_cost_us: baseline_cost_us(Baseline::Unfused)?,
    })
}

/// The rows in readable form.
pub fn lines(rows: &[Row]) -> Vec<Vec<String>> {
    let header = ["workload", "ops", "segments", "bytes", "traffic", "cost us", "greedy us", "unfused us"];
    let line = |row: &Row| {
        vec![
            row.name.to_owned(),
            row.ops.to_string(),
            row.segments.to_string(),
            table::bytes(row.bytes),
            format!("{:.3}", row.traffic_ratio),
            format!("{:.0}", row.cost_us),
            format!("{:.0}", row.greedy_cost_us),
            format!("{:.0}", row.unfused_cost_us),
        ]
    };
    [vec![header.map(str::to_owned).to_vec()], rows.iter().map(line).collect()].concat()
}
