//! From an op and the texts of its operands to text, by the templates of the dialect.

use ops::{DType, ScalarOp};

use super::EmitError;
use super::dialect::Dialect;
use super::prelude::Prelude;

impl Dialect {
    /// The template of an op that computes in `dtype`.
    pub(super) fn template(&self, op: ScalarOp, dtype: DType) -> Result<&'static str, EmitError> {
        (self.spelling)(op).of(dtype).ok_or_else(|| self.unspelled(op, dtype))
    }

    /// The error that the dialect has no text for an op.
    pub(super) fn unspelled(&self, op: ScalarOp, dtype: DType) -> EmitError {
        EmitError::Unspelled { op: op.name(), dtype, dialect: self.name }
    }
}

/// The template with its operands; functions that it calls go into the prelude.
pub(super) fn fill(op: ScalarOp, template: &str, operands: &[String], prelude: &mut Prelude) -> String {
    if let Some(helper) = (prelude.dialect.spelling)(op).helper
        && calls(template, helper)
    {
        prelude.add_op(helper);
    }
    let mut text = template.to_owned();
    for (place, operand) in operands.iter().enumerate() {
        let hole = hole(place);
        // A whole argument of a call needs no parentheses of its own.
        for (left, right) in [("(", ")"), ("(", ","), (", ", ")"), (", ", ",")] {
            let argument = format!("{left}{hole}{right}");
            text = text.replace(&argument, &format!("{left}{}{right}", bare(operand)));
        }
        text = text.replace(&hole, operand);
    }
    text
}

/// Whether a template names an operand more than once, so that its text should be short and cheap.
pub(super) fn repeats(template: &str, place: usize) -> bool {
    template.matches(&hole(place)).count() > 1
}

fn hole(place: usize) -> String {
    format!("{{{place}}}")
}

/// Whether the text calls a function that the helper defines.
fn calls(text: &str, helper: &str) -> bool {
    let name = text.split_once('(').map_or("", |(name, _)| name);
    !name.is_empty() && helper.contains(&format!(" {name}("))
}

/// The text without the one pair of parentheses that encloses it all, if there is one.
pub(super) fn bare(text: &str) -> &str {
    let Some(inside) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else { return text };
    let mut depth = 0i32;
    for character in inside.chars() {
        depth += i32::from(character == '(') - i32::from(character == ')');
        if depth < 0 {
            return text;
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_enclosing_pair_is_dropped() {
        for (text, expected) in [
            ("(a + b)", "a + b"),
            ("((a) + (b))", "(a) + (b)"),
            ("(a) + (b)", "(a) + (b)"),
            ("f(x)", "f(x)"),
            ("(float)x", "(float)x"),
            ("v3", "v3"),
        ] {
            assert_eq!(bare(text), expected);
        }
    }

    #[test]
    fn helpers_come_only_with_templates_that_call_them() {
        let mut prelude = Prelude::new(&crate::cuda::CUDA);
        let operands = ["(v0 + v1)".to_owned(), "v2".to_owned()];
        assert_eq!(fill(ScalarOp::Fmod, "fmodf({0}, {1})", &operands, &mut prelude), "fmodf(v0 + v1, v2)");
        assert_eq!(prelude.to_string(), "");
        fill(ScalarOp::Fmod, "truncated_remainder({0}, {1})", &operands, &mut prelude);
        assert!(prelude.to_string().contains("truncated_remainder(T a, T b)"));
        assert_eq!(fill(ScalarOp::Mul, "({0} * {1})", &operands, &mut prelude), "((v0 + v1) * v2)");
    }
}
