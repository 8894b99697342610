//! Dtypes, scalars, and the tables of ops, declared once.
//!
//! A *primitive* ([`ScalarOp`]) is a row with everything about one scalar operation: typing, algebra, meaning, spellings,
//! error. A *composite* ([`Composite`]) is one expression over primitives. A *language op* ([`LanguageOp`]) is any other op
//! of the definition language, of which only the parameters are here. A [`Monoid`] says how folds and scans combine, a
//! [`Body`] what a lambda computes.
//!
//! Rows lie in files by theme, and one list per table names them: adding an op is a row and a word in its list. Nothing
//! here knows shapes, graphs or kernels.

mod angle;
mod body;
pub mod body_text;
pub mod call;
pub mod combine;
mod complex;
mod composite;
pub mod cycles;
pub mod draws;
mod dtype;
mod expr;
pub mod inverse_erf;
pub mod lanes;
pub mod language;
pub mod literal;
mod meaning;
mod moments;
pub mod monoid;
mod ordinary;
mod param;
pub mod philox;
mod power;
mod rejected;
mod rescaled;
mod row;
mod rows;
mod scalar;
pub mod slopes;
pub mod small_float;
mod spread;
#[cfg(test)]
mod tests;
pub mod typing;

pub use body::{Body, BodyArith, BodyStep, Lambda};
pub use call::{BindError, OpRef, Slot, UnknownOp, bind, lookup};
pub use complex::{COMPLEX_ROWS, ComplexExpr, ComplexMeaning, ComplexRow, complex_meaning};
pub use composite::{Composite, CompositeRow, expr_parser};
pub use dtype::DType;
pub use expr::{Arith, ExprNode, Real, ScalarExpr};
pub use inverse_erf::{inverse_erf, inverse_erfc};
pub use language::{LanguageOp, LanguageOpRow};
pub use moments::{MomentStates, moments};
pub use monoid::{Monoid, Totals};
pub use param::{Param, ParamDefault, ParamKind};
pub use rejected::rejected;
pub use rescaled::{Infinite, Rescaled, rescaled};
pub use row::{
    Algebra, Approximation, BinaryBlock, BoolMeaning, CSpelling, CpuSpelling, CpuSpellings, ExpRange,
    FloatMeaning, Guard, IntMeaning, IntType, IntegerBlock, Kernel, Polynomial, Primitive, TernaryBlock,
    UnaryBlock,
};
pub use rows::greatest_common_divisor;
pub use rows::integer_power;
pub use scalar::Scalar;
pub use spread::Spread;
pub use spread::{may_wrap, product_sum, remainder, zeros_apart};
pub use typing::{Classes, Operand, OperandKind, TypeSignature, Typing, TypingError, promote};

use rows::{approximate, arithmetic, bits, logic, random, rounding, special, transcendental};

/// Makes [`ScalarOp`] and its table from the list of rows, theme by theme.
macro_rules! primitives {
    ($($theme:ident: $($variant:ident = $row:ident),+;)+) => {
        /// A primitive scalar op: the number of a row.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum ScalarOp {
            $($(#[doc = concat!("The row `", stringify!($row), "` of ", stringify!($theme), ".")] $variant,)+)+
        }

        impl ScalarOp {
            /// Every primitive, in table order.
            pub const ALL: &'static [ScalarOp] = &[$($(ScalarOp::$variant,)+)+];

            /// Its row.
            pub fn row(self) -> &'static Primitive {
                static TABLE: &[Primitive] = &[$($($theme::$row,)+)+];
                &TABLE[self as usize]
            }
        }
    };
}

primitives! {
    arithmetic: Add = ADD, Sub = SUB, Mul = MUL, Div = DIV, Fmod = FMOD, Neg = NEG, Abs = ABS, Reciprocal = RECIPROCAL,
        Minimum = MINIMUM, Maximum = MAXIMUM;
    transcendental: Exp = EXP, Exp2 = EXP2, Expm1 = EXPM1, Log = LOG, Log2 = LOG2, Log10 = LOG10, Log1p = LOG1P, Sqrt = SQRT,
        Rsqrt = RSQRT, Sin = SIN, Cos = COS, Tan = TAN, Asin = ASIN, Acos = ACOS, Atan = ATAN, Atan2 = ATAN2, Tanh = TANH,
        Erf = ERF, Erfc = ERFC, Pow = POW;
    special: Lgamma = LGAMMA, Erfinv = ERFINV, Erfcinv = ERFCINV, Nextafter = NEXTAFTER, Gcd = GCD;
    approximate: Exp2Half = EXP2_HALF, Exp2HalfNonpositive = EXP2_HALF_NONPOSITIVE, Exp2HalfAddend = EXP2_HALF_ADDEND,
        Exp2Bf16 = EXP2_BF16, Exp2Bf16Nonpositive = EXP2_BF16_NONPOSITIVE, Exp2Bf16Addend = EXP2_BF16_ADDEND,
        ExpNonpositive = EXP_NONPOSITIVE, ExpAddend = EXP_ADDEND, ExpTerm = EXP_TERM,
        ReciprocalHalf = RECIPROCAL_HALF, ReciprocalSigned = RECIPROCAL_SIGNED, MulAdd = MUL_ADD;
    rounding: Floor = FLOOR, Ceil = CEIL, Round = ROUND, Trunc = TRUNC;
    logic: Eq = EQ, Ne = NE, Lt = LT, Le = LE, Gt = GT, Ge = GE, LogicalAnd = LOGICAL_AND, LogicalOr = LOGICAL_OR,
        LogicalNot = LOGICAL_NOT, Where = WHERE, Set = SET, SegmentSet = SEGMENT_SET;
    bits: BitwiseAnd = BITWISE_AND, BitwiseOr = BITWISE_OR, BitwiseXor = BITWISE_XOR, BitwiseNot = BITWISE_NOT,
        LeftShift = LEFT_SHIFT, RightShift = RIGHT_SHIFT, LogicalRightShift = LOGICAL_RIGHT_SHIFT;
    random: Philox = PHILOX;
    complex: Real = REAL, Imag = IMAG, Complex = COMPLEX;
}

impl ScalarOp {
    /// Its name in the definition language.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// How many operands it takes.
    pub fn arity(self) -> usize {
        self.row().params.len()
    }

    /// Whether it only moves bits, and so takes storage dtypes too.
    pub fn moves_bits(self) -> bool {
        self.row().typing == Typing::Set
    }

    /// Whether it converts between complex numbers and their parts; no kernel has such ops.
    pub fn touches_complex(self) -> bool {
        matches!(self.row().typing, Typing::Part | Typing::Pair)
    }

    /// The dtype of its result on operands that have their compute dtypes already.
    pub fn result_dtype(self, operands: &[DType]) -> DType {
        match self.row().typing {
            Typing::Compare | Typing::Test | Typing::Logical => DType::Bool,
            Typing::Where => operands[1],
            Typing::Part => operands[0].real(),
            Typing::Pair => operands[0].complex(),
            _ => operands[0],
        }
    }

    /// The primitive called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<ScalarOp> {
        Self::ALL.iter().copied().find(|op| op.name() == name)
    }
}

/// The dtypes of `op` applied to `operands`.
///
/// # Errors
/// [`TypingError`] if their number, or the dtype of one of them, does not suit.
pub fn signature(op: ScalarOp, operands: &[Operand]) -> Result<TypeSignature, TypingError> {
    let row = op.row();
    typing::resolve(row.name, row.params.len(), row.typing, row.classes(), operands)
}
