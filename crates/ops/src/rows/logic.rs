//! Rows: comparisons, logic, selection and copies.

use crate::row::CpuSpelling::{Compare, Expansion, Instruction, Move, Select};
use crate::row::{Algebra, BoolMeaning, CSpelling, CpuSpellings, FloatMeaning, IntMeaning, Primitive, float};
use crate::spread::Spread;
use crate::typing::Typing;

/// The columns of a comparison; `predicates` are those of `fcmp`, of signed `icmp`, and of `icmp` on bools and u64.
const fn comparison(
    name: &'static str,
    operator: &'static str,
    predicates: [&'static str; 3],
    of_floats: FloatMeaning,
    of_ints: fn(i64, i64) -> bool,
    of_bools: fn(bool, bool) -> bool,
    doc: &'static str,
) -> Primitive {
    let [float, int, unsigned] = predicates;
    Primitive {
        name,
        params: &["lhs", "rhs"],
        typing: Typing::Compare,
        algebra: Algebra::NONE,
        float: Some(of_floats),
        int: Some(IntMeaning::Compare(of_ints)),
        boolean: Some(BoolMeaning::Binary(of_bools)),
        cuda: CSpelling::number(operator).and_bool(operator),
        cpu: CpuSpellings::float(Compare(float))
            .and_int(Compare(int))
            .and_unsigned(Compare(unsigned))
            .and_bool(Compare(unsigned)),
        ulp: 0.0,
        spread: Spread::Comparison,
        doc,
    }
}

pub(crate) const EQ: Primitive = Primitive {
    algebra: Algebra::COMMUTATIVE,
    ..comparison(
        "eq",
        "({0} == {1})",
        ["oeq", "eq", "eq"],
        float!(Compare: |a, b| a == b),
        |a, b| a == b,
        |a, b| a == b,
        "Are they equal? NaN equals nothing; 0 equals -0.",
    )
};

pub(crate) const NE: Primitive = Primitive {
    algebra: Algebra::COMMUTATIVE,
    ..comparison(
        "ne",
        "({0} != {1})",
        ["une", "ne", "ne"],
        float!(Compare: |a, b| a != b),
        |a, b| a != b,
        |a, b| a != b,
        "Do they differ? NaN differs from everything.",
    )
};

pub(crate) const LT: Primitive = comparison(
    "lt",
    "({0} < {1})",
    ["olt", "slt", "ult"],
    float!(Compare: |a, b| a < b),
    |a, b| a < b,
    |a, b| !a & b,
    "Is the first less? False with NaN.",
);

pub(crate) const LE: Primitive = comparison(
    "le",
    "({0} <= {1})",
    ["ole", "sle", "ule"],
    float!(Compare: |a, b| a <= b),
    |a, b| a <= b,
    |a, b| !a | b,
    "Is the first less or equal? False with NaN.",
);

pub(crate) const GT: Primitive = comparison(
    "gt",
    "({0} > {1})",
    ["ogt", "sgt", "ugt"],
    float!(Compare: |a, b| a > b),
    |a, b| a > b,
    |a, b| a & !b,
    "Is the first greater? False with NaN.",
);

pub(crate) const GE: Primitive = comparison(
    "ge",
    "({0} >= {1})",
    ["oge", "sge", "uge"],
    float!(Compare: |a, b| a >= b),
    |a, b| a >= b,
    |a, b| a | !b,
    "Is the first greater or equal? False with NaN.",
);

const LOGICAL: Primitive = Primitive {
    params: &["lhs", "rhs"],
    typing: Typing::Logical,
    algebra: Algebra::LATTICE,
    ..Primitive::BLANK
};

pub(crate) const LOGICAL_AND: Primitive = Primitive {
    name: "logical_and",
    algebra: Algebra { identity: Some(1.0), ..Algebra::LATTICE },
    boolean: Some(BoolMeaning::Binary(|a, b| a & b)),
    cuda: CSpelling::NONE.and_bool("({0} && {1})"),
    cpu: CpuSpellings::boolean(Instruction("and")),
    doc: "Do both hold? A number holds unless it is 0.",
    ..LOGICAL
};

pub(crate) const LOGICAL_OR: Primitive = Primitive {
    name: "logical_or",
    algebra: Algebra { identity: Some(0.0), ..Algebra::LATTICE },
    boolean: Some(BoolMeaning::Binary(|a, b| a | b)),
    cuda: CSpelling::NONE.and_bool("({0} || {1})"),
    cpu: CpuSpellings::boolean(Instruction("or")),
    doc: "Does either hold? A number holds unless it is 0.",
    ..LOGICAL
};

pub(crate) const LOGICAL_NOT: Primitive = Primitive {
    name: "logical_not",
    params: &["x"],
    algebra: Algebra::NONE,
    boolean: Some(BoolMeaning::Unary(|x| !x)),
    cuda: CSpelling::NONE.and_bool("(!{0})"),
    cpu: CpuSpellings::boolean(Expansion("ne(x, 1)")),
    doc: "Does it not hold? A number holds unless it is 0.",
    ..LOGICAL
};

pub(crate) const WHERE: Primitive = Primitive {
    name: "where",
    params: &["condition", "x", "y"],
    typing: Typing::Where,
    algebra: Algebra::NONE,
    float: Some(FloatMeaning::Select),
    int: Some(IntMeaning::Select),
    boolean: Some(BoolMeaning::Select),
    cuda: CSpelling::number("({0} ? {1} : {2})").and_bool("({0} ? {1} : {2})"),
    cpu: CpuSpellings::all(Select),
    ulp: 0.0,
    spread: Spread::Select,
    doc: "x where the condition holds, else y. The condition must be a bool; a NaN not chosen has no effect.",
};

pub(crate) const SET: Primitive = Primitive {
    name: "set",
    params: &["x"],
    typing: Typing::Set,
    algebra: Algebra::IDEMPOTENT,
    float: Some(float!(Unary: |x| x)),
    int: Some(IntMeaning::Unary(|x, _| x)),
    boolean: Some(BoolMeaning::Unary(|x| x)),
    cuda: CSpelling::number("{0}").and_bool("{0}"),
    cpu: CpuSpellings::all(Move),
    ulp: 0.0,
    spread: Spread::Lipschitz(1.0),
    doc: "The same elements. As an output it is a copy, but for a view of an input, which shares the input's memory.",
};

pub(crate) const SEGMENT_SET: Primitive =
    Primitive { name: "segment_set", doc: "A copy that ends a segment: what reads it is in another.", ..SET };
