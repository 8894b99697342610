//! The `.safetensors` format: a header in JSON, then the elements of all tensors, little-endian and row-major.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use ir::array::{Array, ArrayView, StridedArray};
use ops::DType;
use safetensors::tensor::{Dtype, TensorInfo};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::error::Problem;
use super::{Wanted, byte_count, normalize, write_elements};

/// The limit on the header, which takes some 100 bytes a tensor.
const LONGEST_HEADER: u64 = 16 << 20;
const SUPPORTED: &str = "BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F8_E8M0, F8_E4M3, F8_E5M2, F16, BF16, F32, F64, C64; complex128 comes in .npy";

/// Reads one tensor of a file.
pub(super) fn read(mut file: File, wanted: Wanted<'_>) -> Result<StridedArray, Problem> {
    let (tensors, elements) = read_header(&mut file)?;
    let names: Vec<&str> = tensors.keys().map(String::as_str).collect();
    let info = &tensors[wanted.choose(&names)?];
    let info = TensorInfo::deserialize(info).map_err(malformed)?;
    let dtype = dtype_of(info.dtype)?;
    let bytes = byte_count(dtype, &info.shape)?;
    let (start, end) = info.data_offsets;
    if end.checked_sub(start) != Some(bytes) {
        let message = format!("a tensor of {bytes} bytes is said to lie from {start} to {end}");
        return Err(not_safetensors(&message));
    }
    let length = file.metadata()?.len().saturating_sub(elements);
    if length < end as u64 {
        return Err(Problem::Malformed("truncated: it ends within its elements".to_owned()));
    }
    check_places(&tensors, length)?;
    let mut storage = Array::zeros(dtype, &info.shape).map_err(|_| Problem::Memory { bytes })?;
    file.seek(SeekFrom::Start(elements + start as u64))?;
    file.read_exact(storage.as_mut_bytes())?;
    normalize(&mut storage);
    Ok(storage.into())
}

/// The names of the tensors of a file.
pub(super) fn names(mut file: File) -> Result<Vec<String>, Problem> {
    Ok(read_header(&mut file)?.0.keys().cloned().collect())
}

/// The entries of the header, and the offset of the elements.
fn read_header(file: &mut File) -> Result<(Map<String, Value>, u64), Problem> {
    let mut length = Vec::new();
    Read::take(&mut *file, 8).read_to_end(&mut length)?;
    let length = length[..].try_into().map_err(|_| not_safetensors("it has less than 8 bytes"))?;
    let length = u64::from_le_bytes(length);
    if length > LONGEST_HEADER {
        let message = format!("the header is {length} bytes long, more than {LONGEST_HEADER}");
        return Err(not_safetensors(&message));
    }
    let mut text = Vec::new();
    Read::take(&mut *file, length).read_to_end(&mut text)?;
    if (text.len() as u64) < length {
        return Err(Problem::Malformed("truncated: it ends within its header".to_owned()));
    }
    let Header(mut tensors) = serde_json::from_slice(&text).map_err(malformed)?;
    tensors.remove("__metadata__");
    Ok((tensors, 8 + length))
}

/// The entries of a header, none twice.
struct Header(Map<String, Value>);

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Header, D::Error> {
        deserializer.deserialize_map(EntryVisitor).map(Header)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a header, which is an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Map<String, Value>, A::Error> {
        let mut tensors = Map::new();
        while let Some((name, info)) = entries.next_entry::<String, Value>()? {
            if tensors.contains_key(&name) {
                return Err(A::Error::custom(format!("`{name}` is there twice")));
            }
            tensors.insert(name, info);
        }
        Ok(tensors)
    }
}

/// The range of a tensor among the elements.
#[derive(Deserialize)]
struct Places {
    data_offsets: (u64, u64),
}

/// The format requires tensors to be contiguous, from the first byte of the elements to the last.
fn check_places(tensors: &Map<String, Value>, length: u64) -> Result<(), Problem> {
    let place = |(name, info): (&String, &Value)| -> Result<((u64, u64), String), Problem> {
        Ok((Places::deserialize(info).map_err(malformed)?.data_offsets, name.clone()))
    };
    let mut places: Vec<((u64, u64), String)> = tensors.iter().map(place).collect::<Result<_, _>>()?;
    places.sort();
    let mut end = 0;
    for ((start, after), name) in places {
        if start != end || after < start {
            let message =
                format!("tensor {name} lies from {start} to {after}, where one before it ends at {end}");
            return Err(not_safetensors(&message));
        }
        end = after;
    }
    match length.checked_sub(end) {
        Some(0) => Ok(()),
        Some(more) => Err(not_safetensors(&format!("{more} bytes come after the last tensor"))),
        None => Err(Problem::Malformed("truncated: it ends within its elements".to_owned())),
    }
}

fn not_safetensors(reason: &str) -> Problem {
    Problem::Malformed(format!("not a .safetensors file: {reason}"))
}

fn malformed(error: serde_json::Error) -> Problem {
    not_safetensors(&error.to_string())
}

/// The names that the format has for our dtypes.
const DTYPES: [(DType, Dtype, &str); DType::ALL.len() - 1] = [
    (DType::Bool, Dtype::BOOL, "BOOL"),
    (DType::I8, Dtype::I8, "I8"),
    (DType::I16, Dtype::I16, "I16"),
    (DType::I32, Dtype::I32, "I32"),
    (DType::I64, Dtype::I64, "I64"),
    (DType::U8, Dtype::U8, "U8"),
    (DType::U16, Dtype::U16, "U16"),
    (DType::U32, Dtype::U32, "U32"),
    (DType::U64, Dtype::U64, "U64"),
    (DType::F8E8M0, Dtype::F8_E8M0, "F8_E8M0"),
    (DType::F8E4M3, Dtype::F8_E4M3, "F8_E4M3"),
    (DType::F8E5M2, Dtype::F8_E5M2, "F8_E5M2"),
    (DType::F16, Dtype::F16, "F16"),
    (DType::BF16, Dtype::BF16, "BF16"),
    (DType::F32, Dtype::F32, "F32"),
    (DType::F64, Dtype::F64, "F64"),
    (DType::C64, Dtype::C64, "C64"),
];

fn dtype_of(theirs: Dtype) -> Result<DType, Problem> {
    let row = DTYPES.iter().find(|(_, dtype, _)| *dtype == theirs);
    row.map(|row| row.0).ok_or_else(|| Problem::Dtype { found: format!("{theirs:?}"), supported: SUPPORTED })
}

/// Writes named arrays as one `.safetensors`, one after the other in the order given.
///
/// # Errors
/// When they cannot be written.
pub fn write(out: &mut dyn Write, arrays: &[(String, ArrayView<'_>)]) -> Result<(), Problem> {
    let mut header = Map::new();
    let mut place = 0;
    for (name, view) in arrays {
        let end = place + view.numel() * view.dtype().size();
        let row = DTYPES.iter().find(|(dtype, ..)| *dtype == view.dtype());
        let found = || view.dtype().numpy_name().to_owned();
        let dtype = row.ok_or_else(|| Problem::Dtype { found: found(), supported: SUPPORTED })?.2;
        let entry =
            serde_json::json!({ "dtype": dtype, "shape": view.sizes(), "data_offsets": [place, end] });
        header.insert(name.clone(), entry);
        place = end;
    }
    let mut text = Value::Object(header).to_string();
    // The elements begin at a multiple of 8 bytes.
    text += &" ".repeat(text.len().next_multiple_of(8) - text.len());
    out.write_all(&(text.len() as u64).to_le_bytes())?;
    out.write_all(text.as_bytes())?;
    arrays.iter().try_for_each(|(_, view)| write_elements(out, view))
}
