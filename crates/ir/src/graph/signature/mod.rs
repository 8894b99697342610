//! The constraints of a view on its inputs: number, dtypes, ranks, sizes, and implied constraints on sizes. One check for
//! everything that takes inputs: the evaluator, the runtime, the command line.
//!
//! Takes views of arrays, returns the values of the size symbols. Reads no elements except scalars that sizes depend on.
//! `condition` has the conditions on sizes, `error` the messages, `origin` the origins of their values.

mod condition;
mod error;
mod origin;

pub use error::InputError;

use index::{EvalError, Expr, Sym};
use ops::DType;

use super::container::Graph;
use super::fusion::Fusion;
use super::sizes::Sizes;
use crate::array::ArrayView;
use condition::{Condition, Constraint};
use origin::{Computed, Origin};

/// The constraints of one view.
#[derive(Clone, Debug)]
pub struct InputSignature {
    inputs: Vec<Input>,
    /// Where each symbol's value is found, by the symbol's number.
    origins: Vec<Option<Origin>>,
    /// The sizes that a call computes.
    computed: Vec<Computed>,
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug)]
struct Input {
    /// Its position, and its name if it has one.
    name: String,
    dtype: DType,
    axes: Vec<Axis>,
}

/// The required size of an axis.
#[derive(Clone, Debug)]
enum Axis {
    /// It defines a symbol's value, so it is right unless the value is known already.
    Origin(Sym),
    /// This.
    Size(Expr),
}

impl InputSignature {
    /// The constraints of a view. `name` gives the user's names of the inputs, by position, for diagnostics.
    pub fn new(graph: &Graph, fusion: &Fusion, name: impl Fn(usize) -> Option<String>) -> InputSignature {
        let mut computed = Vec::new();
        let mut origins = origin::origins(graph, fusion, &mut computed);
        let axis = |input: usize, axis: usize, size: &Expr| {
            let own = Some(Origin::Size { input, axis });
            let origin = size.as_sym().filter(|sym| origins[sym.as_u32() as usize] == own);
            origin.map_or_else(|| Axis::Size(size.clone()), Axis::Origin)
        };
        let inputs = fusion.inputs().iter().enumerate().map(|(place, &val)| Input {
            name: InputSignature::input_in_words(place, name(place)),
            dtype: graph.dtype(val),
            axes: graph.shape(val).iter().enumerate().map(|(k, size)| axis(place, k, size)).collect(),
        });
        let is_size =
            |sym: Sym| matches!(origins.get(sym.as_u32() as usize), Some(Some(Origin::Size { .. })));
        let inputs = inputs.collect();
        let conditions = condition::conditions(graph, fusion, is_size);
        let mentioned = origin::mentioned(graph, fusion, &conditions, &computed);
        for unused in computed.iter().map(|size| size.symbol).filter(|symbol| !mentioned.contains(symbol)) {
            origins[unused.as_u32() as usize] = None;
        }
        InputSignature { inputs, conditions, origins, computed }
    }

    /// The same constraints, with their origins in diagnostics, as far as `asks` knows them by the constrained size.
    pub fn because(mut self, asks: impl Fn(&Expr) -> Option<String>) -> InputSignature {
        self.conditions.iter_mut().for_each(|condition| condition.asked_by = asks(&condition.subject()));
        self.computed.iter_mut().for_each(|computed| computed.asked_by = asks(&Expr::sym(computed.symbol)));
        self
    }

    /// The values of the size symbols, if the inputs are as the view needs them. `known` are values of symbols that hold for
    /// any inputs: those that the view cannot see.
    ///
    /// # Errors
    /// The first constraint that is not met.
    pub fn bind(&self, inputs: &[ArrayView<'_>], known: &[(Sym, i64)]) -> Result<Sizes, InputError> {
        self.check_types(inputs)?;
        let sizes = self.read(inputs, known)?;
        for (place, (input, view)) in self.inputs.iter().zip(inputs).enumerate() {
            for (axis, constraint) in input.axes.iter().enumerate() {
                let given = size(view, axis);
                match constraint {
                    Axis::Origin(sym) if sizes.get(*sym) == Some(given) => {}
                    Axis::Origin(sym) => {
                        self.check_size(&sizes, (place, axis), &Expr::sym(*sym), given, None)?
                    }
                    Axis::Size(expected) => self.check_size(&sizes, (place, axis), expected, given, None)?,
                }
            }
        }
        self.conditions.iter().try_for_each(|condition| self.check(condition, &sizes))?;
        Ok(sizes)
    }

    /// Whether [`InputSignature::bind`] reads elements: otherwise its result depends on sizes alone.
    pub fn reads_elements(&self) -> bool {
        self.read_elements().next().is_some()
    }

    /// The inputs whose elements decide sizes.
    pub fn read_elements(&self) -> impl Iterator<Item = usize> + '_ {
        let of_elements = self.origins.iter().filter_map(|origin| match origin {
            Some(Origin::Element { input }) => Some(*input),
            Some(Origin::Size { .. } | Origin::Computed(_) | Origin::Beginning) | None => None,
        });
        of_elements.chain(self.computed.iter().flat_map(Computed::inputs))
    }

    /// An input by its position, and by its name if it has one.
    pub fn input_in_words(place: usize, name: Option<String>) -> String {
        name.map_or_else(|| format!("input {place}"), |name| format!("input {place} ({name})"))
    }

    /// The name of an input in diagnostics: its position, and its name if it has one.
    pub fn input_name(&self, place: usize) -> &str {
        &self.inputs[place].name
    }

    fn check_types(&self, inputs: &[ArrayView<'_>]) -> Result<(), InputError> {
        if inputs.len() != self.inputs.len() {
            return Err(InputError::Count { expected: self.inputs.len(), given: inputs.len() });
        }
        for (input, view) in self.inputs.iter().zip(inputs) {
            let name = || input.name.clone();
            if view.dtype() != input.dtype {
                return Err(InputError::Dtype { input: name(), expected: input.dtype, given: view.dtype() });
            }
            if view.sizes().len() != input.axes.len() {
                let (expected, given) = (input.axes.len(), view.sizes().len());
                return Err(InputError::Rank { input: name(), expected, given });
            }
        }
        Ok(())
    }

    fn read(&self, inputs: &[ArrayView<'_>], known: &[(Sym, i64)]) -> Result<Sizes, InputError> {
        let mut sizes: Sizes = known.iter().copied().collect();
        for (number, origin) in self.origins.iter().enumerate() {
            let sym = Sym::from_u32(number as u32);
            if sizes.get(sym).is_some() {
                continue;
            }
            let value = match *origin {
                Some(Origin::Size { input, axis }) => size(&inputs[input], axis),
                Some(Origin::Element { input }) => inputs[input].scalar(0).as_i64(),
                Some(Origin::Computed(number)) => match self.computed[number].value(inputs, &sizes)? {
                    Some(value) => value,
                    None => continue,
                },
                Some(Origin::Beginning) => 0,
                None => continue,
            };
            sizes.set(sym, value);
        }
        for condition in &self.conditions {
            if let (Constraint::Equal(value), Some(sym)) = (&condition.constraint, condition.about.as_sym())
                && sizes.get(sym).is_none()
                && let Ok(value) = sizes.try_value(value)
            {
                sizes.set(sym, value);
            }
        }
        Ok(sizes)
    }

    fn check_size(
        &self,
        sizes: &Sizes,
        (input, axis): (usize, usize),
        expected: &Expr,
        given: i64,
        asked_by: Option<&str>,
    ) -> Result<(), InputError> {
        let value = sizes.value(expected)?;
        if value == given {
            return Ok(());
        }
        let because = asked(asked_by, self.explain(expected, sizes));
        Err(InputError::Size {
            input: self.inputs[input].name.clone(),
            axis,
            expected: value,
            because,
            given,
        })
    }

    /// A condition on symbols that this view does not see is left to views that do.
    fn check(&self, condition: &Condition, sizes: &Sizes) -> Result<(), InputError> {
        let value = match sizes.try_value(&condition.about) {
            Ok(value) => Some(value),
            // No tensor has sizes like these.
            Err(EvalError::Overflow) => None,
            Err(EvalError::DivisionByZero) if condition.asked_by.is_some() => {
                let (condition, values) = self.in_words(condition, sizes);
                return Err(InputError::Undefined { condition, values });
            }
            Err(EvalError::Unbound(_) | EvalError::DivisionByZero) => return Ok(()),
        };
        if value.is_some_and(|value| condition.holds(value, sizes)) {
            return Ok(());
        }
        let origin = condition.about.as_sym().and_then(|sym| self.origins[sym.as_u32() as usize]);
        if let (Constraint::Equal(expected), Some(Origin::Size { input, axis }), Some(value)) =
            (&condition.constraint, origin, value)
        {
            return self.check_size(sizes, (input, axis), expected, value, condition.asked_by.as_deref());
        }
        let (condition, values) = self.in_words(condition, sizes);
        Err(InputError::Guard { condition, values })
    }

    /// A condition, and what came out: the values of its expressions and of their symbols, with what asks for it.
    fn in_words(&self, condition: &Condition, sizes: &Sizes) -> (String, String) {
        let expressions = condition.expressions();
        let outcome = |expr: &&Expr| {
            let value = match sizes.try_value(expr) {
                Ok(value) => value.to_string(),
                Err(EvalError::Overflow) => "beyond 64 bits".to_owned(),
                Err(EvalError::Unbound(_) | EvalError::DivisionByZero) => return None,
            };
            (expr.as_sym().is_none() && expr.as_const().is_none()).then(|| format!("{expr} is {value}"))
        };
        let outcomes: Vec<String> = expressions.iter().filter_map(outcome).collect();
        let mut symbols: Vec<Sym> = expressions.iter().flat_map(|expr| expr.symbols()).collect();
        symbols.sort_unstable();
        symbols.dedup();
        let symbols: Vec<String> = symbols.into_iter().map(|sym| self.describe(sym, sizes)).collect();
        let values = match outcomes.is_empty() {
            true => symbols.join(", "),
            false => format!("{}, where {}", outcomes.join(" and "), symbols.join(", ")),
        };
        (condition.words(), asked(condition.asked_by.as_deref(), values))
    }

    /// The symbols of an expression with their values and origins, in words; empty for a number.
    fn explain(&self, expr: &Expr, sizes: &Sizes) -> String {
        let symbols: Vec<String> = expr.symbols().into_iter().map(|sym| self.describe(sym, sizes)).collect();
        match expr.as_sym() {
            None if symbols.is_empty() => String::new(),
            Some(_) => symbols.concat(),
            None => format!("{expr}, where {}", symbols.join(", ")),
        }
    }

    /// A symbol with its value and origin, in words.
    fn describe(&self, sym: Sym, sizes: &Sizes) -> String {
        let value = sizes.get(sym).map_or("unknown".to_owned(), |value| value.to_string());
        match self.origins.get(sym.as_u32() as usize).copied().flatten() {
            Some(Origin::Size { input, axis }) => {
                format!("{sym} = {value} is the size of axis {axis} of {}", self.inputs[input].name)
            }
            Some(Origin::Element { input }) => {
                format!("{sym} = {value} is the value of {}", self.inputs[input].name)
            }
            Some(Origin::Computed(_)) => format!("{sym} = {value} is computed of scalars"),
            Some(Origin::Beginning) | None => format!("{sym} = {value}"),
        }
    }
}

/// An explanation, with the origin of the requirement.
fn asked(by: Option<&str>, explained: String) -> String {
    match by {
        Some(by) if explained.is_empty() => format!("{by} needs it"),
        Some(by) => format!("{explained}; {by} needs it"),
        None if explained.is_empty() => "as declared".to_owned(),
        None => explained,
    }
}

fn size(view: &ArrayView<'_>, axis: usize) -> i64 {
    // Sizes beyond i64 exist only for views that repeat elements; they saturate, and no output of such a size can be
    // allocated.
    i64::try_from(view.sizes()[axis]).unwrap_or(i64::MAX)
}
