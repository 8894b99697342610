//! An explanation as text: a table of segments, the edges, the totals.

use std::fmt;

use super::{Explanation, SegmentExplanation, TensorBytes};

const HEADINGS: [&str; 7] = ["segment", "ops", "reads", "writes", "passes", "runs as", "recomputed"];

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows: Vec<[String; 7]> = vec![HEADINGS.map(str::to_owned)];
        rows.extend(self.segments.iter().map(cells));
        write_table(f, &rows)?;
        for segment in &self.segments {
            writeln!(f, "\n{}: {} <- {}", segment.name, list(&segment.outputs), list(&segment.inputs))?;
            if let Some(reason) = &segment.evaluator_reason {
                writeln!(f, "  on the evaluator: {reason}")?;
            }
        }
        if !self.edges.is_empty() {
            writeln!(f)?;
        }
        for edge in &self.edges {
            let size = human_bytes(edge.bytes);
            writeln!(f, "{} -> {}: {} ({size}); {}", edge.from, edge.to, edge.tensor, edge.reason)?;
        }
        let (moved, least) = (human_bytes(self.bytes), human_bytes(self.compulsory_bytes));
        writeln!(f, "\n{moved} moved, {least} compulsory, traffic ratio {:.3}", self.traffic_ratio)
    }
}

fn cells(segment: &SegmentExplanation) -> [String; 7] {
    let sum = |tensors: &[TensorBytes]| human_bytes(tensors.iter().map(|tensor| tensor.bytes).sum());
    [
        segment.name.clone(),
        segment.ops.to_string(),
        sum(&segment.inputs),
        sum(&segment.outputs),
        segment.passes.to_string(),
        if segment.schedule.is_some() { "kernel" } else { "evaluator" }.to_owned(),
        segment.recomputed.len().to_string(),
    ]
}

fn write_table(f: &mut fmt::Formatter<'_>, rows: &[[String; 7]]) -> fmt::Result {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    for row in rows {
        let cell = |(column, text): (usize, &String)| format!("{text:<width$}", width = width(column));
        let line: Vec<String> = row.iter().enumerate().map(cell).collect();
        writeln!(f, "{}", line.join("  ").trim_end())?;
    }
    Ok(())
}

fn list(tensors: &[TensorBytes]) -> String {
    let names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// Bytes in the largest binary unit that leaves at least one of it.
fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let step = (bytes.ilog2() / 10) as usize;
    format!("{:.1} {}", bytes as f64 / (1_u64 << (10 * step)) as f64, UNITS[step - 1])
}
