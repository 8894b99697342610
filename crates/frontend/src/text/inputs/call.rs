//! One call in the list of inputs: a constructor of a tensor, or a method that makes a view of it.

use ir::Span;
use ops::DType;
use syntax::RawDiagnostic;
use syntax::{ArgumentSyntax, Tree, TreeKind};

use super::number::{Number, checked_sizes, dtype, dtype_path, integer, integers, number, sizes};
use super::{Distribution, TensorSpec};

/// The arguments of one call in the list.
pub(super) struct Call<'t> {
    pub span: Span,
    pub arguments: &'t [ArgumentSyntax],
}

impl Call<'_> {
    fn positional(&self) -> impl Iterator<Item = &Tree> {
        self.arguments.iter().filter(|argument| argument.keyword.is_none()).map(|argument| &argument.value)
    }

    /// An argument by place or by any of its names.
    fn argument(&self, place: usize, names: &[&str]) -> Option<&Tree> {
        let named = |argument: &&ArgumentSyntax| {
            argument.keyword.as_ref().is_some_and(|keyword| names.contains(&keyword.text.as_str()))
        };
        self.positional()
            .nth(place)
            .or_else(|| self.arguments.iter().find(named).map(|argument| &argument.value))
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

    /// The diagnostic of a tensor whose elements 63 bits cannot count.
    pub fn too_large(&self) -> RawDiagnostic {
        RawDiagnostic::new(self.span, "this tensor is too large", "more elements than 63 bits can count")
    }

    /// `f(2, 3)`, `f((2, 3))` or `f(size=(2, 3))`.
    pub fn all_sizes(&self) -> Result<Vec<i64>, RawDiagnostic> {
        match self
            .arguments
            .iter()
            .find(|a| a.keyword.as_ref().is_some_and(|k| matches!(k.text.as_str(), "size" | "shape")))
        {
            Some(argument) => sizes(&argument.value),
            None => {
                let numbers = self.all_integers()?;
                checked_sizes(numbers, self.span)
            }
        }
    }

    /// Integers given one by one or as one list.
    pub fn all_integers(&self) -> Result<Vec<i64>, RawDiagnostic> {
        match self.argument(0, &[]) {
            Some(Tree { kind: TreeKind::List(items), .. }) => items.iter().map(integer).collect(),
            _ => self.positional().map(integer).collect(),
        }
    }

    fn dtype(&self, default: DType) -> Result<DType, RawDiagnostic> {
        let keyword = self.arguments.iter().find(|a| a.keyword.as_ref().is_some_and(|k| k.text == "dtype"));
        keyword.map_or(Ok(default), |argument| dtype(&argument.value))
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

    /// `full((2, 3), 1.5)`; `real` is the dtype of floats where the call names none.
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

    /// `randint(high, size)` or `randint(low, high, size)`.
    pub fn randint(&self) -> Result<TensorSpec, RawDiagnostic> {
        let two = matches!(self.argument(1, &["size"]), Some(Tree { kind: TreeKind::List(_), .. }));
        let (low, high, shape) = if two && self.positional().count() <= 2 {
            (0, integer(self.required(0, &["high"])?)?, self.required(1, &["size"])?)
        } else {
            let (low, high) = (self.required(0, &["low"])?, self.required(1, &["high"])?);
            (integer(low)?, integer(high)?, self.required(2, &["size"])?)
        };
        if low >= high {
            return Err(RawDiagnostic::new(
                self.span,
                "no integer to draw",
                format!("{low} is not below {high}"),
            ));
        }
        self.filled(sizes(shape), DType::I64, Distribution::Integers(low, high))
    }

    /// `arange(end)`, `arange(start, end)` or `arange(start, end, step)`.
    pub fn arange(&self, real: DType) -> Result<TensorSpec, RawDiagnostic> {
        let numbers: Vec<Number> = self.positional().map(number).collect::<Result<_, _>>()?;
        let (start, end, step) = match numbers.iter().map(Number::as_f64).collect::<Vec<f64>>()[..] {
            [end] => (0.0, end, 1.0),
            [start, end] => (start, end, 1.0),
            [start, end, step] if step != 0.0 => (start, end, step),
            _ => {
                return Err(RawDiagnostic::new(
                    self.span,
                    "arange takes one to three numbers",
                    "the step is not 0",
                ));
            }
        };
        let length = ((end - start) / step).ceil().max(0.0);
        if length.is_nan() || length > 9e15 {
            return Err(self.too_large());
        }
        let integers = numbers.iter().all(|number| matches!(number, Number::Int(_)));
        let default = if integers { DType::I64 } else { real };
        self.filled(Ok(vec![length as i64]), default, Distribution::Range(start, step))
    }

    /// `torch.testing.make_tensor(size, dtype=, low=, high=)`.
    pub fn make_tensor(&self, real: DType) -> Result<TensorSpec, RawDiagnostic> {
        let dtype = self.dtype(real)?;
        let bound = |name: &str, default: f64| {
            let keyword = self.arguments.iter().find(|a| a.keyword.as_ref().is_some_and(|k| k.text == name));
            keyword
                .filter(|a| a.value.kind != TreeKind::None)
                .map_or(Ok(default), |a| number(&a.value).map(|n| n.as_f64()))
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

    /// `.to(dtype)`; a device changes nothing.
    pub fn converted(&self, spec: TensorSpec) -> Result<TensorSpec, RawDiagnostic> {
        match self.argument(0, &["dtype"]) {
            Some(Tree { kind: TreeKind::Text(_), .. }) | None => Ok(spec),
            Some(tree) if dtype_path(tree).is_none() && tree.path().is_none() => Ok(spec),
            Some(tree) => Ok(TensorSpec { dtype: dtype(tree)?, ..spec }),
        }
    }

    /// The first argument, and the call without it.
    pub fn base(&self) -> Result<(&Tree, Call<'_>), RawDiagnostic> {
        let base = self.required(0, &["a tensor"])?;
        Ok((base, Call { span: self.span, arguments: &self.arguments[1..] }))
    }

    /// `.as_strided(sizes, strides)`, with strides in so many parts of an element.
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

    /// The argument at a place as an axis of a tensor of this rank.
    pub fn axis(&self, place: usize, rank: usize) -> Result<usize, RawDiagnostic> {
        self.wrap(integer(self.required(place, &["an axis"])?)?, rank)
    }

    /// An axis counted from the front; negative ones count from the back.
    pub fn wrap(&self, axis: i64, rank: usize) -> Result<usize, RawDiagnostic> {
        let wrapped = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
        let axis = usize::try_from(wrapped).ok().filter(|&axis| axis < rank);
        axis.ok_or_else(|| {
            RawDiagnostic::new(self.span, "no such axis", format!("the tensor has {rank} axes"))
        })
    }

    /// The tensor with its axes in this order, which names each once.
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

    /// The tensor under the sizes of the call, of as many elements.
    pub fn reshaped(&self, spec: TensorSpec) -> Result<TensorSpec, RawDiagnostic> {
        let sizes = self.all_sizes()?;
        let dense =
            TensorSpec::dense(spec.dtype, sizes, spec.distribution).ok_or_else(|| self.too_large())?;
        let same = spec.is_contiguous() && dense.sizes.iter().product::<i64>() == spec.sizes.iter().product();
        let reject = || {
            RawDiagnostic::new(self.span, "cannot view the tensor so", "expected as many elements, in order")
        };
        same.then_some(TensorSpec { storage: spec.storage, offset: spec.offset, ..dense }).ok_or_else(reject)
    }
}
