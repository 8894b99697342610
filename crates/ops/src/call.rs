//! Calls of ops as the definition language writes them: finding an op by name, and arguments for its parameters.
//!
//! Uses names and counts only; the caller checks the arguments and their [`ParamKind`].
//!
//! [`ParamKind`]: super::ParamKind

use std::cmp::Reverse;

use smallvec::SmallVec;

use super::param::{Param, ParamDefault};
use super::{Composite, LanguageOp, ScalarOp};

/// An op of the definition language, of any of the three tables.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum OpRef {
    /// A primitive scalar op.
    Primitive(ScalarOp),
    /// A composite scalar op.
    Composite(Composite),
    /// Any other op.
    Language(LanguageOp),
}

/// No op has this name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown op `{name}`{}", suggestion(*.did_you_mean))]
pub struct UnknownOp {
    pub name: String,
    /// The op with the nearest name, if one is near.
    pub did_you_mean: Option<&'static str>,
}

/// The source of a parameter's argument in a call.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Slot {
    /// The positional argument of this number.
    Positional(usize),
    /// The keyword argument of this number.
    Keyword(usize),
    /// Its default.
    Default,
}

/// Why arguments do not fit an op's parameters.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BindError {
    /// More positional arguments than parameters.
    #[error("`{op}` takes at most {most} argument(s), {given} given")]
    TooMany {
        op: &'static str,
        /// How many parameters it has.
        most: usize,
        /// How many positional arguments came.
        given: usize,
    },
    /// A keyword that is no parameter.
    #[error("`{op}` has no parameter `{keyword}`{}", suggestion(*.did_you_mean))]
    UnknownKeyword {
        op: &'static str,
        keyword: String,
        /// The parameter with the nearest name, if one is near.
        did_you_mean: Option<&'static str>,
    },
    /// Two arguments for one parameter.
    #[error("`{op}`: `{param}` is given twice")]
    GivenTwice { op: &'static str, param: &'static str },
    /// No argument for a parameter without default.
    #[error("`{op}` needs `{param}`")]
    Missing { op: &'static str, param: &'static str },
}

/// The op called `name`.
///
/// # Errors
/// [`UnknownOp`], with the nearest name, if there is none.
pub fn lookup(name: &str) -> Result<OpRef, UnknownOp> {
    let unknown =
        || UnknownOp { name: name.to_owned(), did_you_mean: nearest(name, OpRef::all().map(OpRef::name)) };
    OpRef::all().find(|op| op.name() == name).ok_or_else(unknown)
}

/// For each parameter of `op`, in order, where its argument comes from, in a call of `positional` arguments without and then
/// `keywords` with a name.
///
/// # Errors
/// [`BindError`] at the first argument that does not fit.
pub fn bind(op: OpRef, positional: usize, keywords: &[&str]) -> Result<SmallVec<[Slot; 4]>, BindError> {
    bind_params(op.name(), &op.params(), positional, keywords)
}

/// The same for parameters that belong to no op of the tables, such as those of a declaration.
///
/// # Errors
/// As [`bind`].
pub fn bind_params(
    op: &'static str,
    params: &[Param],
    positional: usize,
    keywords: &[&str],
) -> Result<SmallVec<[Slot; 4]>, BindError> {
    if positional > params.len() {
        return Err(BindError::TooMany { op, most: params.len(), given: positional });
    }
    let mut slots: SmallVec<[Option<Slot>; 4]> =
        (0..params.len()).map(|place| (place < positional).then_some(Slot::Positional(place))).collect();
    for (number, keyword) in keywords.iter().enumerate() {
        let Some(place) = params.iter().position(|param| param.is_called(keyword)) else {
            let names = params.iter().map(|param| param.name);
            return Err(BindError::UnknownKeyword {
                op,
                keyword: (*keyword).to_owned(),
                did_you_mean: synonym(keyword, names.clone()).or_else(|| nearest(keyword, names)),
            });
        };
        if slots[place].replace(Slot::Keyword(number)).is_some() {
            return Err(BindError::GivenTwice { op, param: params[place].name });
        }
    }
    let filled = slots.iter().zip(params).map(|(slot, param)| match (slot, param.default) {
        (None, ParamDefault::Required) => Err(BindError::Missing { op, param: param.name }),
        (slot, _) => Ok(slot.unwrap_or(Slot::Default)),
    });
    filled.collect()
}

impl OpRef {
    /// Every op of the language: primitives, composites, tensor ops, each in table order. Cheaper forms of primitives, which
    /// only the compiler uses, are not among them.
    pub fn all() -> impl Iterator<Item = OpRef> {
        let scalar_ops = ScalarOp::ALL
            .iter()
            .copied()
            .filter(|scalar_op| scalar_op.in_language() == [*scalar_op])
            .map(OpRef::Primitive);
        let composites = Composite::all().map(OpRef::Composite);
        let forms = LanguageOp::ALL.iter().copied().map(OpRef::Language);
        scalar_ops.chain(composites).chain(forms)
    }

    /// Its name in the definition language.
    pub fn name(self) -> &'static str {
        match self {
            OpRef::Primitive(scalar_op) => scalar_op.name(),
            OpRef::Composite(composite) => composite.name(),
            OpRef::Language(language_op) => language_op.name(),
        }
    }

    /// What it does, in a sentence or two.
    pub fn doc(self) -> &'static str {
        match self {
            OpRef::Primitive(scalar_op) => scalar_op.row().doc,
            OpRef::Composite(composite) => composite.row().doc,
            OpRef::Language(language_op) => language_op.row().doc,
        }
    }

    /// Its parameters, in positional order.
    pub fn params(self) -> SmallVec<[Param; 4]> {
        match self {
            OpRef::Primitive(scalar_op) => {
                scalar_op.row().params.iter().copied().map(Param::operand).collect()
            }
            OpRef::Composite(composite) => SmallVec::from_slice(composite.row().params),
            OpRef::Language(language_op) => SmallVec::from_slice(language_op.row().params),
        }
    }
}

fn suggestion(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// NumPy's names for parameters, with ours.
const SYNONYMS: [(&str, &[&str]); 6] = [
    ("axis", &["dims", "dim"]),
    ("axes", &["dims", "dim"]),
    ("keepdims", &["keepdim"]),
    ("ddof", &["correction"]),
    ("shape", &["new_shape"]),
    ("astype", &["dtype"]),
];

/// The candidate that has this name in NumPy.
fn synonym(name: &str, mut candidates: impl Iterator<Item = &'static str> + Clone) -> Option<&'static str> {
    let (_, known) = SYNONYMS.iter().find(|(numpys, _)| *numpys == name)?;
    candidates.find(|candidate| known.contains(candidate))
}

/// The candidate with the smallest edit distance, if it is at most a third of the name's length, rounded up. Of several, the
/// one with the longest common prefix.
fn nearest(name: &str, candidates: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let reach = name.chars().count().div_ceil(3);
    let alike = |candidate: &str| name.chars().zip(candidate.chars()).take_while(|(a, b)| a == b).count();
    let rank = |candidate| (edit_distance(name, candidate), Reverse(alike(candidate)), candidate);
    let (distance, _, candidate) = candidates.map(rank).min()?;
    (distance <= reach).then_some(candidate)
}

/// The smallest number of characters to insert, drop or change (Levenshtein), by one row of the table at a time.
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &b) in to.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(name: &str, positional: usize, keywords: &[&str]) -> Result<Vec<Slot>, String> {
        let op = lookup(name).map_err(|error| error.to_string())?;
        bind(op, positional, keywords).map(|slots| slots.to_vec()).map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_find_their_parameters() {
        use Slot::{Default, Keyword, Positional};
        assert_eq!(bound("add", 2, &[]), Ok(vec![Positional(0), Positional(1)]));
        assert_eq!(
            bound("sum", 1, &["dtype", "dim"]),
            Ok(vec![Positional(0), Keyword(1), Default, Keyword(0)])
        );
        assert_eq!(bound("clamp", 1, &["max"]), Ok(vec![Positional(0), Default, Keyword(0)]));
    }

    #[test]
    fn misfits_say_what_is_wrong() {
        let text = |name, positional, keywords: &[&str]| bound(name, positional, keywords).unwrap_err();
        assert_eq!(text("exp", 2, &[]), "`exp` takes at most 1 argument(s), 2 given");
        assert_eq!(text("sum", 1, &["dimz"]), "`sum` has no parameter `dimz`; did you mean `dims`?");
        assert_eq!(text("sum", 1, &["banana"]), "`sum` has no parameter `banana`");
        assert_eq!(text("sum", 2, &["dims"]), "`sum`: `dims` is given twice");
        assert_eq!(text("sum", 1, &["dim", "dims"]), "`sum`: `dims` is given twice");
        assert_eq!(text("cast", 1, &[]), "`cast` needs `dtype`");
        assert_eq!(text("sum", 1, &["axis"]), "`sum` has no parameter `axis`; did you mean `dims`?");
    }

    #[test]
    fn near_names_are_suggested() {
        let suggested = |name| lookup(name).unwrap_err().did_you_mean;
        assert_eq!(suggested("brodcast"), Some("broadcast"));
        assert_eq!(suggested("sigmoyd"), Some("sigmoid"));
        assert_eq!(suggested("expp"), Some("exp"));
        assert_eq!(suggested("mull"), Some("mul"));
        assert_eq!(suggested("quantize_everything"), None);
        assert_eq!(lookup("").unwrap_err().to_string(), "unknown op ``");
    }

    #[test]
    fn edit_distances() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("abc", "abc"), 0);
    }
}
