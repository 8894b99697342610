//! The values of the size symbols, from the inputs, and the check that inputs and sizes are as the view needs them.

use std::collections::BTreeMap;

use super::EvaluateError;
use crate::array::ArrayView;
use crate::graph::{Form, Fusion, Graph, SymbolSource};
use crate::index::{Expr, Sym};

/// The values of size symbols in one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    values: BTreeMap<Sym, i64>,
}

impl Sizes {
    /// Resolves the symbols and checks inputs and facts.
    ///
    /// A symbol's value comes from `known`, else from its source where that is an input of the view, else from any
    /// input whose declared size is that symbol (inputs of a view may be intermediate values), else from the facts.
    ///
    /// # Errors
    /// The first input that does not fit in number, dtype, rank or size, or a fact that does not hold.
    pub fn resolve(
        graph: &Graph,
        fusion: &Fusion,
        inputs: &[ArrayView<'_>],
        known: &[(Sym, i64)],
    ) -> Result<Sizes, EvaluateError> {
        check_kinds(graph, fusion, inputs)?;
        let mut sizes = Sizes { values: known.iter().copied().collect() };
        for (sym, source) in graph.symbols() {
            if let Some(value) = from_source(graph, fusion, inputs, source) {
                sizes.values.entry(sym).or_insert(value);
            }
        }
        sizes.fill_from_shapes(graph, fusion, inputs);
        sizes.fill_from_facts(fusion);
        sizes.check_shapes(graph, fusion, inputs)?;
        sizes.check_facts(graph, fusion)?;
        Ok(sizes)
    }

    /// The value of a symbol.
    pub fn get(&self, sym: Sym) -> Option<i64> {
        self.values.get(&sym).copied()
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// When a symbol in it has no value, or the value does not fit.
    pub fn value(&self, expr: &Expr) -> Result<i64, EvaluateError> {
        expr.eval(&|sym| self.get(sym))
            .map_err(|error| EvaluateError::Unknown { formula: expr.to_string(), error })
    }

    /// The value of an expression that is a size.
    ///
    /// # Errors
    /// As [`Sizes::value`], and when it is negative.
    pub fn size(&self, expr: &Expr) -> Result<usize, EvaluateError> {
        let value = self.value(expr)?;
        usize::try_from(value).map_err(|_| EvaluateError::Negative { formula: expr.to_string(), value })
    }

    /// The values of expressions that are sizes.
    ///
    /// # Errors
    /// As [`Sizes::size`].
    pub fn sizes(&self, exprs: &[Expr]) -> Result<Vec<usize>, EvaluateError> {
        exprs.iter().map(|expr| self.size(expr)).collect()
    }

    fn fill_from_shapes(&mut self, graph: &Graph, fusion: &Fusion, inputs: &[ArrayView<'_>]) {
        for (&val, input) in fusion.inputs().iter().zip(inputs) {
            for (declared, &given) in graph.shape(val).iter().zip(input.sizes()) {
                if let (Some(sym), Ok(given)) = (declared.as_sym(), i64::try_from(given)) {
                    self.values.entry(sym).or_insert(given);
                }
            }
        }
    }

    fn fill_from_facts(&mut self, fusion: &Fusion) {
        for (sym, value) in fusion.facts().equalities() {
            if let (None, Ok(value)) = (self.get(sym), value.eval(&|sym| self.get(sym))) {
                self.values.insert(sym, value);
            }
        }
    }

    fn check_shapes(
        &self,
        graph: &Graph,
        fusion: &Fusion,
        inputs: &[ArrayView<'_>],
    ) -> Result<(), EvaluateError> {
        for (input, (&val, view)) in fusion.inputs().iter().zip(inputs).enumerate() {
            for (axis, (declared, &given)) in graph.shape(val).iter().zip(view.sizes()).enumerate() {
                let expected = self.value(declared)?;
                if usize::try_from(expected) != Ok(given) {
                    let formula = self.origins(graph, declared);
                    return Err(EvaluateError::Size { input, axis, expected, formula, given });
                }
            }
        }
        Ok(())
    }

    /// Every fact must hold of these sizes. Facts of symbols that this view cannot see were checked by who could.
    fn check_facts(&self, graph: &Graph, fusion: &Fusion) -> Result<(), EvaluateError> {
        let facts = fusion.facts();
        let equal = facts.equalities().map(|(sym, value)| Condition {
            text: format!("{sym} = {value}"),
            about: value.clone() - Expr::sym(sym),
            range: (0, 0),
            multiple: 1,
        });
        let always = |text: String, about: Expr| Condition { text, about, range: FREE, multiple: 1 };
        let zero = facts
            .relations()
            .map(|zero| Condition { range: (0, 0), ..always(format!("{zero} = 0"), zero.clone()) });
        let nonnegative = facts
            .inequalities()
            .map(|slack| Condition { range: (0, FREE.1), ..always(format!("{slack} >= 0"), slack.clone()) });
        let multiples = facts.multiples().map(|(expr, multiple)| Condition {
            multiple,
            ..always(format!("{expr} a multiple of {multiple}"), expr)
        });
        let ranges = facts.ranges().map(|(sym, range)| {
            let (lo, hi) = (range.lo().unwrap_or(FREE.0), range.hi().unwrap_or(FREE.1));
            Condition { range: (lo, hi), ..always(format!("{lo} <= {sym} <= {hi}"), Expr::sym(sym)) }
        });
        let mut all = equal.chain(zero).chain(nonnegative).chain(multiples).chain(ranges);
        let broken = all.find(|condition| !condition.holds(&|sym| self.get(sym)));
        broken.map_or(Ok(()), |Condition { text, about, .. }| {
            Err(EvaluateError::Guard { condition: text, values: self.origins(graph, &about) })
        })
    }

    /// The symbols of an expression with their values and sources, in words.
    fn origins(&self, graph: &Graph, expr: &Expr) -> String {
        if let Some(constant) = expr.as_const() {
            return constant.to_string();
        }
        let describe = |sym: Sym| {
            let value = self.get(sym).map_or("unknown".to_owned(), |value| value.to_string());
            match graph.symbols().get(sym) {
                Some(SymbolSource::InputSize { ordinal, axis }) => {
                    format!("{sym} = {value}, the size of axis {axis} of input {ordinal}")
                }
                Some(SymbolSource::ScalarInput { ordinal }) => {
                    format!("{sym} = {value}, the value of input {ordinal}")
                }
                None => format!("{sym} = {value}"),
            }
        };
        expr.symbols().into_iter().map(describe).collect::<Vec<_>>().join("; ")
    }
}

/// A range that holds every value.
const FREE: (i128, i128) = (i128::MIN, i128::MAX);

/// A fact in one shape for all: an expression in a range, and a multiple.
struct Condition {
    text: String,
    about: Expr,
    range: (i128, i128),
    multiple: i64,
}

impl Condition {
    /// What cannot be evaluated is not held against the sizes.
    fn holds(&self, bind: &dyn Fn(Sym) -> Option<i64>) -> bool {
        self.about.eval(bind).map_or(true, |value| {
            let wide = i128::from(value);
            self.range.0 <= wide && wide <= self.range.1 && value % self.multiple == 0
        })
    }
}

/// Number, dtypes and ranks of the inputs.
fn check_kinds(graph: &Graph, fusion: &Fusion, inputs: &[ArrayView<'_>]) -> Result<(), EvaluateError> {
    if inputs.len() != fusion.inputs().len() {
        return Err(EvaluateError::Count { expected: fusion.inputs().len(), given: inputs.len() });
    }
    for (input, (&val, view)) in fusion.inputs().iter().zip(inputs).enumerate() {
        let ty = graph.ty(val);
        if view.dtype() != ty.dtype {
            return Err(EvaluateError::Dtype { input, expected: ty.dtype, given: view.dtype() });
        }
        if view.sizes().len() != ty.rank() {
            return Err(EvaluateError::Rank { input, expected: ty.rank(), given: view.sizes().len() });
        }
    }
    Ok(())
}

fn from_source(
    graph: &Graph,
    fusion: &Fusion,
    inputs: &[ArrayView<'_>],
    source: &SymbolSource,
) -> Option<i64> {
    let find = |wanted: u32| {
        let is = |&&val: &&_| matches!(graph.form(val), Form::Input { ordinal, .. } if *ordinal == wanted);
        let place = fusion.inputs().iter().position(|val| is(&val))?;
        inputs.get(place)
    };
    match source {
        SymbolSource::InputSize { ordinal, axis } => {
            find(*ordinal)?.sizes().get(*axis as usize).and_then(|&size| i64::try_from(size).ok())
        }
        SymbolSource::ScalarInput { ordinal } => {
            find(*ordinal).filter(|input| input.numel() > 0).map(|input| input.scalar(0).as_i64())
        }
    }
}
