//! Random calls of attention, and its gradients.

use ferrofuse::DType;
use ops::LanguageOp;

use super::caller::{Arguments, Caller, operands};
use crate::random::generate::weight;
use crate::random::program::{Given, Size, Tensor};

/// A call of attention.
struct Attended {
    /// Queries, keys and values.
    operands: [Tensor; 3],
    dropout: Option<Given>,
    is_causal: Option<Given>,
    scale: Option<Given>,
    /// The first of its four results.
    first: Tensor,
}

/// Sometimes with bias and mask.
pub(super) fn forward(caller: &mut Caller<'_>) -> Option<()> {
    attended(caller, true).map(drop)
}

/// The gradients, which support no bias and no mask.
pub(super) fn backward(caller: &mut Caller<'_>) -> Option<()> {
    let Attended { operands: [query, key, value], dropout, is_causal, scale, first } =
        attended(caller, false)?;
    let [logsumexp, seed, offset] = [1, 2, 3].map(|place| Tensor(first.0 + place));
    let mut arguments = operands([caller.alike(first), query, key, value, first, logsumexp]);
    arguments.extend(dropout.map(|p| (Some("dropout_p"), p)));
    arguments.extend(is_causal.map(|flag| (Some("is_causal"), flag)));
    arguments.push((Some("philox_seed"), Given::Tensor(seed)));
    arguments.push((Some("philox_offset"), Given::Tensor(offset)));
    arguments.extend(scale.map(|scale| (Some("scale"), scale)));
    caller.add_language_op(LanguageOp::SdpfaBwd, arguments, 3).map(drop)
}

fn attended(caller: &mut Caller<'_>, is_biased: bool) -> Option<Attended> {
    let query = queries(caller)?;
    let [key, value] = keys_and_values(caller, query)?;
    let [batch, heads, rows, _] = caller.sizes_of(query)[..] else { return None };
    let columns = caller.sizes_of(key)[2];
    if weight(&[batch, heads, rows, columns]) > caller.context.max_elements {
        return None;
    }
    let mut arguments = operands([query, key, value]);
    if is_biased {
        weighed(caller, &mut arguments, query, key)?;
    }
    let one_of = |caller: &mut Caller<'_>, chance: usize, given: &[Given]| {
        caller.draws.percent(chance).then(|| caller.draws.one_of(given))
    };
    let dropout = one_of(caller, 30, &[0.0, 0.25, 0.5].map(Given::real));
    let is_causal = one_of(caller, 70, &[true, false].map(Given::flag));
    let scale = one_of(caller, 30, &[Given::real(0.5), Given::int(1)]);
    let options = [("dropout_p", &dropout), ("is_causal", &is_causal), ("scale", &scale)];
    arguments.extend(options.into_iter().filter_map(|(name, given)| Some((Some(name), given.clone()?))));
    let first = caller.add_language_op(LanguageOp::SdpfaFwd, arguments, 4)?;
    Some(Attended { operands: [query, key, value], dropout, is_causal, scale, first })
}

/// A tensor of four axes. Scores of large numbers amplify small errors.
fn queries(caller: &mut Caller<'_>) -> Option<Tensor> {
    let mut tensor = caller.floats(2, 4)?;
    let rank = caller.rank(tensor);
    if rank < 4 {
        let flags = (0..4).map(|axis| axis < 4 - rank).collect();
        let arguments = vec![(None, Given::Tensor(tensor)), (None, Given::Bools(flags))];
        tensor = caller.add_language_op(LanguageOp::Broadcast, arguments, 1)?;
    }
    caller.add("tanh", operands([tensor]), 1)
}

/// The queries themselves, or others: as many keys as values, values of any width.
fn keys_and_values(caller: &mut Caller<'_>, query: Tensor) -> Option<[Tensor; 2]> {
    if caller.draws.percent(50) {
        return Some([query, query]);
    }
    let [batch, heads, _, width] = [0, 1, 2, 3].map(|axis| caller.own_size(query, axis));
    let count = caller.new_size();
    let value_width = if caller.draws.percent(50) { width } else { caller.new_size() };
    let mut others = Vec::with_capacity(2);
    for width in [width, value_width] {
        let drawn = caller.uniform(vec![batch, heads, count, width])?;
        others.push(caller.cast_to(drawn, caller.draft.dtype(query))?);
    }
    Some([others[0], others[1]])
}

/// A bias, a mask, or neither.
fn weighed(caller: &mut Caller<'_>, arguments: &mut Arguments, query: Tensor, key: Tensor) -> Option<()> {
    if caller.draws.percent(35) {
        let bias = of_scores(caller, query, key)?;
        let dtype = caller.draws.one_of(&[DType::F32, DType::F32, DType::BF16]);
        let bias = caller.cast_to(bias, dtype)?;
        arguments.push((Some("bias"), Given::Tensor(bias)));
    }
    if caller.draws.percent(35) {
        let drawn = of_scores(caller, query, key)?;
        let lowest = caller.draws.one_of(&[-0.5, 0.0, 1.0]);
        let mask = caller.add("gt", vec![(None, Given::Tensor(drawn)), (None, Given::real(lowest))], 1)?;
        arguments.push((Some("mask"), Given::Tensor(mask)));
    }
    Some(())
}

/// A tensor in the shape of the scores, or in a shape that is expanded to it.
fn of_scores(caller: &mut Caller<'_>, query: Tensor, key: Tensor) -> Option<Tensor> {
    let of_query = [0, 1, 2].map(|axis| caller.own_size(query, axis));
    let mut sizes = [&of_query[..], &[caller.own_size(key, 2)]].concat();
    for size in &mut sizes {
        if caller.draws.percent(20) {
            *size = Size::Number(1);
        }
    }
    let dropped = caller.draws.one_of(&[0, 0, 2, 3]);
    caller.uniform(sizes.split_off(dropped))
}
