//! The optional `inputs = [...]` list of a definition file: what to run it on.
//!
//! Takes the tree of the list, gives sizes, strides, dtypes and how the numbers are drawn. Reads torch's and NumPy's
//! constructors and a few methods that change the view. Makes no data and allocates nothing of the sizes it reads.

use super::span::{Complaint, Span};
use super::syntax::{Argument, Kind, Tree};
use crate::{DType, Scalar};

/// Axes that an input may have.
const MAX_RANK: usize = 32;

/// One input to run a definition on.
#[derive(Clone, Debug, PartialEq)]
pub enum InputSpec {
    /// A tensor.
    Tensor(TensorSpec),
    /// A number.
    Scalar(Scalar),
}

/// A tensor: how its elements lie in memory and what is in them.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorSpec {
    /// Element type.
    pub dtype: DType,
    /// Size of each axis.
    pub sizes: Vec<i64>,
    /// Elements from one index to the next, for each axis; 0 where an axis is expanded.
    pub strides: Vec<i64>,
    /// Elements of the memory behind it.
    pub storage: i64,
    /// What the memory holds.
    pub distribution: Distribution,
}

/// How the elements of a tensor are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Normal, mean 0, deviation 1.
    Normal,
    /// Uniform from the first number up to the second.
    Uniform(f64, f64),
    /// Integers from the first up to the second, not included.
    Integers(i64, i64),
    /// One number everywhere.
    Constant(f64),
    /// The first number, then each one larger by the second.
    Range(f64, f64),
}

/// The inputs that a list says.
pub(super) fn read_inputs(tree: &Tree) -> Result<Vec<InputSpec>, Complaint> {
    match &tree.kind {
        Kind::List(items) => items.iter().map(read_input).collect(),
        _ => Err(Complaint::new(tree.span, "`inputs` is not a list", "expected [...]")),
    }
}

fn read_input(tree: &Tree) -> Result<InputSpec, Complaint> {
    let scalar = |scalar| Ok(InputSpec::Scalar(scalar));
    match &tree.kind {
        Kind::Bool(value) => scalar(Scalar::from_bool(*value)),
        Kind::Int(_) | Kind::Float(_) | Kind::Unary(..) | Kind::Binary(..) => match number(tree)? {
            Number::Int(n) => scalar(Scalar::from_i64(DType::I64, n)),
            Number::Float(x) => scalar(Scalar::from_f64(DType::F64, x)),
        },
        _ => tensor(tree).map(InputSpec::Tensor),
    }
}

/// A constructor with methods after it.
fn tensor(tree: &Tree) -> Result<TensorSpec, Complaint> {
    let refuse = || {
        Complaint::new(tree.span, "this is not an input", "expected a number or a torch or NumPy tensor")
            .help("for example torch.randn((4, 8), dtype=torch.bfloat16)")
    };
    let Kind::Call(callee, arguments) = &tree.kind else { return Err(refuse()) };
    let call = Call { span: tree.span, arguments };
    if let Some(path) = callee.path() {
        return constructor(&path, &call).unwrap_or_else(|| Err(refuse()));
    }
    match &callee.kind {
        Kind::Attribute(base, method) => apply(tensor(base)?, &method.text, &call),
        _ => Err(refuse()),
    }
}

fn constructor(path: &[&str], call: &Call) -> Option<Result<TensorSpec, Complaint>> {
    let (library, name) = (*path.first()?, *path.last()?);
    let real = match library {
        "torch" => DType::F32,
        "np" | "numpy" => DType::F64,
        _ => return None,
    };
    Some(match name {
        "randn" => call.filled(call.all_sizes(), real, Distribution::Normal),
        "rand" => call.filled(call.all_sizes(), real, Distribution::Uniform(0.0, 1.0)),
        "ones" => call.filled(call.all_sizes(), real, Distribution::Constant(1.0)),
        "zeros" | "empty" => call.filled(call.all_sizes(), real, Distribution::Constant(0.0)),
        "full" => call.full(real),
        "randint" => call.randint(),
        "arange" => call.arange(real),
        "make_tensor" => call.make_tensor(real),
        _ => return None,
    })
}

fn apply(spec: TensorSpec, method: &str, call: &Call) -> Result<TensorSpec, Complaint> {
    match method {
        "to" | "astype" => call.converted(spec),
        "cuda" | "cpu" | "contiguous" if spec.is_contiguous() => Ok(spec),
        "cuda" | "cpu" => Ok(spec),
        "contiguous" => {
            TensorSpec::dense(spec.dtype, spec.sizes, spec.distribution).ok_or_else(|| call.too_large())
        }
        "half" => Ok(TensorSpec { dtype: DType::F16, ..spec }),
        "bfloat16" => Ok(TensorSpec { dtype: DType::BF16, ..spec }),
        "float" => Ok(TensorSpec { dtype: DType::F32, ..spec }),
        "double" => Ok(TensorSpec { dtype: DType::F64, ..spec }),
        "as_strided" => call.as_strided(spec),
        "t" => call.permuted(spec, vec![1, 0]),
        "transpose" => {
            let (a, b) = (call.axis(0, spec.sizes.len())?, call.axis(1, spec.sizes.len())?);
            let mut order: Vec<usize> = (0..spec.sizes.len()).collect();
            order.swap(a, b);
            call.permuted(spec, order)
        }
        "permute" => {
            let rank = spec.sizes.len();
            let order = call
                .all_integers()?
                .into_iter()
                .map(|axis| call.wrap(axis, rank))
                .collect::<Result<_, _>>()?;
            call.permuted(spec, order)
        }
        "view" | "reshape" => call.reshaped(spec),
        _ => Err(Complaint::new(
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
        Some(TensorSpec { dtype, sizes, strides, storage, distribution })
    }

    fn is_contiguous(&self) -> bool {
        TensorSpec::dense(self.dtype, self.sizes.clone(), self.distribution)
            .is_some_and(|dense| dense.strides == self.strides)
    }
}

/// The arguments of one call in the list.
struct Call<'t> {
    span: Span,
    arguments: &'t [Argument],
}

impl Call<'_> {
    fn positional(&self) -> impl Iterator<Item = &Tree> {
        self.arguments.iter().filter(|argument| argument.keyword.is_none()).map(|argument| &argument.value)
    }

    /// An argument by place or by any of its names.
    fn argument(&self, place: usize, names: &[&str]) -> Option<&Tree> {
        let named = |argument: &&Argument| {
            argument.keyword.as_ref().is_some_and(|keyword| names.contains(&keyword.text.as_str()))
        };
        self.positional()
            .nth(place)
            .or_else(|| self.arguments.iter().find(named).map(|argument| &argument.value))
    }

    fn required(&self, place: usize, names: &[&str]) -> Result<&Tree, Complaint> {
        let missing = || {
            Complaint::new(self.span, "an argument is missing", format!("expected {}", names.join(" or ")))
        };
        self.argument(place, names).ok_or_else(missing)
    }

    fn too_large(&self) -> Complaint {
        Complaint::new(self.span, "this tensor is too large", "more elements than 63 bits can count")
    }

    /// `f(2, 3)`, `f((2, 3))` or `f(size=(2, 3))`.
    fn all_sizes(&self) -> Result<Vec<i64>, Complaint> {
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
    fn all_integers(&self) -> Result<Vec<i64>, Complaint> {
        match self.argument(0, &[]) {
            Some(Tree { kind: Kind::List(items), .. }) => items.iter().map(integer).collect(),
            _ => self.positional().map(integer).collect(),
        }
    }

    fn dtype(&self, default: DType) -> Result<DType, Complaint> {
        let keyword = self.arguments.iter().find(|a| a.keyword.as_ref().is_some_and(|k| k.text == "dtype"));
        keyword.map_or(Ok(default), |argument| dtype(&argument.value))
    }

    fn filled(
        &self,
        sizes: Result<Vec<i64>, Complaint>,
        default: DType,
        distribution: Distribution,
    ) -> Result<TensorSpec, Complaint> {
        TensorSpec::dense(self.dtype(default)?, sizes?, distribution).ok_or_else(|| self.too_large())
    }

    fn full(&self, real: DType) -> Result<TensorSpec, Complaint> {
        let value = self.required(1, &["fill_value"])?;
        let (default, value) = match value.kind {
            Kind::Bool(value) => (DType::Bool, f64::from(value)),
            _ => match number(value)? {
                Number::Int(n) => (DType::I64, n as f64),
                Number::Float(x) => (real, x),
            },
        };
        self.filled(sizes(self.required(0, &["size", "shape"])?), default, Distribution::Constant(value))
    }

    /// `randint(high, size)` or `randint(low, high, size)`.
    fn randint(&self) -> Result<TensorSpec, Complaint> {
        let two = matches!(self.argument(1, &["size"]), Some(Tree { kind: Kind::List(_), .. }));
        let (low, high, shape) = if two && self.positional().count() <= 2 {
            (0, integer(self.required(0, &["high"])?)?, self.required(1, &["size"])?)
        } else {
            let (low, high) = (self.required(0, &["low"])?, self.required(1, &["high"])?);
            (integer(low)?, integer(high)?, self.required(2, &["size"])?)
        };
        if low >= high {
            return Err(Complaint::new(
                self.span,
                "no integer to draw",
                format!("{low} is not below {high}"),
            ));
        }
        self.filled(sizes(shape), DType::I64, Distribution::Integers(low, high))
    }

    fn arange(&self, real: DType) -> Result<TensorSpec, Complaint> {
        let numbers: Vec<Number> = self.positional().map(number).collect::<Result<_, _>>()?;
        let (start, end, step) = match numbers.iter().map(Number::as_f64).collect::<Vec<f64>>()[..] {
            [end] => (0.0, end, 1.0),
            [start, end] => (start, end, 1.0),
            [start, end, step] if step != 0.0 => (start, end, step),
            _ => {
                return Err(Complaint::new(
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
    fn make_tensor(&self, real: DType) -> Result<TensorSpec, Complaint> {
        let dtype = self.dtype(real)?;
        let bound = |name: &str, default: f64| {
            let keyword = self.arguments.iter().find(|a| a.keyword.as_ref().is_some_and(|k| k.text == name));
            keyword
                .filter(|a| a.value.kind != Kind::None)
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
    fn converted(&self, spec: TensorSpec) -> Result<TensorSpec, Complaint> {
        match self.argument(0, &["dtype"]) {
            Some(Tree { kind: Kind::Text(_), .. }) | None => Ok(spec),
            Some(tree) if dtype_path(tree).is_none() && tree.path().is_none() => Ok(spec),
            Some(tree) => Ok(TensorSpec { dtype: dtype(tree)?, ..spec }),
        }
    }

    fn as_strided(&self, spec: TensorSpec) -> Result<TensorSpec, Complaint> {
        let sizes = sizes(self.required(0, &["size"])?)?;
        let strides_tree = self.required(1, &["stride"])?;
        let strides = checked_sizes(integers(strides_tree)?, strides_tree.span)?;
        if let Some(offset) = self.argument(2, &["storage_offset"])
            && integer(offset)? != 0
        {
            return Err(Complaint::new(
                offset.span,
                "an offset into the storage is not supported",
                "expected 0",
            ));
        }
        if sizes.len() != strides.len() {
            let label = format!("expected {} strides", sizes.len());
            return Err(Complaint::new(strides_tree.span, "as many strides as sizes are needed", label));
        }
        let reached = sizes.iter().zip(&strides).try_fold(1_i64, |reached, (&size, &stride)| {
            (size - 1).max(0).checked_mul(stride)?.checked_add(reached)
        });
        if reached.is_none_or(|reached| reached > spec.storage) && !sizes.contains(&0) {
            let label = format!("the storage has {} elements", spec.storage);
            return Err(Complaint::new(self.span, "this view reaches beyond its storage", label));
        }
        sizes.iter().try_fold(1_i64, |n, &size| n.checked_mul(size)).ok_or_else(|| self.too_large())?;
        Ok(TensorSpec { sizes, strides, ..spec })
    }

    fn axis(&self, place: usize, rank: usize) -> Result<usize, Complaint> {
        self.wrap(integer(self.required(place, &["an axis"])?)?, rank)
    }

    fn wrap(&self, axis: i64, rank: usize) -> Result<usize, Complaint> {
        let wrapped = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
        let axis = usize::try_from(wrapped).ok().filter(|&axis| axis < rank);
        axis.ok_or_else(|| Complaint::new(self.span, "no such axis", format!("the tensor has {rank} axes")))
    }

    fn permuted(&self, spec: TensorSpec, order: Vec<usize>) -> Result<TensorSpec, Complaint> {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if sorted != (0..spec.sizes.len()).collect::<Vec<usize>>() {
            let label = format!("expected each of the {} axes once", spec.sizes.len());
            return Err(Complaint::new(self.span, "this is not an order of the axes", label));
        }
        let pick = |from: &[i64]| order.iter().map(|&axis| from[axis]).collect();
        Ok(TensorSpec { sizes: pick(&spec.sizes), strides: pick(&spec.strides), ..spec })
    }

    fn reshaped(&self, spec: TensorSpec) -> Result<TensorSpec, Complaint> {
        let sizes = self.all_sizes()?;
        let dense =
            TensorSpec::dense(spec.dtype, sizes, spec.distribution).ok_or_else(|| self.too_large())?;
        let same = spec.is_contiguous() && dense.sizes.iter().product::<i64>() == spec.sizes.iter().product();
        let refuse =
            || Complaint::new(self.span, "cannot view the tensor so", "expected as many elements, in order");
        same.then_some(TensorSpec { storage: spec.storage, ..dense }).ok_or_else(refuse)
    }
}

/// A number as Python tells them apart.
#[derive(Clone, Copy)]
enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    fn as_f64(&self) -> f64 {
        match *self {
            Number::Int(n) => n as f64,
            Number::Float(x) => x,
        }
    }
}

/// A number, or a product, sum, difference or power of numbers.
fn number(tree: &Tree) -> Result<Number, Complaint> {
    let refuse = || Complaint::new(tree.span, "this is not a number", "expected a number");
    match &tree.kind {
        Kind::Int(n) => Ok(Number::Int(*n)),
        Kind::Float(x) => Ok(Number::Float(*x)),
        Kind::Unary("-", operand) => match number(operand)? {
            Number::Int(n) => n.checked_neg().map(Number::Int).ok_or_else(refuse),
            Number::Float(x) => Ok(Number::Float(-x)),
        },
        Kind::Binary(operator, a, b) => match (number(a)?, number(b)?) {
            (Number::Int(a), Number::Int(b)) => {
                integer_result(operator, a, b).map(Number::Int).ok_or_else(refuse)
            }
            (a, b) => float_result(operator, a.as_f64(), b.as_f64()).map(Number::Float).ok_or_else(refuse),
        },
        Kind::Call(callee, arguments) if callee.path().is_some_and(|path| path == ["float"]) => {
            float_text(arguments).map(Number::Float).ok_or_else(refuse)
        }
        _ => Err(refuse()),
    }
}

/// The value of `float("inf")`, `float("-inf")`, `float("nan")` or `float(1)`.
pub(super) fn float_text(arguments: &[Argument]) -> Option<f64> {
    match arguments {
        [Argument { keyword: None, value }] => match &value.kind {
            Kind::Text(text) => text.trim().parse().ok(),
            Kind::Int(n) => Some(*n as f64),
            Kind::Float(x) => Some(*x),
            _ => None,
        },
        _ => None,
    }
}

fn integer_result(operator: &str, a: i64, b: i64) -> Option<i64> {
    match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "//" if b > 0 => a.checked_div_euclid(b),
        "**" => a.checked_pow(u32::try_from(b).ok()?),
        _ => None,
    }
}

fn float_result(operator: &str, a: f64, b: f64) -> Option<f64> {
    match operator {
        "+" => Some(a + b),
        "-" => Some(a - b),
        "*" => Some(a * b),
        "/" => Some(a / b),
        "**" => Some(a.powf(b)),
        _ => None,
    }
}

fn integer(tree: &Tree) -> Result<i64, Complaint> {
    match number(tree) {
        Ok(Number::Int(n)) => Ok(n),
        _ => Err(Complaint::new(tree.span, "this is not an integer", "expected an integer")),
    }
}

fn integers(tree: &Tree) -> Result<Vec<i64>, Complaint> {
    match &tree.kind {
        Kind::List(items) => items.iter().map(integer).collect(),
        _ => Ok(vec![integer(tree)?]),
    }
}

fn sizes(tree: &Tree) -> Result<Vec<i64>, Complaint> {
    checked_sizes(integers(tree)?, tree.span)
}

fn checked_sizes(sizes: Vec<i64>, span: Span) -> Result<Vec<i64>, Complaint> {
    if sizes.len() > MAX_RANK {
        return Err(Complaint::new(span, "too many axes", format!("at most {MAX_RANK}")));
    }
    match sizes.iter().find(|&&size| size < 0) {
        Some(size) => Err(Complaint::new(span, format!("the size {size} is negative"), "expected 0 or more")),
        None => Ok(sizes),
    }
}

fn dtype_path(tree: &Tree) -> Option<DType> {
    let path = tree.path()?;
    match path[..] {
        ["torch" | "np" | "numpy", name] => match name {
            "half" => Some(DType::F16),
            "float" => Some(DType::F32),
            "double" => Some(DType::F64),
            "int" => Some(DType::I32),
            "long" => Some(DType::I64),
            "bool_" => Some(DType::Bool),
            _ => DType::ALL.into_iter().find(|dtype| dtype.numpy_name() == name),
        },
        _ => None,
    }
}

fn dtype(tree: &Tree) -> Result<DType, Complaint> {
    let refuse = || {
        let known: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.numpy_name()).collect();
        Complaint::new(tree.span, "this is not a dtype", "expected a dtype such as torch.float32")
            .help(format!("known: {}", known.join(", ")))
    };
    dtype_path(tree).ok_or_else(refuse)
}

#[cfg(test)]
mod tests {
    use super::super::grammar::parse_file;
    use super::super::syntax::Item;
    use super::*;

    fn check(source: &str, expected: &str) {
        let items = parse_file(&format!("[{source}]")).expect("the grammar accepts it");
        let [Item::Line(statement)] = &items[..] else { panic!("one line") };
        let text = match read_inputs(&statement.value) {
            Ok(specs) => specs.iter().map(shown).collect::<Vec<_>>().join("; "),
            Err(complaint) => format!("{} ({})", complaint.message, complaint.label),
        };
        assert_eq!(text, expected, "{source}");
    }

    fn shown(spec: &InputSpec) -> String {
        match spec {
            InputSpec::Scalar(scalar) => format!("{} {scalar}", scalar.dtype()),
            InputSpec::Tensor(TensorSpec { dtype, sizes, strides, storage, distribution }) => {
                format!("{dtype} {sizes:?} {strides:?} {storage} {distribution:?}")
            }
        }
    }

    #[test]
    fn constructors() {
        check("torch.randn((2, 3), dtype=torch.bfloat16, device='cuda:0')", "bf16 [2, 3] [3, 1] 6 Normal");
        check("torch.randn(2, 3)", "f32 [2, 3] [3, 1] 6 Normal");
        check("np.random.rand(2 * 4)", "f64 [8] [1] 8 Uniform(0.0, 1.0)");
        check("torch.zeros((0, 3))", "f32 [0, 3] [3, 1] 0 Constant(0.0)");
        check("torch.full((2,), 7)", "i64 [2] [1] 2 Constant(7.0)");
        check("torch.full(size=(), fill_value=float('inf'))", "f32 [] [] 1 Constant(inf)");
        check("torch.randint(0, 10, (4,), dtype=torch.int32)", "i32 [4] [1] 4 Integers(0, 10)");
        check("torch.randint(5, size=(4,))", "i64 [4] [1] 4 Integers(0, 5)");
        check("torch.arange(2, 9, 3)", "i64 [3] [1] 3 Range(2.0, 3.0)");
        check("torch.testing.make_tensor((2,), dtype=torch.bool)", "bool [2] [1] 2 Integers(0, 2)");
        check("1, -2.5, True", "i64 1; f64 -2.5; bool True");
    }

    #[test]
    fn views_of_storage() {
        check("torch.randn(4).as_strided((2, 3, 4), (0, 0, 1))", "f32 [2, 3, 4] [0, 0, 1] 4 Normal");
        check("torch.randn(2, 3).t().to(torch.float16)", "f16 [3, 2] [1, 3] 6 Normal");
        check("torch.randn(2, 3, 4).permute(2, 0, -2).cuda()", "f32 [4, 2, 3] [1, 12, 4] 24 Normal");
        check("torch.randn(2, 3, 4).transpose(0, 1)", "f32 [3, 2, 4] [4, 12, 1] 24 Normal");
        check("torch.randn(2, 3).t().contiguous()", "f32 [3, 2] [2, 1] 6 Normal");
        check("torch.randn(6).view(2, 3).half()", "f16 [2, 3] [3, 1] 6 Normal");
        check("torch.randn(6).to('cuda')", "f32 [6] [1] 6 Normal");
    }

    #[test]
    fn mistakes() {
        check(
            "torch.randn(4).as_strided((2, 4), (4, 1))",
            "this view reaches beyond its storage (the storage has 4 elements)",
        );
        check(
            "torch.randn(4).as_strided((4,), (1, 1))",
            "as many strides as sizes are needed (expected 1 strides)",
        );
        check("torch.randn(-4)", "the size -4 is negative (expected 0 or more)");
        check("torch.randn(1 << 3)", "this is not an integer (expected an integer)");
        check(
            "torch.randn(2 ** 40, 2 ** 40)",
            "this tensor is too large (more elements than 63 bits can count)",
        );
        check(
            "torch.randn(2, dtype=torch.complex64)",
            "this is not a dtype (expected a dtype such as torch.float32)",
        );
        check("torch.eye(3)", "this is not an input (expected a number or a torch or NumPy tensor)");
        check("x", "this is not an input (expected a number or a torch or NumPy tensor)");
        check("torch.randn(2).median()", "unknown tensor method `median` (in the list of inputs)");
        check(
            "torch.randn(2, 3).permute(0, 0)",
            "this is not an order of the axes (expected each of the 2 axes once)",
        );
        check("torch.randint(3, 3, (2,))", "no integer to draw (3 is not below 3)");
        check("torch.full((2,))", "an argument is missing (expected fill_value)");
    }
}
