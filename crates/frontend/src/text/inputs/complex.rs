//! Complex numbers as Python writes them: `2j`, `1.0+2.0j`, `complex(1.0, -0.0)`. Takes trees, gives the two parts.

use ops::{DType, Scalar};
use syntax::{Tree, TreeKind};

use super::number::number;

/// The parts of a number that is written with an imaginary one, or as a call of `complex`; `None` for anything else.
pub(in crate::text) fn complex_number(tree: &Tree) -> Option<Scalar> {
    parts(tree).map(|[re, im]| Scalar::complex(DType::C128, re, im))
}

fn parts(tree: &Tree) -> Option<[f64; 2]> {
    match &tree.kind {
        TreeKind::Imaginary(im) => Some([0.0, *im]),
        TreeKind::Unary("-", operand) => parts(operand).map(|[re, im]| [-re, -im]),
        TreeKind::Binary(operator, a, b) => {
            let (left, right) = (parts(a), parts(b));
            if left.is_none() && right.is_none() {
                return None;
            }
            product(operator, left.or_else(|| real(a))?, right.or_else(|| real(b))?)
        }
        TreeKind::Call(callee, arguments) if callee.path().is_some_and(|path| path == ["complex"]) => {
            let given = |place: usize| number(&arguments.get(place)?.value).ok().map(|part| part.as_f64());
            let plain = arguments.iter().all(|argument| argument.keyword.is_none());
            match arguments.len() {
                1 if plain => Some([given(0)?, 0.0]),
                2 if plain => Some([given(0)?, given(1)?]),
                _ => None,
            }
        }
        _ => None,
    }
}

fn real(tree: &Tree) -> Option<[f64; 2]> {
    number(tree).ok().map(|re| [re.as_f64(), 0.0])
}

/// What Python makes of two numbers of which one is complex.
pub(in crate::text) fn arithmetic(operator: &str, x: Scalar, y: Scalar) -> Option<Scalar> {
    let parts = |scalar: Scalar| [scalar.as_f64(), scalar.imag().as_f64()];
    product(operator, parts(x), parts(y)).map(|[re, im]| Scalar::complex(DType::C128, re, im))
}

fn product(operator: &str, [a, b]: [f64; 2], [c, d]: [f64; 2]) -> Option<[f64; 2]> {
    match operator {
        "+" => Some([a + c, b + d]),
        "-" => Some([a - c, b - d]),
        "*" => Some([a * c - b * d, a * d + b * c]),
        _ => None,
    }
}
