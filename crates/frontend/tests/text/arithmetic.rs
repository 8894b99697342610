//! Numbers that are worked out before ops see them, as inputs of a definition.

use ferrofuse_frontend::text::parse;

use super::inputs::check;

#[test]
fn numbers_are_what_python_makes_of_them() {
    let cases = [
        ("7 // 2", "i64 3"),
        ("-7 // 2", "i64 -4"),
        ("7 // -2", "i64 -4"),
        ("-7 % 3", "i64 2"),
        ("7 % -3", "i64 -2"),
        ("7.5 // 2", "f64 3.0"),
        ("-7.5 % 2", "f64 0.5"),
        ("1 / 4", "f64 0.25"),
        ("2 ** -1", "f64 0.5"),
        ("2 ** 63", "u64 9223372036854775808"),
        ("-9223372036854775808", "i64 -9223372036854775808"),
        ("~True", "i64 -2"),
        ("True & False", "bool False"),
        ("6 & 3", "i64 2"),
        ("1 << 40", "i64 1099511627776"),
        ("-5 >> 1", "i64 -3"),
        ("(-1) ** 9223372036854775807", "i64 -1"),
        ("9223372036854775807 == 9223372036854775808", "bool False"),
        ("3 > 2", "bool True"),
        ("float(\"inf\") > 1", "bool True"),
        ("1j * 1j == -1", "bool True"),
        ("-1.0 // float(\"inf\")", "f64 -1.0"),
        ("1e200 / 1e200j", "c128 0.0-1.0j"),
        ("1j ** 2", "c128 -1.0+0.0j"),
        ("(-8) ** 0.5 == 8 ** 0.5 * 1j", "bool False"),
        ("9007199254740993 == 9007199254740992.0", "bool False"),
        ("9223372036854775807 < 9223372036854775808.0", "bool True"),
        ("-3 < -2.5", "bool True"),
        ("9007199254740993 == 9007199254740992.0 + 0j", "bool False"),
        ("2 == 2 + 0j", "bool True"),
        ("9007199254740993 / 3", "f64 3002399751580331.0"),
        ("-1 / 3", "f64 -0.3333333333333333"),
        ("False / 10", "f64 0.0"),
    ];
    for (text, expected) in cases {
        check(text, expected);
    }
}

#[test]
fn what_is_no_number_is_rejected_with_the_reason() {
    let cases = [
        ("2 ** 64", "expected an integer that 64 bits hold"),
        ("1 << 1000", "expected an integer that 64 bits hold"),
        ("-9223372036854775809", "expected an integer that 64 bits hold"),
        ("7 % 0", "division by zero"),
        ("7 / 0", "division by zero"),
        ("0 ** -1", "division by zero"),
        ("1 << -1", "a shift by a negative number"),
        ("0j ** -1", "division by zero"),
        ("(3-4j) ** 1e200j", "a power that is too large"),
        ("10.0 ** 400", "a power that is too large"),
        ("1j < 2", "complex numbers have no order"),
        ("1.5 & 1", "floats do not have this operator"),
        ("x + 1", "expected a number"),
    ];
    for (text, expected) in cases {
        let source = format!("def f(fd):\n    fd.add_output(fd.define_scalar())\ninputs = [{text}]\n");
        assert_eq!(parse(&source).expect_err(text).label, expected, "{text}");
    }
}
