//! The options of the command line for inputs: `--input`, `--size`, `--seed`.

use std::path::{Path, PathBuf};

use clap::Args;
use index::{integer, real};
use ops::{DType, Scalar};

use crate::failure::Failure;
use crate::number::number;

/// Where the data of inputs comes from.
#[derive(Args, Clone, Debug, Default)]
pub struct Request {
    /// The value of a symbolic size, as in `i0=4096`
    #[arg(long = "size", value_name = "SYMBOL=N", value_parser = size)]
    pub sizes: Vec<(String, i64)>,
    /// The data of an input: T0=x.npy (or .npz, .safetensors), S1=0.5, or x.npz with all by name
    #[arg(long = "input", value_name = "NAME=FILE", value_parser = source)]
    pub inputs: Vec<Source>,
    /// Seed of data that is drawn, and of the random numbers of the program
    #[arg(long, value_parser = number::<u64>, allow_negative_numbers = true, default_value_t = 0)]
    pub seed: u64,
}

/// One `--input`.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A file for one input.
    File(String, PathBuf),
    /// A number for one scalar input, with Python's dtype for it.
    Number(String, Scalar),
    /// A file of arrays with the names of inputs.
    Archive(PathBuf),
}

impl Request {
    /// Whether it has sizes or data.
    pub fn says_sizes(&self) -> bool {
        !self.sizes.is_empty() || !self.inputs.is_empty()
    }

    /// The first option that was given, seeds aside.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [("--size", !self.sizes.is_empty()), ("--input", !self.inputs.is_empty())];
        given.into_iter().find_map(|(option, given)| given.then_some(option))
    }

    /// The source of one input, files of several aside.
    pub fn of(&self, name: &str) -> Option<&Source> {
        self.inputs.iter().find(|source| source.name() == Some(name))
    }

    /// All files that are read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.inputs.iter().filter_map(|source| match source {
            Source::File(_, path) | Source::Archive(path) => Some(path.as_path()),
            Source::Number(..) => None,
        })
    }

    /// The files of arrays by name.
    pub fn archives(&self) -> impl Iterator<Item = &PathBuf> {
        self.inputs.iter().filter_map(|source| match source {
            Source::Archive(path) => Some(path),
            _ => None,
        })
    }
}

impl Source {
    /// The input that it is for, if it is for one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Source::File(name, _) | Source::Number(name, _) => Some(name),
            Source::Archive(_) => None,
        }
    }
}

/// Rejects an option that is given twice for one name.
///
/// # Errors
/// The user's, with the name.
pub fn check_once<'n>(option: &str, names: impl Iterator<Item = &'n str>) -> Result<(), Failure> {
    let mut given = Vec::new();
    for name in names {
        if given.contains(&name) {
            return Err(Failure::user(format!("{option}: `{name}` is given twice")));
        }
        given.push(name);
    }
    Ok(())
}

/// Reads `SYMBOL=N`; a size is not negative.
pub fn size(text: &str) -> Result<(String, i64), String> {
    let (name, size) = text.split_once('=').ok_or("expected SYMBOL=N, as in i0=4096")?;
    let size: i64 = integer(size).ok_or_else(|| format!("`{size}` is no size"))?;
    if size < 0 { Err(format!("a size is not negative, as {size} is")) } else { Ok((name.to_owned(), size)) }
}

fn source(text: &str) -> Result<Source, String> {
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let Some((name, value)) = text.split_once('=').filter(|(name, _)| is_name(name)) else {
        return match text.ends_with(".npz") || text.ends_with(".safetensors") {
            true => Ok(Source::Archive(text.into())),
            false => Err("expected NAME=FILE, or a file that ends in .npz or .safetensors".to_owned()),
        };
    };
    let name = name.to_owned();
    match scalar(value) {
        Some(number) => Ok(Source::Number(name, number)),
        None if is_misspelt(value) => {
            Err(format!("`{value}` is not a number, as in 8 or 0.5; a file of that name is ./{value}"))
        }
        None => Ok(Source::File(name, value.into())),
    }
}

/// The number in a word: `8`, `0.5`, `True` or `1+2j`.
fn scalar(word: &str) -> Option<Scalar> {
    let signed = || integer(word).map(|value| Scalar::from_i64(DType::I64, value));
    let unsigned = || integer(word).map(|value| Scalar::from_u64(DType::U64, value));
    // No float stands for an integer beyond 64 bits.
    let is_integer = !word.contains(|letter: char| !letter.is_ascii_digit() && letter != '-');
    let float = || real(word).filter(|_| !is_integer).map(|value| Scalar::from_f64(DType::F64, value));
    match word {
        "True" | "False" => Some(Scalar::from_bool(word == "True")),
        _ => signed().or_else(unsigned).or_else(float).or_else(|| complex(word)),
    }
}

/// Two parts, or the imaginary one alone.
fn complex(word: &str) -> Option<Scalar> {
    let parts = word.strip_suffix(['j', 'J'])?;
    // A sign that begins the imaginary part is none of an exponent.
    let signs = parts.char_indices().filter(|&(at, sign)| "+-".contains(sign) && at > 0);
    let middle = signs.map(|(at, _)| at).rfind(|&at| !parts[..at].ends_with(['e', 'E']));
    let (re, im) = parts.split_at(middle.unwrap_or(0));
    let im = real(im.strip_prefix('+').unwrap_or(im))?;
    let re = if re.is_empty() { 0.0 } else { real(re)? };
    Some(Scalar::complex(DType::C128, re, im))
}

/// Whether a word looks like a number without being one, such as `0777`, `+7` and `1_0`.
fn is_misspelt(word: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_digit() || "+-._eE".contains(letter);
    word.trim_start_matches(['-', '+']).starts_with(|first: char| first.is_ascii_digit())
        && word.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_command_line() {
        assert_eq!(size("i0=4096"), Ok(("i0".to_owned(), 4096)));
        for number in ["0777", "1__0", "1_0", "+7", "00", ""] {
            assert!(size(&format!("i0={number}")).is_err(), "{number}");
        }
        for number in ["0777", "1__0", "1_0", "+7", "00", "+7.5", "1e5_0"] {
            assert!(source(&format!("S1={number}")).is_err(), "{number}");
        }
        assert_eq!(source("S1=./0777"), Ok(Source::File("S1".to_owned(), "./0777".into())));
        assert!(size("i0").is_err() && size("i0=x").is_err() && size("i0=-1").is_err());
        assert_eq!(source("T0=a=b.npy"), Ok(Source::File("T0".to_owned(), "a=b.npy".into())));
        assert_eq!(source("S1=-3"), Ok(Source::Number("S1".to_owned(), Scalar::from_i64(DType::I64, -3))));
        assert_eq!(
            source("S1=1e-5"),
            Ok(Source::Number("S1".to_owned(), Scalar::from_f64(DType::F64, 1e-5)))
        );
        let spelled = |word: &str| scalar(word).map(|scalar| format!("{scalar} : {}", scalar.dtype()));
        for (word, scalar) in [
            ("18446744073709551615", "18446744073709551615 : u64"),
            ("True", "True : bool"),
            ("1+2j", "1.0+2.0j : c128"),
            ("-1e-3-2.5j", "-0.001-2.5j : c128"),
            ("-2e+1j", "0.0-20.0j : c128"),
        ] {
            assert_eq!(spelled(word).as_deref(), Some(scalar));
        }
        let beyond = ["18446744073709551616", "-9223372036854775809"];
        assert!(beyond.iter().all(|word| source(&format!("S1={word}")).is_err()));
        assert!(["true", "j", "1+j", "x+2j", "1+2"].iter().all(|word| scalar(word).is_none()));
        assert_eq!(source("dir/a=b.npz"), Ok(Source::Archive("dir/a=b.npz".into())));
        assert!(source("x.npy").is_err());
    }
}
