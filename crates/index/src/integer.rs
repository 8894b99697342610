//! Numbers in texts, as Python writes them.

use std::str::FromStr;

/// The integer that a text spells as Python writes one in decimal: no leading zeros, no `+`, no `_`.
pub fn integer<N: FromStr>(text: &str) -> Option<N> {
    text.parse().ok().filter(|_| is_integer(text))
}

/// The real number that a text spells: an integer of any length, a number with a point or an exponent, `inf`, `-inf` or
/// `nan`.
pub fn real(text: &str) -> Option<f64> {
    let is_whole = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    text.parse().ok().filter(|_| !text.starts_with('+') && (!is_whole || is_integer(text)))
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_in_one_way() {
        for (text, number) in
            [("7", 7.0), ("-7", -7.0), ("0", 0.0), ("1e-5", 1e-5), ("0.5", 0.5), ("-inf", f64::NEG_INFINITY)]
        {
            assert_eq!(real(text), Some(number), "{text}");
        }
        assert_eq!(
            (integer("18446744073709551616"), real("18446744073709551616")),
            (None::<u64>, Some(2_f64.powi(64)))
        );
        for text in ["0777", "-0777", "00", "+7", "+7.0", "1__0", "1_0", "", "-", "--7", "0x7"] {
            assert_eq!((integer::<i64>(text), real(text)), (None, None), "{text}");
        }
    }
}
