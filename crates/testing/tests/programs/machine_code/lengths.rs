//! The lengths of the texts of norms, which people read.

use ferrofuse::Stage;

use super::{files_of, text_of};

/// The limit on lines of a text, without the comment that describes its segment; and on those of one of its kernels.
const MOST_LINES: usize = 120;

/// The same for a kernel that walks four rows together, and repeats its loops for the last rows.
const MOST_LINES_OF_JAM: usize = 128;

/// The texts of norms and of softmax.
const NORMS: [&str; 4] = ["softmax", "softmax_f32", "layer_norm", "rms_norm"];

/// Texts of two kernels or more, each of which keeps the limit.
const LONGER: [&str; 5] =
    ["batch_norm", "dropout_layer_norm", "group_norm", "layer_norm_backward", "rms_norm_backward"];

fn texts(names: &[&str]) -> Vec<(String, String)> {
    let mut sources = [files_of("examples"), files_of("bench/workloads")].concat();
    sources.retain(|(name, _)| names.contains(&name.as_str()));
    assert_eq!(sources.len(), names.len());
    sources.into_iter().map(|(name, source)| (name, text_of(Stage::CUDA, &source))).collect()
}

#[test]
fn the_text_of_a_norm_is_short() {
    for (name, text) in texts(&NORMS) {
        let lines = text.lines().skip_while(|line| line.starts_with("//")).count();
        assert!(lines <= MOST_LINES, "{name}: {lines} lines\n{text}");
    }
}

#[test]
fn a_kernel_of_a_norm_is_short() {
    for (name, text) in texts(&LONGER) {
        for kernel in text.split("extern \"C\"").skip(1) {
            let lines = kernel.split("\n}\n").next().map_or(0, |body| body.lines().count() + 1);
            let most = if name == "batch_norm" { MOST_LINES_OF_JAM } else { MOST_LINES };
            assert!(lines <= most, "{name}: {lines} lines\n{kernel}");
        }
    }
}
