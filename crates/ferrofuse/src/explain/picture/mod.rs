//! The segment graph as a picture: segments and tensors as boxes in rows, arrows from a tensor to its readers and from a
//! segment to the tensors that it writes.
//!
//! `dataflow` (boxes and arrows, in layers) · `place` (coordinates) · `svg` (as text). Boxes of a layer are side by side;
//! arrows move sideways only between layers and cross a layer in a separate column, so nothing overlaps.

mod dataflow;
mod place;
mod svg;

use super::Explanation;

/// An SVG document.
pub fn svg(explanation: &Explanation) -> String {
    drawn(explanation, "")
}

/// The same, with segments as links to the ids that are `prefix` and the name.
pub(super) fn drawn(explanation: &Explanation, prefix: &str) -> String {
    svg::document(&place::placed(dataflow::Dataflow::of(explanation)), prefix)
}

/// Text escaped for XML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
