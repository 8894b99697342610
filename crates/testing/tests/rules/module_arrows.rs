//! The order of modules in each crate, as a test: a top-level module uses only those before it in its row. The rule is a
//! function from text to diagnostics, and is tested with a planted breach.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The top-level modules of each crate (by folder), in order. Unit tests may use all.
const ORDER: [(&str, &[&str]); 26] = [
    (
        "cuda",
        &[
            "error",
            "cubin",
            "library",
            "driver",
            "nvrtc",
            "cublaslt",
            "gpu",
            "stream",
            "event",
            "graph",
            "memory",
            "mapped",
            "reports",
            "module",
            "strided_copy",
            "matmul",
        ],
    ),
    (
        "cpu",
        &[
            "fork",
            "background",
            "limits",
            "generator",
            "last_call",
            "side_by_side",
            "alloc",
            "pool",
            "external",
            "objects",
            "perf_map",
            "facts",
        ],
    ),
    ("files", &["identity", "temporary", "target", "targets"]),
    (
        "index",
        &[
            "work",
            "expr",
            "arithmetic",
            "evaluate",
            "division",
            "known",
            "facts",
            "divisibility",
            "extremum",
            "integer",
            "normalize",
            "refute",
            "prove",
            "prover",
            "sample",
            "reshape",
            "sizes",
            "substitute",
            "scanner",
            "text",
            "properties",
        ],
    ),
    (
        "ops",
        &[
            "small_float",
            "dtype",
            "scalar",
            "literal",
            "lanes",
            "ordinary",
            "philox",
            "draws",
            "expr",
            "typing",
            "param",
            "slopes",
            "spread",
            "row",
            "angle",
            "inverse_erf",
            "power",
            "rows",
            "cycles",
            "composite",
            "body",
            "rescaled",
            "moments",
            "monoid",
            "body_text",
            "language",
            "rejected",
            "call",
            "complex",
            "meaning",
            "combine",
        ],
    ),
    ("ir", &["span", "interrupt", "array", "graph", "definition", "layout"]),
    (
        "kernel",
        &[
            "program",
            "strips",
            "fetch",
            "scratch",
            "in_place",
            "transpose",
            "width",
            "joined",
            "contraction",
            "uniformity",
            "print",
            "line",
            "verify",
            "build",
            "parse",
        ],
    ),
    ("reference", &["interpret", "evaluate"]),
    ("syntax", &["diagnostic", "lexer", "tree", "grammar", "expression"]),
    ("frontend", &["define", "text"]),
    ("target", &["multiprocessor", "limits", "cpu", "gpu", "gpus"]),
    ("space", &["places", "passage", "node_axes", "axes", "refine", "index_maps", "indices", "subranges"]),
    ("scheduler", &["hints", "cycles", "legal", "schedule"]),
    (
        "lowering",
        &[
            "lowered", "counted", "group", "emitter", "address", "loops", "layer", "access", "states",
            "value", "fold", "names", "nest", "combine", "ring",
        ],
    ),
    (
        "segmenter",
        &[
            "parallel",
            "disjoint_sets",
            "ready_order",
            "segmentation",
            "structure",
            "joined",
            "dependencies",
            "external",
            "free",
            "flow_network",
            "axis_classes",
            "engine",
            "kept",
            "group_classes",
            "legality",
            "worker_axes",
            "constraints",
            "memory",
            "cost",
            "bound",
            "greedy",
            "search",
        ],
    ),
    (
        "compiler",
        &[
            "batch",
            "outputs",
            "passes",
            "distribution",
            "softmaxes",
            "products",
            "plan",
            "certificate",
            "baseline",
            "in_place",
            "pipeline",
        ],
    ),
    ("execution", &["build", "reuse"]),
    ("llvm", &["at_exit", "error", "target", "library", "owned", "identity", "compile", "loader"]),
    ("codegen", &["cpu"]),
    ("codegen-c", &["c", "cuda"]),
    (
        "runtime",
        &[
            "error",
            "located",
            "executor",
            "report",
            "machine",
            "tensor",
            "device",
            "host",
            "destination",
            "extents",
            "call",
            "accelerator",
            "cuda",
            "device_kinds",
            "options",
            "background",
            "output",
            "inputs",
            "variant_key",
            "compile",
            "prepared",
            "executable",
            "segmented",
        ],
    ),
    (
        "ferrofuse",
        &[
            "check",
            "saved",
            "languages",
            "code_target",
            "device_name",
            "table",
            "names",
            "lambdas",
            "other_definition",
            "explain",
            "segments",
            "kernel_text",
            "emit",
            "op_list",
            "fusion_definition",
        ],
    ),
    (
        "emulator",
        &[
            "declared",
            "compile",
            "guarded",
            "static_shared",
            "launch",
            "module",
            "library",
            "image",
            "driver",
            "nvrtc",
            "cublaslt",
        ],
    ),
    (
        "testing",
        &[
            "stand_in",
            "machine_code",
            "warps",
            "random",
            "cut",
            "parts",
            "differential",
            "inputs",
            "filetests",
            "reduce",
            "fuzz",
        ],
    ),
    (
        "cli",
        &[
            "number",
            "arrays",
            "failure",
            "gpu_code",
            "device",
            "environment",
            "definition",
            "inputs",
            "planning",
            "segment_folder",
            "given",
            "verbs",
        ],
    ),
    (
        "python",
        &[
            "environment",
            "machine",
            "errors",
            "data_type",
            "generator",
            "signals",
            "table",
            "explanation",
            "file",
            "gpu",
            "arrays",
            "call",
            "runnable",
            "call_on_gpu",
            "on_devices",
            "captured",
            "executable",
            "definition",
            "segments",
            "dispatcher",
        ],
    ),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the folder of crates")
        .to_path_buf()
}

/// The code of a file, without comments and up to its unit tests.
fn code(text: &str) -> String {
    let before_tests = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    before_tests.lines().map(|line| line.split("//").next().unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// The names directly after `crate::`, including those in braces.
fn used(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (place, _) in code.match_indices("crate::") {
        if code[..place].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[place + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(in_braces(group)),
            None => found.push(first_name(rest)),
        }
    }
    found
}

/// The first names of the parts of an open group.
fn in_braces(group: &str) -> Vec<String> {
    let (mut depth, mut part, mut found) = (0, String::new(), Vec::new());
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            ',' if depth == 0 => found.push(first_name(std::mem::take(&mut part).trim())),
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                part.push(c);
            }
        }
    }
    found.push(first_name(part.trim()));
    found
}

fn first_name(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The text of a file with `crate::` in place of a `super::` that is the root of its crate.
fn seen_from_root(source: &Path, path: &Path, text: &str) -> String {
    let module = if path.ends_with("mod.rs") { path.parent() } else { Some(path) };
    match module.and_then(Path::parent) == Some(source) {
        true => text.replace("super::", "crate::"),
        false => text.to_owned(),
    }
}

/// For each name that the root of a crate exports, the module that it is from.
fn given_away(root: &str) -> BTreeMap<String, String> {
    let mut from = BTreeMap::new();
    for statement in code(root).split(';') {
        let Some(place) =
            statement.find("use ").filter(|&place| statement[..place].trim_start().starts_with("pub"))
        else {
            continue;
        };
        let Some((module, names)) = statement[place + "use ".len()..].split_once("::") else { continue };
        let names = names.trim_start_matches('{').trim_end_matches('}');
        let last = |name: &str| {
            name.rsplit("::").next().map(|name| name.rsplit(' ').next().unwrap_or(name).to_owned())
        };
        let names = names.split(',').filter_map(|name| last(name.trim()));
        from.extend(names.map(|name| (name, module.trim().to_owned())));
    }
    from
}

/// The forbidden uses in a file of a module: modules after it, or without a row.
fn wrong(
    row: &[&str],
    given: &BTreeMap<String, String>,
    module: &str,
    path: &str,
    text: &str,
) -> Vec<String> {
    let Some(own) = row.iter().position(|&name| name == module) else {
        return vec![format!("{path}: the module `{module}` needs a place in ORDER of this test")];
    };
    let mut diagnostics = Vec::new();
    for name in used(&code(text)) {
        let target = if row.contains(&name.as_str()) { Some(&name) } else { given.get(&name) };
        let place = target.and_then(|target| row.iter().position(|known| known == target));
        if place.is_some_and(|place| place > own) {
            diagnostics.push(format!(
                "{path}: `{module}` uses `{name}`, which stands behind it in ORDER of this test"
            ));
        }
    }
    diagnostics
}

/// The Rust files of a crate with the top-level module of each, without its root and its unit tests.
fn files(source: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut folders = vec![source.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the crate") {
            let path = entry.expect("a folder that can be listed").path();
            let inside = path.strip_prefix(source).expect("below the source").with_extension("");
            let parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if parts.iter().any(|part| part == "tests") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs")
                && !["lib", "main"].contains(&&*parts[0])
            {
                found.push((parts[0].clone(), path));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn modules_use_only_those_before_them() {
    let mut diagnostics = Vec::new();
    for (folder, row) in ORDER {
        let source = crates().join(folder).join("src");
        let root = ["lib.rs", "main.rs"].iter().find_map(|name| fs::read_to_string(source.join(name)).ok());
        let given = given_away(&root.expect("a crate has a root"));
        for (module, path) in files(&source) {
            let text = seen_from_root(&source, &path, &fs::read_to_string(&path).expect("a source file"));
            diagnostics.extend(wrong(row, &given, &module, &path.display().to_string(), &text));
        }
    }
    assert!(diagnostics.is_empty(), "{}", diagnostics.join("\n"));
}

#[test]
fn every_crate_has_a_row() {
    let folders = fs::read_dir(crates()).expect("the folder of crates");
    let names = folders.map(|entry| entry.expect("a crate").file_name().to_string_lossy().into_owned());
    let missing: Vec<String> = names.filter(|name| ORDER.iter().all(|(folder, _)| folder != name)).collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn a_planted_breach_is_caught() {
    let root = |path: &str| seen_from_root(Path::new("src"), Path::new(path), "use super::top::Roof;");
    assert_eq!(root("src/middle.rs"), "use crate::top::Roof;");
    assert_eq!(root("src/middle/mod.rs"), "use crate::top::Roof;");
    assert_eq!(root("src/middle/floor.rs"), "use super::top::Roof;");
    let row = ["leaf", "middle", "top"];
    let given =
        given_away("pub mod leaf;\npub use top::{Roof, tile as Slate};\npub(crate) use middle::Floor;\n");
    let wrong = |text: &str| wrong(&row, &given, "middle", "middle.rs", text).len();
    assert_eq!(wrong("use crate::leaf::Root;\nuse crate::Floor;\n"), 0);
    assert_eq!(wrong("use crate::top::Roof;\n"), 1);
    assert_eq!(wrong("use crate::{leaf::{Root, Stem}, top::Roof, Slate};\n"), 2);
    assert_eq!(wrong("fn f() -> crate::Roof { crate::leaf::roof() }\n"), 1);
    assert_eq!(
        wrong("// use crate::top::Roof;\n#[cfg(test)]\nmod tests {\n    use crate::top::Roof;\n}\n"),
        0
    );
    assert_eq!(
        unplaced(&row, "cellar"),
        ["cellar.rs: the module `cellar` needs a place in ORDER of this test"]
    );
}

fn unplaced(row: &[&str], module: &str) -> Vec<String> {
    wrong(row, &BTreeMap::new(), module, &format!("{module}.rs"), "")
}
