//! A row of the primitive table: the types of its columns. No rows are here.

use super::spread::Spread;
use super::typing::{Classes, Typing};
use crate::DType;

/// One primitive scalar op: everything the project knows about it, in one place.
#[derive(Debug)]
pub struct Primitive {
    /// The name in the definition language.
    pub name: &'static str,
    /// The names of the operands, in order.
    pub params: &'static [&'static str],
    /// The compute and result dtypes for given operand dtypes.
    pub typing: Typing,
    /// The laws it obeys as an operation on real numbers.
    pub algebra: Algebra,
    /// Its meaning on floats, in double precision; the evaluator rounds to the dtype. `None`: no float operands.
    pub float: Option<FloatMeaning>,
    /// Its meaning on integers. `None`: no integer operands.
    pub int: Option<IntMeaning>,
    /// Its meaning on bools. `None`: no bool operands.
    pub boolean: Option<BoolMeaning>,
    /// Its spelling in CUDA C++.
    pub cuda: CSpelling,
    /// Its spelling in LLVM IR.
    pub cpu: CpuSpellings,
    /// Bound on the distance of a compiled f32 or f64 result from the meaning, in units in the last place of the dtype at
    /// the result; 0.5 is correctly rounded, 0 exact.
    pub ulp: f64,
    /// How absolute errors of the operands propagate to the result.
    pub spread: Spread,
    /// One or two sentences for the user, which cover the partial cases.
    pub doc: &'static str,
}

impl Primitive {
    /// The columns of an empty row.
    pub(super) const BLANK: Primitive = Primitive {
        name: "",
        params: &[],
        typing: Typing::Float,
        algebra: Algebra::NONE,
        float: None,
        int: None,
        boolean: None,
        cuda: CSpelling::NONE,
        cpu: CpuSpellings::NONE,
        ulp: 0.0,
        spread: Spread::Exact,
        doc: "",
    };
}

/// The laws of an operation on real numbers; rounding may break associativity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Algebra {
    /// `f(a, b) = f(b, a)`.
    pub commutative: bool,
    /// `f(f(a, b), c) = f(a, f(b, c))`.
    pub associative: bool,
    /// `f(a, a) = a`; for one operand `f(f(a)) = f(a)`.
    pub idempotent: bool,
    /// `f(a, e) = a`, and `f(e, a) = a` too if it is commutative.
    pub identity: Option<f64>,
}

impl Algebra {
    /// No law known.
    pub const NONE: Algebra =
        Algebra { commutative: false, associative: false, idempotent: false, identity: None };
    /// Commutative only.
    pub const COMMUTATIVE: Algebra = Algebra { commutative: true, ..Algebra::NONE };
    /// Idempotent only.
    pub const IDEMPOTENT: Algebra = Algebra { idempotent: true, ..Algebra::NONE };
    /// Commutative, associative and idempotent, as the operations of a lattice are.
    pub const LATTICE: Algebra = Algebra { associative: true, idempotent: true, ..Algebra::COMMUTATIVE };

    /// Commutative and associative with an identity.
    pub const fn monoid(identity: f64) -> Algebra {
        Algebra { associative: true, identity: Some(identity), ..Algebra::COMMUTATIVE }
    }

    /// An identity on the right and nothing else, as subtraction and shifts have.
    pub const fn right_identity(identity: f64) -> Algebra {
        Algebra { identity: Some(identity), ..Algebra::NONE }
    }
}

/// A function in two forms that return the same bits: one on single numbers, and one on slices, monomorphized for this
/// function so that it vectorizes if possible.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<One, Each> {
    /// The form on single numbers.
    pub one: One,
    /// The form on slices of one length; results go to the last.
    pub each: Each,
}

/// The slice form of a function of one number.
pub type UnaryBlock = fn(&[f64], &mut [f64]);
/// The same of a function of two numbers with results of type `R`; truth values are 0 and 1.
pub type BinaryBlock<R> = fn(&[f64], &[f64], &mut [R]);
/// The same of a function of two integers of a type.
pub type IntegerBlock = fn(&[i64], &[i64], IntType, &mut [i64]);
/// The same of a function of three numbers.
pub type TernaryBlock = fn([&[f64]; 3], &mut [f64]);

/// A meaning over doubles with both forms: `float!(Unary: f)` for a function `f`, and so on.
macro_rules! float {
    (Unary: $one:expr) => {
        $crate::row::FloatMeaning::Unary($crate::row::Kernel {
            one: $one,
            each: |x, out| {
                $crate::vectorized!(x: &'a [f64] = x, out: &'a mut [f64] = out => (), {
                    let one: fn(f64) -> f64 = $one;
                    out.iter_mut().zip(x).for_each(|(out, &x)| *out = one(x));
                })
            },
        })
    };
    (Binary: $one:expr) => {
        $crate::row::FloatMeaning::Binary($crate::row::Kernel {
            one: $one,
            each: |x, y, out| {
                $crate::vectorized!(x: &'a [f64] = x, y: &'a [f64] = y, out: &'a mut [f64] = out => (), {
                    let one: fn(f64, f64) -> f64 = $one;
                    out.iter_mut().zip(x.iter().zip(y)).for_each(|(out, (&x, &y))| *out = one(x, y));
                })
            },
        })
    };
    (Ternary: $one:expr) => {
        $crate::row::FloatMeaning::Ternary($crate::row::Kernel {
            one: $one,
            each: |inputs, out| {
                $crate::vectorized!(inputs: [&'a [f64]; 3] = inputs, out: &'a mut [f64] = out => (), {
                    let [x, y, z] = inputs;
                    let one: fn(f64, f64, f64) -> f64 = $one;
                    let triples = x.iter().zip(y).zip(z);
                    out.iter_mut().zip(triples).for_each(|(out, ((&x, &y), &z))| *out = one(x, y, z));
                })
            },
        })
    };
    (Compare: $one:expr) => {
        $crate::row::FloatMeaning::Compare($crate::row::Kernel {
            one: $one,
            each: |x, y, out| {
                $crate::vectorized!(x: &'a [f64] = x, y: &'a [f64] = y, out: &'a mut [i64] = out => (), {
                    let one: fn(f64, f64) -> bool = $one;
                    let pairs = x.iter().zip(y);
                    out.iter_mut().zip(pairs).for_each(|(out, (&x, &y))| *out = i64::from(one(x, y)));
                })
            },
        })
    };
}
pub(super) use float;

/// A meaning over two integers with both forms: `int!(Binary: f)` for a function `f`.
macro_rules! int {
    (Binary: $one:expr) => {
        $crate::row::IntMeaning::Binary($crate::row::Kernel {
            one: $one,
            each: |x, y, ty, out| {
                $crate::vectorized!(x: &'a [i64] = x, y: &'a [i64] = y, ty: $crate::row::IntType = ty,
                    out: &'a mut [i64] = out => (), {
                    let one: fn(i64, i64, $crate::row::IntType) -> i64 = $one;
                    out.iter_mut().zip(x.iter().zip(y)).for_each(|(out, (&x, &y))| *out = one(x, y, ty));
                })
            },
        })
    };
}
pub(super) use int;

/// Meaning over doubles.
#[derive(Clone, Copy, Debug)]
pub enum FloatMeaning {
    /// One number to one number.
    Unary(Kernel<fn(f64) -> f64, UnaryBlock>),
    /// Two numbers to one.
    Binary(Kernel<fn(f64, f64) -> f64, BinaryBlock<f64>>),
    /// Two numbers to one, given their dtype: for functions that depend on its spacing.
    BinaryIn(fn(f64, f64, DType) -> f64),
    /// Three numbers to one.
    Ternary(Kernel<fn(f64, f64, f64) -> f64, TernaryBlock>),
    /// Two numbers to a truth value.
    Compare(Kernel<fn(f64, f64) -> bool, BinaryBlock<i64>>),
    /// A bool and two numbers: the first number if the bool holds, otherwise the second.
    Select,
}

/// Meaning over 64-bit integers, given the type of the operands, which the result must fit. Operands of u64 are passed as
/// bits.
#[derive(Clone, Copy, Debug)]
pub enum IntMeaning {
    /// One integer to one integer.
    Unary(fn(i64, IntType) -> i64),
    /// Two integers to one.
    Binary(Kernel<fn(i64, i64, IntType) -> i64, IntegerBlock>),
    /// Three integers to one.
    Ternary(fn(i64, i64, i64, IntType) -> i64),
    /// Two integers to a truth value; those of u64 are passed through [`IntType::ordered`].
    Compare(fn(i64, i64) -> bool),
    /// A bool and two integers: the first integer if the bool holds, otherwise the second.
    Select,
}

/// Meaning over bools.
#[derive(Clone, Copy, Debug)]
pub enum BoolMeaning {
    /// One bool to one.
    Unary(fn(bool) -> bool),
    /// Two bools to one.
    Binary(fn(bool, bool) -> bool),
    /// Three bools: the second if the first holds, otherwise the third.
    Select,
}

/// Text templates of a dialect of C per class of compute dtype; `{0}` is the first operand, and so on.
///
/// Operands are variables or literals of the compute dtype's own type, so a template may repeat one and, in C++, a function
/// template may deduce it. `None` where the row has no such meaning.
#[derive(Clone, Copy, Debug)]
pub struct CSpelling {
    /// For f32.
    pub f32: Option<&'static str>,
    /// For f64.
    pub f64: Option<&'static str>,
    /// For i32 and i64, and for u64 unless `unsigned` is set.
    pub int: Option<&'static str>,
    /// For u64.
    pub unsigned: Option<&'static str>,
    pub boolean: Option<&'static str>,
    /// Helper functions that a template calls, written once before a kernel that uses such a template.
    pub helper: Option<&'static str>,
}

impl CSpelling {
    /// No spellings: the start of a row's spelling.
    pub const NONE: CSpelling =
        CSpelling { f32: None, f64: None, int: None, unsigned: None, boolean: None, helper: None };

    /// The same text for floats and integers.
    pub const fn number(text: &'static str) -> CSpelling {
        CSpelling { int: Some(text), ..CSpelling::float(text, text) }
    }

    /// Texts for the two float types only.
    pub const fn float(f32: &'static str, f64: &'static str) -> CSpelling {
        CSpelling { f32: Some(f32), f64: Some(f64), ..CSpelling::NONE }
    }

    /// The same spelling with a text for integers.
    pub const fn and_int(self, text: &'static str) -> CSpelling {
        CSpelling { int: Some(text), ..self }
    }

    /// The same spelling with another text for u64.
    pub const fn and_unsigned(self, text: &'static str) -> CSpelling {
        CSpelling { unsigned: Some(text), ..self }
    }

    /// The same spelling with a text for bools.
    pub const fn and_bool(self, text: &'static str) -> CSpelling {
        CSpelling { boolean: Some(text), ..self }
    }

    /// The template for a compute dtype.
    pub const fn of(&self, dtype: DType) -> Option<&'static str> {
        match dtype {
            DType::Bool => self.boolean,
            DType::U64 if self.unsigned.is_some() => self.unsigned,
            _ if dtype.is_int() => self.int,
            DType::F64 => self.f64,
            _ => self.f32,
        }
    }

    /// The same spelling with a helper function.
    pub const fn with_helper(self, text: &'static str) -> CSpelling {
        CSpelling { helper: Some(text), ..self }
    }
}

/// The spelling of a primitive in LLVM IR, per class of compute dtype. `None` if the row has no such meaning, or if only the
/// evaluator computes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuSpellings {
    /// For f32 and f64.
    pub float: Option<CpuSpelling>,
    /// For i32 and i64, and for u64 unless `unsigned` is set.
    pub int: Option<CpuSpelling>,
    /// For u64.
    pub unsigned: Option<CpuSpelling>,
    /// For bool, as `i1`.
    pub boolean: Option<CpuSpelling>,
}

impl CpuSpellings {
    /// No spellings: the start of a row's spellings.
    pub const NONE: CpuSpellings = CpuSpellings { float: None, int: None, unsigned: None, boolean: None };

    /// The same spelling for all three classes.
    pub const fn all(spelling: CpuSpelling) -> CpuSpellings {
        CpuSpellings { int: Some(spelling), boolean: Some(spelling), ..CpuSpellings::float(spelling) }
    }

    /// A spelling for floats only.
    pub const fn float(spelling: CpuSpelling) -> CpuSpellings {
        CpuSpellings { float: Some(spelling), ..CpuSpellings::NONE }
    }

    /// A spelling for integers only.
    pub const fn int(spelling: CpuSpelling) -> CpuSpellings {
        CpuSpellings { int: Some(spelling), ..CpuSpellings::NONE }
    }

    /// A spelling for bools only.
    pub const fn boolean(spelling: CpuSpelling) -> CpuSpellings {
        CpuSpellings { boolean: Some(spelling), ..CpuSpellings::NONE }
    }

    /// The same spellings with one for integers.
    pub const fn and_int(self, spelling: CpuSpelling) -> CpuSpellings {
        CpuSpellings { int: Some(spelling), ..self }
    }

    /// The same spellings with another one for u64.
    pub const fn and_unsigned(self, spelling: CpuSpelling) -> CpuSpellings {
        CpuSpellings { unsigned: Some(spelling), ..self }
    }

    /// The same spellings with one for bools.
    pub const fn and_bool(self, spelling: CpuSpelling) -> CpuSpellings {
        CpuSpellings { boolean: Some(spelling), ..self }
    }

    /// The spelling for a compute dtype.
    pub const fn of(&self, dtype: DType) -> Option<CpuSpelling> {
        match dtype {
            DType::Bool => self.boolean,
            DType::U64 if self.unsigned.is_some() => self.unsigned,
            _ if dtype.is_int() => self.int,
            _ => self.float,
        }
    }
}

/// One way to write a primitive in LLVM IR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CpuSpelling {
    /// One instruction on the operands, as in `fadd`.
    Instruction(&'static str),
    /// One instruction, with a guard against undefined cases.
    Guarded(&'static str, Guard),
    /// A call of an intrinsic overloaded on the operand type, as in `llvm.sqrt`. `llvm.abs` also takes `i1 false`.
    Intrinsic(&'static str),
    /// `fcmp` or `icmp` with this predicate.
    Compare(&'static str),
    /// `select`.
    Select,
    /// No instruction: the operand itself.
    Move,
    /// An expression over other primitives, in the syntax of [`super::ScalarExpr`].
    Expansion(&'static str),
    /// A polynomial in the code generator.
    Polynomial(Polynomial),
    /// An approximation on f32, with a wider error bound or other bits; on f64 the exact function.
    Approximate(Approximation),
    /// The random words of [`crate::philox`].
    Philox,
    /// The remainder of floats: inline for quotients that are not too large, otherwise a call per lane.
    Remainder {
        /// The function of f32.
        narrow: &'static str,
        /// The function of f64.
        wide: &'static str,
    },
    /// The next float on the way to another.
    NextAfter,
    /// A call per lane.
    Call {
        /// The function on 32 bits.
        narrow: &'static str,
        /// The function on 64 bits.
        wide: &'static str,
    },
}

/// The guard that keeps an integer instruction from trapping and from undefined results.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Guard {
    /// `sdiv`: by 0 gives 0, by -1 gives the wrapped negation.
    Quotient,
    /// `udiv`: by 0 gives 0.
    UnsignedQuotient,
    /// `srem`: by 0 gives the dividend, by -1 gives 0.
    Remainder,
    /// `urem`: by 0 gives the dividend.
    UnsignedRemainder,
    /// `shl`, `lshr`: an amount outside `0..width`, taken as unsigned, gives 0.
    ShiftToZero,
    /// `ashr`: an amount outside `0..width`, taken as unsigned, shifts by `width - 1`.
    ShiftToSign,
}

/// The functions for which the CPU code generator has a polynomial.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(missing_docs)]
pub enum Polynomial {
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log10,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Tanh,
    Erf,
    Erfc,
    Erfinv,
    Erfcinv,
    Lgamma,
    Pow,
}

/// Which operands an exponential takes, and which results matter: the fewer, the fewer instructions where none scales by
/// powers of two.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum ExpRange {
    /// All of them.
    Any,
    /// Operands of at most 0, or NaN.
    Nonpositive,
    /// The result is added to 1/2 or more: below 2^-100 it may be zero.
    Addend,
}

/// The functions for which the CPU code generator has an approximation.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Approximation {
    /// e to the power x.
    Exp(ExpRange),
    /// 2 to the power x, with 18 correct bits.
    Exp2Half(ExpRange),
    /// 2 to the power x, with 13 correct bits.
    Exp2Bf16(ExpRange),
    /// e to the power x of at most 0, with 21 correct bits, more for x closer to 0. Results below 2^-100 may be zero.
    ExpTerm,
    /// One over x, with 14 correct bits.
    Reciprocal,
    /// A product and a sum, in one instruction if there is one.
    MulAdd,
}

/// The type of the integers that an op is applied to. They are stored in 64 bits: i32 sign-extended, u64 as its bits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(missing_docs)]
pub enum IntType {
    I32,
    I64,
    U64,
}

impl IntType {
    /// The integer type of a dtype, if it is an integer.
    pub const fn of(dtype: DType) -> Option<IntType> {
        match dtype {
            DType::I32 => Some(IntType::I32),
            DType::I64 => Some(IntType::I64),
            DType::U64 => Some(IntType::U64),
            _ => None,
        }
    }

    /// Its width.
    pub const fn bits(self) -> u32 {
        if matches!(self, IntType::I32) { 32 } else { 64 }
    }

    /// Whether it is signed.
    pub const fn is_signed(self) -> bool {
        !matches!(self, IntType::U64)
    }

    /// An integer truncated to the width, as two's complement hardware does.
    pub const fn wrap(self, x: i64) -> i64 {
        if matches!(self, IntType::I32) { x as i32 as i64 } else { x }
    }

    /// An i64 whose order is that of the integers: for u64 the highest bit is flipped.
    pub const fn ordered(self, x: i64) -> i64 {
        if self.is_signed() { x } else { x ^ i64::MIN }
    }

    /// The number that the bits represent.
    pub const fn as_f64(self, x: i64) -> f64 {
        if self.is_signed() { x as f64 } else { x as u64 as f64 }
    }
}

impl Primitive {
    /// The classes of compute dtypes that it has a meaning on.
    pub fn classes(&self) -> Classes {
        Classes { float: self.float.is_some(), int: self.int.is_some(), boolean: self.boolean.is_some() }
    }
}
