//! Declarations: the tensors and scalars that a definition takes.
//!
//! Takes `define_tensor` in its three forms, `define_scalar` and `define_vector` in their old and new forms; returns values
//! and fresh size symbols, `i0`, `i1`, … in the order they appear.

use index::Expr;
use ir::definition::{Action, CallArgument, DeclaredLayout, InputDecl, NamedValue, Object};
use ir::graph::{InputLayout, Shape, SymbolSource, TensorOp, Type};
use ops::{DType, Param, ParamDefault, ParamKind};

use super::DefinitionBuilder;
use crate::define::arguments::Bound;
use crate::define::error::DefineError;

/// Scalars that one `define_vector` may make.
const MAX_VECTOR: i64 = 32;

const DTYPE: Param = Param::optional("dtype", ParamKind::DType, ParamDefault::DType(DType::F32));
const IS_CPU: Param = Param::optional("is_cpu", ParamKind::Bool, ParamDefault::Bool(false));

/// `define_tensor` by shape and contiguity, one flag or one a dimension.
const BY_CONTIGUITY: &[Param] = &[
    Param::required("shape", ParamKind::Ints),
    Param::optional("contiguity", ParamKind::Contiguity, ParamDefault::Bool(false)),
    DTYPE,
    IS_CPU,
    Param::optional("stride_order", ParamKind::Ints, ParamDefault::Absent),
];

/// `define_tensor` by example.
const BY_STRIDES: &[Param] = &[
    Param::required("sizes", ParamKind::Ints),
    Param::required("strides", ParamKind::Ints),
    DTYPE,
    Param::optional("static_sizes", ParamKind::Bool, ParamDefault::Bool(false)),
    IS_CPU,
];

impl DefinitionBuilder {
    /// Declares an input tensor: `(shape, contiguity, dtype, is_cpu, stride_order)` or
    /// `(sizes, strides, dtype, static_sizes, is_cpu)`, as nvFuser's.
    ///
    /// # Errors
    /// For arguments that do not fit together.
    pub fn define_tensor(&mut self, arguments: Vec<CallArgument>) -> Result<NamedValue, DefineError> {
        self.ops.op = "define_tensor";
        let (layout, dtype) = if is_by_strides(&arguments) {
            let bound = self.bind(BY_STRIDES, arguments)?;
            (layout_of_strides(&bound)?, bound.dtype("dtype"))
        } else {
            let bound = self.bind(BY_CONTIGUITY, arguments)?;
            (layout_of_contiguity(&bound)?, bound.dtype("dtype"))
        };
        let dtype = dtype.unwrap_or(DType::F32);
        let ordinal = self.inputs.len() as u32;
        let shape: Shape = layout
            .shape
            .iter()
            .enumerate()
            .map(|(axis, &size)| self.declared_size(ordinal, axis, size))
            .collect();
        self.add_input(Type { dtype, shape }, Some(layout))
    }

    /// Declares a scalar: an input of a dtype, `f64` if none is given, or a constant, which becomes part of the program.
    ///
    /// # Errors
    /// For arguments that are no number and no dtype.
    pub fn define_scalar(&mut self, arguments: Vec<CallArgument>) -> Result<Object, DefineError> {
        self.ops.op = "define_scalar";
        const VALUE: &[Param] = &[
            Param::optional("value", ParamKind::Scalar, ParamDefault::Absent),
            Param::optional("dtype", ParamKind::DType, ParamDefault::Absent),
        ];
        const DTYPE_ONLY: &[Param] = &[Param::optional("dtype", ParamKind::DType, ParamDefault::Absent)];
        let only_dtype = matches!(arguments.first(), Some(CallArgument { object: Object::DType(_), .. }));
        if only_dtype && arguments.len() == 1 {
            let bound = self.bind(DTYPE_ONLY, arguments)?;
            return self.scalar_input(bound.dtype("dtype").unwrap_or(DType::F64));
        }
        let bound = self.bind(VALUE, arguments)?;
        match (bound.object("value"), bound.dtype("dtype")) {
            (Object::Number(scalar), None) => Ok(Object::Number(*scalar)),
            (Object::Number(scalar), Some(dtype)) if scalar.fits(dtype) => {
                Ok(Object::Number(scalar.cast(dtype)))
            }
            (Object::Number(_), Some(dtype)) => {
                Err(bound.reject("value", &format!("a number that {dtype} can hold")))
            }
            (Object::None, dtype) => self.scalar_input(dtype.unwrap_or(DType::F64)),
            _ => Err(bound.reject("value", "a number, or None for an input")),
        }
    }

    /// A list of scalars: those given (the older form), or as many integer inputs as requested.
    ///
    /// # Errors
    /// For arguments that are neither a list nor a small number.
    pub fn define_vector(&mut self, arguments: Vec<CallArgument>) -> Result<Object, DefineError> {
        self.ops.op = "define_vector";
        const OLDER: &[Param] = &[
            Param::required("values", ParamKind::Shape),
            Param::optional("dtype", ParamKind::DType, ParamDefault::Absent),
        ];
        const NEWER: &[Param] = &[Param::required("size", ParamKind::Int)];
        if matches!(arguments.first(), Some(CallArgument { object: Object::List(_), .. })) {
            let bound = self.bind(OLDER, arguments)?;
            return Ok(bound.object("values").clone());
        }
        let bound = self.bind(NEWER, arguments)?;
        match bound.int("size")? {
            size @ 0..=MAX_VECTOR => {
                let inputs =
                    (0..size).map(|_| self.scalar_input(DType::I64)).collect::<Result<Vec<_>, _>>()?;
                Ok(Object::list(inputs))
            }
            _ => Err(bound.reject("size", &format!("a number from 0 to {MAX_VECTOR}"))),
        }
    }

    /// One scalar of a list, as nvFuser takes it from a vector: `at(vector, index)`. Negative ones count from the end.
    ///
    /// # Errors
    /// For arguments that are no list and no number, and a number that is no place of the list.
    pub fn at(&mut self, arguments: Vec<CallArgument>) -> Result<Object, DefineError> {
        self.ops.op = "at";
        const PARAMS: &[Param] =
            &[Param::required("vector", ParamKind::Shape), Param::required("index", ParamKind::Int)];
        let bound = self.bind(PARAMS, arguments)?;
        let Some(items) = bound.object("vector").as_list() else {
            return Err(bound.reject("vector", "a list of sizes"));
        };
        let (index, count) = (bound.int("index")?, items.len() as i64);
        let place = if index < 0 { index.saturating_add(count) } else { index };
        let item = usize::try_from(place).ok().and_then(|place| items.get(place));
        item.cloned().ok_or_else(|| match count {
            0 => bound.reject("vector", "a list that is not empty"),
            _ => bound.reject("index", &format!("a number from {} to {}", -count, count - 1)),
        })
    }

    pub(super) fn bind(&self, params: &[Param], arguments: Vec<CallArgument>) -> Result<Bound, DefineError> {
        Bound::new(self.ops.op, params, arguments)
    }

    fn scalar_input(&mut self, dtype: DType) -> Result<Object, DefineError> {
        self.add_input(Type::scalar(dtype), None).map(Object::Value)
    }

    fn add_input(&mut self, ty: Type, layout: Option<DeclaredLayout>) -> Result<NamedValue, DefineError> {
        let (dtype, is_scalar) = (ty.dtype, layout.is_none());
        let ordinal = self.inputs.len() as u32;
        if is_scalar && dtype.holds_sizes() {
            self.ops.graph.add_symbol(SymbolSource::ScalarInput { ordinal });
        }
        let in_graph = layout.as_ref().map_or_else(InputLayout::default, DeclaredLayout::in_graph);
        let val = self.ops.add(TensorOp::Input { ordinal, ty, layout: in_graph }, &[])?;
        self.inputs.push(val);
        let value = self.ops.value(val, is_scalar);
        let place = self.ops.record.add_input(InputDecl { entry: value.entry, val, dtype, layout });
        self.ops.add_statement(Action::Input(place), vec![value.entry]);
        Ok(value)
    }

    fn declared_size(&mut self, ordinal: u32, axis: usize, size: i64) -> Expr {
        if size != -1 {
            return Expr::constant(size);
        }
        let symbol = self.ops.graph.add_symbol(SymbolSource::InputSize { ordinal, axis: axis as u8 });
        self.ops.facts.assume_range(symbol, 0, None);
        Expr::sym(symbol)
    }
}

/// Strides differ from contiguity by name, or by being integers.
fn is_by_strides(arguments: &[CallArgument]) -> bool {
    let named = |name: &str| arguments.iter().any(|argument| argument.keyword.as_deref() == Some(name));
    let second = arguments.get(1).filter(|argument| argument.keyword.is_none());
    let integers = second
        .and_then(|argument| argument.object.as_list())
        .is_some_and(|items| items.iter().any(|item| item.as_int().is_some()));
    named("sizes") || named("strides") || integers
}

fn layout_of_contiguity(bound: &Bound) -> Result<DeclaredLayout, DefineError> {
    let shape = bound.ints("shape").unwrap_or_default();
    if shape.iter().any(|&size| size < -1) {
        return Err(bound.reject("shape", "a list of sizes, -1 for those only known later"));
    }
    let mut stride_order = bound.stride_order(shape.len())?;
    if stride_order.iter().copied().eq((0..shape.len()).rev()) {
        stride_order.clear();
    }
    let mut layout =
        DeclaredLayout { contiguity: Vec::new(), stride_order, is_cpu: bound.flag("is_cpu"), shape };
    let rank = layout.shape.len();
    layout.contiguity = match bound.object("contiguity") {
        Object::List(items) if items.len() == rank => items.iter().map(Object::as_bool).collect(),
        Object::List(_) => return Err(bound.reject("contiguity", &format!("a list of {rank} flags"))),
        flag => {
            let mut flags = vec![flag.as_bool(); rank];
            for axis in (0..rank).filter(|&axis| layout.shape[axis] == 1) {
                flags[layout.memory_place(axis)] = None;
            }
            flags
        }
    };
    Ok(layout)
}

/// Memory order and gaps derived from strides, as in nvFuser's `compute_tensor_descriptor`.
fn layout_of_strides(bound: &Bound) -> Result<DeclaredLayout, DefineError> {
    let sizes = bound.ints("sizes").unwrap_or_default();
    let strides = bound.ints("strides").unwrap_or_default();
    if sizes.iter().any(|&size| size < 0) {
        return Err(bound.reject("sizes", "a list of sizes, none negative"));
    }
    if strides.len() != sizes.len() || strides.iter().any(|&stride| stride < 0) {
        return Err(bound.reject("strides", &format!("a list of {} strides, none negative", sizes.len())));
    }
    let memory = memory_order(&strides);
    let mut contiguity = vec![None; sizes.len()];
    let mut expected = Some(1_i64);
    for (place, &axis) in memory.iter().enumerate().rev() {
        let (size, stride) = (sizes[axis], strides[axis]);
        if size == 1 || stride == 0 {
            continue;
        }
        contiguity[place] = Some(expected == Some(stride));
        expected = stride.checked_mul(size);
    }
    let keeps = |size: i64| size == 1 || bound.flag("static_sizes");
    let shape = sizes.iter().map(|&size| if keeps(size) { size } else { -1 }).collect();
    let row_major = memory.iter().copied().eq(0..sizes.len());
    let mut stride_order = vec![0; if row_major { 0 } else { sizes.len() }];
    if !row_major {
        memory.iter().rev().enumerate().for_each(|(rank, &axis)| stride_order[axis] = rank);
    }
    Ok(DeclaredLayout { shape, contiguity, stride_order, is_cpu: bound.flag("is_cpu") })
}

/// Axes from the outermost in memory to the innermost. Axes of stride 0 stay where they are among their neighbours.
fn memory_order(strides: &[i64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..strides.len()).filter(|&axis| strides[axis] != 0).collect();
    order.sort_by_key(|&axis| std::cmp::Reverse(strides[axis]));
    for axis in (0..strides.len()).filter(|&axis| strides[axis] == 0) {
        order.insert(axis.min(order.len()), axis);
    }
    order
}
