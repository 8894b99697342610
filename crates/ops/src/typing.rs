//! The typing of scalar ops: from operand dtypes and kinds to the dtypes of the computation and of the result.
//!
//! Promotion follows PyTorch (and so nvFuser): bool < integer < float < complex are *categories*; tensors with dimensions decide before
//! tensors without, those before numbers, and a weaker kind widens the result only by a higher category. After
//! promotion arithmetic on a storage type happens in f32 and stays there, or in i32 or i64 and wraps back.

use smallvec::{SmallVec, smallvec};

use crate::DType;

/// How an op's operand dtypes give its compute and result dtypes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Typing {
    /// A function of real numbers: integers, bools and half types go to f32; the result stays there.
    Float,
    /// The result has the dtype of the first operand; storage types are computed in wider ones and rounded back.
    Plain,
    /// Promotion; the result of float storage types stays in f32, that of integer ones wraps back.
    Arithmetic,
    /// Promotion to a dtype that arithmetic happens in, which the operands must have without: no storage type.
    Precise,
    /// Operands as for [`Typing::Arithmetic`], result bool.
    Compare,
    /// Operands as for [`Typing::Float`], result bool.
    Test,
    /// Operands become bool, result bool.
    Logical,
    /// Promotion of integers and bools.
    Bitwise,
    /// The first operand is a bool; the result has the promoted dtype of the others, half types included.
    Where,
    /// The bits of the one operand, unchanged.
    Set,
    /// Integers become i64, result i64.
    Counter,
    /// A part of the one operand, a complex number.
    Part,
    /// Two parts, as for [`Typing::Float`], become one complex number.
    Pair,
}

/// What an operand is, which decides how much it weighs in promotion.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum OperandKind {
    /// A tensor with at least one dimension.
    Tensor,
    /// A tensor without dimensions.
    ZeroDim,
    /// A number written in the program, or a scalar value of it.
    Literal,
}

/// One operand as typing sees it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Operand {
    /// Its dtype; a Python float is `F64`, a Python int `I64`, a Python bool `Bool`.
    pub dtype: DType,
    pub kind: OperandKind,
}

impl Operand {
    /// A tensor operand with dimensions.
    pub const fn tensor(dtype: DType) -> Operand {
        Operand { dtype, kind: OperandKind::Tensor }
    }

    /// A tensor operand without dimensions.
    pub const fn zero_dim(dtype: DType) -> Operand {
        Operand { dtype, kind: OperandKind::ZeroDim }
    }

    /// A number.
    pub const fn literal(dtype: DType) -> Operand {
        Operand { dtype, kind: OperandKind::Literal }
    }
}

/// The dtypes of one application of an op.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TypeSignature {
    /// Cast the operands to these. Never a storage type, except for [`Typing::Set`].
    pub compute: SmallVec<[DType; 4]>,
    /// The op then gives this.
    pub result_compute: DType,
    /// Cast what it gives to this.
    pub result: DType,
}

/// Why an op does not apply to its operands.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TypingError {
    /// The number of operands is wrong.
    #[error("`{op}` takes {expected} operand(s), {given} given")]
    Arity {
        op: &'static str,
        /// Operands it takes.
        expected: usize,
        /// Operands it got.
        given: usize,
    },
    /// The dtype of an operand is wrong.
    #[error("`{op}`: operand {argument} must be {expected}, but is {given}")]
    Operand {
        op: &'static str,
        /// The operand's place, from 0.
        argument: usize,
        /// What would have been right, in words.
        expected: &'static str,
        /// The dtype it has.
        given: DType,
    },
    /// Two operands have no common dtype.
    #[error("`{op}`: {first} and {second} have no common dtype; cast one of them")]
    NoCommon {
        op: &'static str,
        /// The dtype of one.
        first: DType,
        /// The dtype of the other.
        second: DType,
    },
}

/// The classes of compute dtypes an op has a meaning on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Classes {
    /// f32 and f64.
    pub float: bool,
    /// Integers.
    pub int: bool,
    pub boolean: bool,
}

impl Classes {
    /// Is the class of `dtype` among them?
    pub const fn contain(self, dtype: DType) -> bool {
        match dtype {
            DType::Bool => self.boolean,
            _ if dtype.is_int() => self.int,
            DType::C64 | DType::C128 => false,
            _ => self.float,
        }
    }

    const fn in_words(self) -> &'static str {
        match (self.float, self.int, self.boolean) {
            (true, true, true) => "a number or a bool",
            (true, true, false) => "a number",
            (true, false, true) => "a float or a bool",
            (true, false, false) => "a float",
            (false, true, true) => "an integer or a bool",
            (false, true, false) => "an integer",
            (false, false, _) => "a bool",
        }
    }
}

/// The smallest dtype both convert to: the later in declaration order, but f32 for the two different half types, a signed
/// integer that holds both for integers of either kind, and a complex number of parts that hold both.
///
/// As in PyTorch there is none for u64 beside a signed integer, nor for a float type of one byte beside another float
/// type.
pub fn promote(a: DType, b: DType) -> Option<DType> {
    match (a.min(b), a.max(b)) {
        (low, high) if low == high => Some(low),
        (low, high) if high.is_complex() => promote(low.real(), high.real()).map(DType::complex),
        (DType::F16, DType::BF16) => Some(DType::F32),
        (low, high) if low.is_signed_int() && high.is_unsigned_int() => signed_beside(low, high),
        (low, _) if low.is_float8() => None,
        (_, high) => Some(high),
    }
}

/// The smallest signed integer type from `signed` on that holds all numbers of an unsigned one.
fn signed_beside(signed: DType, unsigned: DType) -> Option<DType> {
    let holds = |dtype: &DType| dtype.size() > unsigned.size();
    [DType::I8, DType::I16, DType::I32, DType::I64].into_iter().filter(|&dtype| dtype >= signed).find(holds)
}

/// The common dtype of operands of several kinds. No operands: bool.
///
/// A number beside tensors weighs as f32, i64 or bool; among themselves numbers keep their dtypes.
///
/// # Errors
/// Two dtypes of operands of one kind that have no common one.
pub fn promote_operands(operands: &[Operand]) -> Result<DType, (DType, DType)> {
    let of_kind = |kind| {
        let mut dtypes = operands.iter().filter(|operand| operand.kind == kind).map(|operand| operand.dtype);
        let first = dtypes.next();
        dtypes.try_fold(first, |common, next| match common {
            Some(common) => promote(common, next).map(Some).ok_or((common, next)),
            None => Ok(Some(next)),
        })
    };
    let tensors = of_kind(OperandKind::Tensor)?;
    let zero_dims = of_kind(OperandKind::ZeroDim)?;
    let numbers = of_kind(OperandKind::Literal)?;
    let among_tensors = combine(tensors, zero_dims);
    let numbers = match numbers {
        Some(dtype) if among_tensors.is_some() && dtype.is_float() => Some(DType::F32),
        Some(dtype) if among_tensors.is_some() && dtype.is_complex() => Some(DType::C64),
        other => other,
    };
    Ok(combine(among_tensors, numbers).unwrap_or(DType::Bool))
}

/// The stronger kind's dtype, unless the weaker one is of a higher category. A complex number beside floats makes them
/// complex and is not itself widened.
fn combine(stronger: Option<DType>, weaker: Option<DType>) -> Option<DType> {
    match (stronger, weaker) {
        (Some(strong), Some(weak)) if weak.is_complex() && strong.is_float() => Some(strong.complex()),
        (Some(strong), Some(weak)) if category(weak) > category(strong) => Some(weak),
        (None, weak) => weak,
        (strong, _) => strong,
    }
}

fn category(dtype: DType) -> u8 {
    u8::from(dtype.is_int()) + 2 * u8::from(dtype.is_float()) + 3 * u8::from(dtype.is_complex())
}

/// The dtype in which a function of real numbers computes.
fn real(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

/// The signature of an op of `arity` operands, typed by `typing`, with a meaning on `classes`.
///
/// # Errors
/// [`TypingError`] if the number of operands or the dtype of one does not suit.
pub(super) fn resolve(
    op: &'static str,
    arity: usize,
    typing: Typing,
    classes: Classes,
    operands: &[Operand],
) -> Result<TypeSignature, TypingError> {
    if operands.len() != arity {
        return Err(TypingError::Arity { op, expected: arity, given: operands.len() });
    }
    match typing {
        Typing::Where => return resolve_where(op, operands),
        Typing::Part => return resolve_part(op, operands),
        Typing::Pair => return resolve_pair(op, operands),
        _ => {}
    }
    let common = common_dtype(op, operands)?;
    if typing == Typing::Precise && common.is_storage_only() {
        return Err(TypingError::Operand {
            op,
            argument: 0,
            expected: if classes.int { "i32, i64 or u64" } else { "f32 or f64" },
            given: operands[0].dtype,
        });
    }
    let (compute, result) = match typing {
        Typing::Float => (real(common), real(common)),
        Typing::Plain => (operands[0].dtype.compute(), operands[0].dtype),
        Typing::Arithmetic => (common.compute(), common.arithmetic()),
        Typing::Compare => (common.compute(), DType::Bool),
        Typing::Test => (real(common), DType::Bool),
        Typing::Logical => (DType::Bool, DType::Bool),
        Typing::Bitwise | Typing::Precise => (common.compute(), common),
        Typing::Set | Typing::Where | Typing::Part | Typing::Pair => (operands[0].dtype, operands[0].dtype),
        Typing::Counter if operands.iter().all(|operand| operand.dtype.is_int()) => (DType::I64, DType::I64),
        Typing::Counter => return Err(unsuitable(op, classes, operands)),
    };
    if typing != Typing::Set && !classes.contain(compute) {
        return Err(unsuitable(op, classes, operands));
    }
    let result_compute = if typing == Typing::Set { result } else { result.compute() };
    Ok(TypeSignature { compute: smallvec![compute; arity], result_compute, result })
}

fn resolve_where(op: &'static str, operands: &[Operand]) -> Result<TypeSignature, TypingError> {
    let condition = operands[0].dtype;
    if condition != DType::Bool {
        return Err(TypingError::Operand { op, argument: 0, expected: "a bool", given: condition });
    }
    let result = common_dtype(op, &operands[1..])?;
    let compute = result.compute();
    Ok(TypeSignature { compute: smallvec![DType::Bool, compute, compute], result_compute: compute, result })
}

fn common_dtype(op: &'static str, operands: &[Operand]) -> Result<DType, TypingError> {
    promote_operands(operands).map_err(|(first, second)| TypingError::NoCommon { op, first, second })
}

fn resolve_part(op: &'static str, operands: &[Operand]) -> Result<TypeSignature, TypingError> {
    let given = operands[0].dtype;
    if !given.is_complex() {
        return Err(TypingError::Operand { op, argument: 0, expected: "a complex number", given });
    }
    Ok(TypeSignature { compute: smallvec![given], result_compute: given.real(), result: given.real() })
}

fn resolve_pair(op: &'static str, operands: &[Operand]) -> Result<TypeSignature, TypingError> {
    if let Some(argument) = operands.iter().position(|operand| operand.dtype.is_complex()) {
        let given = operands[argument].dtype;
        return Err(TypingError::Operand { op, argument, expected: "a real number", given });
    }
    let part = real(common_dtype(op, operands)?);
    Ok(TypeSignature { compute: smallvec![part; 2], result_compute: part.complex(), result: part.complex() })
}

/// The first operand of a class without meaning is to blame; promotion makes no class that no operand has.
fn unsuitable(op: &'static str, classes: Classes, operands: &[Operand]) -> TypingError {
    let culprit = operands.iter().position(|operand| !classes.contain(operand.dtype)).unwrap_or(0);
    TypingError::Operand {
        op,
        argument: culprit,
        expected: classes.in_words(),
        given: operands[culprit].dtype,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_never_widens_within_its_category() {
        let with =
            |dtype, number| promote_operands(&[Operand::tensor(dtype), Operand::literal(number)]).unwrap();
        assert_eq!(with(DType::F32, DType::F64), DType::F32);
        assert_eq!(with(DType::BF16, DType::F64), DType::BF16);
        assert_eq!(with(DType::I32, DType::I64), DType::I32);
        assert_eq!(with(DType::I64, DType::F64), DType::F32);
        assert_eq!(with(DType::Bool, DType::I64), DType::I64);
        assert_eq!(with(DType::U64, DType::I64), DType::U64);
        assert_eq!(with(DType::U8, DType::I64), DType::U8);
        assert_eq!(with(DType::F8E4M3, DType::F64), DType::F8E4M3);
        assert_eq!(promote_operands(&[Operand::literal(DType::F64)]), Ok(DType::F64));
    }

    #[test]
    fn complex_numbers_are_a_category_of_their_own() {
        use DType::{C64, C128, F16, F32, F64, I64};
        let with =
            |dtype, number| promote_operands(&[Operand::tensor(dtype), Operand::literal(number)]).unwrap();
        assert_eq!(
            [with(F16, C128), with(F64, C128), with(I64, C128), with(C64, F64)],
            [C64, C128, C64, C64]
        );
        assert_eq!(
            [promote(C64, F64), promote(C64, F32), promote(I64, C64)],
            [Some(C128), Some(C64), Some(C64)]
        );
        assert_eq!(promote_operands(&[Operand::tensor(F32), Operand::zero_dim(C128)]), Ok(C64));
    }

    #[test]
    fn dimensions_weigh_more_than_none() {
        let of = |tensor, zero_dim| {
            promote_operands(&[Operand::tensor(tensor), Operand::zero_dim(zero_dim)]).unwrap()
        };
        assert_eq!(of(DType::F16, DType::F64), DType::F16);
        assert_eq!(of(DType::I32, DType::F64), DType::F64);
        assert_eq!(of(DType::F32, DType::I64), DType::F32);
    }

    #[test]
    fn promotion_is_a_partial_commutative_idempotent_monoid() {
        assert_eq!(promote(DType::U64, DType::I32), None);
        for (a, b, common) in [
            (DType::U8, DType::I8, DType::I16),
            (DType::U8, DType::I16, DType::I16),
            (DType::U16, DType::I8, DType::I32),
            (DType::U32, DType::I32, DType::I64),
            (DType::U16, DType::U64, DType::U64),
            (DType::U8, DType::F16, DType::F16),
        ] {
            assert_eq!(promote(a, b), Some(common), "{a} beside {b}");
        }
        assert_eq!(promote(DType::F8E5M2, DType::F8E4M3), None);
        assert_eq!(promote(DType::F8E5M2, DType::F16), None);
        assert_eq!(promote(DType::F8E5M2, DType::I64), Some(DType::F8E5M2));
        for a in DType::ALL {
            assert_eq!(promote(a, a), Some(a));
            assert_eq!(promote(a, DType::Bool), Some(a));
            for b in DType::ALL {
                assert_eq!(promote(a, b), promote(b, a));
            }
        }
    }
}
