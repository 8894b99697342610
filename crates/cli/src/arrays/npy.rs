//! NumPy's `.npy` format (NEP 1, versions 1 to 3): a magic word, a header that is a Python dictionary, the elements.
//!
//! The header is read by hand rather than by a crate: no size, nesting or number that a file can hold may end the process.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};

use index::integer;
use ir::array::{Array, ArrayView, Dims, Layout, StridedArray, Strides};
use ops::DType;

use super::error::Problem;
use super::{byte_count, normalize, write_elements};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The limit on the header, which NumPy has too; headers of our dtypes take some 128 bytes.
const LONGEST_HEADER: u64 = 10_000;
/// The limit on axes of an array, as in NumPy.
const MAX_RANK: usize = 64;
const SUPPORTED: &str = "bool, integers, float16, float32, float64, complex64, complex128; bfloat16 and float8 come in .safetensors";

/// The contents of the header.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    dtype: DType,
    big_endian: bool,
    column_major: bool,
    sizes: Vec<usize>,
}

/// Reads a file of one array.
pub(super) fn read_file(file: &mut File) -> Result<StridedArray, Problem> {
    let length = file.metadata()?.len();
    let array = read(file, length)?;
    match file.read(&mut [0])? {
        0 => Ok(array),
        _ => Err(Problem::Malformed("there are bytes after the last element".to_owned())),
    }
}

/// Reads an array from a stream of `length` bytes.
pub(super) fn read(stream: &mut impl Read, length: u64) -> Result<StridedArray, Problem> {
    let (text, before) = header_text(stream)?;
    let header = parse(&text)?;
    let bytes = byte_count(header.dtype, &header.sizes)?;
    let there = length.saturating_sub(before);
    if there < bytes as u64 {
        let message = format!("truncated: {bytes} bytes of elements are announced, {there} are there");
        return Err(Problem::Malformed(message));
    }
    let mut storage = Array::zeros(header.dtype, &header.sizes).map_err(|_| Problem::Memory { bytes })?;
    stream.read_exact(storage.as_mut_bytes()).map_err(truncated)?;
    if header.big_endian {
        storage.as_mut_bytes().chunks_exact_mut(header.dtype.real().size()).for_each(<[u8]>::reverse);
    }
    normalize(&mut storage);
    Ok(header.lay_out(storage))
}

/// The text of the header, and the number of bytes before the elements.
fn header_text(stream: &mut impl Read) -> Result<(String, u64), Problem> {
    let mut start = [0; 8];
    let not_npy = || Problem::Malformed("not a .npy file: the magic word is missing".to_owned());
    stream.read_exact(&mut start).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => not_npy(),
        _ => Problem::System(error),
    })?;
    let (magic, version) = start.split_at(6);
    if magic != MAGIC {
        return Err(not_npy());
    }
    let width = match version[0] {
        1 => 2,
        2 | 3 => 4,
        other => return Err(Problem::Malformed(format!("version {other} of the .npy format is unknown"))),
    };
    let mut length = [0; 4];
    stream.read_exact(&mut length[..width]).map_err(truncated)?;
    let length = u64::from(u32::from_le_bytes(length));
    if length > LONGEST_HEADER {
        let message = format!("the header is {length} bytes long, more than {LONGEST_HEADER}");
        return Err(Problem::Malformed(message));
    }
    let mut text = vec![0; length as usize];
    stream.read_exact(&mut text).map_err(truncated)?;
    let text = String::from_utf8(text).map_err(|_| wrong_header("it is not text"))?;
    Ok((text, 8 + width as u64 + length))
}

fn truncated(error: std::io::Error) -> Problem {
    match error.kind() {
        ErrorKind::UnexpectedEof => Problem::Malformed("truncated".to_owned()),
        _ => Problem::System(error),
    }
}

fn wrong_header(what: &str) -> Problem {
    Problem::Malformed(format!("the header is malformed: {what}"))
}

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`, the keys in any order.
fn parse(text: &str) -> Result<Header, Problem> {
    let body = text.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let mut rest = body.ok_or_else(|| wrong_header("it is not a dictionary"))?.trim();
    let (mut descr, mut order, mut sizes) = (None, None, None);
    while !rest.is_empty() {
        let (key, after) = quoted(rest).ok_or_else(|| wrong_header("expected a key"))?;
        let after = after.trim_start().strip_prefix(':').ok_or_else(|| wrong_header("expected `:`"))?;
        let end = value_end(after);
        let (value, after) = (after[..end].trim(), &after[end..]);
        match key {
            "descr" => descr = Some(value),
            "fortran_order" => order = Some(value),
            "shape" => sizes = Some(value),
            _ => return Err(wrong_header("unknown key")),
        }
        rest = after.strip_prefix(',').unwrap_or(after).trim_start();
    }
    let missing = || wrong_header("one of descr, fortran_order and shape is missing");
    let (dtype, big_endian) = parse_descr(descr.ok_or_else(missing)?)?;
    let column_major = match order.ok_or_else(missing)? {
        "True" => true,
        "False" => false,
        _ => return Err(wrong_header("fortran_order is neither True nor False")),
    };
    let sizes = parse_sizes(sizes.ok_or_else(missing)?)?;
    Ok(Header { dtype, big_endian, column_major, sizes })
}

/// The end of a value: the first comma outside of brackets and quotes.
fn value_end(text: &str) -> usize {
    let (mut depth, mut quote) = (0_i32, None);
    for (place, letter) in text.char_indices() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => {}
            ('\'' | '"', None) => quote = Some(letter),
            ('(' | '[', None) => depth += 1,
            (')' | ']', None) => depth -= 1,
            (',', None) if depth <= 0 => return place,
            _ => {}
        }
    }
    text.len()
}

/// A quoted word, and the text after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|letter| matches!(letter, '\'' | '"'))?;
    text[1..].split_once(quote)
}

/// A type string such as `'<f4'`: its dtype, and whether its bytes are in big-endian order.
fn parse_descr(value: &str) -> Result<(DType, bool), Problem> {
    let unsupported = || Problem::Dtype { found: shortened(value), supported: SUPPORTED };
    let (name, _) = quoted(value).filter(|(_, after)| after.is_empty()).ok_or_else(unsupported)?;
    let (order, kind) = name.split_at_checked(1).ok_or_else(unsupported)?;
    let is_ours = |dtype: &DType| dtype.typestr().is_some_and(|own| &own[1..] == kind);
    let dtype = DType::ALL.into_iter().find(is_ours).ok_or_else(unsupported)?;
    match order {
        "<" | "|" | "=" => Ok((dtype, false)),
        ">" => Ok((dtype, true)),
        _ => Err(unsupported()),
    }
}

/// A text shortened for a message.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn parse_sizes(value: &str) -> Result<Vec<usize>, Problem> {
    let inside = value.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let inside = inside.ok_or_else(|| wrong_header("the shape is not a tuple"))?.trim();
    if inside.is_empty() {
        return Ok(Vec::new());
    }
    // Without a comma it is a number in parentheses, not a tuple.
    let sizes = inside.strip_suffix(',').or_else(|| inside.contains(',').then_some(inside));
    let sizes = sizes.ok_or_else(|| wrong_header("the shape is not a tuple"))?;
    let size = |text: &str| {
        let text = text.trim();
        let size = integer::<usize>(text.strip_suffix('L').unwrap_or(text));
        size.filter(|&size| size <= i64::MAX as usize)
            .ok_or_else(|| wrong_header("the shape holds something that is no size"))
    };
    let sizes: Vec<usize> = sizes.split(',').map(size).collect::<Result<_, _>>()?;
    if sizes.len() > MAX_RANK {
        return Err(wrong_header("the shape has more than 64 axes"));
    }
    Ok(sizes)
}

impl Header {
    /// The elements in the order of the header.
    fn lay_out(&self, storage: Array) -> StridedArray {
        if !self.column_major || storage.numel() == 0 {
            return storage.into();
        }
        let mut step = 1;
        let strides: Strides = self
            .sizes
            .iter()
            .map(|&size| {
                let stride = step;
                step *= size as isize;
                stride
            })
            .collect();
        let layout = Layout { offset: 0, sizes: Dims::from_slice(&self.sizes), strides };
        StridedArray::new(storage, layout).expect("column-major order reaches the same elements")
    }
}

/// Writes one array as `.npy`: in row-major order, as version 1.
///
/// # Errors
/// When it cannot be written, or the dtype is one that NumPy lacks.
pub fn write(out: &mut dyn Write, view: &ArrayView<'_>) -> Result<(), Problem> {
    let lacking = || Problem::Dtype { found: view.dtype().numpy_name().to_owned(), supported: SUPPORTED };
    let kind = view.dtype().typestr().ok_or_else(lacking)?;
    let sizes: String = view.sizes().iter().map(|size| format!("{size}, ")).collect();
    let sizes = if view.sizes().len() == 1 { sizes.trim_end() } else { sizes.trim_end_matches(", ") };
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // The elements begin at a multiple of 64 bytes, and the header ends with a new line.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text += &" ".repeat(length - text.len() - 1);
    text.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(length as u16).to_le_bytes())?;
    out.write_all(text.as_bytes())?;
    write_elements(out, view)
}
