//! Prints what NVRTC makes of texts that `emit --stage cuda` wrote, a line for each kernel, to compare two versions:
//! `cargo run -p ferrofuse-testing --example counts -- ARCHITECTURE FILE…`.

use std::path::Path;
use std::{env, fs};

use ferrofuse_testing::machine_code::{Counts, Tools};

fn main() {
    let mut arguments = env::args().skip(1);
    let architecture = arguments.next().expect("an architecture comes first");
    let tools = Tools::find().expect("NVRTC and nvdisasm are there");
    for path in arguments {
        let text = fs::read_to_string(&path).expect("the file is read");
        let name = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy();
        for unit in units(&text) {
            let kernels = tools.counts(&unit, &architecture).expect("NVRTC compiles it");
            kernels.iter().for_each(|counts| println!("{name} {architecture} {}", line(counts)));
        }
    }
}

/// The translation units of a text: each begins with the name of its segment.
fn units(text: &str) -> Vec<String> {
    let mut units: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.strip_prefix("// seg").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())) {
            units.push(String::new());
        }
        let unit = units.last_mut().expect("a segment's name comes first");
        unit.push_str(line);
        unit.push('\n');
    }
    units
}

fn line(counts: &Counts) -> String {
    let Counts { kernel, registers, local_bytes, instructions, in_loops, in_flight_bytes, .. } = counts;
    let (vectors, calls) = (counts.share_of_vectors(), counts.calls_in_loops);
    format!(
        "{kernel} registers={registers} local={local_bytes} instructions={instructions} loops={}/{} \
         in-flight={in_flight_bytes} vectors={vectors:.2} calls={calls}",
        in_loops.instructions, in_loops.bytes
    )
}
