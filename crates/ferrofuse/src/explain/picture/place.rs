//! The places of boxes: the order in each layer by their neighbours, then coordinates as close to these as fits.

use super::dataflow::{Arrow, Block, Dataflow, Kind};

/// Width of a character of the font, rounded up.
pub(super) const CHARACTER: f64 = 7.3;
/// Height of a line.
pub(super) const LINE: f64 = 17.0;
/// The space between the edge of a box and its text.
pub(super) const PADDING: f64 = 10.0;
const GAP: f64 = 26.0;
const BETWEEN_LAYERS: f64 = 46.0;
const MARGIN: f64 = 16.0;
/// Width of a column in which arrows cross a layer.
const PASS: f64 = 6.0;
/// How often order and coordinates are improved, downward and upward.
const SWEEPS: usize = 6;

/// A box and its place.
#[derive(Debug)]
pub(super) struct Placed {
    pub block: Block,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// An arrow from the lower side of a box to the upper side of one in the next layer.
#[derive(Debug)]
pub(super) struct PlacedArrow {
    pub begin: [f64; 2],
    pub end: [f64; 2],
    /// The coordinate at which it goes on through the layer of its end, if it does.
    pub passes: Option<f64>,
    pub title: String,
}

/// A picture.
#[derive(Debug)]
pub(super) struct Picture {
    pub boxes: Vec<Placed>,
    pub arrows: Vec<PlacedArrow>,
    pub width: f64,
    pub height: f64,
}

/// The picture of a dataflow.
pub(super) fn placed(flow: Dataflow) -> Picture {
    let Dataflow { blocks, arrows } = flow;
    let count = blocks.iter().map(|block| block.layer + 1).max().unwrap_or(0);
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); count];
    blocks.iter().enumerate().for_each(|(number, block)| layers[block.layer].push(number));
    let joined = Joined::new(blocks.len(), &arrows);
    order(&mut layers, &joined);
    let widths: Vec<f64> = blocks.iter().map(width).collect();
    let centers = centers(&layers, &joined, &widths);
    let heights: Vec<f64> = blocks.iter().map(height).collect();
    let mut top = MARGIN;
    let mut tops = vec![0.0; blocks.len()];
    let mut tallest = vec![0.0; blocks.len()];
    for layer in &layers {
        let height = layer.iter().map(|&number| heights[number]).fold(0.0, f64::max);
        for &number in layer {
            (tops[number], tallest[number]) = (top, height);
        }
        top += height + BETWEEN_LAYERS;
    }
    let right = |(center, width): (&f64, &f64)| center + width / 2.0 + MARGIN;
    let page = centers.iter().zip(&widths).map(right).fold(2.0 * MARGIN, f64::max);
    let boxes = blocks.into_iter().enumerate().map(|(number, block)| {
        let (x, y) = (centers[number] - widths[number] / 2.0, tops[number]);
        Placed { block, x, y, width: widths[number], height: tallest[number] }
    });
    let boxes: Vec<Placed> = boxes.collect();
    let arrows = joined.arrows(&boxes, arrows);
    let height = (top - BETWEEN_LAYERS).max(MARGIN) + MARGIN;
    Picture { boxes, arrows, width: page.ceil(), height: height.ceil() }
}

fn width(block: &Block) -> f64 {
    let characters = block.lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    if block.kind == Kind::Pass { PASS } else { characters as f64 * CHARACTER + 2.0 * PADDING }
}

fn height(block: &Block) -> f64 {
    if block.kind == Kind::Pass { 0.0 } else { block.lines.len() as f64 * LINE + 2.0 * PADDING - 4.0 }
}

/// For each box its neighbours above and below.
struct Joined {
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
}

impl Joined {
    fn new(count: usize, arrows: &[Arrow]) -> Joined {
        let mut joined = Joined { above: vec![Vec::new(); count], below: vec![Vec::new(); count] };
        for arrow in arrows {
            joined.above[arrow.to].push(arrow.from);
            joined.below[arrow.from].push(arrow.to);
        }
        joined
    }

    /// Arrows begin and end side by side, in the order of their other ends.
    fn arrows(&self, boxes: &[Placed], arrows: Vec<Arrow>) -> Vec<PlacedArrow> {
        let center = |number: usize| boxes[number].x + boxes[number].width / 2.0;
        let port = |of: usize, to: usize, all: &[usize]| {
            let before = all.iter().filter(|&&other| (center(other), other) < (center(to), to)).count();
            boxes[of].x + boxes[of].width * (before + 1) as f64 / (all.len() + 1) as f64
        };
        let arrow = |Arrow { from, to, title }: Arrow| {
            let begin = [port(from, to, &self.below[from]), boxes[from].y + boxes[from].height];
            let is_pass = boxes[to].block.kind == Kind::Pass;
            let end_x = if is_pass { center(to) } else { port(to, from, &self.above[to]) };
            let begin = if boxes[from].block.kind == Kind::Pass { [center(from), begin[1]] } else { begin };
            let passes = is_pass.then_some(boxes[to].y + boxes[to].height);
            PlacedArrow { begin, end: [end_x, boxes[to].y], passes, title }
        };
        arrows.into_iter().map(arrow).collect()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Orders each layer by the mean position of each box's neighbours in the layer before, downward and upward in turn.
fn order(layers: &mut [Vec<usize>], joined: &Joined) {
    let mut places = vec![0.0; joined.above.len()];
    let number = |layer: &[usize], places: &mut Vec<f64>| {
        layer.iter().enumerate().for_each(|(place, &block)| places[block] = place as f64);
    };
    layers.iter().for_each(|layer| number(layer, &mut places));
    for sweep in 0..2 * SWEEPS {
        let is_down = sweep % 2 == 0;
        let neighbours = if is_down { &joined.above } else { &joined.below };
        for step in 0..layers.len() {
            let at = if is_down { step } else { layers.len() - 1 - step };
            let mean_place = |&block: &usize| {
                mean(neighbours[block].iter().map(|&other| places[other])).unwrap_or(places[block])
            };
            layers[at].sort_by(|a, b| mean_place(a).total_cmp(&mean_place(b)));
            number(&layers[at], &mut places);
        }
    }
}

/// The centers of boxes: each as near to the mean of its neighbours as the boxes beside it allow.
fn centers(layers: &[Vec<usize>], joined: &Joined, widths: &[f64]) -> Vec<f64> {
    let mut centers = vec![0.0; widths.len()];
    layers.iter().for_each(|layer| spread(layer, &vec![0.0; widths.len()], widths, &mut centers));
    for sweep in 0..2 * SWEEPS {
        let neighbours = if sweep % 2 == 0 { &joined.above } else { &joined.below };
        for step in 0..layers.len() {
            let layer = &layers[if sweep % 2 == 0 { step } else { layers.len() - 1 - step }];
            let mut wished = centers.clone();
            for &block in layer {
                let others = neighbours[block].iter().map(|&other| centers[other]);
                wished[block] = mean(others).unwrap_or(centers[block]);
            }
            spread(layer, &wished, widths, &mut centers);
        }
    }
    let left =
        centers.iter().zip(widths).map(|(center, width)| center - width / 2.0).fold(f64::MAX, f64::min);
    centers.iter().map(|center| center - left + MARGIN).collect()
}

/// Puts the boxes of a layer side by side, and the layer where it is nearest to the wished centers.
fn spread(layer: &[usize], wished: &[f64], widths: &[f64], centers: &mut [f64]) {
    let mut free = f64::MIN;
    for &block in layer {
        let center = wished[block].max(free + widths[block] / 2.0);
        centers[block] = center;
        free = center + widths[block] / 2.0 + GAP;
    }
    let shift = mean(layer.iter().map(|&block| wished[block] - centers[block])).unwrap_or(0.0);
    layer.iter().for_each(|&block| centers[block] += shift);
}
