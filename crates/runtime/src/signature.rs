//! What a fusion demands of its inputs, checked at each call: number, dtypes, ranks, sizes, and what the definition
//! implies of sizes. Takes views, gives the values of the size symbols. Looks at no element but those of integer scalars
//! that sizes depend on.

use indexmap::IndexSet;
use ir::DType;
use ir::array::ArrayView;
use ir::define::Definition;
use ir::graph::{Form, Fusion, Graph, SymbolSource};
use ir::index::{Expr, Range, Sym};
use rustc_hash::FxHashMap;

use crate::{Error, Symbols};

/// The demands of one fusion.
#[derive(Clone, Debug)]
pub struct Signature {
    inputs: Vec<Input>,
    /// Where each symbol's value is found, by the symbol's number.
    origins: Vec<Option<Origin>>,
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug)]
struct Input {
    name: String,
    dtype: DType,
    axes: Vec<Axis>,
}

/// What the size of an axis must be.
#[derive(Clone, Debug)]
enum Axis {
    /// It gives a symbol its value, so it is right.
    Origin,
    /// This.
    Size(Expr),
}

/// Where the value of a symbol is found in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The size of an axis of the input at this place.
    Size { input: usize, axis: usize },
    /// The element of the input at this place.
    Element { input: usize },
}

/// Something that must hold of the symbols.
#[derive(Clone, Debug)]
struct Condition {
    about: Expr,
    demand: Demand,
}

#[derive(Clone, Debug)]
enum Demand {
    /// The symbol, which the condition is about, has this value.
    Equal(Expr),
    Zero,
    NonNegative,
    MultipleOf(i64),
    Within(Range),
}

impl Signature {
    /// The demands of a definition.
    pub fn new(definition: &Definition) -> Signature {
        let (graph, fusion) = (&definition.graph, &definition.fusion);
        let names = fusion.inputs().iter().map(|&input| definition.name_of(input));
        let origins: Vec<Option<Origin>> = origins(graph, fusion);
        let axis = |input: usize, axis: usize, size: &Expr| {
            let own = Some(Origin::Size { input, axis });
            let is_origin = size.as_sym().is_some_and(|sym| origins[sym.as_u32() as usize] == own);
            if is_origin { Axis::Origin } else { Axis::Size(size.clone()) }
        };
        let inputs = fusion.inputs().iter().zip(names).enumerate().map(|(place, (&val, name))| Input {
            name: format!("input {place} ({name})"),
            dtype: graph.dtype(val),
            axes: graph.shape(val).iter().enumerate().map(|(k, size)| axis(place, k, size)).collect(),
        });
        let mut conditions = known(fusion, &origins);
        conditions.extend(needed(graph, fusion));
        Signature { inputs: inputs.collect(), conditions, origins }
    }

    /// The values of the size symbols, if the inputs are as the fusion needs them.
    ///
    /// # Errors
    /// The first demand that is not met.
    pub fn bind(&self, inputs: &[ArrayView<'_>]) -> Result<Symbols, Error> {
        self.check_types(inputs)?;
        let symbols = self.read(inputs)?;
        for (place, (input, view)) in self.inputs.iter().zip(inputs).enumerate() {
            for (axis, demand) in input.axes.iter().enumerate() {
                let Axis::Size(expected) = demand else { continue };
                let given = size(view, axis);
                if symbols.value(expected)? != given {
                    return Err(self.wrong_size(&symbols, place, axis, expected, given));
                }
            }
        }
        self.conditions.iter().try_for_each(|condition| self.check(condition, &symbols))?;
        Ok(symbols)
    }

    fn check_types(&self, inputs: &[ArrayView<'_>]) -> Result<(), Error> {
        if inputs.len() != self.inputs.len() {
            return Err(Error::Count { expected: self.inputs.len(), given: inputs.len() });
        }
        for (input, view) in self.inputs.iter().zip(inputs) {
            let name = || input.name.clone();
            if view.dtype() != input.dtype {
                return Err(Error::Dtype { input: name(), expected: input.dtype, given: view.dtype() });
            }
            if view.sizes().len() != input.axes.len() {
                let (expected, given) = (input.axes.len(), view.sizes().len());
                return Err(Error::Rank { input: name(), expected, given });
            }
        }
        Ok(())
    }

    fn read(&self, inputs: &[ArrayView<'_>]) -> Result<Symbols, Error> {
        let mut symbols = Symbols::unknown(self.origins.len());
        for (number, origin) in self.origins.iter().enumerate() {
            let value = match *origin {
                Some(Origin::Size { input, axis }) => size(&inputs[input], axis),
                Some(Origin::Element { input }) => inputs[input].scalar(0).as_i64(),
                None => continue,
            };
            symbols.set(Sym::from_u32(number as u32), value);
        }
        for condition in &self.conditions {
            if let (Demand::Equal(value), Some(sym)) = (&condition.demand, condition.about.as_sym())
                && symbols.get(sym).is_none()
            {
                symbols.set(sym, symbols.value(value)?);
            }
        }
        Ok(symbols)
    }

    /// A condition on symbols of which this fusion sees nothing is left to who does.
    fn check(&self, condition: &Condition, symbols: &Symbols) -> Result<(), Error> {
        let Ok(value) = symbols.value(&condition.about) else { return Ok(()) };
        let about = &condition.about;
        let holds = match &condition.demand {
            Demand::Equal(expected) => return self.check_equal(about, value, expected, symbols),
            Demand::Zero => value == 0,
            Demand::NonNegative => value >= 0,
            Demand::MultipleOf(divisor) => value % divisor == 0,
            Demand::Within(range) => range.contains(i128::from(value)),
        };
        if holds { Ok(()) } else { Err(self.broken(condition, symbols)) }
    }

    fn check_equal(&self, about: &Expr, value: i64, expected: &Expr, symbols: &Symbols) -> Result<(), Error> {
        if symbols.value(expected)? == value {
            return Ok(());
        }
        let origin = about.as_sym().and_then(|sym| self.origins[sym.as_u32() as usize]);
        match origin {
            Some(Origin::Size { input, axis }) => Err(self.wrong_size(symbols, input, axis, expected, value)),
            _ => {
                let condition = Condition { about: about.clone(), demand: Demand::Equal(expected.clone()) };
                Err(self.broken(&condition, symbols))
            }
        }
    }

    fn wrong_size(&self, symbols: &Symbols, input: usize, axis: usize, expected: &Expr, given: i64) -> Error {
        match symbols.value(expected) {
            Ok(value) => Error::Size {
                input: self.inputs[input].name.clone(),
                axis,
                expected: value,
                because: self.explain(expected, symbols),
                given,
            },
            Err(error) => error,
        }
    }

    fn broken(&self, condition: &Condition, symbols: &Symbols) -> Error {
        let about = &condition.about;
        let (text, mentioned) = match &condition.demand {
            Demand::Equal(value) => (format!("{about} = {value}"), about + value),
            Demand::Zero => (format!("{about} = 0"), about.clone()),
            Demand::NonNegative => (format!("{about} >= 0"), about.clone()),
            Demand::MultipleOf(divisor) => (format!("{about} is a multiple of {divisor}"), about.clone()),
            Demand::Within(range) => (within(about, range), about.clone()),
        };
        Error::Guard { condition: text, values: self.explain(&mentioned, symbols) }
    }

    /// The symbols of an expression with their values and origins, in words.
    fn explain(&self, expr: &Expr, symbols: &Symbols) -> String {
        if expr.as_const().is_some() {
            return "as declared".to_owned();
        }
        let describe = |sym: Sym| {
            let value = symbols.get(sym).map_or("unknown".to_owned(), |value| value.to_string());
            match self.origins.get(sym.as_u32() as usize).copied().flatten() {
                Some(Origin::Size { input, axis }) => {
                    format!("{sym} = {value} is the size of axis {axis} of {}", self.inputs[input].name)
                }
                Some(Origin::Element { input }) => {
                    format!("{sym} = {value} is the value of {}", self.inputs[input].name)
                }
                None => format!("{sym} = {value}"),
            }
        };
        let symbols: Vec<String> = expr.symbols().into_iter().map(describe).collect();
        if expr.as_sym().is_some() {
            symbols.join("")
        } else {
            format!("{expr}, where {}", symbols.join(", "))
        }
    }
}

fn size(view: &ArrayView<'_>, axis: usize) -> i64 {
    // Sizes beyond i64 exist only for views that repeat elements; they saturate, and no output of them can be had.
    i64::try_from(view.sizes()[axis]).unwrap_or(i64::MAX)
}

fn within(about: &Expr, range: &Range) -> String {
    match (range.lo(), range.hi()) {
        (Some(lo), Some(hi)) => format!("{lo} <= {about} <= {hi}"),
        (Some(lo), None) => format!("{about} >= {lo}"),
        (None, Some(hi)) => format!("{about} <= {hi}"),
        (None, None) => format!("{about} = {about}"),
    }
}

/// Where each symbol of the graph is found among the inputs of a fusion.
fn origins(graph: &Graph, fusion: &Fusion) -> Vec<Option<Origin>> {
    let arguments = fusion.inputs().iter().enumerate().filter_map(|(place, &val)| match graph.form(val) {
        Form::Input { ordinal, .. } => Some((*ordinal, place)),
        _ => None,
    });
    let places: FxHashMap<u32, usize> = arguments.collect();
    let find = |source: &SymbolSource| match source {
        SymbolSource::InputSize { ordinal, axis } => {
            Some(Origin::Size { input: *places.get(ordinal)?, axis: *axis as usize })
        }
        SymbolSource::ScalarInput { ordinal } => Some(Origin::Element { input: *places.get(ordinal)? }),
    };
    graph.symbols().values().map(find).collect()
}

/// What the facts of a fusion demand, less what holds of every size.
fn known(fusion: &Fusion, origins: &[Option<Origin>]) -> Vec<Condition> {
    let facts = fusion.facts();
    let is_size = |sym: Sym| matches!(origins.get(sym.as_u32() as usize), Some(Some(Origin::Size { .. })));
    let says_something =
        |(sym, range): &(Sym, Range)| !(is_size(*sym) && range.hi().is_none() && range.lo() <= Some(0));
    let equal = facts.equalities().map(|(sym, value)| (Expr::sym(sym), Demand::Equal(value.clone())));
    let zero = facts.relations().map(|zero| (zero.clone(), Demand::Zero));
    let slack = facts.inequalities().map(|slack| (slack.clone(), Demand::NonNegative));
    let multiple = facts.multiples().map(|(expr, divisor)| (expr, Demand::MultipleOf(divisor)));
    let range = facts.ranges().filter(says_something);
    let range = range.map(|(sym, range)| (Expr::sym(sym), Demand::Within(range)));
    let all = equal.chain(zero).chain(slack).chain(multiple).chain(range);
    all.map(|(about, demand)| Condition { about, demand }).collect()
}

/// What the forms of a fusion need that the facts do not prove: no size is negative, and slices lie inside. Kernels rely
/// on it for every value that they compute, in memory or not.
fn needed(graph: &Graph, fusion: &Fusion) -> Vec<Condition> {
    let mut needed: IndexSet<Expr> = IndexSet::new();
    for node in fusion.order().iter().map(|&node| graph.node(node)) {
        needed.extend(node.results.iter().flat_map(|ty| &ty.shape).cloned());
        if let Form::Slice { starts, sizes } = &node.form {
            let extents = graph.shape(node.operands[0]);
            needed.extend(starts.iter().cloned());
            needed.extend(
                extents.iter().zip(starts).zip(sizes).map(|((extent, start), size)| extent - start - size),
            );
        }
    }
    let facts = fusion.facts();
    let unproved = needed.into_iter().filter(|slack| !facts.prove_le(&Expr::zero(), slack));
    unproved.map(|about| Condition { about, demand: Demand::NonNegative }).collect()
}
