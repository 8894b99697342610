//! Definitions written in Rust: `op!` calls an op as a definition file does, and values have operators.
//!
//! `argument` has what an op is called with, `value` the values and their operators, `error` why a definition is rejected.
//! Ops, parameters and messages are those of [`DefinitionBuilder`].

mod argument;
mod error;
mod value;

use std::cell::RefCell;
use std::panic::Location;

use frontend::define::{DefineError, DefinitionBuilder};
use ir::definition::{CallArgument, Definition, Object};

pub use argument::OpArgument;
pub use error::DefinitionError;
pub use value::FusionValue;

/// A definition under construction.
///
/// Calls do not return errors: the first one that is rejected is kept, with its line, and those that depend on it do
/// nothing. [`FusionDefinition::finish`] returns it.
///
/// ```
/// use ferrofuse::{Array, CompileOptions, DType, FusionDefinition, compile, op};
///
/// let fd = FusionDefinition::new();
/// let x = op!(fd.define_tensor(shape = [-1, -1], contiguity = true, dtype = DType::F32));
/// let mean = op!(fd.mean(x, dims = [1], keepdim = true));
/// fd.add_output((x - mean) * 2.0);
/// let centred = compile(fd.finish()?, CompileOptions::default())?;
///
/// let x = Array::from_slice(&[2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let outputs = centred.run(&[x.view()])?;
/// assert_eq!(outputs[0].to_array()?.as_slice::<f32>(), [-2.0, 0.0, 2.0, -2.0, 0.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct FusionDefinition {
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    builder: DefinitionBuilder,
    rejected: Option<DefinitionError>,
}

impl FusionDefinition {
    /// An empty definition.
    pub fn new() -> FusionDefinition {
        FusionDefinition::default()
    }

    /// Calls an op with one result, `define_tensor` or `define_scalar`, by its name: as [`op!`](crate::op).
    #[track_caller]
    pub fn call(&self, op: &str, arguments: Vec<OpArgument<'_>>) -> FusionValue<'_> {
        let [value] = self.call_several(op, arguments);
        value
    }

    /// Calls an op with `N` results: what [`ops!`](crate::ops) expands to.
    #[track_caller]
    pub fn call_several<const N: usize>(
        &self,
        op: &str,
        arguments: Vec<OpArgument<'_>>,
    ) -> [FusionValue<'_>; N] {
        let op = written(op);
        let made = self.statement(op, arguments, |builder, arguments| {
            if !arguments.is_sorted_by_key(|argument| argument.keyword.is_some()) {
                return Err(error::of_call(
                    op,
                    "arguments by position first",
                    "one after an argument by name",
                ));
            }
            let made = match op {
                "define_tensor" => Object::Value(builder.define_tensor(arguments)?),
                "define_scalar" => builder.define_scalar(arguments)?,
                "define_vector" => builder.define_vector(arguments)?,
                "add_output" | "add_output_in_place" | "group" => return Err(error::of_method(op)),
                _ => builder.call(op, arguments)?,
            };
            let made = match made {
                Object::List(several) => several.to_vec(),
                one => vec![one],
            };
            <[Object; N]>::try_from(made)
                .map_err(|made| error::of_call(op, &count(N, "result"), &made.len().to_string()))
        });
        match made {
            Some(made) => made.map(|object| FusionValue::new(self, Some(&object))),
            None => std::array::from_fn(|_| FusionValue::new(self, None)),
        }
    }

    /// Adds an output, in memory of its own.
    #[track_caller]
    pub fn add_output(&self, output: FusionValue<'_>) {
        self.statement("add_output", vec![output.into()], |builder, arguments| {
            builder.add_output(&arguments[0].object, None)
        });
    }

    /// Adds an output that is written into the memory of an input.
    #[track_caller]
    pub fn add_output_in_place(&self, output: FusionValue<'_>, input: FusionValue<'_>) {
        self.statement("add_output", vec![output.into(), input.into()], |builder, arguments| {
            builder.add_output(&arguments[0].object, Some(&arguments[1].object))
        });
    }

    /// Makes the ops that a function calls a group of this name, which stays in one segment if `stay` says so.
    #[track_caller]
    pub fn group<R>(&self, name: &str, stay: bool, ops: impl FnOnce() -> R) -> R {
        let arguments = vec![name.into(), OpArgument::named("stay", stay)];
        let entered = self.statement("group", arguments, DefinitionBuilder::enter_group);
        let _open = entered.map(|()| OpenGroup { of: self });
        ops()
    }

    /// The first rejected call, if there is one.
    pub fn rejected(&self) -> Option<DefinitionError> {
        self.state.borrow().rejected.clone()
    }

    /// The finished definition.
    ///
    /// # Errors
    /// The first rejected call, with its line; then, if there is no output, or no sizes satisfy the constraints of all ops.
    pub fn finish(self) -> Result<Definition, DefinitionError> {
        let State { builder, rejected } = self.state.into_inner();
        if let Some(error) = rejected {
            return Err(error);
        }
        let record = builder.record().clone();
        builder.finish().map_err(|error| {
            let line = error.span.and_then(|span| record.line_of(span));
            DefinitionError { error, line }
        })
    }

    /// Runs a statement of the caller's line; `None` if it, an argument's, or one of another definition was rejected.
    #[track_caller]
    fn statement<R>(
        &self,
        op: &str,
        arguments: Vec<OpArgument<'_>>,
        run: impl FnOnce(&mut DefinitionBuilder, Vec<CallArgument>) -> Result<R, DefineError>,
    ) -> Option<R> {
        let place = Location::caller();
        let State { builder, rejected } = &mut *self.state.borrow_mut();
        let file = place.file().rsplit(['/', '\\']).next().unwrap_or_default();
        builder.set_line(file, place.line() as usize);
        let arguments: Option<Result<Vec<CallArgument>, DefineError>> =
            arguments.into_iter().map(|argument| argument.of_call(self, op)).collect();
        let made = arguments?.and_then(|arguments| run(builder, arguments));
        made.map_err(|error| {
            rejected.get_or_insert_with(|| DefinitionError { error, line: builder.line() });
        })
        .ok()
    }
}

/// A group, open until this is dropped, also by a panic of what makes its ops.
struct OpenGroup<'f> {
    of: &'f FusionDefinition,
}

impl Drop for OpenGroup<'_> {
    fn drop(&mut self) {
        self.of.state.borrow_mut().builder.leave_group();
    }
}

/// A name of the definition language, which Rust may write with `r#` before it.
fn written(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// A number of things, in words.
fn count(number: usize, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}

/// Calls an op of a [`FusionDefinition`](crate::FusionDefinition) that has one result, with arguments by position or name, as
/// in Python: `op!(fd.sum(x, dims = [1], keepdim = true))`. `define_tensor` and `define_scalar` are called so, too. Lists may
/// mix values and numbers, and `None` is an argument. The definition may be a field, `op!(self.fd.exp(x))`, or in parentheses
/// an expression.
#[macro_export]
macro_rules! op {
    ($($call:tt)*) => {{
        let [value] = $crate::ops!($($call)*);
        value
    }};
}

/// [`op!`](crate::op) for an op with several results: `let [var, mean] = ops!(fd.var_mean(x, dims = [1]))`.
#[macro_export]
macro_rules! ops {
    ($fd:ident.$op:ident($($given:tt)*)) => { $crate::ops!(($fd).$op($($given)*)) };
    ($of:ident.$fd:ident.$op:ident($($given:tt)*)) => { $crate::ops!(($of.$fd).$op($($given)*)) };
    (($fd:expr).$op:ident($($given:tt)*)) => {
        $fd.call_several(::core::stringify!($op), $crate::op_arguments!([] $($given)*))
    };
}

/// The arguments of [`op!`](crate::op), one after the other.
#[doc(hidden)]
#[macro_export]
macro_rules! op_arguments {
    ([$($done:expr,)*]) => { ::std::vec![$($done),*] };
    ([$($done:expr,)*] $name:ident = [$($items:tt)*] $(, $($rest:tt)*)?) => {
        $crate::op_arguments!([$($done,)* $crate::OpArgument::named(
            ::core::stringify!($name), $crate::op_arguments!(@list [] $($items)*)
        ),] $($($rest)*)?)
    };
    ([$($done:expr,)*] [$($items:tt)*] $(, $($rest:tt)*)?) => {
        $crate::op_arguments!([$($done,)* $crate::op_arguments!(@list [] $($items)*),] $($($rest)*)?)
    };
    ([$($done:expr,)*] None $(, $($rest:tt)*)?) => {
        $crate::op_arguments!([$($done,)* $crate::op_arguments!(@none),] $($($rest)*)?)
    };
    ([$($done:expr,)*] $name:ident = None $(, $($rest:tt)*)?) => {
        $crate::op_arguments!(
            [$($done,)* $crate::OpArgument::named(::core::stringify!($name), $crate::op_arguments!(@none)),]
            $($($rest)*)?
        )
    };
    ([$($done:expr,)*] $name:ident = $value:expr $(, $($rest:tt)*)?) => {
        $crate::op_arguments!([$($done,)* $crate::OpArgument::named(::core::stringify!($name), $value),] $($($rest)*)?)
    };
    ([$($done:expr,)*] $value:expr $(, $($rest:tt)*)?) => {
        $crate::op_arguments!([$($done,)* $crate::OpArgument::from($value),] $($($rest)*)?)
    };
    (@none) => { $crate::OpArgument::from(::core::option::Option::<bool>::None) };
    (@list [$($done:expr,)*]) => {
        $crate::OpArgument::from(::std::vec::Vec::<$crate::OpArgument<'_>>::from([$($done),*]))
    };
    (@list [$($done:expr,)*] None $(, $($rest:tt)*)?) => {
        $crate::op_arguments!(@list [$($done,)* $crate::op_arguments!(@none),] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] $item:expr $(, $($rest:tt)*)?) => {
        $crate::op_arguments!(@list [$($done,)* $crate::OpArgument::from($item),] $($($rest)*)?)
    };
}
