//! The optional `inputs = [...]` list of a definition file: the inputs to run it on.
//!
//! Takes the tree of the list, returns sizes, strides, dtypes and the distributions of the numbers. Reads torch's and
//! NumPy's constructors and a few methods that change the view. Makes no data and allocates nothing of the sizes that it
//! reads.

mod call;
mod number;

use ops::{DType, Scalar};
use syntax::RawDiagnostic;
use syntax::{Tree, TreeKind};

use call::Call;

use super::arithmetic::constant;

/// One input to run a definition on.
#[derive(Clone, Debug, PartialEq)]
pub enum InputSpec {
    /// A tensor.
    Tensor(TensorSpec),
    /// A number.
    Scalar(Scalar),
}

/// A tensor: the layout of its elements and their distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorSpec {
    pub dtype: DType,
    pub sizes: Vec<i64>,
    /// Elements from one index to the next, for each axis; 0 where an axis is expanded.
    pub strides: Vec<i64>,
    /// Elements of the memory before the one at index zero.
    pub offset: i64,
    /// Elements of the memory that it is a view of.
    pub storage: i64,
    /// The contents of the memory.
    pub distribution: Distribution,
}

/// How the elements of a tensor are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Normal, with mean 0 and deviation 1.
    Normal,
    /// Uniform from the first number up to the second.
    Uniform(f64, f64),
    /// Integers from the first up to the second, not included.
    Integers(i64, i64),
    /// One number everywhere.
    Constant(f64),
    /// The first number, then each one larger by the second number.
    Range(f64, f64),
}

/// The inputs in a list.
pub(super) fn read_inputs(tree: &Tree) -> Result<Vec<InputSpec>, RawDiagnostic> {
    match &tree.kind {
        TreeKind::List(items) => items.iter().map(read_input).collect(),
        _ => Err(RawDiagnostic::new(tree.span, "`inputs` is not a list", "expected [...]")),
    }
}

fn read_input(tree: &Tree) -> Result<InputSpec, RawDiagnostic> {
    let is_called = |names: &[&str]| match &tree.kind {
        TreeKind::Call(callee, _) => callee.path().is_some_and(|path| path == names),
        _ => false,
    };
    match &tree.kind {
        TreeKind::Call(..) if !is_called(&["complex"]) && !is_called(&["float"]) => {
            tensor(tree).map(InputSpec::Tensor)
        }
        TreeKind::Name(_) | TreeKind::Text(_) | TreeKind::None | TreeKind::List(_) => {
            tensor(tree).map(InputSpec::Tensor)
        }
        _ => constant(tree).map(InputSpec::Scalar),
    }
}

/// A constructor with methods after it.
fn tensor(tree: &Tree) -> Result<TensorSpec, RawDiagnostic> {
    let reject = || {
        RawDiagnostic::new(tree.span, "this is not an input", "expected a number or a torch or NumPy tensor")
            .help("for example torch.randn((4, 8), dtype=torch.bfloat16)")
    };
    let TreeKind::Call(callee, arguments) = &tree.kind else { return Err(reject()) };
    let call = Call { span: tree.span, arguments, dtype_place: None };
    if let Some(path) = callee.path() {
        return constructor(&path, &call).unwrap_or_else(|| Err(reject()));
    }
    match &callee.kind {
        TreeKind::Attribute(base, method) => apply(tensor(base)?, &method.text, &call),
        _ => Err(reject()),
    }
}

fn constructor(path: &[&str], call: &Call) -> Option<Result<TensorSpec, RawDiagnostic>> {
    let (library, name) = (*path.first()?, *path.last()?);
    let real = match library {
        "torch" => DType::F32,
        "np" | "numpy" => DType::F64,
        _ => return None,
    };
    let keywords = constructor_keywords(name)?;
    let places = places(library, name, call);
    let checked = call.require_keywords(keywords).and_then(|()| match &places {
        Some(places) => call.require_places(name, places),
        None => Ok(()),
    });
    if let Err(diagnostic) = checked {
        return Some(Err(diagnostic));
    }
    let dtype_place = places.and_then(|places| places.iter().position(|&place| place == "dtype"));
    let call = &Call { dtype_place, ..*call };
    Some(match name {
        "randn" => call.filled(call.all_sizes(), real, Distribution::Normal),
        "rand" => call.filled(call.all_sizes(), real, Distribution::Uniform(0.0, 1.0)),
        "ones" => call.filled(call.all_sizes(), real, Distribution::Constant(1.0)),
        "zeros" | "empty" => call.filled(call.all_sizes(), real, Distribution::Constant(0.0)),
        "full" => call.full(real),
        "randint" => call.randint(),
        "arange" => call.arange(real, library != "torch"),
        "make_tensor" => call.make_tensor(real),
        "as_strided" => call.base().and_then(|(base, call)| {
            let spec = tensor(base)?;
            let unit = if library == "torch" { 1 } else { spec.dtype.size() as i64 };
            call.as_strided(spec, unit)
        }),
        _ => return None,
    })
}

/// The parameters of a constructor that may be given by position; `None` where sizes are given one by one.
fn places(library: &str, name: &str, call: &Call) -> Option<Vec<&'static str>> {
    let is_torch = library == "torch";
    let bounds = if call.bounds() == 1 { &["high"][..] } else { &["low", "high"] };
    Some(match name {
        "ones" | "zeros" | "empty" if !is_torch => vec!["shape", "dtype"],
        "randn" | "rand" | "ones" | "zeros" | "empty" | "make_tensor" if call.begins_with_list() => {
            vec!["size"]
        }
        "full" if is_torch => vec!["size", "fill_value"],
        "full" => vec!["shape", "fill_value", "dtype"],
        "randint" if is_torch => [bounds, &["size"]].concat(),
        "randint" => [bounds, &["size", "dtype"]].concat(),
        "arange" if is_torch => vec!["start", "end", "step"],
        "arange" => vec!["start", "stop", "step", "dtype"],
        "as_strided" if is_torch => vec!["input", "size", "stride", "storage_offset"],
        "as_strided" => vec!["x", "shape", "strides"],
        _ => return None,
    })
}

/// The parameters of a method that may be given by position; `None` where sizes or axes are given one by one.
fn method_places(name: &str, call: &Call) -> Option<&'static [&'static str]> {
    Some(match name {
        "permute" | "view" | "reshape" if !call.begins_with_list() => return None,
        "permute" => &["dims"],
        "view" | "reshape" => &["shape"],
        "to" => &["device", "dtype", "non_blocking", "copy"],
        "astype" => &["dtype"],
        "cuda" => &["device", "non_blocking"],
        "as_strided" => &["size", "stride", "storage_offset"],
        "transpose" => &["dim0", "dim1"],
        "cpu" | "contiguous" | "half" | "bfloat16" | "float" | "double" | "t" => &[],
        _ => return None,
    })
}

/// The keywords of a constructor, besides those that all constructors have.
fn constructor_keywords(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "randn" | "rand" | "ones" | "zeros" | "empty" => &["size", "shape"],
        "full" => &["size", "shape", "fill_value"],
        "randint" => &["low", "high", "size"],
        "arange" => &["start", "end", "stop", "step"],
        "make_tensor" => &["size", "shape", "low", "high"],
        "as_strided" => &["size", "shape", "stride", "strides", "storage_offset"],
        _ => return None,
    })
}

fn method_keywords(name: &str) -> &'static [&'static str] {
    match name {
        "as_strided" => &["size", "stride", "storage_offset"],
        "transpose" => &["dim0", "dim1"],
        "permute" => &["dims"],
        "view" | "reshape" => &["size", "shape"],
        _ => &[],
    }
}

fn apply(spec: TensorSpec, method: &str, call: &Call) -> Result<TensorSpec, RawDiagnostic> {
    call.require_keywords(method_keywords(method))?;
    if let Some(places) = method_places(method, call) {
        call.require_places(method, places)?;
    }
    match method {
        "to" => call.converted(spec),
        "astype" => call.cast(spec),
        "cuda" | "cpu" | "contiguous" if spec.is_contiguous() => Ok(spec),
        "cuda" | "cpu" => Ok(spec),
        "contiguous" => {
            TensorSpec::dense(spec.dtype, spec.sizes, spec.distribution).ok_or_else(|| call.too_large())
        }
        "half" => Ok(TensorSpec { dtype: DType::F16, ..spec }),
        "bfloat16" => Ok(TensorSpec { dtype: DType::BF16, ..spec }),
        "float" => Ok(TensorSpec { dtype: DType::F32, ..spec }),
        "double" => Ok(TensorSpec { dtype: DType::F64, ..spec }),
        "as_strided" => call.as_strided(spec, 1),
        "t" => call.permuted(spec, vec![1, 0]),
        "transpose" => {
            let axis = |place, name| call.axis(place, &[name], spec.sizes.len());
            let (a, b) = (axis(0, "dim0")?, axis(1, "dim1")?);
            let mut order: Vec<usize> = (0..spec.sizes.len()).collect();
            order.swap(a, b);
            call.permuted(spec, order)
        }
        "permute" => {
            let rank = spec.sizes.len();
            let order = call
                .all_integers(&["dims"])?
                .into_iter()
                .map(|axis| call.wrap(axis, rank))
                .collect::<Result<_, _>>()?;
            call.permuted(spec, order)
        }
        "view" | "reshape" => call.reshaped(spec),
        _ => Err(RawDiagnostic::new(
            call.span,
            format!("unknown tensor method `{method}`"),
            "in the list of inputs",
        )
        .help(
            "known: to, as_strided, t, transpose, permute, view, reshape, contiguous, half, bfloat16, float",
        )),
    }
}

impl TensorSpec {
    /// A tensor in row-major order; `None` if it has more elements than can be counted.
    fn dense(dtype: DType, sizes: Vec<i64>, distribution: Distribution) -> Option<TensorSpec> {
        let mut strides = vec![1; sizes.len()];
        let mut storage: i64 = 1;
        for axis in (0..sizes.len()).rev() {
            strides[axis] = storage.max(1);
            storage = storage.checked_mul(sizes[axis])?;
        }
        storage.checked_mul(dtype.size() as i64)?;
        Some(TensorSpec { dtype, sizes, strides, offset: 0, storage, distribution })
    }

    fn is_contiguous(&self) -> bool {
        TensorSpec::dense(self.dtype, self.sizes.clone(), self.distribution)
            .is_some_and(|dense| dense.strides == self.strides)
    }
}
