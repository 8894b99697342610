//! Draws of random numbers, and dropout.

use ferrofuse::DType;
use ops::LanguageOp;

use super::caller::{Caller, operands};
use crate::random::program::{Given, Tensor};

/// In a drawn shape; half of them name a sequence.
pub(super) fn draw(caller: &mut Caller<'_>, op: LanguageOp) -> Option<()> {
    let sizes = (0..caller.draws.below(4)).map(|_| caller.new_size()).collect();
    let dtype = caller.draws.one_of(&[DType::F32, DType::F32, DType::BF16, DType::F16, DType::F64]);
    let mut arguments =
        vec![(None, Given::real(-0.5)), (None, Given::real(1.5)), (Some("shape"), Given::Sizes(sizes))];
    if caller.draws.percent(50) {
        let seeds = [0, 1, -1, i64::MIN, 0x1234_5678_9abc_def0];
        arguments.push((Some("rng_seed"), Given::int(caller.draws.one_of(&seeds))));
        arguments.push((Some("rng_offset"), Given::int(caller.draws.one_of(&[0, 0, 7, i64::MAX]))));
    }
    arguments.push((Some("dtype"), Given::DType(dtype)));
    caller.add_language_op(op, arguments, 1).map(drop)
}

pub(super) fn draw_like(caller: &mut Caller<'_>, op: LanguageOp) -> Option<()> {
    let tensor = caller.tensor();
    caller.add_language_op(op, operands([tensor]), 1).map(drop)
}

/// The operand, its dropout and the mask.
pub(super) fn dropout(caller: &mut Caller<'_>) -> Option<[Tensor; 3]> {
    let tensor = caller.tensor();
    let mut arguments = operands([tensor]);
    if caller.draws.percent(85) {
        arguments.push((Some("p"), Given::real(caller.draws.between(0, 4) as f64 / 4.0)));
    }
    let first = caller.add_language_op(LanguageOp::Dropout, arguments, 2)?;
    Some([tensor, first, Tensor(first.0 + 1)])
}

pub(super) fn dropout_backward(caller: &mut Caller<'_>) -> Option<()> {
    let (grad, mask) = match caller.draws.percent(50) {
        true => {
            let [tensor, _, mask] = dropout(caller)?;
            (caller.alike(tensor), mask)
        }
        false => {
            let tensor = caller.floats(0, 5)?;
            let mut arguments = operands([caller.alike(tensor)]);
            arguments.push((None, Given::real(0.25)));
            (tensor, caller.add("gt", arguments, 1)?)
        }
    };
    let mut arguments = operands([grad, mask]);
    arguments.push((Some("scale"), Given::real(caller.draws.one_of(&[1.0, 1.25, 2.0]))));
    caller.add_language_op(LanguageOp::DropoutBackward, arguments, 1).map(drop)
}
