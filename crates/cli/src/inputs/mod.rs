//! The inputs of a run: from files, from the definition file's own list, or drawn at the requested sizes.
//!
//! Takes a definition file and the options of the command line; returns one array per input, with strides as in the list.
//! The runtime checks whether they fit the definition, when it is called.

mod request;
mod sizes;

pub use request::{Request, check_once, size};

use ferrofuse::{Array, DType, Definition, File, LayoutClass, Scalar, declared_layouts, table};
use frontend::text::{Distribution, InputSpec, TensorSpec};
use ir::array::{Layout, StridedArray};
use ir::definition::{DeclaredLayout, InputDecl};
use ir::graph::Sizes;
use testing::inputs::{draw, layout_class, sizes_of};

use crate::arrays::{self, Problem, Wanted};
use crate::failure::Failure;
use request::Source;
use sizes::KnownSizes;

/// One input per declaration, as far as known.
pub struct Inputs<'f> {
    file: &'f File,
    sizes: KnownSizes,
    seed: u64,
    sources: Vec<Option<Data>>,
}

/// The source of an input's elements.
enum Data {
    /// They exist.
    Array(StridedArray),
    /// They are yet to be drawn.
    Spec(InputSpec),
}

impl<'f> Inputs<'f> {
    /// Reads the files of the request and works out sizes; draws nothing yet.
    ///
    /// # Errors
    /// Names that the definition lacks or that are given twice, files that cannot be read or have other sizes than requested.
    pub fn resolve(file: &'f File, request: &Request) -> Result<Inputs<'f>, Failure> {
        let definition = &file.definition;
        check_names(definition, request)?;
        check_archives(definition, request)?;
        let mut sizes = KnownSizes::requested(definition, request)?;
        let mut given = Vec::new();
        for (place, decl) in definition.input_decls().iter().enumerate() {
            let array = from_request(&definition.name_of(decl.val), decl, request)?;
            if let Some(array) = &array {
                sizes.observe(definition, place, array.view().sizes())?;
                if array.view().sizes().is_empty() {
                    sizes.observe_scalar(definition, place, array.view().scalar(0).as_i64())?;
                }
            }
            given.push(array);
        }
        sizes.propagate(definition);
        let source = |(place, given): (usize, Option<StridedArray>)| match given {
            Some(array) => Ok(Some(Data::Array(array))),
            None => spec(file, &sizes, place).map(|spec| spec.map(Data::Spec)),
        };
        let sources = given.into_iter().enumerate().map(source).collect::<Result<_, _>>()?;
        Ok(Inputs { file, sizes, seed: request.seed, sources })
    }

    /// Facts for the compiler: sizes to decide for, and the layouts of inputs; the declared layouts of unknown inputs.
    pub fn facts(&self) -> (Sizes, Vec<LayoutClass>) {
        let spec = |source: &Data| match source {
            Data::Spec(spec) => spec.clone(),
            Data::Array(array) => viewed(array),
        };
        let definition = &self.file.definition;
        let specs: Vec<Option<InputSpec>> =
            self.sources.iter().map(|source| source.as_ref().map(spec)).collect();
        let shown = sizes_of(definition, specs.iter().map(Option::as_ref));
        let layouts = specs.iter().zip(declared_layouts(definition));
        let layouts = layouts.map(|(spec, declared)| spec.as_ref().map_or(declared, layout_class));
        let mut sizes = self.sizes.values().clone();
        shown.known().for_each(|(symbol, size)| sizes.set(symbol, size));
        (sizes, layouts.collect())
    }

    /// Rejects inputs that do not fit the definition, as a call would. Nothing is drawn for it, so sizes that depend on the
    /// elements of inputs are left to the call.
    ///
    /// # Errors
    /// The first that does not fit.
    pub fn check(&self) -> Result<(), Failure> {
        let definition = &self.file.definition;
        let form = |source: &Option<Data>| match source.as_ref()? {
            Data::Spec(InputSpec::Tensor(spec)) => Some((spec.dtype, sizes_in_memory(&spec.sizes)?)),
            Data::Spec(InputSpec::Scalar(number)) => Some((number.dtype(), Vec::new())),
            Data::Array(array) => Some((array.view().dtype(), array.view().sizes().to_vec())),
        };
        let forms: Option<Vec<_>> = self.sources.iter().map(form).collect();
        let Some(forms) = forms.filter(|_| !definition.signature().reads_elements()) else { return Ok(()) };
        let single = |(dtype, _): &(DType, _)| Array::full(Scalar::zero(*dtype), &[]);
        let elements: Vec<Array> =
            forms.iter().map(single).collect::<Result<_, _>>().map_err(Failure::machine)?;
        let views = elements.iter().zip(&forms).map(|(element, (_, sizes))| {
            let repeated = Layout::dense(&[]).broadcast(&vec![true; sizes.len()]).expanded(sizes);
            element.view().relaid(repeated).expect("one element, seen again and again")
        });
        ferrofuse::hints(definition, &views.collect::<Vec<_>>()).map(drop).map_err(Failure::user)
    }

    /// The elements of all inputs, which together may take `most_bytes`.
    ///
    /// # Errors
    /// The user's: inputs without data, and requested sizes that a run computes. The machine's: memory.
    pub fn make(self, most_bytes: usize) -> Result<Vec<StridedArray>, Failure> {
        self.sizes.reject_computed(&self.file.definition)?;
        let missing: Vec<usize> =
            (0..self.sources.len()).filter(|&place| self.sources[place].is_none()).collect();
        if !missing.is_empty() {
            return Err(without_data(&self.file.definition, &self.sizes, &missing));
        }
        let specs = self.sources.iter().filter_map(|source| match source {
            Some(Data::Spec(spec)) => Some(spec),
            _ => None,
        });
        check_memory(specs, most_bytes)?;
        let make = |(place, source): (usize, Data)| match source {
            Data::Array(array) => Ok(array),
            Data::Spec(spec) => draw(&spec, self.seed, place).map_err(Failure::machine),
        };
        self.sources.into_iter().flatten().enumerate().map(make).collect()
    }
}

/// Sizes that an array can have.
fn sizes_in_memory(sizes: &[i64]) -> Option<Vec<usize>> {
    sizes.iter().map(|&size| usize::try_from(size).ok()).collect()
}

/// An existing array as a spec.
fn viewed(array: &StridedArray) -> InputSpec {
    let view = array.view();
    if view.sizes().is_empty() {
        return InputSpec::Scalar(view.scalar(0));
    }
    InputSpec::Tensor(TensorSpec {
        dtype: view.dtype(),
        sizes: view.sizes().iter().map(|&size| size as i64).collect(),
        strides: view.strides().iter().map(|&stride| stride as i64).collect(),
        offset: 0,
        storage: view.numel() as i64,
        distribution: Distribution::Constant(0.0),
    })
}

/// Compares the input bytes that specs need with the available ones.
fn check_memory<'s>(specs: impl Iterator<Item = &'s InputSpec>, most_bytes: usize) -> Result<(), Failure> {
    let bytes = |spec: &InputSpec| match spec {
        InputSpec::Tensor(spec) => spec.storage as u128 * spec.dtype.size() as u128,
        InputSpec::Scalar(_) => 0,
    };
    let needed: u128 = specs.map(bytes).sum();
    if needed <= most_bytes as u128 {
        return Ok(());
    }
    let needed = table::bytes(u64::try_from(needed).unwrap_or(u64::MAX));
    let there = table::bytes(most_bytes as u64);
    Err(Failure::machine(format!("no memory: the inputs need {needed}, this machine has {there}")))
}

fn input_names(definition: &Definition) -> Vec<String> {
    definition.input_decls().iter().map(|decl| definition.name_of(decl.val)).collect()
}

/// Rejects files of several arrays, one of which has the name of no input, or of one that another such file has.
fn check_archives(definition: &Definition, request: &Request) -> Result<(), Failure> {
    let names = input_names(definition);
    let mut earlier: Vec<String> = Vec::new();
    for path in request.archives() {
        let arrays = arrays::names(path)?;
        if let Some(again) = arrays.iter().find(|array| earlier.contains(array)) {
            let message = format!("--input: `{again}` is given twice, the second time by {}", path.display());
            return Err(Failure::user(message));
        }
        earlier.extend(arrays.iter().cloned());
        let Some(other) = arrays.iter().find(|array| !names.contains(array)) else { continue };
        let given = arrays::listed(&arrays.iter().map(String::as_str).collect::<Vec<_>>());
        let there = if names.is_empty() { "no input".to_owned() } else { names.join(", ") };
        let message = format!(
            "--input: {}: no input is called `{other}`; the file has {given}, the definition has {there}",
            path.display()
        );
        let name = names.first().map_or("NAME", String::as_str);
        let help = format!("one array of a file is given by its input's name: {name}={}", path.display());
        return Err(Failure::user_with_help(message, help));
    }
    Ok(())
}

fn check_names(definition: &Definition, request: &Request) -> Result<(), Failure> {
    check_once("--input", request.inputs.iter().filter_map(Source::name))?;
    let names = input_names(definition);
    match request.inputs.iter().filter_map(Source::name).find(|name| !names.iter().any(|there| there == name))
    {
        None => Ok(()),
        Some(name) => {
            let there = if names.is_empty() { "no input".to_owned() } else { names.join(", ") };
            Err(Failure::user(format!("--input: the definition has no input `{name}`; it has {there}")))
        }
    }
}

/// The array that the command line gives for an input.
fn from_request(name: &str, decl: &InputDecl, request: &Request) -> Result<Option<StridedArray>, Failure> {
    let dtype = decl.dtype;
    match request.of(name) {
        Some(Source::File(_, path)) if decl.layout.is_none() && !arrays::is_of_arrays(path) => {
            let given = path.display();
            let expected = format!("expected a number, as in {name}=8, or a file of arrays, given `{given}`");
            return Err(Failure::user(format!("--input: `{name}` is a scalar: {expected}")));
        }
        Some(Source::File(_, path)) => return Ok(Some(arrays::read(path, Wanted::NameOrSole(name))?)),
        Some(&Source::Number(_, scalar)) => {
            if !scalar.fits(dtype) {
                let expected = format!("expected a number that {dtype} can hold, given {scalar}");
                return Err(Failure::user(format!("--input: `{name}`: {expected}")));
            }
            return constant(scalar.cast(dtype)).map(Some);
        }
        Some(Source::Archive(_)) | None => {}
    }
    for path in request.archives() {
        match arrays::read(path, Wanted::Name(name)) {
            Ok(array) => return Ok(Some(array)),
            Err(error) if matches!(error.problem, Problem::Name { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// The spec of an input in the definition file, at the known sizes; without one, a dense tensor if all its sizes are known. A
/// scalar that is a size is that size.
fn spec(file: &File, sizes: &KnownSizes, place: usize) -> Result<Option<InputSpec>, Failure> {
    let definition = &file.definition;
    let decl = &definition.input_decls()[place];
    if let Some(size) = sizes.of_scalar(definition, place) {
        return Ok(Some(InputSpec::Scalar(Scalar::from_i64(decl.dtype, size))));
    }
    let known = sizes.of_input(definition, place);
    let tensor = match file.inputs.as_ref().and_then(|list| list.get(place)) {
        Some(InputSpec::Scalar(scalar)) => return Ok(Some(InputSpec::Scalar(scalar.cast(decl.dtype)))),
        Some(InputSpec::Tensor(spec)) => resized(spec, &known),
        None => match known.into_iter().collect::<Option<Vec<i64>>>() {
            Some(sizes) if let Some(layout) = &decl.layout => drawn(decl.dtype, sizes, layout),
            _ => return Ok(None),
        },
    };
    let beyond =
        || format!("no memory: `{}` has more elements than can be counted", definition.name_of(decl.val));
    tensor.map(|tensor| Some(InputSpec::Tensor(tensor))).ok_or_else(|| Failure::machine(beyond()))
}

/// The default distribution.
fn usual(dtype: DType) -> Distribution {
    match dtype {
        DType::Bool => Distribution::Integers(0, 2),
        _ if dtype.is_unsigned_int() => Distribution::Integers(0, 17),
        _ if dtype.is_int() => Distribution::Integers(-8, 9),
        _ => Distribution::Normal,
    }
}

/// A tensor with its declared layout; `None` if its elements cannot be counted.
fn drawn(dtype: DType, sizes: Vec<i64>, layout: &DeclaredLayout) -> Option<TensorSpec> {
    let mut order: Vec<usize> = (0..sizes.len()).filter(|&axis| !layout.is_expanded(axis)).collect();
    order.sort_by_key(|&axis| layout.memory_place(axis));
    packed(dtype, sizes, &order, usual(dtype))
}

/// A tensor without gaps with its axes in this order, outermost first; axes that are left out have stride 0.
fn packed(dtype: DType, sizes: Vec<i64>, order: &[usize], distribution: Distribution) -> Option<TensorSpec> {
    // Elements that are seen again and again are counted too: a fold goes through all of them.
    if !sizes.contains(&0) {
        sizes.iter().try_fold(1_i64, |count, &size| count.checked_mul(size))?;
    }
    let mut strides = vec![0; sizes.len()];
    let mut storage: i64 = 1;
    for &axis in order.iter().rev() {
        strides[axis] = storage.max(1);
        storage = storage.checked_mul(sizes[axis])?;
    }
    Some(TensorSpec { dtype, sizes, strides, offset: 0, storage, distribution })
}

/// A listed tensor at other sizes: unchanged if they are the same; else without gaps, in the same order of axes.
fn resized(spec: &TensorSpec, known: &[Option<i64>]) -> Option<TensorSpec> {
    let wanted = |(axis, &size): (usize, &i64)| known.get(axis).copied().flatten().unwrap_or(size);
    let sizes: Vec<i64> = spec.sizes.iter().enumerate().map(wanted).collect();
    if sizes == spec.sizes {
        return Some(spec.clone());
    }
    let mut order: Vec<usize> = (0..sizes.len()).filter(|&axis| spec.strides[axis] != 0).collect();
    order.sort_by_key(|&axis| std::cmp::Reverse(spec.strides[axis]));
    packed(spec.dtype, sizes, &order, spec.distribution)
}

fn constant(scalar: Scalar) -> Result<StridedArray, Failure> {
    Array::full(scalar, &[]).map(StridedArray::from).map_err(Failure::machine)
}

/// An error about inputs without data, each with the options that would supply some.
fn without_data(definition: &Definition, sizes: &KnownSizes, missing: &[usize]) -> Failure {
    let mut ways = Vec::new();
    for &place in missing {
        let decl = &definition.input_decls()[place];
        let name = definition.name_of(decl.val);
        if decl.layout.is_none() {
            ways.push(format!("--input {name}=NUMBER"));
            continue;
        }
        let unknown = sizes.of_input(definition, place);
        let shape = definition.graph.shape(decl.val);
        let symbols = shape
            .iter()
            .zip(&unknown)
            .filter(|(_, known)| known.is_none())
            .flat_map(|(size, _)| size.symbols());
        let symbols: Vec<String> =
            symbols.map(|symbol| format!("--size {}=N", definition.symbol_name(symbol))).collect();
        ways.push(format!("--input {name}=FILE, or {} to draw it", symbols.join(" ")));
    }
    let describe = |&place: &usize| {
        let val = definition.input_decls()[place].val;
        format!("`{}` ({})", definition.name_of(val), definition.graph.ty(val))
    };
    let names: Vec<String> = missing.iter().map(describe).collect();
    let message = format!("no data for {}", names.join(", "));
    Failure::user_with_help(
        message,
        format!("give {}\nor write a list `inputs = [...]` in the file", ways.join("\n     ")),
    )
}
