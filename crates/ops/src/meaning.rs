//! Applies the meaning of a primitive to numbers, for evaluators and constant folding.

use super::row::{BoolMeaning, FloatMeaning, IntMeaning, IntType, Kernel};
use super::{ScalarOp, Typing};
use crate::{DType, Scalar};

impl ScalarOp {
    /// The op on doubles, with bools as 0 and 1, before any rounding to a dtype.
    ///
    /// An op without a meaning on floats takes its operands as truth values, or else as 64-bit integers.
    pub fn of_reals(self, args: &[f64]) -> f64 {
        let row = self.row();
        if let Some(meaning) = row.float {
            return match meaning {
                FloatMeaning::Unary(Kernel { one: f, .. }) => f(args[0]),
                FloatMeaning::Binary(Kernel { one: f, .. }) => f(args[0], args[1]),
                FloatMeaning::BinaryIn(f) => f(args[0], args[1], DType::F64),
                FloatMeaning::Ternary(Kernel { one: f, .. }) => f(args[0], args[1], args[2]),
                FloatMeaning::Compare(Kernel { one: f, .. }) => f64::from(f(args[0], args[1])),
                FloatMeaning::Select => args[if args[0] != 0.0 { 1 } else { 2 }],
            };
        }
        if row.typing == Typing::Logical {
            let bools: Vec<Scalar> = args.iter().map(|&x| Scalar::from_bool(x != 0.0)).collect();
            return self.of_bools(&bools).map_or(f64::NAN, Scalar::as_f64);
        }
        let ints: Vec<Scalar> = args.iter().map(|&x| Scalar::from_f64(DType::I64, x)).collect();
        self.of_ints(&ints, IntType::I64).map_or(f64::NAN, Scalar::as_f64)
    }

    /// The op on constants that have the compute dtypes of its signature; the result has the result dtype of the
    /// computation. `None` if the op has no meaning on that dtype.
    pub fn of_scalars(self, args: &[Scalar]) -> Option<Scalar> {
        if self.row().typing == Typing::Set {
            return args.first().copied();
        }
        let dtype = args.last()?.dtype();
        match IntType::of(dtype) {
            Some(ty) => self.of_ints(args, ty),
            None if dtype == DType::Bool => self.of_bools(args),
            None => self.of_floats(args, dtype),
        }
    }

    fn of_floats(self, args: &[Scalar], dtype: DType) -> Option<Scalar> {
        let arg = |place: usize| args[place].as_f64();
        Some(match self.row().float? {
            FloatMeaning::Unary(Kernel { one: f, .. }) => Scalar::from_f64(dtype, f(arg(0))),
            FloatMeaning::Binary(Kernel { one: f, .. }) => Scalar::from_f64(dtype, f(arg(0), arg(1))),
            FloatMeaning::BinaryIn(f) => Scalar::from_f64(dtype, f(arg(0), arg(1), dtype)),
            FloatMeaning::Ternary(Kernel { one: f, .. }) => {
                Scalar::from_f64(dtype, f(arg(0), arg(1), arg(2)))
            }
            FloatMeaning::Compare(Kernel { one: f, .. }) => Scalar::from_bool(f(arg(0), arg(1))),
            FloatMeaning::Select => selected(args),
        })
    }

    fn of_ints(self, args: &[Scalar], ty: IntType) -> Option<Scalar> {
        let arg = |place: usize| args[place].as_i64();
        let result = |x: i64| Scalar::from_i64(args[0].dtype(), x);
        Some(match self.row().int? {
            IntMeaning::Unary(f) => result(f(arg(0), ty)),
            IntMeaning::Binary(Kernel { one: f, .. }) => result(f(arg(0), arg(1), ty)),
            IntMeaning::Ternary(f) => result(f(arg(0), arg(1), arg(2), ty)),
            IntMeaning::Compare(f) => Scalar::from_bool(f(ty.ordered(arg(0)), ty.ordered(arg(1)))),
            IntMeaning::Select => selected(args),
        })
    }

    fn of_bools(self, args: &[Scalar]) -> Option<Scalar> {
        let arg = |place: usize| args[place].as_bool();
        Some(match self.row().boolean? {
            BoolMeaning::Unary(f) => Scalar::from_bool(f(arg(0))),
            BoolMeaning::Binary(f) => Scalar::from_bool(f(arg(0), arg(1))),
            BoolMeaning::Select => selected(args),
        })
    }

    /// A bound on how far the exact result may be from that of `args` if each is off by up to its entry of `errors`.
    /// Infinite if none is known.
    pub fn spread_error(self, args: &[f64], errors: &[f64]) -> f64 {
        self.row().spread.bound(|point| self.of_reals(point), args, errors)
    }
}

fn selected(args: &[Scalar]) -> Scalar {
    args[if args[0].as_bool() { 1 } else { 2 }]
}
