//! Integers in texts, as Python writes them.

use std::str::FromStr;

/// The integer that a text spells as Python writes one in decimal: no leading zeros, no `+`, no `_`.
pub fn integer<N: FromStr>(text: &str) -> Option<N> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain =
        digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    text.parse().ok().filter(|_| plain)
}
