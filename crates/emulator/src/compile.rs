//! From CUDA C++ text to the bytes of a shared library: takes the text and the compiler. Does not load it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::declared::{Declared, kernels};
use crate::{EmulatorOptions, Error};

const HEADERS: [(&str, &str); 8] = [
    ("asynchronous.h", include_str!("device/asynchronous.h")),
    ("barriers.h", include_str!("device/barriers.h")),
    ("faults.h", include_str!("device/faults.h")),
    ("fibers.h", include_str!("device/fibers.h")),
    ("language.h", include_str!("device/language.h")),
    ("launch.h", include_str!("device/launch.h")),
    ("mathematics.h", include_str!("device/mathematics.h")),
    ("memory.h", include_str!("device/memory.h")),
];

/// Kernels here run on few elements: optimizing them takes longer than it saves. Without contraction a multiply and an
/// add round twice, as the text says. No other library initialises the thread-local variables that stand for shared
/// memory. Gnu-unique symbols would keep a library loaded for ever. With stack clash protection a large frame touches
/// every page, so it cannot step over the one that guards a stack.
const FLAGS: [&str; 12] = [
    "-std=c++17",
    "-O0",
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

/// Compiles a text with an entry for each of its kernels. Its lines are named as those of `NAME.cu`.
pub(crate) fn compile(options: &EmulatorOptions, source: &str, name: &str) -> Result<Vec<u8>, Error> {
    let folder = tempfile::Builder::new().prefix("ferrofuse-emulator-").tempdir()?;
    for (header, text) in HEADERS {
        fs::write(folder.path().join(header), text)?;
    }
    let (text, library) = (folder.path().join("kernels.cpp"), folder.path().join("kernels.so"));
    fs::write(&text, translation_unit(source, name))?;
    let mut command = Command::new(&options.cxx);
    command.args(FLAGS);
    if options.sanitize {
        command.args(SANITIZE_FLAGS);
    }
    command.arg("-I").arg(folder.path()).arg("-o").arg(&library).arg(&text).arg("-lm");
    run_compiler(command, &options.cxx, name)?;
    Ok(fs::read(library)?)
}

/// The text with lines counted from its own first one, after the headers and before the entries of its kernels.
fn translation_unit(source: &str, name: &str) -> String {
    let name: String = name.chars().filter(|c| !c.is_control() && *c != '"' && *c != '\\').collect();
    let entry = |kernel: &Declared| format!("CUEMU_EXPORT({}, {})\n", kernel.name, kernel.cluster);
    let entries: String = kernels(source).iter().map(entry).collect();
    format!("#include \"launch.h\"\n#line 1 \"{name}.cu\"\n{source}\n#line 1 \"entries\"\n{entries}")
}

fn run_compiler(mut command: Command, cxx: &Path, name: &str) -> Result<(), Error> {
    // Messages in the user's language could not be searched for.
    command.env("LC_ALL", "C");
    let output =
        command.output().map_err(|source| Error::CompilerMissing { cxx: PathBuf::from(cxx), source })?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Error::Compile { name: name.to_owned(), text })
}
