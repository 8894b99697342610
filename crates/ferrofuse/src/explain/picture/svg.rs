//! A picture as SVG: colours for light and dark, arrowheads, and the full text of shortened names on hovering; the keyboard
//! reaches segments and tensors, too.

use std::fmt::Write;

use super::dataflow::Kind;
use super::escaped;
use super::place::{LINE, PADDING, Picture, Placed, PlacedArrow};

const STYLE: &str = ".ff{--ink:#1b2430;--line:#5b6b80;--kernel:#dce9f7;--library:#e2f0dc;--evaluator:#f9e2d2;\
--tensor:#fff;font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}\
.ff text{fill:var(--ink)}.ff rect{stroke:var(--line)}.ff .kernel{fill:var(--kernel)}.ff .library{fill:var(--library)}\
.ff .evaluator{fill:var(--evaluator)}.ff .tensor{fill:var(--tensor)}.ff .head{fill:var(--line)}\
.ff path.arrow{fill:none;stroke:var(--line);stroke-width:1.3}.ff path.wide{fill:none;stroke:transparent;stroke-width:12}\
.ff .link:hover .arrow{stroke:#d1600a;stroke-width:2.4}.ff a:focus rect,.ff g:focus rect{stroke:#d1600a;stroke-width:3}\
.ff :focus{outline:none}\
@media (prefers-color-scheme:dark){.ff{--ink:#e8edf3;--line:#8fa3bb;--kernel:#22384f;--library:#24402a;\
--evaluator:#553220;--tensor:#161c24}}";

/// An SVG document.
pub(super) fn document(picture: &Picture, prefix: &str) -> String {
    let Picture { boxes, arrows, width, height } = picture;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ff\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"segments and the tensors between them\">\n\
         <style>{STYLE}</style>\n\
         <defs><marker id=\"{prefix}head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"head\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n"
    );
    arrows.iter().for_each(|arrow| draw_arrow(&mut text, arrow, prefix));
    boxes
        .iter()
        .filter(|placed| placed.block.kind != Kind::Pass)
        .for_each(|placed| draw_box(&mut text, placed, prefix));
    text.push_str("</svg>\n");
    text
}

fn draw_arrow(text: &mut String, arrow: &PlacedArrow, prefix: &str) {
    let PlacedArrow { begin: [x, y], end: [to_x, to_y], passes, title } = arrow;
    let middle = (y + to_y) / 2.0;
    let curve = format!("M{x:.1} {y:.1}C{x:.1} {middle:.1} {to_x:.1} {middle:.1} {to_x:.1} {to_y:.1}");
    let (curve, head) = match passes {
        Some(bottom) => (format!("{curve}V{bottom:.1}"), String::new()),
        None => (curve, format!(" marker-end=\"url(#{prefix}head)\"")),
    };
    let title = escaped(title);
    let _ = writeln!(
        text,
        "<g class=\"link\"><title>{title}</title><path class=\"wide\" d=\"{curve}\"/>\
         <path class=\"arrow\" d=\"{curve}\"{head}/></g>"
    );
}

fn draw_box(text: &mut String, placed: &Placed, prefix: &str) {
    let Placed { block, x, y, width, height } = placed;
    let class = match block.kind {
        Kind::Kernel => "kernel",
        Kind::Library => "library",
        Kind::Evaluator => "evaluator",
        Kind::Tensor | Kind::Pass => "tensor",
    };
    let (open, close, radius) = match block.kind {
        Kind::Tensor | Kind::Pass => ("<g tabindex=\"0\">".to_owned(), "</g>", 12),
        _ => (format!("<a href=\"#{prefix}{}\">", escaped(&block.name)), "</a>", 3),
    };
    let title = escaped(&block.title);
    let _ = write!(
        text,
        "{open}<title>{title}</title><rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
         height=\"{height:.1}\" rx=\"{radius}\"/>"
    );
    for (number, line) in block.lines.iter().enumerate() {
        let (x, y) = (x + PADDING, y + PADDING + 10.0 + LINE * number as f64);
        let weight = if number == 0 { " font-weight=\"bold\"" } else { "" };
        let _ = write!(text, "<text x=\"{x:.1}\" y=\"{y:.1}\"{weight}>{}</text>", escaped(line));
    }
    let _ = writeln!(text, "{close}");
}
