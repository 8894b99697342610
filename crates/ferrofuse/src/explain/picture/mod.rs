//! The segment graph as a picture: segments and tensors as boxes in rows, arrows from a tensor to what reads it and from a
//! segment to what it writes.
//!
//! `dataflow` (boxes and arrows, in layers) · `place` (where they go) · `svg` (as text). Boxes of a layer stand side by side,
//! arrows move sideways between layers alone and have a column of their own where they pass one, so nothing covers anything.

mod dataflow;
mod place;
mod svg;

use super::Explanation;

/// An SVG document.
pub fn svg(explanation: &Explanation) -> String {
    drawn(explanation, "")
}

/// The same, where segments are links to places of these names with a word before them.
pub(super) fn drawn(explanation: &Explanation, prefix: &str) -> String {
    svg::document(&place::placed(dataflow::Dataflow::of(explanation)), prefix)
}

/// Text that may stand in XML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
