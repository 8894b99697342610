//! The options of a compilation: those that NVRTC knows and that are used here. Others are an error, as NVRTC's are.

use std::ffi::c_int;

/// The architectures that can be compiled for.
pub const ARCHITECTURES: [c_int; 6] = [80, 86, 89, 90, 100, 120];

/// Options that stand alone.
const FLAGS: [&str; 7] = [
    "--use_fast_math",
    "-use_fast_math",
    "-lineinfo",
    "--generate-line-info",
    "-G",
    "--device-debug",
    "-default-device",
];

/// Options with a value after `=`. The emulator's arithmetic is not changed by them.
const VALUED: [&str; 13] = [
    "--std",
    "-std",
    "--fmad",
    "-fmad",
    "--ftz",
    "-ftz",
    "--prec-div",
    "-prec-div",
    "--prec-sqrt",
    "-prec-sqrt",
    "--ptxas-options",
    "-Xptxas",
    "--maxrregcount",
];

/// The architecture that the options name, as in `sm_90`.
///
/// # Errors
/// NVRTC's words for an option that it does not know, or without an architecture.
pub fn architecture(options: &[String]) -> Result<String, String> {
    let mut architecture = None;
    for option in options {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        match name {
            "--gpu-architecture" | "-arch" if is_known(value) => architecture = Some(value.to_owned()),
            "--gpu-architecture" | "-arch" => {
                return Err(format!("nvrtc: error: invalid value for --gpu-architecture (-arch): {value}"));
            }
            _ if FLAGS.contains(&option.as_str()) || VALUED.contains(&name) && !value.is_empty() => {}
            _ => return Err(format!("nvrtc: error: unrecognized option {option} found")),
        }
    }
    architecture.ok_or_else(|| "the stand-in compiles for the architecture of --gpu-architecture".to_owned())
}

fn is_known(architecture: &str) -> bool {
    let number = architecture.strip_prefix("sm_").unwrap_or_default();
    // Code for one architecture alone: 90a, 100a, 120a.
    let (number, own) = number.strip_suffix('a').map_or((number, false), |number| (number, true));
    number.parse().is_ok_and(|number: c_int| ARCHITECTURES.contains(&number) && (!own || number >= 90))
}
