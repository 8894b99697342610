//! Strips: loops that walk the range of another loop a piece at a time.

use index::{Expr, Sym};

/// The length of the strips numbered by `number` from 0, if `begin` to `end` is one of them: a strip of the range `whole`
/// begins a multiple of the length after the range's beginning and ends at the range's end at the latest.
pub fn strip_length(number: Sym, [begin, end]: [&Expr; 2], whole: [&Expr; 2]) -> Option<Expr> {
    let (length, rest) = (begin - whole[0]).split_linear(number)?;
    let until = begin + &Expr::min(&length, &(whole[1] - begin));
    (rest.is_zero() && *end == until).then_some(length)
}
