//! Tensor ops on complex tensors: what moves data moves both parts alike, and a sum is the sums of the parts.

use ir::array::Part;
use ir::definition::{NamedValue, Object};
use ir::graph::Val;
use ops::{LanguageOp, ParamKind, Scalar};

use super::super::arguments::Bound;
use super::super::builder::DefinitionBuilder;
use super::super::error::DefineError;

/// The ops that are the same op of each part.
const BY_PARTS: &[LanguageOp] = &[
    LanguageOp::Broadcast,
    LanguageOp::BroadcastInDim,
    LanguageOp::Expand,
    LanguageOp::Squeeze,
    LanguageOp::Reshape,
    LanguageOp::Permute,
    LanguageOp::Slice,
    LanguageOp::Cat,
    LanguageOp::Full,
    LanguageOp::Gather,
    LanguageOp::TakeAlongAxis,
    LanguageOp::IndexSelect,
    LanguageOp::Select,
    LanguageOp::Triu,
    LanguageOp::EmbeddingFwd,
    LanguageOp::Sum,
    LanguageOp::Cumsum,
    LanguageOp::Mean,
    LanguageOp::Scatter,
];

impl DefinitionBuilder {
    /// An op of which an argument is complex: the results.
    pub(in super::super) fn complex_op(
        &mut self,
        op: LanguageOp,
        bound: &Bound,
    ) -> Result<Vec<Val>, DefineError> {
        match op {
            LanguageOp::Var | LanguageOp::VarMean | LanguageOp::Welford => self.complex_moments(op, bound),
            LanguageOp::Any | LanguageOp::All => {
                let bound = self.as_bools(bound)?;
                self.op(op, &bound)
            }
            LanguageOp::Sum | LanguageOp::Prod if bound.dtype("dtype").is_some() => {
                let bound = self.in_dtype(bound)?;
                match self.complex_argument(&bound) {
                    Some(_) => self.complex_op(op, &bound),
                    None => self.op(op, &bound),
                }
            }
            LanguageOp::Prod => self.complex_product(op, bound).map(|val| vec![val]),
            LanguageOp::StandardDeviation => {
                let parts = self.of_parts(op, bound)?;
                let (parts, dtype) = ([parts[0][0], parts[1][0]], self.graph.dtype(parts[0][0]));
                self.expression("hypot(x, y)", &["x", "y"], &parts, dtype).map(|val| vec![val])
            }
            LanguageOp::Fold | LanguageOp::Scan => self.op(op, bound),
            LanguageOp::Matmul | LanguageOp::Linear => self.complex_matrices(op, bound).map(|val| vec![val]),
            LanguageOp::Cumprod => {
                self.check_holds(bound)?;
                self.complex_product(op, bound).map(|val| vec![val])
            }
            LanguageOp::Pad => {
                self.check_complex_fill(bound)?;
                self.by_parts(op, bound)
            }
            _ if BY_PARTS.contains(&op) => self.by_parts(op, bound),
            _ => Err(self.no_complex(bound)),
        }
    }

    fn by_parts(&mut self, op: LanguageOp, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        self.check_holds(bound)?;
        let [re, im] = self.of_parts(op, bound)?;
        re.into_iter().zip(im).map(|parts| self.pair(parts.into())).collect()
    }

    /// A complex tensor is padded with a complex number, as in nvFuser, or with zero where none is given.
    fn check_complex_fill(&self, bound: &Bound) -> Result<(), DefineError> {
        let is_real =
            *bound.object("value") != Object::None && self.complex_dtype(bound.object("value")).is_none();
        match is_real && self.complex_dtype(bound.object("arg")).is_some() {
            true => Err(bound.reject("value", "a complex number, as the tensor is complex")),
            false => Ok(()),
        }
    }

    /// The results for the real parts of the arguments, and those for the imaginary parts.
    fn of_parts(&mut self, op: LanguageOp, bound: &Bound) -> Result<[Vec<Val>; 2], DefineError> {
        let mut part = |part: Part| {
            let bound = self.part_of_arguments(bound, part)?;
            self.op(op, &bound)
        };
        Ok([part(Part::Real)?, part(Part::Imaginary)?])
    }

    /// The arguments of a sum or product with the tensor in the dtype that is asked for; a real one stays asked for.
    fn in_dtype(&mut self, bound: &Bound) -> Result<Bound, DefineError> {
        let arg = bound.tensor("arg")?;
        let dtype = bound.dtype("dtype").unwrap_or(self.graph.dtype(arg.val));
        let val = self.cast(arg.val, dtype)?;
        let objects = bound.objects().iter().enumerate().map(|(slot, object)| match bound.name(slot) {
            "arg" => Object::Value(NamedValue { val, ..arg }),
            "dtype" if dtype.is_complex() => Object::None,
            _ => object.clone(),
        });
        Ok(bound.with_objects(objects.collect()))
    }

    /// A complex number goes into complex tensors only, and tensors that are joined are all complex or all real.
    fn check_holds(&self, bound: &Bound) -> Result<(), DefineError> {
        let is_complex = |object: &Object| self.complex_dtype(object).is_some();
        let mut slots = (0..bound.objects().len()).filter(|&slot| is_complex(&bound.objects()[slot]));
        let first = slots.next().unwrap_or(0);
        // What the result is made of, rather than a number that is put into it.
        let slot = std::iter::once(first).chain(slots).find(|&slot| bound.kind(slot) != ParamKind::Scalar);
        let slot = slot.unwrap_or(first);
        if bound.name(slot) == "src" {
            let expected = "a tensor of real numbers, as the one that it goes into is real";
            return Err(bound.reject("src", expected));
        }
        let mixed = |object: &Object| {
            let items = object.as_list().unwrap_or_default();
            items.iter().any(is_complex) && !items.iter().all(is_complex)
        };
        match bound.kind(slot) {
            ParamKind::Scalar => Err(self
                .reject("a real number, as the tensor is real", "a complex one")
                .argument(bound.name(slot))
                .at(bound.span(slot))),
            ParamKind::Tensors if mixed(&bound.objects()[slot]) => {
                Err(self.reject("tensors of one dtype", "complex and real ones").at(bound.span(slot)))
            }
            _ => Ok(()),
        }
    }

    /// The arguments with one part of each complex thing; of real numbers beside complex tensors, zero.
    fn part_of_arguments(&mut self, bound: &Bound, part: Part) -> Result<Bound, DefineError> {
        let mut objects = Vec::with_capacity(bound.objects().len());
        for (slot, object) in bound.objects().iter().enumerate() {
            let is_number = matches!(bound.name(slot), "value" | "fill_value" | "init" | "src");
            objects.push(self.part_of(object, part, is_number)?);
        }
        Ok(bound.with_objects(objects))
    }

    fn part_of(&mut self, object: &Object, part: Part, is_number: bool) -> Result<Object, DefineError> {
        let drops = is_number && part == Part::Imaginary;
        Ok(match object {
            Object::DType(dtype) => Object::DType(dtype.real()),
            Object::Number(scalar) if scalar.dtype().is_complex() => Object::Number(match part {
                Part::Real => scalar.real(),
                Part::Imaginary => scalar.imag(),
            }),
            Object::Value(value) if self.graph.dtype(value.val).is_complex() => {
                let parts = self.whole_parts(value.val)?;
                Object::Value(NamedValue { val: parts[part as usize], ..*value })
            }
            Object::Number(scalar) if drops => Object::Number(Scalar::zero(scalar.dtype())),
            Object::Value(_) if drops => Object::int(0),
            Object::List(items) => {
                let items = items.iter().map(|item| self.part_of(item, part, false));
                Object::list(items.collect::<Result<Vec<Object>, DefineError>>()?)
            }
            other => other.clone(),
        })
    }
}
