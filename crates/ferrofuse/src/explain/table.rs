//! An explanation as text: a table of segments, the edges, the totals.

use std::collections::BTreeMap;
use std::fmt;

use compiler::Certificate;

use super::{
    Explanation, GroupExplanation, KernelOnGpu, LambdaExplanation, PatternExplanation, SegmentExplanation,
    SoftmaxExplanation, TensorBytes, batches,
};
use crate::table;

const HEADINGS: [&str; 7] = ["segment", "ops", "reads", "writes", "passes", "runs as", "recomputed"];

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![HEADINGS.map(str::to_owned).to_vec()];
        rows.extend(self.segments.iter().map(cells));
        f.write_str(&table::columns(&rows))?;
        for segment in &self.segments {
            writeln!(f, "\n{}: {} <- {}", segment.name, list(&segment.outputs), list(&segment.inputs))?;
            if let Some(reason) = &segment.evaluator_reason {
                writeln!(f, "  on the evaluator: {reason}")?;
            }
            for (name, &saved) in
                segment.recomputed.iter().zip(&segment.saved).filter(|(_, saved)| **saved > 0)
            {
                writeln!(f, "  {name} again saves reading {}", table::bytes(saved.unsigned_abs()))?;
            }
        }
        let kernels = self.segments.iter().flat_map(|segment| &segment.kernels);
        let kernels: String = kernels.map(KernelOnGpu::lines).collect();
        if !kernels.is_empty() {
            write!(f, "\n{kernels}")?;
        }
        let batches: Vec<String> = self.batches.iter().map(|names| batches::line(names)).collect();
        if !batches.is_empty() {
            writeln!(f, "\n{}", batches.join("\n"))?;
        }
        let patterns = self.patterns.iter().filter(|pattern| pattern.is_notable());
        let tasks =
            self.groups.iter().map(GroupExplanation::line).chain(patterns.map(PatternExplanation::line));
        let tasks = tasks.chain(self.lambdas.iter().map(LambdaExplanation::line));
        let tasks: Vec<String> = tasks.chain(self.softmaxes.iter().map(SoftmaxExplanation::line)).collect();
        if !tasks.is_empty() {
            writeln!(f, "\n{}", tasks.join("\n"))?;
        }
        if !self.edges.is_empty() {
            writeln!(f)?;
        }
        for edge in &self.edges {
            let size = table::bytes(edge.bytes);
            writeln!(f, "{} -> {}: {} ({size}); {}", edge.from, edge.to, edge.tensor, edge.reason)?;
        }
        let views = self.outputs.iter().filter_map(|output| Some((&output.name, output.view_of.as_ref()?)));
        for (number, (name, source)) in views.enumerate() {
            let gap = if number == 0 { "\n" } else { "" };
            match name == source {
                true => writeln!(f, "{gap}{name} is the input itself: no bytes moved for it")?,
                false => writeln!(f, "{gap}{name} is a view of {source}: no bytes moved for it")?,
            }
        }
        let copies = self.outputs.iter().filter_map(|output| Some((&output.name, output.copy_of.as_ref()?)));
        for (number, (name, source)) in copies.enumerate() {
            let gap = if number == 0 { "\n" } else { "" };
            match name == source {
                true => writeln!(f, "{gap}{name} is copied for a second output: no two share memory")?,
                false => writeln!(f, "{gap}{name} is copied from {source}: no two outputs share memory")?,
            }
        }
        let (moved, min) = (table::bytes(self.bytes), table::bytes(self.compulsory_bytes));
        writeln!(f, "\n{moved} moved, {min} compulsory, traffic ratio {:.3}", self.traffic_ratio)?;
        writeln!(f, "peak memory {}, inputs not counted", table::bytes(self.peak_bytes))?;
        if let Some(certificate) = &self.certificate {
            writeln!(f, "{}", closeness(certificate))?;
        }
        self.notes_on_sizes().try_for_each(|note| writeln!(f, "{note}"))
    }
}

impl Explanation {
    /// Which sizes were assumed, and which the plan is for, if these are not those of the call.
    pub(super) fn notes_on_sizes(&self) -> impl Iterator<Item = String> {
        let assumed =
            list_of(&self.assumed).map(|sizes| format!("sizes that are not given count as {sizes}"));
        let decided = list_of(&self.decided_for)
            .map(|sizes| format!("planned for {sizes}: other calls share the plan"));
        assumed.into_iter().chain(decided)
    }
}

/// Sizes with their values, if there are any.
fn list_of(sizes: &BTreeMap<String, u64>) -> Option<String> {
    let each: Vec<String> = sizes.iter().map(|(size, value)| format!("{size} = {value}")).collect();
    (!each.is_empty()).then(|| each.join(", "))
}

/// The certificate in words.
fn closeness(certificate: &Certificate) -> String {
    let Certificate { cost_us, lower_bound_us, gap, optimal, .. } = certificate;
    match optimal {
        true => format!("model: {cost_us:.1} us, which no other cut can beat"),
        false if *gap < 1e-3 => format!("model: {cost_us:.1} us, within 0.1 % of a bound for every cut"),
        false => {
            format!("model: {cost_us:.1} us, no cut below {lower_bound_us:.1} us (gap {:.1} %)", 100.0 * gap)
        }
    }
}

fn cells(segment: &SegmentExplanation) -> Vec<String> {
    let sum = |tensors: &[TensorBytes]| table::bytes(tensors.iter().map(|tensor| tensor.bytes).sum());
    vec![
        segment.name.clone(),
        segment.ops.to_string(),
        sum(&segment.inputs),
        sum(&segment.outputs),
        segment.passes.to_string(),
        runs_as(segment),
        segment.recomputed.len().to_string(),
    ]
}

pub(super) fn runs_as(segment: &SegmentExplanation) -> String {
    let device = segment.device.as_ref().map(|device| format!(", {device}"));
    let stream = segment.stream.map(|stream| format!(", stream {stream}"));
    let host = if segment.on_host { " on the host" } else { "" };
    format!("{}{host}{}{}", executor(segment), device.unwrap_or_default(), stream.unwrap_or_default())
}

fn executor(segment: &SegmentExplanation) -> String {
    match (&segment.library, &segment.schedule) {
        _ if segment.is_view() => "view".to_owned(),
        (Some(op), _) => format!("library {op}"),
        (None, Some(_)) => "kernel".to_owned(),
        (None, None) => "evaluator".to_owned(),
    }
}

fn list(tensors: &[TensorBytes]) -> String {
    let names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
