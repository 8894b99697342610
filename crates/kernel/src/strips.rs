//! Strips: loops that walk the range of another loop a piece at a time.

use index::{Expr, Sym};

/// The length of the strips numbered by `number` from 0, if `begin` to `end` is one of them: a strip of the range `whole`
/// begins a multiple of the length after the range's beginning and ends at the range's end at the latest.
pub fn strip_length(number: Sym, [begin, end]: [&Expr; 2], whole: [&Expr; 2]) -> Option<Expr> {
    let (length, rest) = (begin - whole[0]).split_linear(number)?;
    let until = begin + &Expr::min(&length, &(whole[1] - begin));
    (rest.is_zero() && *end == until).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_begin_at_whole_lengths_and_end_with_the_range() {
        let (number, size) = (Sym::from_u32(0), Expr::sym(Sym::from_u32(1)));
        let (zero, four) = (Expr::zero(), Expr::constant(4));
        let begin = &four * &Expr::sym(number);
        let end = &begin + &Expr::min(&four, &(&size - &begin));
        let length = |begin: &Expr, end: &Expr| strip_length(number, [begin, end], [&zero, &size]);
        assert_eq!(length(&begin, &end), Some(four.clone()));
        assert_eq!(length(&begin, &(&begin + &four)), None);
        assert_eq!(length(&(&begin + &Expr::one()), &end), None);
        assert_eq!(length(&zero, &size), None);
    }
}
