//! Operands of LLVM IR instructions: types, registers and constants, with their spelling.
//!
//! A uniform value is a scalar of LLVM, a varying one a vector with one element per lane. Knows no instructions.

use std::fmt;

use ops::DType;

/// The type of a scalar, or of the elements of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    I1,
    I8,
    I16,
    I32,
    I64,
    F16,
    BF16,
    F32,
    F64,
    Ptr,
}

impl Element {
    /// The register type of a value of `dtype`: storage types are held as their bits, because arithmetic never uses them.
    pub(super) fn of(dtype: DType) -> Element {
        match dtype {
            DType::Bool => Element::I1,
            DType::I32 | DType::U32 => Element::I32,
            DType::I64 | DType::U64 => Element::I64,
            DType::I8 | DType::U8 | DType::F8E8M0 | DType::F8E4M3 | DType::F8E5M2 => Element::I8,
            DType::I16 | DType::U16 | DType::F16 | DType::BF16 => Element::I16,
            DType::F32 => Element::F32,
            DType::F64 => Element::F64,
            DType::C64 | DType::C128 => unreachable!("kernels hold the parts of complex numbers"),
        }
    }

    /// Its type in memory: as in registers, but a bool is a byte.
    pub(super) fn in_memory(dtype: DType) -> Element {
        if dtype == DType::Bool { Element::I8 } else { Element::of(dtype) }
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self, Element::F16 | Element::BF16 | Element::F32 | Element::F64)
    }

    /// Bits of one element; pointers count as none.
    pub(super) fn bits(self) -> u32 {
        match self {
            Element::I1 => 1,
            Element::I8 => 8,
            Element::I16 | Element::F16 | Element::BF16 => 16,
            Element::I32 | Element::F32 => 32,
            Element::I64 | Element::F64 => 64,
            Element::Ptr => 0,
        }
    }

    /// The suffix of an intrinsic overloaded on the type, as in `llvm.sqrt.f32`.
    fn suffix(self) -> String {
        match self {
            Element::Ptr => "p0".to_owned(),
            Element::BF16 => "bf16".to_owned(),
            _ => format!("{}{}", if self.is_float() { 'f' } else { 'i' }, self.bits()),
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::F16 => f.write_str("half"),
            Element::BF16 => f.write_str("bfloat"),
            Element::F32 => f.write_str("float"),
            Element::F64 => f.write_str("double"),
            Element::Ptr => f.write_str("ptr"),
            _ => write!(f, "i{}", self.bits()),
        }
    }
}

/// A scalar or a vector type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) element: Element,
    /// Elements of the vector; `None` for a scalar.
    pub(super) lanes: Option<u32>,
}

impl Type {
    pub(super) const fn scalar(element: Element) -> Type {
        Type { element, lanes: None }
    }

    /// The type of the same shape with other elements.
    pub(super) const fn with(self, element: Element) -> Type {
        Type { element, lanes: self.lanes }
    }

    /// The suffix of an intrinsic overloaded on the type, as in `llvm.sqrt.v16f32`.
    pub(super) fn suffix(self) -> String {
        match self.lanes {
            Some(lanes) => format!("v{lanes}{}", self.element.suffix()),
            None => self.element.suffix(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lanes {
            Some(lanes) => write!(f, "<{lanes} x {}>", self.element),
            None => self.element.fmt(f),
        }
    }
}

/// A register, a parameter or a constant, and its type. Displayed without the type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Operand {
    name: Name,
    pub(super) ty: Type,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Name {
    Register(u32),
    Parameter(&'static str),
    Integer(i64),
    Float(f64),
    /// 0, 1, 2, … in the elements of a vector.
    Iota,
}

impl Operand {
    pub(super) fn register(number: u32, ty: Type) -> Operand {
        Operand { name: Name::Register(number), ty }
    }

    pub(super) fn parameter(name: &'static str, element: Element) -> Operand {
        Operand { name: Name::Parameter(name), ty: Type::scalar(element) }
    }

    /// An integer constant, in every element of a vector.
    pub(super) fn integer(value: i64, ty: Type) -> Operand {
        Operand { name: Name::Integer(value), ty }
    }

    /// A float constant, in every element of a vector; of `float` exactly the f32.
    pub(super) fn float(value: f64, ty: Type) -> Operand {
        Operand { name: Name::Float(value), ty }
    }

    /// The numbers of the lanes.
    pub(super) fn iota(element: Element, lanes: u32) -> Operand {
        Operand { name: Name::Iota, ty: Type { element, lanes: Some(lanes) } }
    }

    /// Type and name, as most instructions want their first operand.
    pub(super) fn typed(self) -> String {
        format!("{} {self}", self.ty)
    }

    /// A scalar constant is also a constant of every vector; `None` for registers.
    pub(super) fn as_constant(self, lanes: u32) -> Option<Operand> {
        let constant = matches!(self.name, Name::Integer(_) | Name::Float(_));
        constant.then_some(Operand { name: self.name, ty: Type { lanes: Some(lanes), ..self.ty } })
    }

    /// The value of a float constant; `None` for registers.
    pub(super) fn as_float(self) -> Option<f64> {
        match self.name {
            Name::Float(value) => Some(value),
            _ => None,
        }
    }

    fn constant_text(self) -> String {
        match (self.name, self.ty.element) {
            (Name::Integer(value), Element::I1) => (value != 0).to_string(),
            (Name::Integer(value), _) => value.to_string(),
            (Name::Float(value), _) => format!("0x{:016X}", value.to_bits()),
            (Name::Register(_) | Name::Parameter(_) | Name::Iota, _) => String::new(),
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let element = self.ty.element;
        match (self.name, self.ty.lanes) {
            (Name::Register(number), _) => write!(f, "%t{number}"),
            (Name::Parameter(name), _) => write!(f, "%{name}"),
            (Name::Iota, lanes) => {
                let numbers: Vec<String> =
                    (0..lanes.unwrap_or(1)).map(|l| format!("{element} {l}")).collect();
                write!(f, "<{}>", numbers.join(", "))
            }
            (_, Some(_)) => write!(f, "splat ({element} {})", self.constant_text()),
            (_, None) => f.write_str(&self.constant_text()),
        }
    }
}

/// A right operand of an instruction: an operand, or a number that takes the type of the left one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Term {
    Operand(Operand),
    Float(f64),
    Integer(i64),
}

impl Term {
    /// The operand, with numbers typed like `left`.
    pub(super) fn beside(self, left: Type) -> Operand {
        match self {
            Term::Operand(operand) => operand,
            Term::Float(value) => Operand::float(value, left),
            Term::Integer(value) => Operand::integer(value, left),
        }
    }
}

impl From<Operand> for Term {
    fn from(operand: Operand) -> Term {
        Term::Operand(operand)
    }
}

impl From<f32> for Term {
    fn from(value: f32) -> Term {
        Term::Float(f64::from(value))
    }
}

impl From<i64> for Term {
    fn from(value: i64) -> Term {
        Term::Integer(value)
    }
}
