//! Tests that cargo would leave out, as a rule: a library whose manifest says `test = false` has no unit tests, and one with
//! `doctest = false` no examples that rustdoc would run. The rule is tested with planted breaches.

use std::collections::BTreeMap;

use toml::Table;

use super::architecture::{Source, assert_none, manifest, root, sources, table};

/// The first words behind a fence of code that rustdoc would compile.
const COMPILED: [&str; 6] = ["", "rust", "no_run", "should_panic", "compile_fail", "edition2024"];

/// The lines of a file that hold a test which its crate's manifest leaves out.
fn unrun(manifest: &Table, source: &Source) -> Vec<String> {
    let is_off = |kind: &str| {
        let lib = manifest.get("lib").and_then(|lib| lib.get(kind));
        lib.and_then(|value| value.as_bool()) == Some(false)
    };
    let mut diagnostics = Vec::new();
    let mut is_inside = false;
    for (number, line) in (1..).zip(source.text.lines().map(str::trim)) {
        let is_test = line.starts_with("#[test]") || line.starts_with("#[cfg(test)]");
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let fence = comment.and_then(|comment| comment.trim().strip_prefix("```"));
        let is_example = !is_inside
            && fence
                .is_some_and(|words| COMPILED.contains(&words.split([',', ' ']).next().unwrap_or_default()));
        is_inside ^= fence.is_some();
        for (breach, kind) in [(is_test, "test"), (is_example, "doctest")] {
            if breach && is_off(kind) {
                diagnostics.push(format!(
                    "{}:{number}: nothing runs it: move it to `tests`, or drop `{kind} = false` from Cargo.toml",
                    source.path
                ));
            }
        }
    }
    diagnostics
}

#[test]
fn every_test_runs() {
    let sources: Vec<Source> = sources().into_iter().filter(Source::in_crate).collect();
    let mut manifests: BTreeMap<&str, Table> = BTreeMap::new();
    let found = sources.iter().flat_map(|source| {
        let folder = source.path.split("/src/").next().unwrap_or_default();
        let of_crate = || manifest(&root().join(folder).join("Cargo.toml"));
        unrun(manifests.entry(folder).or_insert_with(of_crate), source)
    });
    assert_none(found.collect());
}

#[test]
fn a_test_that_is_left_out_is_caught() {
    let breaches = |lib: &str, text: &str| {
        unrun(&table(lib), &Source { path: "crates/ir/src/a.rs".to_owned(), text: text.to_owned() }).len()
    };
    let (untested, undocumented) = ("[lib]\ntest = false", "[lib]\ndoctest = false");
    let unit = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n";
    assert_eq!([untested, undocumented, "[lib]", ""].map(|lib| breaches(lib, unit)), [2, 0, 0, 0]);
    let example = "    /// ```\n    /// a();\n    /// ```\n";
    assert_eq!([untested, undocumented, "[lib]", ""].map(|lib| breaches(lib, example)), [0, 1, 0, 0]);
    for (text, expected) in [
        ("//! ```rust\n//! a();\n//! ```\n", 1),
        ("//! ```no_run\n//! a();\n//! ```\n", 1),
        ("//! ```text\n//! a\n//! ```\n", 0),
        ("//! ```text\n//! a\n//! ```\n//!\n//! ```\n//! a();\n//! ```\n", 1),
        ("let a = \"```\";\n// ```\n", 0),
    ] {
        assert_eq!(breaches(undocumented, text), expected, "{text}");
    }
}
