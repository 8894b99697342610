//! The rows as a picture: a bar for each, with its fraction of a copy or a read as length.

use std::fmt::Write;

use super::measure::Row;

const LEFT: usize = 320;
/// Pixels of a fraction of 1.
const WHOLE: f64 = 420.0;
const STEP: usize = 24;
const TOP: usize = 40;

/// An SVG document.
pub fn svg(rows: &[Row]) -> String {
    let longest = rows.iter().map(|row| row.fraction).fold(1.0, f64::max);
    let (width, height) = (LEFT + (WHOLE * longest) as usize + 120, TOP + STEP * rows.len() + 20);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <text x=\"{LEFT}\" y=\"20\">fraction of a copy (of a read, for sums)</text>\n"
    );
    for (place, row) in rows.iter().enumerate() {
        bar(&mut text, TOP + STEP * place, row).expect("writing to a string cannot fail");
    }
    let (one, bottom) = (LEFT + WHOLE as usize, height - 10);
    text.push_str(&format!(
        "<line x1=\"{one}\" y1=\"{TOP}\" x2=\"{one}\" y2=\"{bottom}\" stroke=\"#888\" stroke-dasharray=\"4\"/>\n</svg>\n"
    ));
    text
}

fn bar(text: &mut String, top: usize, row: &Row) -> std::fmt::Result {
    let length = (WHOLE * row.fraction).max(1.0);
    let base = top + 14;
    writeln!(
        text,
        "<text x=\"{}\" y=\"{base}\" text-anchor=\"end\">{} {}</text>",
        LEFT - 8,
        row.workload,
        row.size()
    )?;
    writeln!(text, "<rect x=\"{LEFT}\" y=\"{top}\" width=\"{length:.0}\" height=\"18\" fill=\"#4a7ab5\"/>")?;
    writeln!(
        text,
        "<text x=\"{:.0}\" y=\"{base}\">{:.2}, {:.1} GB/s</text>",
        LEFT as f64 + length + 6.0,
        row.fraction,
        row.gbps
    )
}
