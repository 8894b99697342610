//! A program as a value that can be reduced: inputs with their data, calls of ops, outputs.
//!
//! Uses only the builder of definitions of the compiler, so that every program prints as a definition file. Tensors keep
//! their numbers when others are removed.

use std::sync::Arc;

use ferrofuse::{DType, Definition, DefinitionBuilder, Scalar};
use frontend::define::DefineError;
use index::{Expr, Sym};
use indexmap::IndexMap;
use ir::definition::{CallArgument, Function, NamedValue, Object};
use ir::graph::{ComputedSize, Known, SymbolSource};
use ops::{LanguageOp, ScalarOp};

use super::data::Input;

/// A tensor of a program, by the number it was given when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tensor(pub u32);

/// A random program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The inputs.
    pub inputs: Vec<(Tensor, Input)>,
    /// Its calls in order.
    pub steps: Vec<Step>,
    /// The outputs; a tensor may occur twice.
    pub outputs: Vec<Tensor>,
    /// The in-place outputs: the tensor and the input.
    pub in_place: Vec<(Tensor, Tensor)>,
}

/// A call of an op.
#[derive(Clone, Debug)]
pub struct Step {
    pub op: &'static str,
    /// The arguments, with the name of the parameter if it is a keyword.
    pub arguments: Vec<(Option<&'static str>, Given)>,
    pub results: Vec<Tensor>,
}

/// An argument.
#[derive(Clone, Debug)]
pub enum Given {
    /// A tensor.
    Tensor(Tensor),
    /// A list of tensors.
    Tensors(Vec<Tensor>),
    /// A number or a bool.
    Number(Scalar),
    /// A dtype.
    DType(DType),
    /// A list of whole numbers, such as axes.
    Numbers(Vec<i64>),
    /// A list of bools.
    Bools(Vec<bool>),
    /// A list of numbers.
    Reals(Vec<f64>),
    /// A lambda.
    Function(Arc<Function>),
    /// A word in quotes.
    Text(&'static str),
    /// A size as a scalar.
    Size(Size),
    /// A list of sizes.
    Sizes(Vec<Size>),
    /// All sizes of a tensor.
    Shape(Tensor),
}

/// A size as an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// This number.
    Number(i64),
    /// The size of an axis of a tensor.
    Of(Tensor, usize),
    /// Twice the half of the size of an axis, in floats, so that a call computes it.
    TwiceHalf(Tensor, usize),
    /// The absolute value of a scalar.
    Magnitude(Tensor),
}

impl Size {
    fn tensor(self) -> Option<Tensor> {
        match self {
            Size::Of(tensor, _) | Size::TwiceHalf(tensor, _) | Size::Magnitude(tensor) => Some(tensor),
            Size::Number(_) => None,
        }
    }

    /// The ops that make it.
    fn ops(self) -> Vec<&'static str> {
        match self {
            Size::Number(_) => Vec::new(),
            Size::Of(..) => vec![LanguageOp::Size.name()],
            Size::TwiceHalf(..) => vec![LanguageOp::Size.name(), ScalarOp::Mul.name(), ScalarOp::Mul.name()],
            Size::Magnitude(_) => vec![ScalarOp::Abs.name()],
        }
    }

    fn renamed(self, rename: &impl Fn(Tensor) -> Tensor) -> Size {
        match self {
            Size::Of(tensor, axis) => Size::Of(rename(tensor), axis),
            Size::TwiceHalf(tensor, axis) => Size::TwiceHalf(rename(tensor), axis),
            Size::Magnitude(scalar) => Size::Magnitude(rename(scalar)),
            Size::Number(_) => self,
        }
    }
}

impl Given {
    /// A whole number.
    pub fn int(value: i64) -> Given {
        Given::Number(Scalar::from_i64(DType::I64, value))
    }

    /// A real number.
    pub fn real(value: f64) -> Given {
        Given::Number(Scalar::from_f64(DType::F64, value))
    }

    /// True or False.
    pub fn flag(value: bool) -> Given {
        Given::Number(Scalar::from_bool(value))
    }

    /// The tensors that it names.
    pub fn tensors(&self) -> Vec<Tensor> {
        match self {
            Given::Tensor(tensor) | Given::Shape(tensor) => vec![*tensor],
            Given::Tensors(tensors) => tensors.clone(),
            Given::Size(size) => size.tensor().into_iter().collect(),
            Given::Sizes(sizes) => sizes.iter().filter_map(|size| size.tensor()).collect(),
            _ => Vec::new(),
        }
    }

    /// The same with tensors replaced.
    pub fn renamed(&self, rename: &impl Fn(Tensor) -> Tensor) -> Given {
        match self {
            Given::Tensor(tensor) => Given::Tensor(rename(*tensor)),
            Given::Tensors(tensors) => Given::Tensors(tensors.iter().map(|&tensor| rename(tensor)).collect()),
            Given::Shape(tensor) => Given::Shape(rename(*tensor)),
            Given::Size(size) => Given::Size(size.renamed(rename)),
            Given::Sizes(sizes) => Given::Sizes(sizes.iter().map(|size| size.renamed(rename)).collect()),
            other => other.clone(),
        }
    }
}

impl Program {
    /// The definition.
    ///
    /// # Errors
    /// When a call is rejected, which can happen after a program was reduced.
    pub fn define(&self) -> Result<Definition, DefineError> {
        self.draft()?.finish(&self.outputs, &self.in_place)
    }

    /// The program built up to its last call.
    ///
    /// # Errors
    /// As [`Program::define`].
    pub fn draft(&self) -> Result<Draft, DefineError> {
        let mut draft = Draft::default();
        for (tensor, input) in &self.inputs {
            draft.input(*tensor, input)?;
        }
        self.steps.iter().try_for_each(|step| draft.step(step))?;
        Ok(draft)
    }

    /// The ops that it calls, including those that compute sizes; one that is called twice is listed twice.
    pub fn ops(&self) -> Vec<&'static str> {
        let mut ops: Vec<&'static str> = self.steps.iter().map(|step| step.op).collect();
        for (_, given) in self.steps.iter().flat_map(|step| &step.arguments) {
            match given {
                Given::Shape(_) => ops.push(LanguageOp::Shape.name()),
                Given::Size(size) => ops.extend(size.ops()),
                Given::Sizes(sizes) => ops.extend(sizes.iter().flat_map(|size| size.ops())),
                _ => {}
            }
        }
        ops
    }

    /// A number that no tensor has.
    pub fn fresh(&self) -> Tensor {
        let inputs = self.inputs.iter().map(|(tensor, _)| *tensor);
        let results = self.steps.iter().flat_map(|step| step.results.iter().copied());
        Tensor(inputs.chain(results).map(|tensor| tensor.0 + 1).max().unwrap_or(0))
    }

    /// Drops calls and inputs that no output needs.
    pub fn drop_dead(&mut self) {
        let mut needed: Vec<Tensor> = self.outputs.clone();
        needed.extend(self.in_place.iter().flat_map(|&(output, input)| [output, input]));
        for place in (0..self.steps.len()).rev() {
            if self.steps[place].results.iter().any(|result| needed.contains(result)) {
                needed.extend(self.steps[place].arguments.iter().flat_map(|(_, given)| given.tensors()));
            } else {
                self.steps.remove(place);
            }
        }
        self.inputs.retain(|(tensor, _)| needed.contains(tensor));
    }
}

/// A program under construction: its definition so far, with the sizes of its tensors on its inputs.
#[derive(Clone, Default)]
pub struct Draft {
    builder: DefinitionBuilder,
    values: IndexMap<Tensor, NamedValue>,
    /// The values of the size symbols, by number; `None` if a value is no size on these inputs.
    symbols: Vec<Option<i64>>,
    /// The contents of the inputs that are scalars, by number.
    scalars: Vec<Option<Scalar>>,
}

impl Draft {
    /// Declares an input.
    ///
    /// # Errors
    /// When the builder rejects it.
    pub fn input(&mut self, tensor: Tensor, input: &Input) -> Result<(), DefineError> {
        if input.is_scalar {
            return self.scalar(tensor, input);
        }
        self.scalars.push(None);
        let declared = input.sizes.iter().zip(&input.symbolic);
        let shape: Vec<i64> =
            declared.map(|(&size, &symbolic)| if symbolic { -1 } else { size as i64 }).collect();
        let mut order = input.declared_order.clone();
        if order.is_empty() {
            order = (0..shape.len()).collect();
        }
        let gap = |&axis: &usize| match input.expanded[axis] || shape[axis] == 1 {
            true => Object::None,
            false => Object::bool(false),
        };
        let contiguity = Object::list(order.iter().map(gap));
        let rank = |axis| order.iter().rev().position(|&other| other == axis).expect("all axes") as i64;
        let stride_order = Object::ints((0..shape.len()).map(rank));
        let arguments = vec![
            CallArgument::keyword("stride_order", stride_order),
            CallArgument::keyword("shape", Object::ints(shape)),
            CallArgument::keyword("contiguity", contiguity),
            CallArgument::keyword("dtype", Object::DType(input.dtype)),
        ];
        let value = self.builder.define_tensor(arguments)?;
        let symbolic = input.sizes.iter().zip(&input.symbolic).filter(|(_, symbolic)| **symbolic);
        self.symbols.extend(symbolic.map(|(&size, _)| Some(size as i64)));
        self.values.insert(tensor, value);
        Ok(())
    }

    /// Declares a scalar; an integer is the value of a symbol too.
    fn scalar(&mut self, tensor: Tensor, input: &Input) -> Result<(), DefineError> {
        let dtype = CallArgument::keyword("dtype", Object::DType(input.dtype));
        let declared = self.builder.define_scalar(vec![dtype])?;
        let value = declared.as_value().expect("a scalar without a value is an input");
        let held = input.place().view().scalar(0);
        self.scalars.push(Some(held));
        if input.dtype.holds_sizes() {
            self.symbols.push(Some(held.as_i64()));
        }
        self.values.insert(tensor, value);
        Ok(())
    }

    /// Makes a call.
    ///
    /// # Errors
    /// When the builder rejects it; the draft is then unusable.
    pub fn step(&mut self, step: &Step) -> Result<(), DefineError> {
        let mut arguments = Vec::with_capacity(step.arguments.len());
        for (name, given) in &step.arguments {
            let object = self.object(given)?;
            arguments.push(match name {
                Some(name) => CallArgument::keyword(name, object),
                None => CallArgument::positional(object),
            });
        }
        let made = self.builder.call(step.op, arguments)?;
        self.compute_sizes();
        let made = made.as_list().map_or_else(|| vec![made.clone()], <[Object]>::to_vec);
        assert_eq!(made.len(), step.results.len(), "`{}` makes another number of tensors", step.op);
        for (&tensor, made) in step.results.iter().zip(made) {
            let value = made.as_value().expect("ops of tensors give tensors");
            self.values.insert(tensor, value);
        }
        Ok(())
    }

    fn object(&mut self, given: &Given) -> Result<Object, DefineError> {
        let tensor = |tensor: &Tensor| Object::Value(self.values[tensor]);
        Ok(match given {
            Given::Tensor(of) => tensor(of),
            Given::Tensors(tensors) => Object::list(tensors.iter().map(tensor)),
            Given::Number(scalar) => Object::Number(*scalar),
            Given::DType(dtype) => Object::DType(*dtype),
            Given::Numbers(numbers) => Object::ints(numbers.iter().copied()),
            Given::Bools(flags) => Object::list(flags.iter().map(|&flag| Object::bool(flag))),
            Given::Shape(of) => {
                self.builder.call("shape", vec![CallArgument::positional(self.values[of])])?
            }
            Given::Reals(numbers) => Object::list(numbers.iter().copied().map(Object::float)),
            Given::Function(function) => Object::Function(Arc::clone(function)),
            Given::Text(text) => Object::Text((*text).into()),
            Given::Size(size) => self.size(*size)?,
            Given::Sizes(sizes) => {
                let sizes = sizes.iter().map(|&size| self.size(size)).collect::<Result<Vec<_>, _>>()?;
                Object::list(sizes)
            }
        })
    }

    fn size(&mut self, size: Size) -> Result<Object, DefineError> {
        match size {
            Size::Number(number) => Ok(Object::int(number)),
            Size::Of(tensor, axis) => {
                let tensor = CallArgument::positional(self.values[&tensor]);
                self.builder.call("size", vec![tensor, CallArgument::positional(Object::int(axis as i64))])
            }
            Size::TwiceHalf(tensor, axis) => {
                let size = self.size(Size::Of(tensor, axis))?;
                let half = self.scaled(size, 0.5)?;
                self.scaled(half, 2.0)
            }
            Size::Magnitude(scalar) => {
                let scalar = CallArgument::positional(self.values[&scalar]);
                self.builder.call(ScalarOp::Abs.name(), vec![scalar])
            }
        }
    }

    fn scaled(&mut self, number: Object, by: f64) -> Result<Object, DefineError> {
        let factors = [number, Object::float(by)];
        self.builder.call(ScalarOp::Mul.name(), factors.into_iter().map(CallArgument::positional).collect())
    }

    /// Gives new symbols the values that a call would compute.
    fn compute_sizes(&mut self) {
        for source in self.builder.graph().symbols().values().skip(self.symbols.len()) {
            let value = match source {
                SymbolSource::Computed(size) => self.computed(size),
                _ => None, // seeds and offsets, which are no sizes
            };
            self.symbols.push(value);
        }
    }

    fn computed(&self, size: &ComputedSize) -> Option<i64> {
        let bind = |sym: Sym| self.symbols.get(sym.as_u32() as usize).copied().flatten();
        let number = size.value(|known| match known {
            Known::Scalar(ordinal) => self.scalars[*ordinal as usize],
            Known::Size(size) => Some(Scalar::from_i64(DType::I64, size.eval(&bind).ok()?)),
        })?;
        size.whole(number).ok()
    }

    /// The tensors so far, in the order they were made.
    pub fn tensors(&self) -> Vec<Tensor> {
        self.values.keys().copied().collect()
    }

    /// The dtype of a tensor.
    pub fn dtype(&self, tensor: Tensor) -> DType {
        self.builder.ty(self.values[&tensor]).dtype
    }

    /// Whether it is a scalar of the language.
    pub fn is_scalar(&self, tensor: Tensor) -> bool {
        self.builder.is_scalar(self.values[&tensor])
    }

    /// The sizes of a tensor as the definition knows them.
    pub fn shape(&self, tensor: Tensor) -> &[Expr] {
        &self.builder.ty(self.values[&tensor]).shape
    }

    /// The sizes of a tensor on the inputs; `None` if one is negative or has no value.
    pub fn sizes(&self, tensor: Tensor) -> Option<Vec<usize>> {
        let bind = |sym: Sym| self.symbols.get(sym.as_u32() as usize).copied().flatten();
        let size = |size: &Expr| usize::try_from(size.eval(&bind).ok()?).ok();
        self.shape(tensor).iter().map(size).collect()
    }

    /// The definition that returns these tensors and writes those to inputs.
    ///
    /// # Errors
    /// When there are none, one is a scalar of the language, or one does not fit its input.
    pub fn finish(
        mut self,
        outputs: &[Tensor],
        in_place: &[(Tensor, Tensor)],
    ) -> Result<Definition, DefineError> {
        for output in outputs {
            self.builder.add_output(&Object::Value(self.values[output]), None)?;
        }
        for (output, input) in in_place {
            let input = Object::Value(self.values[input]);
            self.builder.add_output(&Object::Value(self.values[output]), Some(&input))?;
        }
        self.builder.finish()
    }
}
