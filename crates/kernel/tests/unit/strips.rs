//! Loops that walk strips of a range.

use ferrofuse_kernel::strip_length;
use index::{Expr, Sym};

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
