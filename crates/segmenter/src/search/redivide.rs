//! Segments in a row, each of which makes one value that only the next reads: what they compute together is divided anew. The
//! cheapest division, at values that everything after them is computed from, is found by dynamic programming; with moves of
//! one boundary each step on the way to it would have to pay.

use ir::graph::{Node, Val};

use super::pricing::Price;
use super::segment::Segment;
use super::state::{Change, State};

/// The fewest segments of a row; two are left to other moves.
const MIN_SEGMENTS: usize = 3;

/// The most ends that segments may have, for each segment of a row: more make many equal divisions.
const MAX_ENDS: usize = 8;

/// Divides each row anew where that pays; returns whether any did.
pub(super) fn redivide(state: &mut State<'_>) -> bool {
    let mut is_changed = false;
    for row in rows(state) {
        is_changed |=
            state.steps_left > 0 && division(state, &row).is_some_and(|change| state.improve(change));
    }
    is_changed
}

/// The places of the segments of each row, the first that runs first.
fn rows(state: &State<'_>) -> Vec<Vec<usize>> {
    // The segment that a segment's one value is made for.
    let mut next: Vec<Option<usize>> = vec![None; state.segments.len()];
    for (place, segment) in state.segments.iter().enumerate() {
        for &val in segment.inputs() {
            let maker = state.places.maker(val).filter(|_| state.is_free(val));
            let is_read_once = state.places.readers(val).len() == 1;
            let is_only = |&maker: &usize| is_read_once && state.segments[maker].made.len() == 1;
            if let Some(maker) = maker.filter(is_only) {
                next[maker] = Some(place);
            }
        }
    }
    let mut is_first = vec![true; next.len()];
    // A segment that two are made for begins a row of its own.
    let mut before = vec![0; next.len()];
    next.iter().flatten().for_each(|&place| before[place] += 1);
    for following in &mut next {
        *following = following.filter(|&place| before[place] == 1);
        following.iter().for_each(|&place| is_first[place] = false);
    }
    let row = |first: usize| std::iter::successors(Some(first), |&place| next[place]).collect();
    let rows = (0..next.len()).filter(|&place| is_first[place]).map(row);
    rows.filter(|row: &Vec<usize>| row.len() >= MIN_SEGMENTS).collect()
}

/// A way to divide the first part of a row.
#[derive(Clone, Copy)]
struct Division {
    price: Price,
    /// The end after which its last segment begins, if it is not the first segment.
    after: Option<usize>,
}

/// The change that divides a row in the cheapest way; `None` where there are too many, or that takes too many steps.
fn division(state: &mut State<'_>, row: &[usize]) -> Option<Change> {
    let (&last, earlier) = row.split_last()?;
    let kept: Vec<Val> = earlier.iter().flat_map(|&place| state.segments[place].made.clone()).collect();
    let mut ends: Vec<Vec<Val>> = boundaries(state, row).into_iter().map(|val| vec![val]).collect();
    ends.push(state.segments[last].made.clone());
    if ends.len() > MAX_ENDS * row.len() {
        return None;
    }
    let before = state.price(row.iter().map(|&place| &state.segments[place]));
    let mut best: Vec<Option<Division>> = vec![None; ends.len()];
    for after in std::iter::once(None).chain((0..ends.len() - 1).map(Some)) {
        let so_far = match after {
            None => Price::default(),
            Some(end) => best[end].map(|division| division.price).unwrap_or(before),
        };
        let begins_at = after.map(|end| ends[end][0]);
        let is_kept =
            |val: Val| Some(val) == begins_at || (state.kept.contains(&val) && !kept.contains(&val));
        for end in after.map_or(0, |end| end + 1)..ends.len() {
            let segment = Segment::new(&state.problem, ends[end].clone(), is_kept);
            state.steps_left = state.steps_left.checked_sub(segment.order().len())?;
            let price = so_far.plus(state.of_segment(&segment));
            if !price.is_below(before) {
                break;
            }
            if best[end].is_none_or(|known| price.is_below(known.price)) {
                best[end] = Some(Division { price, after });
            }
        }
    }
    let mut chosen = vec![ends.len() - 1];
    while let Some(end) = best[chosen[chosen.len() - 1]]?.after {
        chosen.push(end);
    }
    chosen.reverse();
    Some(change(state, row, chosen.into_iter().map(|end| ends[end].clone()).collect(), &kept))
}

/// The values from which all that a row computes after them is computed, and from what is not computed in the row.
fn boundaries(state: &State<'_>, row: &[usize]) -> Vec<Val> {
    let (graph, fusion) = (state.problem.graph, state.problem.fusion);
    let mut order: Vec<Node> =
        row.iter().flat_map(|&place| state.segments[place].order().iter().copied()).collect();
    order.sort_unstable();
    order.dedup();
    let last_use = |val: Val| fusion.uses(val).iter().filter_map(|user| order.binary_search(user).ok()).max();
    let mut open: Vec<(Val, usize)> = Vec::new();
    let mut boundaries: Vec<Val> = Vec::new();
    for (position, &node) in order.iter().enumerate() {
        open.retain(|&(_, last)| last > position);
        let results = graph.results(node).filter(|&val| state.is_free(val));
        open.extend(results.filter_map(|val| Some((val, last_use(val)?))));
        if let [(only, _)] = open[..]
            && boundaries.last() != Some(&only)
        {
            boundaries.push(only);
        }
    }
    boundaries
}

/// The change after which the segments of a row make these values, one after the other, instead of those kept before.
fn change(state: &State<'_>, row: &[usize], made: Vec<Vec<Val>>, before: &[Val]) -> Change {
    let (_, inner) = made.split_last().expect("a row is divided into one segment or more");
    let is_new = |val: &Val| !before.contains(val);
    let kept: Vec<Val> = inner.iter().flatten().copied().filter(is_new).collect();
    let dropped =
        before.iter().copied().filter(|val| !inner.iter().flatten().any(|made| made == val)).collect();
    let places = row.iter().copied().chain(state.segments.len()..);
    let count = made.len().max(row.len());
    let made = places.zip(made.into_iter().chain(std::iter::repeat(Vec::new()))).take(count).collect();
    Change { made, kept, dropped }
}
