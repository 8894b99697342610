//! Typing: total over all dtypes and kinds, half types never computed in, and a table of a few ops over all pairs.

use std::fmt::Write as _;

use ferrofuse_ops::{
    Composite, DType, Operand, OperandKind, ScalarOp, TypeSignature, Typing, TypingError, promote, signature,
};

fn operands() -> Vec<Operand> {
    let kinds = [OperandKind::Tensor, OperandKind::ZeroDim, OperandKind::Literal];
    kinds.iter().flat_map(|&kind| DType::REAL.map(|dtype| Operand { dtype, kind })).collect()
}

fn check(name: &str, typing: Typing, given: &[Operand], outcome: Result<TypeSignature, TypingError>) {
    match outcome {
        Ok(signature) => {
            assert_eq!(signature.compute.len(), given.len(), "{name}");
            let halves = signature.compute.iter().any(|dtype| dtype.is_storage_only());
            assert!(!halves || typing == Typing::Set, "{name} computes in a half");
            assert!(
                signature.result_compute == signature.result.compute() || typing == Typing::Set,
                "{name}"
            );
        }
        Err(TypingError::Operand { argument, given: blamed, .. }) => {
            assert_eq!(given[argument].dtype, blamed, "{name}");
        }
        Err(TypingError::NoCommon { first, second, .. }) => {
            assert!(promote(first, second).is_none(), "{name} of {first} and {second}");
        }
        Err(error @ TypingError::Arity { .. }) => panic!("{name}: {error}"),
    }
}

#[test]
fn typing_is_total() {
    let operands = operands();
    for &op in ScalarOp::ALL {
        let row = op.row();
        for (number, &a) in operands.iter().enumerate() {
            for &b in &operands {
                let given = [a, b, operands[(7 * number + 3) % operands.len()]];
                let given = &given[..row.params.len()];
                check(row.name, row.typing, given, signature(op, given));
            }
        }
        let one_more = vec![operands[0]; row.params.len() + 1];
        assert!(matches!(signature(op, &one_more), Err(TypingError::Arity { .. })));
    }
    for composite in Composite::all() {
        let row = composite.row();
        for &a in &operands {
            for &b in &operands {
                let given: Vec<Operand> = [a, b].into_iter().cycle().take(row.params.len()).collect();
                check(row.name, row.typing, &given, composite.signature(&given));
            }
        }
    }
}

/// `compute>result`, or only one of them where they are the same, or `-` where the op does not apply. Of comparisons, which
/// give bools, only what they compute in; of selections only what they give.
fn cell(op: ScalarOp, a: DType, b: DType) -> String {
    let mut given = vec![Operand::tensor(a), Operand::tensor(b)];
    if op == ScalarOp::Where {
        given.insert(0, Operand::tensor(DType::Bool));
    }
    let Ok(signature) = signature(op, &given) else { return "-".to_owned() };
    let (compute, result) = (signature.compute[given.len() - 1], signature.result);
    match op {
        ScalarOp::Eq => compute.to_string(),
        ScalarOp::Where => result.to_string(),
        _ if compute == result => result.to_string(),
        _ => format!("{compute}>{result}"),
    }
}

/// Rows are the first operand, columns the second, both in the order of [`DType::REAL`].
fn table(op: ScalarOp) -> String {
    let mut text = format!("{}\n", op.name());
    for a in DType::REAL {
        let cells: Vec<String> = DType::REAL.iter().map(|&b| cell(op, a, b)).collect();
        let _ = writeln!(text, "{a:7}{}", cells.join(" "));
    }
    text
}

#[test]
fn tables_of_pairs() {
    let tables: String =
        [ScalarOp::Add, ScalarOp::Div, ScalarOp::Eq, ScalarOp::Where].into_iter().map(table).collect();
    assert_eq!(tables, TABLES, "\n{tables}");
    assert_eq!(
        table(ScalarOp::Pow).lines().skip(1).collect::<Vec<_>>(),
        table(ScalarOp::Div).lines().skip(1).collect::<Vec<_>>()
    );
}

const TABLES: &str = "\
add
bool   bool i32>i8 i32>i16 i32 i64 i32>u8 i32>u16 i64>u32 u64 f32 f32 f32 f32 f32 f32 f64
i8     i32>i8 i32>i8 i32>i16 i32 i64 i32>i16 i32 i64 - f32 f32 f32 f32 f32 f32 f64
i16    i32>i16 i32>i16 i32>i16 i32 i64 i32>i16 i32 i64 - f32 f32 f32 f32 f32 f32 f64
i32    i32 i32 i32 i32 i64 i32 i32 i64 - f32 f32 f32 f32 f32 f32 f64
i64    i64 i64 i64 i64 i64 i64 i64 i64 - f32 f32 f32 f32 f32 f32 f64
u8     i32>u8 i32>i16 i32>i16 i32 i64 i32>u8 i32>u16 i64>u32 u64 f32 f32 f32 f32 f32 f32 f64
u16    i32>u16 i32 i32 i32 i64 i32>u16 i32>u16 i64>u32 u64 f32 f32 f32 f32 f32 f32 f64
u32    i64>u32 i64 i64 i64 i64 i64>u32 i64>u32 i64>u32 u64 f32 f32 f32 f32 f32 f32 f64
u64    u64 - - - - u64 u64 u64 u64 f32 f32 f32 f32 f32 f32 f64
f8e8m0 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 - - - - - -
f8e4m3 f32 f32 f32 f32 f32 f32 f32 f32 f32 - f32 - - - - -
f8e5m2 f32 f32 f32 f32 f32 f32 f32 f32 f32 - - f32 - - - -
f16    f32 f32 f32 f32 f32 f32 f32 f32 f32 - - - f32 f32 f32 f64
bf16   f32 f32 f32 f32 f32 f32 f32 f32 f32 - - - f32 f32 f32 f64
f32    f32 f32 f32 f32 f32 f32 f32 f32 f32 - - - f32 f32 f32 f64
f64    f64 f64 f64 f64 f64 f64 f64 f64 f64 - - - f64 f64 f64 f64
div
bool   - i32>i8 i32>i16 i32 i64 i32>u8 i32>u16 i64>u32 u64 f32 f32 f32 f32 f32 f32 f64
i8     i32>i8 i32>i8 i32>i16 i32 i64 i32>i16 i32 i64 - f32 f32 f32 f32 f32 f32 f64
i16    i32>i16 i32>i16 i32>i16 i32 i64 i32>i16 i32 i64 - f32 f32 f32 f32 f32 f32 f64
i32    i32 i32 i32 i32 i64 i32 i32 i64 - f32 f32 f32 f32 f32 f32 f64
i64    i64 i64 i64 i64 i64 i64 i64 i64 - f32 f32 f32 f32 f32 f32 f64
u8     i32>u8 i32>i16 i32>i16 i32 i64 i32>u8 i32>u16 i64>u32 u64 f32 f32 f32 f32 f32 f32 f64
u16    i32>u16 i32 i32 i32 i64 i32>u16 i32>u16 i64>u32 u64 f32 f32 f32 f32 f32 f32 f64
u32    i64>u32 i64 i64 i64 i64 i64>u32 i64>u32 i64>u32 u64 f32 f32 f32 f32 f32 f32 f64
u64    u64 - - - - u64 u64 u64 u64 f32 f32 f32 f32 f32 f32 f64
f8e8m0 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 - - - - - -
f8e4m3 f32 f32 f32 f32 f32 f32 f32 f32 f32 - f32 - - - - -
f8e5m2 f32 f32 f32 f32 f32 f32 f32 f32 f32 - - f32 - - - -
f16    f32 f32 f32 f32 f32 f32 f32 f32 f32 - - - f32 f32 f32 f64
bf16   f32 f32 f32 f32 f32 f32 f32 f32 f32 - - - f32 f32 f32 f64
f32    f32 f32 f32 f32 f32 f32 f32 f32 f32 - - - f32 f32 f32 f64
f64    f64 f64 f64 f64 f64 f64 f64 f64 f64 - - - f64 f64 f64 f64
eq
bool   bool i32 i32 i32 i64 i32 i32 i64 u64 f32 f32 f32 f32 f32 f32 f64
i8     i32 i32 i32 i32 i64 i32 i32 i64 - f32 f32 f32 f32 f32 f32 f64
i16    i32 i32 i32 i32 i64 i32 i32 i64 - f32 f32 f32 f32 f32 f32 f64
i32    i32 i32 i32 i32 i64 i32 i32 i64 - f32 f32 f32 f32 f32 f32 f64
i64    i64 i64 i64 i64 i64 i64 i64 i64 - f32 f32 f32 f32 f32 f32 f64
u8     i32 i32 i32 i32 i64 i32 i32 i64 u64 f32 f32 f32 f32 f32 f32 f64
u16    i32 i32 i32 i32 i64 i32 i32 i64 u64 f32 f32 f32 f32 f32 f32 f64
u32    i64 i64 i64 i64 i64 i64 i64 i64 u64 f32 f32 f32 f32 f32 f32 f64
u64    u64 - - - - u64 u64 u64 u64 f32 f32 f32 f32 f32 f32 f64
f8e8m0 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 - - - - - -
f8e4m3 f32 f32 f32 f32 f32 f32 f32 f32 f32 - f32 - - - - -
f8e5m2 f32 f32 f32 f32 f32 f32 f32 f32 f32 - - f32 - - - -
f16    f32 f32 f32 f32 f32 f32 f32 f32 f32 - - - f32 f32 f32 f64
bf16   f32 f32 f32 f32 f32 f32 f32 f32 f32 - - - f32 f32 f32 f64
f32    f32 f32 f32 f32 f32 f32 f32 f32 f32 - - - f32 f32 f32 f64
f64    f64 f64 f64 f64 f64 f64 f64 f64 f64 - - - f64 f64 f64 f64
where
bool   bool i8 i16 i32 i64 u8 u16 u32 u64 f8e8m0 f8e4m3 f8e5m2 f16 bf16 f32 f64
i8     i8 i8 i16 i32 i64 i16 i32 i64 - f8e8m0 f8e4m3 f8e5m2 f16 bf16 f32 f64
i16    i16 i16 i16 i32 i64 i16 i32 i64 - f8e8m0 f8e4m3 f8e5m2 f16 bf16 f32 f64
i32    i32 i32 i32 i32 i64 i32 i32 i64 - f8e8m0 f8e4m3 f8e5m2 f16 bf16 f32 f64
i64    i64 i64 i64 i64 i64 i64 i64 i64 - f8e8m0 f8e4m3 f8e5m2 f16 bf16 f32 f64
u8     u8 i16 i16 i32 i64 u8 u16 u32 u64 f8e8m0 f8e4m3 f8e5m2 f16 bf16 f32 f64
u16    u16 i32 i32 i32 i64 u16 u16 u32 u64 f8e8m0 f8e4m3 f8e5m2 f16 bf16 f32 f64
u32    u32 i64 i64 i64 i64 u32 u32 u32 u64 f8e8m0 f8e4m3 f8e5m2 f16 bf16 f32 f64
u64    u64 - - - - u64 u64 u64 u64 f8e8m0 f8e4m3 f8e5m2 f16 bf16 f32 f64
f8e8m0 f8e8m0 f8e8m0 f8e8m0 f8e8m0 f8e8m0 f8e8m0 f8e8m0 f8e8m0 f8e8m0 f8e8m0 - - - - - -
f8e4m3 f8e4m3 f8e4m3 f8e4m3 f8e4m3 f8e4m3 f8e4m3 f8e4m3 f8e4m3 f8e4m3 - f8e4m3 - - - - -
f8e5m2 f8e5m2 f8e5m2 f8e5m2 f8e5m2 f8e5m2 f8e5m2 f8e5m2 f8e5m2 f8e5m2 - - f8e5m2 - - - -
f16    f16 f16 f16 f16 f16 f16 f16 f16 f16 - - - f16 f32 f32 f64
bf16   bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 - - - f32 bf16 f32 f64
f32    f32 f32 f32 f32 f32 f32 f32 f32 f32 - - - f32 f32 f32 f64
f64    f64 f64 f64 f64 f64 f64 f64 f64 f64 - - - f64 f64 f64 f64
";

#[test]
fn functions_of_real_numbers_keep_f32_and_plain_ops_round_back() {
    let of = |op, dtype| signature(op, &[Operand::tensor(dtype)]).map(|s| (s.compute[0], s.result));
    assert_eq!(of(ScalarOp::Exp, DType::BF16), Ok((DType::F32, DType::F32)));
    assert_eq!(of(ScalarOp::Exp, DType::I64), Ok((DType::F32, DType::F32)));
    assert_eq!(of(ScalarOp::Exp, DType::F64), Ok((DType::F64, DType::F64)));
    assert_eq!(of(ScalarOp::Floor, DType::F16), Ok((DType::F32, DType::F16)));
    assert_eq!(of(ScalarOp::Floor, DType::I32), Ok((DType::I32, DType::I32)));
    assert_eq!(of(ScalarOp::Neg, DType::F16), Ok((DType::F32, DType::F32)));
    assert_eq!(of(ScalarOp::LogicalNot, DType::F16), Ok((DType::Bool, DType::Bool)));
    assert_eq!(of(ScalarOp::Set, DType::F16), Ok((DType::F16, DType::F16)));
    let silu = Composite::from_name("silu")
        .expect("it is one")
        .signature(&[Operand::tensor(DType::BF16)])
        .map(|s| (s.compute[0], s.result));
    assert_eq!(silu, Ok((DType::F32, DType::BF16)));
}

#[test]
fn errors_blame_an_operand() {
    let error = |op, given: &[Operand]| signature(op, given).unwrap_err().to_string();
    let (float, int) = (Operand::tensor(DType::F32), Operand::tensor(DType::I64));
    assert_eq!(
        error(ScalarOp::BitwiseAnd, &[int, float]),
        "`bitwise_and`: operand 1 must be an integer or a bool, but is f32"
    );
    assert_eq!(error(ScalarOp::Where, &[int, float, float]), "`where`: operand 0 must be a bool, but is i64");
    assert_eq!(error(ScalarOp::Exp, &[float, float]), "`exp` takes 1 operand(s), 2 given");
    let silu = Composite::from_name("silu").expect("it is one").signature(&[int]).unwrap_err().to_string();
    assert_eq!(silu, "`silu`: operand 0 must be a float, but is i64");
}
