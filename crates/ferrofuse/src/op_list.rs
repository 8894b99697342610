//! Every op of the definition language as documented: signature, dtypes, typing rule, error bound, meaning.
//!
//! Takes the tables of ops, returns plain data: the list of `ferrofuse ops`, and the source of Python's stubs and reference.

use indexmap::IndexMap;
use ops::call::OpRef;
use ops::{DType, ExprNode, LanguageOp, Monoid, Operand, Param, ParamDefault, ScalarOp, Typing};
use serde::Serialize;

/// The documentation of an op.
#[derive(Serialize)]
pub struct OpEntry {
    /// Its name in the language, as in `fd.ops.NAME`.
    pub name: &'static str,
    /// The table that it is in: `primitives`, `composites` or `forms`.
    pub kind: &'static str,
    /// Its name with its parameters and their defaults.
    pub signature: String,
    /// The dtypes that operands may have; empty if a list cannot express them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dtypes: Vec<&'static str>,
    /// The dtype of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// How far a compiled f32 or f64 result may be from the meaning, in units in the last place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ulp: Option<f64>,
    /// For operands of each dtype, how far a compiled result may be from the meaning.
    pub error: IndexMap<&'static str, String>,
    /// The expression over primitives that a composite stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<&'static str>,
    /// A sentence or two.
    pub doc: &'static str,
}

/// Every op, in the order of the tables.
pub fn op_entries() -> impl Iterator<Item = OpEntry> {
    OpRef::all().map(entry_of)
}

/// The op with this name.
pub fn op_entry(name: &str) -> Option<OpEntry> {
    OpRef::all().find(|op| op.name() == name).map(entry_of)
}

fn entry_of(op: OpRef) -> OpEntry {
    let (kind, rule, ulp, expression) = match op {
        OpRef::Primitive(scalar_op) => {
            ("primitives", Some(rule(scalar_op.row().typing)), Some(scalar_op.row().ulp), None)
        }
        OpRef::Composite(composite) => {
            let row = composite.row();
            ("composites", Some(rule(row.typing)), None, Some(row.text))
        }
        OpRef::Language(_) => ("forms", None, None, None),
    };
    let dtypes = dtypes(op);
    let names = dtypes.iter().map(|dtype| dtype.short_name()).collect();
    let error = match op {
        OpRef::Language(language_op) => {
            IndexMap::from_iter([("all", error_of_language_op(language_op).to_owned())])
        }
        _ => dtypes.iter().map(|&dtype| (dtype.short_name(), error_on(op, dtype))).collect(),
    };
    OpEntry {
        name: op.name(),
        kind,
        signature: signature(op),
        dtypes: names,
        rule,
        ulp,
        error,
        expression,
        doc: op.doc(),
    }
}

/// How far a compiled result may be from the meaning, for operands of a dtype.
fn error_on(op: OpRef, dtype: DType) -> String {
    let (typing, scalar_ops) = match op {
        OpRef::Primitive(scalar_op) => (scalar_op.row().typing, vec![scalar_op]),
        OpRef::Composite(composite) => {
            let applied = composite.expr().nodes().iter().filter_map(|node| match node {
                ExprNode::Apply(scalar_op, _) => Some(*scalar_op),
                _ => None,
            });
            (composite.row().typing, applied.collect())
        }
        OpRef::Language(_) => return String::new(),
    };
    if dtype.is_complex() && scalar_ops.iter().any(|&scalar_op| !is_by_parts(scalar_op)) {
        return "the bounds of its steps on real and imaginary parts, propagated through".to_owned();
    }
    let in_integers =
        !dtype.is_float() && !dtype.is_complex() && !matches!(typing, Typing::Float | Typing::Test);
    let rounded = if typing == Typing::Plain && dtype.is_storage_only() { ", then rounded" } else { "" };
    match scalar_ops[..] {
        _ if in_integers || scalar_ops.iter().all(|scalar_op| scalar_op.row().ulp == 0.0) => {
            "exact".to_owned()
        }
        [scalar_op] if dtype.is_complex() => format!("within {} ulp in each part", scalar_op.row().ulp),
        [scalar_op] => format!("within {} ulp{rounded}", scalar_op.row().ulp),
        _ => format!("the bounds of its steps, propagated through{rounded}"),
    }
}

/// Does an op on complex numbers apply the real op to each part?
fn is_by_parts(scalar_op: ScalarOp) -> bool {
    use ScalarOp::{
        Add, Complex, Eq, Imag, LogicalAnd, LogicalNot, LogicalOr, Ne, Neg, Real, SegmentSet, Set, Sub, Where,
    };
    matches!(
        scalar_op,
        Add | Sub
            | Neg
            | Set
            | SegmentSet
            | Where
            | Eq
            | Ne
            | LogicalAnd
            | LogicalOr
            | LogicalNot
            | Real
            | Imag
            | Complex
    )
}

/// The same for an op on tensors, for all dtypes; folds have their own.
fn error_of_language_op(language_op: LanguageOp) -> &'static str {
    let named = match language_op {
        LanguageOp::Cumsum => Some(Monoid::Sum),
        LanguageOp::Cumprod => Some(Monoid::Prod),
        LanguageOp::Cummax => Some(Monoid::Max),
        LanguageOp::Cummin => Some(Monoid::Min),
        _ => Monoid::from_name(language_op.name()),
    };
    match named.as_ref().and_then(Monoid::row) {
        Some(row) => row.error,
        None => "exact where elements are only moved, else the bounds of its steps, propagated through",
    }
}

fn signature(op: OpRef) -> String {
    let params: Vec<String> = op.params().iter().map(param).collect();
    format!("{}({})", op.name(), params.join(", "))
}

fn param(param: &Param) -> String {
    let name = param.name;
    match param.default {
        ParamDefault::Required => name.to_owned(),
        ParamDefault::Absent => format!("{name}=None"),
        ParamDefault::Int(value) => format!("{name}={value}"),
        ParamDefault::Float(value) => format!("{name}={value:?}"),
        ParamDefault::Bool(true) => format!("{name}=True"),
        ParamDefault::Bool(false) => format!("{name}=False"),
        ParamDefault::DType(dtype) => format!("{name}=DataType.{}", dtype.nvfuser_name()),
        ParamDefault::Lowest => format!("{name}=-inf"),
        ParamDefault::Highest => format!("{name}=inf"),
    }
}

/// The dtypes that all operands may have at once; the condition of `where` is a bool besides.
fn dtypes(op: OpRef) -> Vec<DType> {
    let applies = |dtype: &DType| {
        let mut operands = vec![Operand::tensor(*dtype); op.params().len()];
        match op {
            OpRef::Primitive(scalar_op) => {
                if scalar_op == ScalarOp::Where {
                    operands[0] = Operand::tensor(DType::Bool);
                }
                ops::signature(scalar_op, &operands).is_ok()
            }
            OpRef::Composite(composite) => composite.signature(&operands).is_ok(),
            OpRef::Language(_) => false,
        }
    };
    let takes = |dtype: &DType| match dtype.is_complex() {
        true => is_defined_for_complex(op),
        false => applies(dtype),
    };
    DType::ALL.into_iter().filter(takes).collect()
}

/// Logic takes a complex number as a truth value: whether it is not zero.
fn is_defined_for_complex(op: OpRef) -> bool {
    let typing = match op {
        OpRef::Primitive(scalar_op) => scalar_op.row().typing,
        OpRef::Composite(composite) => composite.row().typing,
        OpRef::Language(_) => return false,
    };
    matches!(typing, Typing::Part | Typing::Where | Typing::Logical)
        || ops::complex_meaning(op.name()).is_some()
}

/// A typing rule in words: the dtype of the result.
fn rule(typing: Typing) -> &'static str {
    match typing {
        Typing::Float => "f32, or f64 for f64",
        Typing::Plain => "the dtype of the first operand",
        Typing::Arithmetic => "the promoted dtype, f32 for float storage types",
        Typing::Precise => "the promoted dtype, which must be no storage type",
        Typing::Compare | Typing::Test | Typing::Logical => "bool",
        Typing::Bitwise => "the promoted dtype",
        Typing::Where => "the promoted dtype of the second and third operand",
        Typing::Set => "the same bits",
        Typing::Counter => "i64",
        Typing::Part => "f32 of c64, f64 of c128",
        Typing::Pair => "c64, or c128 for f64",
    }
}
