//! Arguments bound to the parameters of an op, and read as the kinds of those.
//!
//! Takes the arguments of a call, returns them by parameter with defaults filled, or the argument that does not fit. Knows
//! nothing of graphs.

use ir::Span;
use ir::definition::{CallArgument, NamedValue, Object};
use ir::graph::Axes;
use ops::call::bind_params;
use ops::{BindError, DType, Param, ParamDefault, ParamKind, Slot};
use smallvec::SmallVec;

use super::error::DefineError;

/// Items that one list of numbers may have; tensors have far fewer axes.
const MAX_LIST: usize = 32;

/// Arguments of one call, by parameter.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub op: &'static str,
    params: SmallVec<[Param; 4]>,
    objects: Vec<Object>,
    spans: Vec<Option<Span>>,
    /// For each parameter whether the call gives it.
    given: SmallVec<[bool; 4]>,
}

impl Bound {
    /// Assigns each argument to its parameter.
    pub fn new(
        op: &'static str,
        params: &[Param],
        arguments: Vec<CallArgument>,
    ) -> Result<Bound, DefineError> {
        let (named, placed): (Vec<CallArgument>, Vec<CallArgument>) =
            arguments.into_iter().partition(|argument| argument.keyword.is_some());
        let keywords: Vec<&str> = named.iter().filter_map(|argument| argument.keyword.as_deref()).collect();
        let slots = bind_params(op, params, placed.len(), &keywords)
            .map_err(|error| misfit(error, params, &placed, &named))?;
        let given = |slot: &Slot| match slot {
            Slot::Positional(place) => (placed[*place].object.clone(), placed[*place].span),
            Slot::Keyword(place) => (named[*place].object.clone(), named[*place].span),
            Slot::Default => (Object::None, None),
        };
        let (objects, spans): (Vec<Object>, Vec<Option<Span>>) = slots.iter().map(given).unzip();
        let given = objects.iter().map(|object| *object != Object::None).collect();
        let mut bound = Bound { op, params: SmallVec::from_slice(params), objects, spans, given };
        (0..params.len()).try_for_each(|slot| bound.settle(slot))?;
        Ok(bound)
    }

    /// Fills in a default, checks the kind, makes one number a list and 0 and 1 bools if the parameter needs that.
    fn settle(&mut self, slot: usize) -> Result<(), DefineError> {
        let param = self.params[slot];
        if self.objects[slot] == Object::None {
            self.objects[slot] = default(&param);
            let missing = param.default == ParamDefault::Required;
            return if missing { Err(self.reject_kind(&param)) } else { Ok(()) };
        }
        if is_lone(&param, &self.objects[slot]) {
            self.objects[slot] = Object::list([self.objects[slot].clone()]);
        }
        if param.kind == ParamKind::Bool
            && let Some(flag @ (0 | 1)) = self.objects[slot].as_int()
        {
            // As nvFuser's own scripts write it: `manual_normalization=0`.
            self.objects[slot] = Object::bool(flag == 1);
        }
        let long = self.objects[slot].as_list().is_some_and(|items| items.len() > MAX_LIST);
        if long && param.kind != ParamKind::Tensors {
            return Err(self.reject(param.name, &format!("a list of at most {MAX_LIST} items")));
        }
        if suits(param.kind, &self.objects[slot]) { Ok(()) } else { Err(self.reject_kind(&param)) }
    }

    fn reject_kind(&self, param: &Param) -> DefineError {
        self.reject(param.name, in_words(param.kind)).of_kind()
    }

    fn slot(&self, param: &str) -> usize {
        let place = self.params.iter().position(|known| known.name == param);
        place.unwrap_or_else(|| panic!("the table gives `{}` no parameter `{param}`", self.op))
    }

    /// The diagnostic that an argument is not what it must be.
    pub fn reject(&self, param: &str, expected: &str) -> DefineError {
        let slot = self.slot(param);
        DefineError::new(self.op, expected, describe(&self.objects[slot]))
            .argument(param)
            .at(self.spans[slot])
    }

    /// An argument as it is.
    pub fn object(&self, param: &str) -> &Object {
        &self.objects[self.slot(param)]
    }

    /// All arguments, in the order of the parameters.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The same call with other arguments for the parameters.
    pub fn with_objects(&self, objects: Vec<Object>) -> Bound {
        Bound { objects, ..self.clone() }
    }

    /// The kind of the parameter with this number.
    pub fn kind(&self, slot: usize) -> ParamKind {
        self.params[slot].kind
    }

    /// The place of the argument of this number.
    pub fn span(&self, slot: usize) -> Option<Span> {
        self.spans.get(slot).copied().flatten()
    }

    /// The place of the argument for a parameter.
    pub fn span_of(&self, param: &str) -> Option<Span> {
        self.span(self.slot(param))
    }

    /// The name of the parameter of this number.
    pub fn name(&self, slot: usize) -> &'static str {
        self.params[slot].name
    }

    /// A tensor that may be absent.
    pub fn optional_tensor(&self, param: &str) -> Option<NamedValue> {
        self.object(param).as_value()
    }

    /// A tensor.
    pub fn tensor(&self, param: &str) -> Result<NamedValue, DefineError> {
        self.optional_tensor(param).ok_or_else(|| self.reject(param, "a tensor"))
    }

    /// A list of tensors.
    pub fn tensors(&self, param: &str) -> Vec<NamedValue> {
        self.object(param).as_list().unwrap_or_default().iter().filter_map(Object::as_value).collect()
    }

    /// An integer.
    pub fn int(&self, param: &str) -> Result<i64, DefineError> {
        self.object(param).as_int().ok_or_else(|| self.reject(param, "a whole number"))
    }

    /// A flag; absent counts as false.
    pub fn flag(&self, param: &str) -> bool {
        self.object(param).as_bool().unwrap_or(false)
    }

    /// A dtype that may be absent.
    pub fn dtype(&self, param: &str) -> Option<DType> {
        match self.object(param) {
            Object::DType(dtype) => Some(*dtype),
            _ => None,
        }
    }

    /// A list of integers, if it is given.
    pub fn ints(&self, param: &str) -> Option<Vec<i64>> {
        let items = self.object(param).as_list()?;
        items.iter().map(Object::as_int).collect()
    }

    /// A list of bools.
    pub fn bools(&self, param: &str) -> Vec<bool> {
        self.object(param).as_list().unwrap_or_default().iter().filter_map(Object::as_bool).collect()
    }

    /// One axis of a tensor of this rank; negative ones count from the end.
    pub fn axis(&self, param: &str, rank: usize) -> Result<usize, DefineError> {
        let axis = self.int(param)?;
        wrap(axis, rank).ok_or_else(|| self.reject(param, &places_of("an axis", rank)))
    }

    /// Axes of a tensor of this rank, each once, in the given order, if given.
    pub fn axes(&self, param: &str, rank: usize) -> Result<Option<Axes>, DefineError> {
        let Some(given) = self.ints(param) else { return Ok(None) };
        let mut axes = Axes::new();
        for axis in given {
            match wrap(axis, rank) {
                Some(axis) if !axes.contains(&(axis as u8)) => axes.push(axis as u8),
                _ => return Err(self.reject(param, &format!("{}, each once", places_of("axes", rank)))),
            }
        }
        Ok(Some(axes))
    }

    /// For each axis its rank in memory, 0 innermost; empty if none are given.
    pub fn stride_order(&self, rank: usize) -> Result<Vec<usize>, DefineError> {
        let Some(given) = self.ints("stride_order") else { return Ok(Vec::new()) };
        if given.is_empty() {
            return Ok(Vec::new());
        }
        let order: Option<Vec<usize>> = given.iter().map(|&place| wrap(place, rank)).collect();
        let is_permutation = |order: &Vec<usize>| {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            sorted.into_iter().eq(0..rank)
        };
        let reject =
            || self.reject("stride_order", &format!("the numbers from 0 to {}, each once", rank.max(1) - 1));
        order.filter(is_permutation).ok_or_else(reject)
    }

    /// The arguments for the record: those that are not the default, and dtypes that the call names.
    pub fn recorded(&self) -> Vec<(&'static str, Object)> {
        let all = self.params.iter().zip(&self.objects).zip(&self.given);
        let kept = all.filter(|((param, object), given)| {
            default(param) != **object || (**given && param.kind == ParamKind::DType)
        });
        kept.map(|((param, object), _)| (param.name, object.clone())).collect()
    }
}

/// Whether a single item is given where a list of such is allowed too.
fn is_lone(param: &Param, object: &Object) -> bool {
    match param.kind {
        ParamKind::Ints => param.alias.is_some() && object.as_int().is_some(),
        ParamKind::Tensors => param.alias.is_some() && object.as_value().is_some(),
        ParamKind::Numbers => matches!(object, Object::Number(_)),
        _ => false,
    }
}

/// The accepted values for one axis, or for several, of a tensor of this rank, in words.
fn places_of(what: &str, rank: usize) -> String {
    match rank {
        0 => "no axis, as the tensor has none".to_owned(),
        1 => format!("{what}, 0 or -1, as the tensor has one"),
        _ => format!("{what} from {} to {}", -(rank as i64), rank - 1),
    }
}

/// An axis number counted from the front.
fn wrap(axis: i64, rank: usize) -> Option<usize> {
    let counted = if axis < 0 { axis.checked_add(rank as i64)? } else { axis };
    usize::try_from(counted).ok().filter(|&axis| axis < rank)
}

/// The value of a parameter that is not given.
pub(crate) fn default(param: &Param) -> Object {
    match param.default {
        ParamDefault::Required | ParamDefault::Absent => Object::None,
        ParamDefault::Int(value) => Object::int(value),
        ParamDefault::Bool(value) => Object::bool(value),
        ParamDefault::DType(dtype) => Object::DType(dtype),
        other => other.as_number().map_or(Object::None, Object::float),
    }
}

fn suits(kind: ParamKind, object: &Object) -> bool {
    let all = |test: fn(&Object) -> bool| object.as_list().is_some_and(|items| items.iter().all(test));
    let is_value = |object: &Object| matches!(object, Object::Value(_));
    let is_int = |object: &Object| object.as_int().is_some();
    match kind {
        ParamKind::Operand | ParamKind::Scalar => matches!(object, Object::Value(_) | Object::Number(_)),
        ParamKind::Tensor => is_value(object),
        ParamKind::Tensors => all(is_value),
        ParamKind::Numbers => all(|object| matches!(object, Object::Number(_))),
        ParamKind::Combine => matches!(object, Object::Function(_) | Object::Text(_)),
        ParamKind::Lambda => matches!(object, Object::Function(_)),
        ParamKind::Text => matches!(object, Object::Text(_)),
        ParamKind::Int => is_int(object),
        ParamKind::Ints => all(is_int),
        ParamKind::Shape => all(|object| object.as_int().is_some() || object.as_value().is_some()),
        ParamKind::Bool => object.as_bool().is_some(),
        ParamKind::Bools => all(|object| object.as_bool().is_some()),
        ParamKind::Contiguity => {
            object.as_bool().is_some() || all(|object| *object == Object::None || object.as_bool().is_some())
        }
        ParamKind::DType => matches!(object, Object::DType(_)),
    }
}

fn in_words(kind: ParamKind) -> &'static str {
    match kind {
        ParamKind::Operand => "a tensor, a scalar or a number",
        ParamKind::Tensor => "a tensor",
        ParamKind::Tensors => "a list of tensors",
        ParamKind::Scalar => "a scalar or a number",
        ParamKind::Numbers => "a number or a list of numbers",
        ParamKind::Combine => "a lambda, or the name of a fold in quotes",
        ParamKind::Lambda => "a lambda",
        ParamKind::Int => "a whole number",
        ParamKind::Ints => "a list of whole numbers",
        ParamKind::Shape => "a list of sizes",
        ParamKind::Bool => "True or False",
        ParamKind::Bools => "a list of True and False",
        ParamKind::Contiguity => "True, False, or a list of True, False and None",
        ParamKind::DType => "a DataType",
        ParamKind::Text => "a name in quotes",
    }
}

/// A short description of an argument.
pub(super) fn describe(object: &Object) -> String {
    match object {
        Object::None => "missing".to_owned(),
        Object::Number(scalar) => format!("the number {scalar}"),
        Object::DType(dtype) => format!("DataType.{}", dtype.nvfuser_name()),
        Object::Value(_) => "a value of the program".to_owned(),
        Object::List(items) if items.len() > 8 => format!("a list of {} items", items.len()),
        Object::List(items) => {
            let items: Vec<String> = items.iter().map(describe_item).collect();
            format!("[{}]", items.join(", "))
        }
        Object::Text(text) => format!("\"{text}\""),
        Object::Function(_) => "a lambda".to_owned(),
    }
}

fn describe_item(item: &Object) -> String {
    match item {
        Object::None => "None".to_owned(),
        Object::Number(scalar) => scalar.to_string(),
        Object::DType(dtype) => format!("DataType.{}", dtype.nvfuser_name()),
        Object::Value(_) => "a value".to_owned(),
        Object::List(_) => "a list".to_owned(),
        Object::Text(_) => "a string".to_owned(),
        Object::Function(_) => "a lambda".to_owned(),
    }
}

/// The diagnostic for arguments without a parameter.
fn misfit(
    error: BindError,
    params: &[Param],
    placed: &[CallArgument],
    named: &[CallArgument],
) -> DefineError {
    let names: Vec<&str> = params.iter().map(|param| param.name).collect();
    let takes = match names[..] {
        [] => "no arguments".to_owned(),
        _ => format!("the arguments {}", names.join(", ")),
    };
    let span_of = |name: &str| {
        named
            .iter()
            .rfind(|argument| argument.keyword.as_deref() == Some(name))
            .and_then(|argument| argument.span)
    };
    match error {
        BindError::TooMany { op, most, given } => {
            DefineError::new(op, takes, format!("{given} arguments")).at(placed[most].span)
        }
        BindError::UnknownKeyword { op, keyword, did_you_mean } => {
            let span = span_of(&keyword);
            let error = DefineError::new(op, takes, format!("an argument `{keyword}`")).at(span);
            match did_you_mean {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            }
        }
        BindError::GivenTwice { op, param } => {
            let again = named.iter().rev().find(|argument| {
                let known = params.iter().find(|known| known.name == param);
                known.is_some_and(|known| {
                    argument.keyword.as_deref().is_some_and(|name| known.is_called(name))
                })
            });
            let span = again.and_then(|argument| argument.span);
            DefineError::new(op, "each argument once", format!("`{param}` twice")).at(span)
        }
        BindError::Missing { op, param } => {
            let kind =
                params.iter().find(|known| known.name == param).map_or("given", |known| in_words(known.kind));
            DefineError::new(op, kind, "missing").argument(param)
        }
    }
}
