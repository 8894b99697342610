//! One call in the list of inputs: a constructor of a tensor, or a method that returns a view of it.

use ir::Span;
use ops::DType;
use syntax::RawDiagnostic;
use syntax::{ArgumentSyntax, Tree, TreeKind};

use super::number::{Number, checked_sizes, dtype, integer, integers, known_dtype, number, sizes};
use super::{Distribution, TensorSpec};

/// Keywords that all calls take; only `dtype` matters here.
const WITHOUT_EFFECT: [&str; 10] = [
    "dtype",
    "device",
    "requires_grad",
    "layout",
    "pin_memory",
    "memory_format",
    "generator",
    "copy",
    "non_blocking",
    "out",
];

/// The arguments of one call in the list.
pub(super) struct Call<'t> {
    pub span: Span,
    pub arguments: &'t [ArgumentSyntax],
    /// The position of the dtype, where one may be given by position.
    pub dtype_place: Option<usize>,
}

impl Call<'_> {
    fn positional(&self) -> impl Iterator<Item = &Tree> {
        self.arguments.iter().filter(|argument| argument.keyword.is_none()).map(|argument| &argument.value)
    }

    fn keyword(&self, name: &str) -> Option<&Tree> {
        let is_named = |argument: &&ArgumentSyntax| {
            argument.keyword.as_ref().is_some_and(|keyword| keyword.text == name)
        };
        self.arguments.iter().find(is_named).map(|argument| &argument.value)
    }

    /// An argument by position or by any of its names.
    fn argument(&self, place: usize, names: &[&str]) -> Option<&Tree> {
        self.positional().nth(place).or_else(|| names.iter().find_map(|name| self.keyword(name)))
    }

    fn required(&self, place: usize, names: &[&str]) -> Result<&Tree, RawDiagnostic> {
        let missing = || {
            RawDiagnostic::new(
                self.span,
                "an argument is missing",
                format!("expected {}", names.join(" or ")),
            )
        };
        self.argument(place, names).ok_or_else(missing)
    }

    /// Rejects all keywords but `known` and those that change neither elements nor layout.
    pub fn require_keywords(&self, known: &[&str]) -> Result<(), RawDiagnostic> {
        let is_neutral = |argument: &&ArgumentSyntax, name: &str| match (name, &argument.value.kind) {
            ("order", TreeKind::Text(order)) => order == "C",
            ("names", TreeKind::None) | ("noncontiguous", TreeKind::Bool(false)) => true,
            ("exclude_zero", TreeKind::Bool(false)) => true,
            _ => WITHOUT_EFFECT.contains(&name),
        };
        let rejected = self.arguments.iter().filter(|argument| {
            let name = argument.keyword.as_ref().map(|keyword| keyword.text.as_str());
            name.is_some_and(|name| !known.contains(&name) && !is_neutral(argument, name))
        });
        match rejected.filter_map(|argument| argument.keyword.as_ref()).next() {
            Some(keyword) => {
                let message = format!("unknown argument `{}`", keyword.text);
                let known = [known, &["dtype"]].concat().join(", ");
                Err(RawDiagnostic::new(keyword.span, message, format!("known: {known}")))
            }
            None => Ok(()),
        }
    }

    /// Rejects positional arguments beyond the parameters of these names.
    pub fn require_places(&self, function: &str, parameters: &[&str]) -> Result<(), RawDiagnostic> {
        let Some(surplus) = self.positional().nth(parameters.len()) else { return Ok(()) };
        let expected =
            if parameters.is_empty() { "none".to_owned() } else { format!("only {}", parameters.join(", ")) };
        let message = format!("`{function}` has no positional argument {}", parameters.len());
        let diagnostic = RawDiagnostic::new(surplus.span, message, format!("expected {expected}"));
        Err(match known_dtype(surplus) {
            Some(_) => diagnostic.help("give the dtype by name: dtype=…"),
            None => diagnostic,
        })
    }

    /// Whether the first argument is a list, as in `f((2, 3))`.
    pub fn begins_with_list(&self) -> bool {
        self.positional().next().is_some_and(|tree| matches!(tree.kind, TreeKind::List(_)))
    }

    /// The number of positional bounds of `randint`, after which the sizes come.
    pub fn bounds(&self) -> usize {
        self.positional().take(2).take_while(|tree| !matches!(tree.kind, TreeKind::List(_))).count()
    }

    /// The diagnostic for a tensor with more elements than 63 bits can count.
    pub fn too_large(&self) -> RawDiagnostic {
        RawDiagnostic::new(self.span, "this tensor is too large", "more elements than 63 bits can count")
    }

    /// `f(2, 3)`, `f((2, 3))` or `f(size=(2, 3))`; where a dtype may come next, only the first argument has sizes.
    pub fn all_sizes(&self) -> Result<Vec<i64>, RawDiagnostic> {
        if self.dtype_place.is_some() {
            return sizes(self.required(0, &["shape", "size"])?);
        }
        checked_sizes(self.all_integers(&["size", "shape"])?, self.span)
    }

    /// Integers given one by one, as one list, or by any of these names.
    pub fn all_integers(&self, names: &[&str]) -> Result<Vec<i64>, RawDiagnostic> {
        match self.argument(0, names) {
            Some(tree) if matches!(tree.kind, TreeKind::List(_)) || self.positional().next().is_none() => {
                integers(tree)
            }
            _ => self.positional().map(integer).collect(),
        }
    }

    fn dtype(&self, default: DType) -> Result<DType, RawDiagnostic> {
        let placed = self.dtype_place.and_then(|place| self.positional().nth(place));
        let given = placed.or_else(|| self.keyword("dtype")).filter(|tree| tree.kind != TreeKind::None);
        given.map_or(Ok(default), dtype)
    }

    /// A dense tensor of these sizes and the call's `dtype`, or else the default.
    pub fn filled(
        &self,
        sizes: Result<Vec<i64>, RawDiagnostic>,
        default: DType,
        distribution: Distribution,
    ) -> Result<TensorSpec, RawDiagnostic> {
        TensorSpec::dense(self.dtype(default)?, sizes?, distribution).ok_or_else(|| self.too_large())
    }

    /// `full((2, 3), 1.5)`; `real` is the dtype of floats if the call names none.
    pub fn full(&self, real: DType) -> Result<TensorSpec, RawDiagnostic> {
        let value = self.required(1, &["fill_value"])?;
        let (default, value) = match value.kind {
            TreeKind::Bool(value) => (DType::Bool, f64::from(value)),
            _ => match number(value)? {
                Number::Int(n) => (DType::I64, n as f64),
                Number::Float(x) => (real, x),
            },
        };
        self.filled(sizes(self.required(0, &["size", "shape"])?), default, Distribution::Constant(value))
    }

    /// `randint(high, size)` or `randint(low, high, size)`, also with names.
    pub fn randint(&self) -> Result<TensorSpec, RawDiagnostic> {
        let bounds = self.bounds();
        let is_named = |name: &str| self.keyword(name).is_some();
        let has_low = is_named("low") || bounds + usize::from(is_named("high")) > 1;
        let low = if has_low { integer(self.required(0, &["low"])?)? } else { 0 };
        let high_place = usize::from(has_low && !is_named("low"));
        let high = integer(self.required(high_place, &["high"])?)?;
        let shape = self.required(bounds, &["size"])?;
        if low >= high {
            return Err(RawDiagnostic::new(
                self.span,
                "no integer to draw",
                format!("{low} is not below {high}"),
            ));
        }
        self.filled(sizes(shape), DType::I64, Distribution::Integers(low, high))
    }

    /// `arange(end)`, `arange(start, end)` or `arange(start, end, step)`; torch has none that runs the other way.
    pub fn arange(&self, real: DType, may_be_empty: bool) -> Result<TensorSpec, RawDiagnostic> {
        let is_alone = self.argument(1, &["end", "stop"]).is_none();
        let end = if is_alone { self.required(0, &["end"])? } else { self.required(1, &["end", "stop"])? };
        let start = self.argument(0, &["start"]).filter(|_| !is_alone);
        let given = [start, Some(end), self.argument(2, &["step"])];
        let numbers: Vec<Option<Number>> =
            given.iter().map(|tree| tree.map(number).transpose()).collect::<Result<_, _>>()?;
        let number = |place: usize, default: i64| numbers[place].unwrap_or(Number::Int(default));
        let [start, end, step] = [number(0, 0), number(1, 0), number(2, 1)];
        let length = match (start, end, step) {
            (_, _, Number::Int(0)) => None,
            (Number::Int(start), Number::Int(end), Number::Int(step)) => {
                let (distance, step) = (i128::from(end) - i128::from(start), i128::from(step));
                // Rounded up, as -floor(-x) is.
                Some(-(-distance * step.signum()).div_euclid(step.abs()) as f64)
            }
            _ => Some(((end.as_f64() - start.as_f64()) / step.as_f64()).ceil())
                .filter(|length| !length.is_nan()),
        };
        let is_inexact = |number: &Number| matches!(number, Number::Int(n) if n.unsigned_abs() > 1 << 53);
        if [start, end, step].iter().any(is_inexact) {
            return Err(RawDiagnostic::new(
                self.span,
                "this range is too far from 0",
                "integers up to 2**53",
            ));
        }
        let [start, end, step] = [start, end, step].map(|number| number.as_f64());
        let Some(length) = length.filter(|&length| length >= 0.0 || may_be_empty) else {
            let label = format!("a step of {step} does not lead from {start} to {end}");
            return Err(RawDiagnostic::new(self.span, "this range has no length", label));
        };
        if length > 9e15 {
            return Err(self.too_large());
        }
        let integers = numbers.iter().flatten().all(|number| matches!(number, Number::Int(_)));
        let default = if integers { DType::I64 } else { real };
        self.filled(Ok(vec![length.max(0.0) as i64]), default, Distribution::Range(start, step))
    }

    /// `torch.testing.make_tensor(size, dtype=, low=, high=)`.
    pub fn make_tensor(&self, real: DType) -> Result<TensorSpec, RawDiagnostic> {
        let dtype = self.dtype(real)?;
        let bound = |name: &str, default: f64| {
            let given = self.keyword(name).filter(|tree| tree.kind != TreeKind::None);
            given.map_or(Ok(default), |tree| number(tree).map(|n| n.as_f64()))
        };
        let (low, high) = (bound("low", -9.0)?, bound("high", if dtype.is_float() { 9.0 } else { 10.0 })?);
        let distribution = match dtype {
            DType::Bool => Distribution::Integers(0, 2),
            _ if dtype.is_int() => {
                Distribution::Integers(low as i64, (high as i64).max((low as i64).saturating_add(1)))
            }
            _ => Distribution::Uniform(low, high),
        };
        self.filled(self.all_sizes(), real, distribution)
    }

    /// `.to(dtype)`, `.to(device)` or `.to(device, dtype)`; a device changes nothing.
    pub fn converted(&self, spec: TensorSpec) -> Result<TensorSpec, RawDiagnostic> {
        let is_dtype = |tree: &&Tree| tree.path().is_some() || known_dtype(tree).is_some();
        let named = || self.keyword("dtype");
        match self.positional().take(2).find(is_dtype).or_else(named) {
            Some(tree) => Ok(TensorSpec { dtype: dtype(tree)?, ..spec }),
            None => Ok(spec),
        }
    }

    /// `.astype(dtype)`.
    pub fn cast(&self, spec: TensorSpec) -> Result<TensorSpec, RawDiagnostic> {
        Ok(TensorSpec { dtype: dtype(self.required(0, &["dtype"])?)?, ..spec })
    }

    /// The first argument, and the call without it.
    pub fn base(&self) -> Result<(&Tree, Call<'_>), RawDiagnostic> {
        let base = self.required(0, &["a tensor"])?;
        Ok((base, Call { arguments: &self.arguments[1..], ..*self }))
    }

    /// `.as_strided(sizes, strides)`, with strides in units of one `unit`th of an element.
    pub fn as_strided(&self, spec: TensorSpec, unit: i64) -> Result<TensorSpec, RawDiagnostic> {
        let sizes = sizes(self.required(0, &["size", "shape"])?)?;
        let strides_tree = self.required(1, &["stride", "strides"])?;
        let strides = checked_sizes(integers(strides_tree)?, strides_tree.span)?;
        if strides.iter().any(|stride| stride % unit != 0) {
            let label = format!("expected multiples of {unit}");
            return Err(RawDiagnostic::new(strides_tree.span, "strides of NumPy are in bytes", label));
        }
        let strides: Vec<i64> = strides.iter().map(|stride| stride / unit).collect();
        let offset = match self.argument(2, &["storage_offset"]) {
            Some(tree) => checked_sizes(vec![integer(tree)?], tree.span)?[0],
            None => 0,
        };
        if sizes.len() != strides.len() {
            let label = format!("expected {} strides", sizes.len());
            return Err(RawDiagnostic::new(strides_tree.span, "as many strides as sizes are needed", label));
        }
        let reached =
            sizes.iter().zip(&strides).try_fold(offset.saturating_add(1), |reached, (&size, &stride)| {
                (size - 1).max(0).checked_mul(stride)?.checked_add(reached)
            });
        if reached.is_none_or(|reached| reached > spec.storage) && !sizes.contains(&0) {
            let label = format!("the storage has {} elements", spec.storage);
            return Err(RawDiagnostic::new(self.span, "this view reaches beyond its storage", label));
        }
        sizes.iter().try_fold(1_i64, |n, &size| n.checked_mul(size)).ok_or_else(|| self.too_large())?;
        let offset = if sizes.contains(&0) { 0 } else { offset };
        Ok(TensorSpec { sizes, strides, offset, ..spec })
    }

    /// The argument at a position or of a name, as an axis of a tensor of this rank.
    pub fn axis(&self, place: usize, names: &[&str], rank: usize) -> Result<usize, RawDiagnostic> {
        self.wrap(integer(self.required(place, names)?)?, rank)
    }

    /// An axis counted from the front; negative ones count from the back.
    pub fn wrap(&self, axis: i64, rank: usize) -> Result<usize, RawDiagnostic> {
        let wrapped = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
        let axis = usize::try_from(wrapped).ok().filter(|&axis| axis < rank);
        axis.ok_or_else(|| {
            RawDiagnostic::new(self.span, "no such axis", format!("the tensor has {rank} axes"))
        })
    }

    /// The tensor with its axes in this order, which must name each once.
    pub fn permuted(&self, spec: TensorSpec, order: Vec<usize>) -> Result<TensorSpec, RawDiagnostic> {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if sorted != (0..spec.sizes.len()).collect::<Vec<usize>>() {
            let label = format!("expected each of the {} axes once", spec.sizes.len());
            return Err(RawDiagnostic::new(self.span, "this is not an order of the axes", label));
        }
        let pick = |from: &[i64]| order.iter().map(|&axis| from[axis]).collect();
        Ok(TensorSpec { sizes: pick(&spec.sizes), strides: pick(&spec.strides), ..spec })
    }

    /// The tensor with the sizes of the call, which must have the same number of elements.
    pub fn reshaped(&self, spec: TensorSpec) -> Result<TensorSpec, RawDiagnostic> {
        let count: i64 = spec.sizes.iter().product();
        let mut sizes = self.all_integers(&["size", "shape"])?;
        if let Some(rest) = sizes.iter().position(|&size| size == -1) {
            sizes[rest] = 1;
            let others = sizes.iter().try_fold(1_i64, |n, &size| n.checked_mul(size)).unwrap_or(0);
            let is_known = others > 0 && !sizes.contains(&-1);
            sizes[rest] = if is_known { count / others } else { -1 };
        }
        let sizes = checked_sizes(sizes, self.span)?;
        let dense =
            TensorSpec::dense(spec.dtype, sizes, spec.distribution).ok_or_else(|| self.too_large())?;
        let same = spec.is_contiguous() && dense.sizes.iter().product::<i64>() == count;
        let reject = || {
            RawDiagnostic::new(self.span, "cannot view the tensor so", "expected as many elements, in order")
        };
        same.then_some(TensorSpec { storage: spec.storage, offset: spec.offset, ..dense }).ok_or_else(reject)
    }
}
