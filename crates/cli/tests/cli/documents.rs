//! The documents: the commands of the README run, the stages in ARCHITECTURE.md are the output of `emit`, the picture of the
//! demo is the output of `explain`, and paths in documents exist.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{files, fine, root};

/// Folders whose documents must have valid links and paths.
const FOLDERS: [&str; 4] = ["", "bench", "docs", "docs/internals"];

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The blocks of a document after a fence with this word.
fn blocks<'a>(document: &'a str, word: &str) -> Vec<&'a str> {
    let fence = format!("```{word}\n");
    let opened = document.split(fence.as_str()).skip(1);
    opened.map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

/// Whether the parts of an excerpt, separated by lines with `…`, occur in `whole` in this order.
fn is_excerpt(excerpt: &str, whole: &str) -> bool {
    let mut rest = whole;
    excerpt.split("…\n").all(|part| match rest.split_once(part) {
        Some((_, behind)) => {
            rest = behind;
            true
        }
        None => false,
    })
}

/// The links and paths of a document that do not exist.
fn missing(document: &str, folder: &Path, exists: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let linked = document.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let linked = linked.filter(|link| !link.is_empty() && !link.contains("://"));
    let linked = linked.map(|link| (link, folder.join(link)));
    let quoted = document.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
    let starts = ["crates/", "docs/", "bench/", "scripts/", "tests/", "examples/", "python/ferrofuse/"];
    let quoted = quoted.filter(|quoted| starts.iter().any(|start| quoted.starts_with(start)));
    let quoted = quoted.filter(|quoted| !quoted.contains(['*', '…']));
    let quoted = quoted.filter(|quoted| !quoted.split(['/', '.', '_']).any(is_placeholder));
    let quoted = quoted.map(|quoted| (quoted, root().join(quoted)));
    let wrong = linked.chain(quoted).filter(|(_, path)| !exists(path));
    wrong.map(|(name, _)| name.to_owned()).collect()
}

/// A word in capitals is a placeholder.
fn is_placeholder(part: &str) -> bool {
    part.len() > 1 && part != "RESULTS" && part.chars().all(|c| c.is_ascii_uppercase())
}

#[test]
fn paths_and_links_are_there() {
    let mut count = 0;
    for folder in FOLDERS.map(|folder| root().join(folder)) {
        for name in files(&folder).into_iter().filter(|name| name.ends_with(".md")) {
            let text = fs::read_to_string(folder.join(&name)).expect("a document");
            let wrong = missing(&text, &folder, &|path| path.exists());
            assert!(wrong.is_empty(), "{name} names what is not there: {wrong:?}");
            count += 1;
        }
    }
    assert!(count > 15, "{count} documents");
}

#[test]
fn a_wrong_path_is_caught() {
    let wrong = |document: &str| missing(document, &root(), &|path| path.exists()).len();
    assert_eq!(
        wrong("[a](README.md#part) `crates/cli/src/main.rs` `tests/STAGE/NAME.py` `python bench/peers.py`"),
        0
    );
    assert_eq!(wrong("[a](ABSENT.md) and `cat crates/cli/src/absent.rs`"), 2);
}

#[test]
fn commands_of_the_readme_run() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["examples", "tests"] {
        std::os::unix::fs::symlink(root().join(name), folder.path().join(name)).expect("a link");
    }
    let readme = text("README.md");
    let commands: Vec<&str> = blocks(&readme, "sh").into_iter().flat_map(str::lines).collect();
    let makefile = text("Makefile");
    for target in commands.iter().filter_map(|line| line.strip_prefix("make ")) {
        assert!(makefile.contains(&format!("\n{target}: ")), "`make {target}` has no rule");
    }
    let commands: Vec<&str> =
        commands.into_iter().filter_map(|line| line.strip_prefix("ferrofuse ")).collect();
    assert!(commands.len() > 5, "{commands:?}");
    for command in commands {
        let words = command.split('#').next().unwrap_or_default().split_whitespace();
        let ended = Command::new(env!("CARGO_BIN_EXE_ferrofuse"))
            .args(words)
            .current_dir(folder.path())
            .env("FERROFUSE_CACHE", "none")
            .output()
            .expect("the binary was built");
        assert!(ended.status.success(), "{command}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}

#[test]
fn stages_of_softmax_are_what_emit_prints() {
    let document = text("ARCHITECTURE.md");
    for stage in ["definition", "graph", "segments", "schedule", "kernel", "llvm"] {
        let [excerpt] = blocks(&document, stage)[..] else {
            panic!("ARCHITECTURE.md has no one block `{stage}`")
        };
        let whole = fine(&format!("emit examples/softmax.py --stage {stage} --target avx512"));
        assert!(
            is_excerpt(excerpt, &whole),
            "`{stage}` in ARCHITECTURE.md is not what `emit` prints:\n{whole}"
        );
        assert!(excerpt.lines().count() <= 10, "`{stage}` has more than ten lines");
    }
}

#[test]
fn an_excerpt_keeps_the_order() {
    assert!(is_excerpt("a\n…\nc\n", "a\nb\nc\n"));
    assert!(!is_excerpt("c\n…\na\n", "a\nb\nc\n"));
    assert!(!is_excerpt("a\nc\n", "a\nb\nc\n"));
}

#[test]
fn the_picture_of_the_demo_is_drawn_by_explain() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("demo.svg");
    fine(&format!(
        "explain examples/modulated_layer_norm_backward.py --target avx512 --svg {}",
        path.display()
    ));
    let drawn = fs::read_to_string(path).expect("the picture");
    let command =
        "ferrofuse explain examples/modulated_layer_norm_backward.py --target avx512 --svg docs/demo.svg";
    assert!(text("docs/demo.svg") == drawn, "docs/demo.svg is out of date: {command}");
}
