//! Arrays are the same after a round trip through a file; malformed files of every kind are errors that name the file, never
//! panics.

use std::fs;
use std::path::{Path, PathBuf};

use ir::array::Array;
use ops::{DType, Scalar};
use tempfile::TempDir;

use super::*;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

/// An array with elements of either sign.
fn sample(dtype: DType, sizes: &[usize]) -> Array {
    let mut array = Array::zeros(dtype, sizes).expect("small");
    let size = dtype.size();
    for (k, element) in array.as_mut_bytes().chunks_exact_mut(size).enumerate() {
        let scalar = Scalar::from_f64(dtype, (k as f64 - 3.0) * 0.75);
        element.copy_from_slice(&scalar.bits().to_le_bytes()[..size]);
    }
    array
}

fn write_as(path: &Path, array: &Array) {
    let mut file = fs::File::create(path).unwrap();
    match ending(path) {
        "npy" => write_npy(&mut file, &array.view()).unwrap(),
        _ => write_safetensors(&mut file, &[("T0".to_owned(), array.view())]).unwrap(),
    }
}

#[test]
fn arrays_survive_a_file() {
    let folder = folder();
    for sizes in [&[][..], &[7], &[3, 0], &[2, 3, 5]] {
        for dtype in DType::REAL {
            for name in ["a.npy", "a.safetensors"] {
                if !npy_knows(dtype) && name == "a.npy" {
                    continue;
                }
                let (path, array) = (folder.path().join(name), sample(dtype, sizes));
                write_as(&path, &array);
                let read = super::read(&path, Wanted::NameOrSole("T0")).unwrap().view().to_array().unwrap();
                assert_eq!((read.dtype(), read.sizes()), (dtype, sizes), "{name}");
                assert_eq!(read.as_bytes(), array.as_bytes(), "{name} {dtype} {sizes:?}");
            }
        }
    }
}

/// A `.npy` file with this header.
fn npy(header: &str, elements: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(elements);
    bytes
}

fn read_bytes(folder: &TempDir, name: &str, bytes: &[u8]) -> Result<StridedArray, String> {
    let path: PathBuf = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    super::read(&path, Wanted::NameOrSole("T0")).map_err(|error| {
        let text = error.to_string();
        assert!(text.starts_with(&path.display().to_string()), "{text} does not name the file");
        assert!(!error.problem.is_of_machine() || text.contains("memory"), "{text}");
        text[path.display().to_string().len() + 2..].to_owned()
    })
}

#[test]
fn column_major_order_and_foreign_bytes_are_understood() {
    let folder = folder();
    let elements: Vec<u8> = (0..6).flat_map(|k: i32| k.to_be_bytes()).collect();
    let header = "{'descr': '>i4', 'fortran_order': True, 'shape': (2, 3), }\n";
    let array = read_bytes(&folder, "a.npy", &npy(header, &elements)).unwrap();
    assert_eq!(array.view().strides(), [1, 2]);
    assert_eq!(array.view().to_array().unwrap().as_slice::<i32>(), [0, 2, 4, 1, 3, 5]);
    let header = "{\"shape\": (3,), \"fortran_order\": False, \"descr\": \"|b1\"}";
    let array = read_bytes(&folder, "a.npy", &npy(header, &[0, 7, 1])).unwrap();
    assert_eq!(array.view().to_array().unwrap().as_bytes(), [0, 1, 1]);
}

#[test]
fn malformed_npy_files_are_errors() {
    let folder = folder();
    let rejected = |header: &str| read_bytes(&folder, "a.npy", &npy(header, &[0; 8])).unwrap_err();
    let of_shape =
        |shape: &str| rejected(&format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}"));
    assert_eq!(of_shape("(3,)"), "truncated: 12 bytes of elements are announced, 8 are there");
    assert_eq!(of_shape("(1,)"), "there are bytes after the last element");
    assert!(of_shape("(4294967296, 4294967296)").contains("beyond any memory"));
    assert!(of_shape("(99999999999999999999,)").contains("no size"));
    assert!(of_shape("(-2,)").contains("no size"));
    assert!(of_shape("2").contains("not a tuple"));
    assert!(of_shape(&format!("({}2", "1, ".repeat(100))).contains("not a tuple"));
    assert!(of_shape(&format!("({})", "1, ".repeat(100))).contains("more than 64 axes"));
    assert!(rejected("{'descr': '<m8', 'fortran_order': False, 'shape': (4,)}").contains("<m8"));
    assert!(
        rejected("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}")
            .contains("not supported")
    );
    assert!(rejected("{'fortran_order': False, 'shape': (2,)}").contains("missing"));
    assert!(rejected("[1, 2]").contains("not a dictionary"));
    assert!(rejected(&"(".repeat(9000)).contains("not a dictionary"));
    assert!(rejected(&" ".repeat(60000)).contains("more than 10000"));
    assert!(rejected("{'descr").contains("not a dictionary"));
    assert!(rejected("{'d\u{e9}scr': 1}").contains("unknown key"));
}

#[test]
fn every_truncation_of_a_file_is_an_error() {
    let folder = folder();
    for name in ["a.npy", "a.safetensors"] {
        let path = folder.path().join(name);
        write_as(&path, &sample(DType::F32, &[3, 5]));
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            read_bytes(&folder, name, &whole[..length]).unwrap_err();
        }
        read_bytes(&folder, name, &whole).unwrap();
    }
}

#[test]
fn random_bytes_are_errors() {
    let folder = folder();
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as u8
    };
    for round in 0..200 {
        let bytes: Vec<u8> = (0..round * 3).map(|_| random()).collect();
        for name in ["a.npy", "a.npz", "a.safetensors"] {
            read_bytes(&folder, name, &bytes).unwrap_err();
        }
    }
}

#[test]
fn malformed_safetensors_are_errors() {
    let folder = folder();
    let rejected = |header: &str| {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend([0; 8]);
        read_bytes(&folder, "a.safetensors", &bytes).unwrap_err()
    };
    let of = |dtype: &str, shape: &str, places: &str| {
        rejected(&format!("{{\"T0\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":{places}}}}}"))
    };
    assert!(of("F32", "[3]", "[0, 12]").contains("truncated"));
    assert!(of("F32", "[2]", "[8, 0]").contains("from 8 to 0"));
    assert!(of("F32", "[2]", "[0, 4]").contains("8 bytes"));
    assert!(of("F4", "[2]", "[0, 1]").contains("not supported"));
    assert!(of("F32", "[4294967296, 4294967296]", "[0, 8]").contains("beyond any memory"));
    assert!(rejected("{}").contains("none"));
    assert!(rejected(&"[".repeat(100_000)).contains("not a .safetensors file"));
    let huge = [0xff; 16];
    assert!(read_bytes(&folder, "a.safetensors", &huge).unwrap_err().contains("header is"));
}

#[test]
fn tensors_of_a_file_lie_without_overlaps_and_gaps() {
    let folder = folder();
    let read = |second: &str, bytes: usize| {
        let header = format!(
            "{{\"T0\":{{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}},\
             \"T1\":{{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":{second}}}}}"
        );
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.as_bytes());
        file.extend(vec![0; bytes]);
        read_bytes(&folder, "a.safetensors", &file).map(|array| array.view().numel())
    };
    assert_eq!(read("[8,16]", 16), Ok(2));
    for (second, bytes) in [("[4,12]", 12), ("[0,8]", 8), ("[12,20]", 20), ("[8,16]", 20), ("[16,8]", 16)] {
        assert!(read(second, bytes).unwrap_err().contains("not a .safetensors file"), "{second}");
    }
}

#[test]
fn no_tensor_is_in_a_file_twice() {
    let entry =
        |size: usize| format!("\"T0\":{{\"dtype\":\"F32\",\"shape\":[{size}],\"data_offsets\":[0,8]}}");
    let header = format!("{{{},{}}}", entry(2), entry(2));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend([0; 8]);
    let error = read_bytes(&folder(), "a.safetensors", &file).unwrap_err();
    assert!(error.contains("`T0` is there twice"), "{error}");
}

#[test]
fn a_folder_is_no_file() {
    let folder = folder();
    for name in ["d.npy", "d.npz", "d.safetensors"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        let error = super::read(&folder.path().join(name), Wanted::Name("T0")).unwrap_err();
        assert!(error.to_string().contains("directory"), "{error}");
        assert!(!error.problem.is_of_machine());
    }
}

#[test]
fn archives_give_the_array_of_a_name() {
    let folder = folder();
    let path = folder.path().join("a.npz");
    let mut archive = zip::ZipWriter::new(fs::File::create(&path).unwrap());
    for (name, value) in [("T0", 1.5_f32), ("T1", 2.5)] {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{name}.npy"), options).unwrap();
        npy::write(&mut archive, &Array::from_slice(&[1], &[value]).unwrap().view()).unwrap();
    }
    archive.finish().unwrap();
    let read = |name| super::read(&path, Wanted::Name(name)).map(|array| array.view().scalar(0).as_f64());
    assert_eq!(read("T1").unwrap(), 2.5);
    assert!(read("T7").unwrap_err().to_string().ends_with("no array `T7` in it; there are T0, T1"));
}

#[test]
fn headers_are_spelled_as_python_spells_them() {
    let folder = folder();
    let read = |shape: &str| {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}\n");
        read_bytes(&folder, "a.npy", &npy(&header, &[0; 40]))
    };
    for shape in ["(10,)", "(2, 5)", "(2, 5,)", "( 10 , )", "(10L,)"] {
        assert_eq!(read(shape).unwrap().view().numel(), 10, "{shape}");
    }
    for shape in [
        "(010,)",
        "(0777,)",
        "(1__0,)",
        "(1_0,)",
        "(+10,)",
        "(-10,)",
        "(0xa,)",
        "(10.0,)",
        "(1e1,)",
        "(10)",
        "10",
        "(,)",
        "(2,,5)",
        "(2 5)",
        "[10]",
        "(10",
        "(१०,)",
    ] {
        let error = read(shape).expect_err(shape);
        assert!(error.starts_with("the header is malformed"), "{shape}: {error}");
    }
    for header in [
        "{'descr': '<f4',, 'fortran_order': False, 'shape': (10,)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (10,)}",
        "{'descr': '<f4', 'shape': (10,)}",
        "('descr', '<f4')",
    ] {
        let error = read_bytes(&folder, "a.npy", &npy(header, &[0; 40])).expect_err(header);
        assert!(error.starts_with("the header is malformed"), "{header}: {error}");
    }
}
