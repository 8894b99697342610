//! From CUDA C++ text to a shared library on disk: takes the text and the compiler, gives the folder that holds the
//! library. Does not load it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::{EmulatorOptions, Error};

/// The library's name inside its folder.
pub(super) const LIBRARY: &str = "kernel.so";

const HEADERS: [(&str, &str); 7] = [
    ("barriers.h", include_str!("device/barriers.h")),
    ("faults.h", include_str!("device/faults.h")),
    ("fibers.h", include_str!("device/fibers.h")),
    ("language.h", include_str!("device/language.h")),
    ("launch.h", include_str!("device/launch.h")),
    ("mathematics.h", include_str!("device/mathematics.h")),
    ("memory.h", include_str!("device/memory.h")),
];

/// Without contraction a multiply and an add round twice, as the text says. No other library initialises the
/// thread-local variables that stand for shared memory. Gnu-unique symbols would keep a library loaded for ever. With
/// stack clash protection a large frame touches every page, so it cannot step over the one that guards a stack.
const FLAGS: [&str; 12] = [
    "-std=c++17",
    "-O1",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-fno-strict-aliasing",
    "-ffp-contract=off",
    "-fno-exceptions",
    "-fno-extern-tls-init",
    "-fno-gnu-unique",
    "-fstack-clash-protection",
    "-w",
];

/// The headers answer these findings themselves, so the sanitizer's library is dropped at link time.
const SANITIZE_FLAGS: [&str; 2] = [
    "-fsanitize=bounds,alignment,null,shift,signed-integer-overflow,integer-divide-by-zero,float-cast-overflow",
    "-Wl,--as-needed",
];

/// Writes the headers into a new temporary folder.
pub(super) fn write_headers() -> Result<TempDir, Error> {
    let directory = tempfile::Builder::new().prefix("ferrofuse-emulator-").tempdir()?;
    for (name, text) in HEADERS {
        fs::write(directory.path().join(name), text)?;
    }
    Ok(directory)
}

/// Compiles `source` with an entry for `kernel_name` into [`LIBRARY`] of a new temporary folder.
pub(super) fn compile(
    options: &EmulatorOptions,
    headers: &Path,
    source: &str,
    kernel_name: &str,
) -> Result<TempDir, Error> {
    check_identifier(kernel_name)?;
    let directory = tempfile::Builder::new().prefix("ferrofuse-kernel-").tempdir()?;
    let text_path = directory.path().join("kernel.cpp");
    fs::write(&text_path, translation_unit(source, kernel_name))?;
    let mut command = Command::new(&options.cxx);
    command.args(FLAGS);
    if options.sanitize {
        command.args(SANITIZE_FLAGS);
    }
    command.arg("-I").arg(headers).arg("-o").arg(directory.path().join(LIBRARY)).arg(&text_path).arg("-lm");
    run_compiler(command, &options.cxx, kernel_name)?;
    Ok(directory)
}

/// The kernel's text with lines counted from its own first one, after the headers and before its entry.
fn translation_unit(source: &str, kernel_name: &str) -> String {
    format!(
        "#include \"launch.h\"\n#line 1 \"{kernel_name}.cu\"\n{source}\n#line 1 \"entry\"\nCUEMU_EXPORT({kernel_name})\n"
    )
}

fn run_compiler(mut command: Command, cxx: &Path, kernel_name: &str) -> Result<(), Error> {
    // Messages in the user's language could not be searched for.
    command.env("LC_ALL", "C");
    let output =
        command.output().map_err(|source| Error::CompilerMissing { cxx: PathBuf::from(cxx), source })?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Error::Compile { kernel: kernel_name.to_owned(), text })
}

/// The name is put into C++ text, so it must be a name and nothing more.
fn check_identifier(name: &str) -> Result<(), Error> {
    let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if letters && name.bytes().next().is_some_and(|first| !first.is_ascii_digit()) {
        return Ok(());
    }
    Err(Error::Compile {
        kernel: name.to_owned(),
        text: "the kernel's name is not a C++ identifier".to_owned(),
    })
}
