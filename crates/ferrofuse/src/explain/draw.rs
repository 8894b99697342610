//! The segment graph as a picture: segments from top to bottom in the order they run, tensors between them as lines.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::{Edge, Explanation, SegmentExplanation};
use crate::table;

const WIDTH: usize = 460;
const HEIGHT: usize = 58;
const STEP: usize = 112;
const LEFT: usize = 20;

/// An SVG document.
pub fn svg(explanation: &Explanation) -> String {
    let rows = explanation.segments.len().max(1);
    let ends = ends(explanation);
    let reach = ends.iter().map(|(from, to)| to.saturating_sub(*from)).max().unwrap_or(0);
    let (width, height) = (LEFT + WIDTH + 40 + 36 * reach + 200, rows * STEP);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n"
    );
    for (place, segment) in explanation.segments.iter().enumerate() {
        draw_segment(&mut text, place, segment);
    }
    for (edge, ends) in explanation.edges.iter().zip(ends) {
        draw_edge(&mut text, ends, edge);
    }
    text.push_str("</svg>\n");
    text
}

/// An HTML page with the picture and the tables.
pub fn html(explanation: &Explanation, title: &str) -> String {
    let (title, svg) = (escaped(title), svg(explanation));
    let tables = escaped(&explanation.to_string());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title></head>\n\
         <body>\n<h1>{title}</h1>\n{svg}<pre>\n{tables}</pre>\n</body>\n</html>\n"
    )
}

fn draw_segment(text: &mut String, place: usize, segment: &SegmentExplanation) {
    let y = place * STEP + 10;
    let (fill, how) = match (segment.library, &segment.evaluator_reason) {
        (Some(op), _) => ("#e2f0dc", op),
        (None, Some(_)) => ("#f6e0d0", "evaluator"),
        (None, None) => ("#dce9f7", "kernel"),
    };
    let names = |tensors: &[super::TensorBytes]| -> String {
        let names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).take(4).collect();
        let more = if tensors.len() > 4 { ", …" } else { "" };
        escaped(&format!("{}{more}", names.join(", ")))
    };
    let moved = table::bytes(segment.bytes);
    let _ = write!(
        text,
        "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\" fill=\"{fill}\" stroke=\"#446\"/>\n\
         <text x=\"{x}\" y=\"{first}\"><tspan font-weight=\"bold\">{}</tspan>  {} ops, {moved}, {how}</text>\n\
         <text x=\"{x}\" y=\"{second}\">{} → {}</text>\n",
        escaped(&segment.name),
        segment.ops,
        names(&segment.inputs),
        names(&segment.outputs),
        x = LEFT + 10,
        first = y + 23,
        second = y + 45,
    );
}

/// Of each edge the places of the segments that it leads from and to.
fn ends(explanation: &Explanation) -> Vec<(usize, usize)> {
    let segments = explanation.segments.iter().enumerate();
    let places: FxHashMap<&str, usize> = segments.map(|(at, segment)| (segment.name.as_str(), at)).collect();
    let place = |name: &str| places.get(name).copied().unwrap_or(0);
    explanation.edges.iter().map(|edge| (place(&edge.from), place(&edge.to))).collect()
}

/// A line to the next segment runs between the boxes, a longer one around them, with the reason on hovering.
fn draw_edge(text: &mut String, (from, to): (usize, usize), edge: &Edge) {
    let (begin, end) = (from * STEP + 10 + HEIGHT, to * STEP + 10);
    let passed = to.saturating_sub(from);
    let right = LEFT + WIDTH + if passed > 1 { 36 * passed } else { 0 };
    let x = LEFT + WIDTH / 2;
    let path = if passed > 1 {
        format!("M {} {} H {right} V {} H {}", LEFT + WIDTH, begin - 12, end + 12, LEFT + WIDTH)
    } else {
        format!("M {x} {begin} V {end}")
    };
    let (label_x, label_y) =
        if passed > 1 { (right + 6, (begin + end) / 2) } else { (x + 8, (begin + end) / 2 + 4) };
    let label = escaped(&format!("{} ({})", edge.tensor, table::bytes(edge.bytes)));
    let _ = write!(
        text,
        "<path d=\"{path}\" fill=\"none\" stroke=\"#446\"><title>{}</title></path>\n\
         <text x=\"{label_x}\" y=\"{label_y}\" fill=\"#446\">{label}</text>\n",
        escaped(&edge.reason),
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
