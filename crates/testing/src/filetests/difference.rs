//! The difference of two texts, line by line.

/// Lines of context around a difference.
const CONTEXT: usize = 2;

/// The lines from the first to the last that differ: expected ones with `-`, actual ones with `+`.
pub(super) fn difference(expected: &str, made: &str) -> String {
    let (expected, made): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), made.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let before = expected.iter().zip(&made).take_while(same).count();
    let after = expected[before..].iter().rev().zip(made[before..].iter().rev()).take_while(same).count();
    let (expected_end, made_end) = (expected.len() - after, made.len() - after);
    let mut lines = Vec::new();
    let mut show = |mark: char, part: &[&str]| lines.extend(part.iter().map(|line| format!("{mark} {line}")));
    show(' ', &made[before.saturating_sub(CONTEXT)..before]);
    show('-', &expected[before..expected_end]);
    show('+', &made[before..made_end]);
    show(' ', &made[made_end..made.len().min(made_end + CONTEXT)]);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown() {
        assert_eq!(difference("a\nb\nc\nd\ne", "a\nb\nx\nd\ne"), "  a\n  b\n- c\n+ x\n  d\n  e");
        assert_eq!(difference("a", "a\nb"), "  a\n+ b");
        assert_eq!(difference("", "a"), "+ a");
        assert_eq!(difference("a\na", "a"), "  a\n- a");
    }
}
