//! An explanation as an HTML page: the picture, totals beside those of other segmentations, and for each segment details
//! that unfold. One file, without scripts.

use std::fmt::Write;
use std::time::Duration;

use super::picture::{drawn, escaped};
use super::{Explanation, SegmentExplanation, TensorBytes, batches, table};
use crate::table as units;

const STYLE: &str = ".ffpage{font:15px/1.5 system-ui,sans-serif;color:#1b2430;background:#fff;max-width:75rem}\
.ffpage table{border-collapse:collapse;margin:.5rem 0}.ffpage th,.ffpage td{text-align:left;padding:.15rem .9rem .15rem 0;\
vertical-align:top}.ffpage th{font-weight:600}.ffpage pre{overflow-x:auto;background:#f2f5f8;padding:.6rem}\
.ffpage figure{overflow-x:auto;margin:1rem 0}.ffpage details{border-left:3px solid #9fb3c8;padding-left:.8rem;margin:.5rem 0}\
.ffpage summary{cursor:pointer}\
@media (prefers-color-scheme:dark){.ffpage{color:#e8edf3;background:#10151b}.ffpage pre{background:#1a222c}}";

/// A page of an explanation, with others of the same definition to compare it with, each with its name.
pub fn html(explanation: &Explanation, title: &str, others: &[(&str, &Explanation)]) -> String {
    let body = fragment(explanation, title, others);
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\"></head>\n\
         <body class=\"ffpage\" style=\"margin:1.5rem auto;padding:0 1rem\">\n{body}</body>\n</html>\n"
    )
}

/// The same as a part of another page.
pub fn fragment(explanation: &Explanation, title: &str, others: &[(&str, &Explanation)]) -> String {
    let prefix = prefix(explanation, title);
    let mut text = format!("<div class=\"ffpage\"><style>{STYLE}</style>\n");
    if !title.is_empty() {
        let _ = writeln!(text, "<h1>{}</h1>", escaped(title));
    }
    let _ = writeln!(text, "<figure>\n{}</figure>", drawn(explanation, &prefix));
    totals(&mut text, explanation, others);
    for names in &explanation.batches {
        let _ = writeln!(text, "<p>{}</p>", escaped(&batches::line(names)));
    }
    for group in &explanation.groups {
        let _ = writeln!(text, "<p>{}</p>", escaped(&group.line()));
    }
    for pattern in explanation.patterns.iter().filter(|pattern| pattern.is_notable()) {
        let _ = writeln!(text, "<p>{}</p>", escaped(&pattern.line()));
    }
    for lambda in &explanation.lambdas {
        let _ = writeln!(text, "<p>{}</p>", escaped(&lambda.line()));
    }
    for softmax in &explanation.softmaxes {
        let _ = writeln!(text, "<p>{}</p>", escaped(&softmax.line()));
    }
    for segment in &explanation.segments {
        describe(&mut text, segment, &prefix);
    }
    if !explanation.edges.is_empty() {
        let rows = explanation.edges.iter().map(|edge| {
            vec![
                format!("{} → {}", edge.from, edge.to),
                edge.tensor.clone(),
                units::bytes(edge.bytes),
                edge.reason.clone(),
            ]
        });
        let _ = writeln!(text, "<h2>Between segments</h2>");
        rows_of(&mut text, &["from, to", "tensor", "bytes", "why it passes through memory"], rows);
    }
    text.push_str("</div>\n");
    text
}

/// A prefix of the ids in the page that no other explanation on it has.
fn prefix(explanation: &Explanation, title: &str) -> String {
    let bytes = explanation.to_string();
    let hash = bytes.bytes().chain(title.bytes()).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("f{:x}-", hash >> 32)
}

/// The totals, beside those of the others, and the sizes that were assumed.
fn totals(text: &mut String, explanation: &Explanation, others: &[(&str, &Explanation)]) {
    let row = |(name, explained): (&str, &Explanation)| {
        vec![
            name.to_owned(),
            explained.segments.len().to_string(),
            units::bytes(explained.bytes),
            format!("{:.3}", explained.traffic_ratio),
            units::bytes(explained.peak_bytes),
            time(explained.cost_us()),
        ]
    };
    let all = std::iter::once(("chosen", explanation)).chain(others.iter().copied());
    let headings = ["segmentation", "segments", "moved", "over compulsory", "peak memory", "model's time"];
    rows_of(text, &headings, all.map(row));
    let compulsory = units::bytes(explanation.compulsory_bytes);
    let _ =
        writeln!(text, "<p>Compulsory: {compulsory}: each input read once, each output written once.</p>");
    for note in explanation.notes_on_sizes() {
        let _ = writeln!(text, "<p>{}.</p>", escaped(&note));
    }
}

/// The details of a segment, unfolded on demand.
fn describe(text: &mut String, segment: &SegmentExplanation, prefix: &str) {
    let name = escaped(&segment.name);
    let as_what = escaped(&table::runs_as(segment));
    let moved = units::bytes(segment.bytes);
    let cost = &segment.cost_us;
    let _ = writeln!(
        text,
        "<details><summary><b>{name}</b>: {} ops, {as_what}, moves {moved}, {}</summary><div id=\"{prefix}{name}\">",
        segment.ops,
        time(cost.total()),
    );
    let tensors = |what: &str, tensors: &[TensorBytes]| -> Vec<Vec<String>> {
        let row = |tensor: &TensorBytes| {
            vec![
                what.to_owned(),
                tensor.name.clone(),
                units::bytes(tensor.bytes),
                tensor.bytes_formula.clone(),
            ]
        };
        tensors.iter().map(row).collect()
    };
    let again = segment.recomputed.iter().zip(&segment.saved).map(|(name, &saved)| {
        let saves = if saved > 0 {
            format!("saves reading {}", units::bytes(saved.unsigned_abs()))
        } else {
            String::new()
        };
        vec!["computes again".to_owned(), name.clone(), saves, String::new()]
    });
    let overlap = match cost.overlap {
        0.0 => String::new(),
        overlap => format!(" (at once for {})", time(overlap)),
    };
    let combine = match cost.combine {
        0.0 => String::new(),
        combine => format!(", adding up what blocks leave {}", time(combine)),
    };
    let rows =
        tensors("reads", &segment.inputs).into_iter().chain(tensors("writes", &segment.outputs)).chain(again);
    rows_of(text, &["", "tensor", "bytes", "at any sizes"], rows);
    let _ = writeln!(
        text,
        "<p>Sweeps over its inputs: {}. Moves {} bytes. In memory while it runs: {}. Model's time: memory {}, computing {}{}, launch {}{}.</p>",
        segment.passes,
        escaped(&segment.bytes_formula),
        units::bytes(segment.peak_bytes),
        time(cost.memory),
        time(cost.computing),
        overlap,
        time(cost.launch),
        combine,
    );
    if let Some(reason) = &segment.evaluator_reason {
        let _ = writeln!(text, "<p>On the evaluator: {}</p>", escaped(reason));
    }
    let _ = writeln!(text, "<pre>{}</pre>", escaped(&segment.operations.join("\n")));
    if let Some(schedule) = &segment.schedule {
        let _ =
            writeln!(text, "<details><summary>schedule</summary><pre>{}</pre></details>", escaped(schedule));
    }
    text.push_str("</div></details>\n");
}

fn time(microseconds: f64) -> String {
    units::time(Duration::from_secs_f64(microseconds / 1e6))
}

fn rows_of(text: &mut String, headings: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
        cells.map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect::<String>()
    };
    let _ = writeln!(text, "<table><tr>{}</tr>", cells("th", &mut headings.iter().copied()));
    for row in rows {
        let _ = writeln!(text, "<tr>{}</tr>", cells("td", &mut row.iter().map(String::as_str)));
    }
    text.push_str("</table>\n");
}
