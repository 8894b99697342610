//! The arguments of a call as written: which are written, by position or by keyword, and which numbers get separate lines
//! before the call. The printer writes them, `numbers` counts them. Makes no text.

use std::borrow::Cow;

use ir::definition::{NamedValue, Object, Record};
use ir::graph::Graph;
use ops::{DType, OpRef, Operand, OperandKind, Param, ParamKind, Scalar, TypeSignature};

use crate::define::default;

/// A call of a record.
#[derive(Clone, Copy)]
pub(super) struct Call<'d> {
    pub record: &'d Record,
    pub graph: &'d Graph,
    pub op: &'d str,
    pub arguments: &'d [(&'static str, Object)],
}

/// An argument as written.
pub(super) struct Argument<'d> {
    /// The keyword before it, if it is not positional.
    pub keyword: Option<&'static str>,
    /// The object; `None` if only its position is needed, for later arguments.
    pub object: Option<Cow<'d, Object>>,
    /// Whether numbers of this call get separate lines, unless they have Python's dtypes.
    has_own_lines: bool,
}

impl Argument<'_> {
    /// The number, if it gets a separate line.
    pub fn own_line(&self) -> Option<Scalar> {
        self.object.as_deref().and_then(typed_number).filter(|_| self.has_own_lines)
    }
}

impl<'d> Call<'d> {
    /// How many numbers get separate lines.
    pub fn count_own_lines(self) -> usize {
        match self.arguments.iter().any(|(_, object)| typed_number(object).is_some()) {
            true => self.written().iter().filter(|argument| argument.own_line().is_some()).count(),
            false => 0,
        }
    }

    /// The arguments: the leading operands by position, the rest by keyword. Ops of numbers take all by position.
    pub fn written(self) -> Vec<Argument<'d>> {
        let found = ops::lookup(self.op).expect("the record holds ops of the tables");
        let params = found.params();
        let given: Vec<Option<&'d Object>> = params.iter().map(|param| self.given(param.name)).collect();
        let by_place = match found {
            OpRef::Language(_) => {
                params.iter().zip(0..).take_while(|(param, place)| is_by_place(param, *place)).count()
            }
            _ => params.len(),
        };
        let is_typed = |object: &&Object| typed_number(object).is_some();
        let has_own_lines = given.iter().flatten().any(is_typed) && !self.may_inline(found, &given);
        let last = given.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let argument = |(place, param): (usize, &Param)| {
            let keyword = (place >= by_place).then_some(param.name);
            let object = match (given[place], keyword) {
                (Some(object), Some(_)) => Some(self.by_keyword(param, object, given[0])?),
                (Some(object), None) => Some(Cow::Borrowed(object)),
                (None, Some(_)) => return None,
                (None, None) => None,
            };
            Some(Argument { keyword, object, has_own_lines })
        };
        params.iter().enumerate().take(last).filter_map(argument).collect()
    }

    fn given(self, name: &str) -> Option<&'d Object> {
        self.arguments.iter().find(|(param, _)| *param == name).map(|(_, object)| object)
    }

    /// The object to write after a keyword, with axes counted from the front; `None` if that is the default, which the
    /// record leaves out.
    fn by_keyword(
        self,
        param: &Param,
        object: &'d Object,
        operand: Option<&Object>,
    ) -> Option<Cow<'d, Object>> {
        match self.counted_from_front(param, object, operand) {
            Some(axes) if axes == default(param) => None,
            Some(axes) => Some(Cow::Owned(axes)),
            None => Some(Cow::Borrowed(object)),
        }
    }

    /// Axes that count from the end, of the first operand or of the requested shape, counted from the front.
    fn counted_from_front(self, param: &Param, object: &Object, operand: Option<&Object>) -> Option<Object> {
        let rank = match param.name {
            "dim" | "dims" => self.graph.ty(first_value(operand?)?.val).rank() as i64,
            "broadcast_dims" => self.given("shape")?.as_list()?.len() as i64,
            _ => return None,
        };
        let counted = |axis: &Object| Some(Object::int(axis.as_int()?.rem_euclid(rank.max(1))));
        match object {
            Object::List(axes) => axes.iter().map(counted).collect::<Option<Vec<_>>>().map(Object::list),
            axis => counted(axis),
        }
    }

    /// Whether numbers of other dtypes than Python's mean the same when written like Python's: then the op casts them to
    /// their dtype.
    fn may_inline(self, op: OpRef, arguments: &[Option<&Object>]) -> bool {
        let signature = |plain: bool| -> Option<TypeSignature> {
            let operands: Option<Vec<Operand>> = arguments
                .iter()
                .map(|argument| argument.map(|object| self.operand(object, plain))?)
                .collect();
            match op {
                OpRef::Primitive(scalar_op) => ops::signature(scalar_op, &operands?).ok(),
                OpRef::Composite(composite) => composite.signature(&operands?).ok(),
                OpRef::Language(_) => None,
            }
        };
        let is_kept = |dtypes: &[DType]| {
            arguments.iter().zip(dtypes).all(|(argument, dtype)| match argument {
                Some(Object::Number(scalar)) => is_python(scalar.dtype()) || scalar.dtype() == *dtype,
                _ => true,
            })
        };
        match op {
            OpRef::Language(_) => {
                self.form_dtype(arguments).is_some_and(|dtype| is_kept(&vec![dtype; arguments.len()]))
            }
            _ => signature(true)
                .is_some_and(|plain| is_kept(&plain.compute) && signature(false).as_ref() == Some(&plain)),
        }
    }

    /// The dtype to which an op casts numbers: its `dtype` argument, or the dtype of its tensor.
    fn form_dtype(self, arguments: &[Option<&Object>]) -> Option<DType> {
        let given = arguments.iter().flatten().find_map(|object| match object {
            Object::DType(dtype) => Some(*dtype),
            _ => None,
        });
        let tensor = || arguments.iter().flatten().find_map(|object| object.as_value());
        given.or_else(|| tensor().map(|value| self.graph.dtype(value.val)))
    }

    fn operand(self, object: &Object, plain: bool) -> Option<Operand> {
        match object {
            Object::Number(scalar) => Some(Operand::literal(match scalar.dtype() {
                dtype if dtype.is_float() && plain => DType::F64,
                dtype if dtype.is_int() && plain => DType::I64,
                dtype => dtype,
            })),
            Object::Value(value) => {
                let ty = self.graph.ty(value.val);
                let kind = match (self.record.entry(value.entry).is_scalar, ty.rank()) {
                    (true, _) => OperandKind::Literal,
                    (false, 0) => OperandKind::ZeroDim,
                    (false, _) => OperandKind::Tensor,
                };
                Some(Operand { dtype: ty.dtype, kind })
            }
            _ => None,
        }
    }
}

/// A value, or the first of a list of such.
fn first_value(operand: &Object) -> Option<NamedValue> {
    operand.as_list().map_or(Some(operand), <[Object]>::first)?.as_value()
}

/// Whether an argument of an op is positional: its tensors, unless names tell them apart.
fn is_by_place(param: &Param, place: usize) -> bool {
    let is_operand = matches!(param.kind, ParamKind::Operand | ParamKind::Tensor | ParamKind::Tensors);
    is_operand && (place == 0 || param.name == "arg2")
}

fn is_python(dtype: DType) -> bool {
    matches!(dtype, DType::Bool | DType::I64 | DType::F64)
}

/// A number of another dtype than Python's.
fn typed_number(object: &Object) -> Option<Scalar> {
    match object {
        Object::Number(scalar) if !is_python(scalar.dtype()) => Some(*scalar),
        _ => None,
    }
}
