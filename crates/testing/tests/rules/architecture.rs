//! The rules of the source tree, as tests: which crates may use which, and the form of files. Each rule is a function from
//! text to diagnostics, and is tested with a planted breach.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml::Table;

/// The crates that each crate (by folder) may use, without development dependencies. All others are forbidden.
const ARROWS: [(&str, &[&str]); 26] = [
    ("cuda", &[]),
    ("llvm", &[]),
    ("emulator", &[]),
    ("files", &[]),
    ("index", &[]),
    ("target", &[]),
    ("ops", &["index"]),
    ("ir", &["index", "ops"]),
    ("kernel", &["index", "ops"]),
    ("reference", &["index", "ops", "ir", "kernel"]),
    ("syntax", &["ir"]),
    ("frontend", &["index", "ops", "ir", "syntax"]),
    ("space", &["index", "ir"]),
    ("scheduler", &["index", "ops", "ir", "kernel", "target", "space"]),
    ("lowering", &["index", "ops", "ir", "kernel", "target", "space", "scheduler"]),
    ("segmenter", &["index", "ops", "ir", "target", "space", "scheduler"]),
    ("compiler", &["index", "ops", "ir", "kernel", "target", "space", "scheduler", "lowering", "segmenter"]),
    (
        "execution",
        &["index", "ops", "ir", "kernel", "target", "scheduler", "lowering", "segmenter", "compiler"],
    ),
    ("codegen", &["index", "ops", "kernel", "llvm"]),
    ("codegen-c", &["index", "ops", "kernel"]),
    ("cpu", &["files", "index", "ops", "ir", "reference", "llvm", "codegen"]),
    (
        "runtime",
        &[
            "cuda",
            "cpu",
            "index",
            "ops",
            "ir",
            "kernel",
            "reference",
            "target",
            "scheduler",
            "segmenter",
            "compiler",
            "execution",
            "llvm",
            "codegen",
            "codegen-c",
        ],
    ),
    (
        "ferrofuse",
        &[
            "cpu",
            "index",
            "ops",
            "ir",
            "kernel",
            "reference",
            "frontend",
            "target",
            "scheduler",
            "lowering",
            "segmenter",
            "compiler",
            "llvm",
            "codegen",
            "codegen-c",
            "runtime",
        ],
    ),
    (
        "testing",
        &[
            "cuda",
            "emulator",
            "files",
            "index",
            "ops",
            "ir",
            "kernel",
            "reference",
            "frontend",
            "target",
            "scheduler",
            "lowering",
            "segmenter",
            "compiler",
            "llvm",
            "codegen",
            "codegen-c",
            "runtime",
            "ferrofuse",
        ],
    ),
    (
        "cli",
        &[
            "cpu",
            "cuda",
            "files",
            "index",
            "ops",
            "ir",
            "reference",
            "frontend",
            "compiler",
            "execution",
            "llvm",
            "codegen",
            "runtime",
            "ferrofuse",
            "testing",
        ],
    ),
    ("python", &["cuda", "files", "ops", "ir", "frontend", "ferrofuse"]),
];

/// The only files that may read the environment.
const ENVIRONMENT_FILES: [&str; 2] = ["crates/cli/src/environment.rs", "crates/python/src/environment.rs"];

/// The users of the CPU's machine code besides `codegen`: the crate that runs it, the device that launches it, and those
/// that ask for the CPU's features.
const MACHINE_CODE: [&str; 7] = [
    "crates/codegen/",
    "crates/cpu/",
    "crates/runtime/src/host/",
    "crates/runtime/src/compile/mod.rs",
    "crates/runtime/src/machine.rs",
    "crates/ferrofuse/src/emit.rs",
    "crates/cli/src/verbs/doctor.rs",
];

/// Steps of a plan, which only the stages of `compiler::pipeline` may use.
const PLAN_STEPS: [&str; 8] =
    ["optimize", "optimize_exactly", "ordered", "views", "computed", "placements", "legal", "legal_with"];

/// Names that do not describe their contents.
const EMPTY_NAMES: [&str; 7] = ["util", "utils", "common", "base", "helper", "helpers", "misc"];

/// The beginnings of declarations that need a comment.
const DECLARATIONS: [&str; 9] = [
    "pub struct ",
    "pub enum ",
    "pub union ",
    "pub trait ",
    "pub type ",
    "pub fn ",
    "pub const ",
    "pub unsafe ",
    "pub static ",
];

/// Marks of unfinished work; spelled in halves so that this file does not carry them.
const MARKS: [&str; 3] = [concat!("to", "do!"), concat!("unimple", "mented!"), concat!("#[ig", "nore")];

/// The beginning of the standard library's functions that read the environment; in halves for the same reason.
const READS_ENVIRONMENT: &str = concat!("env::", "var");

const MOST_LINES: usize = 600;

/// The limit on lines of a crate, its unit tests included. More should be two crates.
const MOST_CRATE_LINES: usize = 9000;

/// The limit on methods of a type, in all its inherent impls. More should be two types, or functions over a smaller one.
const MOST_METHODS: usize = 60;

/// The limit on files with a type's methods.
const MOST_METHOD_FILES: usize = 8;

/// A source file: its path from the root of the workspace, with `/`, and its text.
pub(super) struct Source {
    pub path: String,
    pub text: String,
}

impl Source {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Part of a crate proper, not of its tests.
    pub fn in_crate(&self) -> bool {
        self.is_rust() && self.path.starts_with("crates/") && self.path.split('/').nth(2) == Some("src")
    }

    fn in_tests(&self) -> bool {
        self.path.split('/').any(|folder| folder == "tests")
    }

    fn without_unit_tests(&self) -> Source {
        let text = self.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(&self.text);
        Source { path: self.path.clone(), text: text.to_owned() }
    }

    /// Lines of code with their numbers: lines that are only a comment are left out.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(i, line)| (i + 1, line))
            .filter(|(_, line)| !line.trim().starts_with("//"))
    }
}

pub(super) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the crate lies two folders below the root").to_path_buf()
}

/// Every Rust, Python and C++ header file under `crates`, `python`, `bench` and `examples`, in order of path.
pub(super) fn sources() -> Vec<Source> {
    let mut paths = Vec::new();
    for folder in ["crates", "python", "bench", "examples"] {
        collect(&root().join(folder), &mut paths);
    }
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Source {
    let inside = path.strip_prefix(root()).expect("collected below the root");
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Source { path: parts.join("/"), text }
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("a folder that can be listed").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "__pycache__" {
            collect(&path, paths);
        } else if [".rs", ".py", ".pyi", ".h"].iter().any(|ending| name.ends_with(ending)) {
            paths.push(path);
        }
    }
}

/// The workspace crates (by folder) that the manifest of `folder` uses without permission.
fn wrong_arrows(workspace: &Table, folder: &str, manifest: &Table) -> Vec<String> {
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == folder) else {
        return vec![format!(
            "crates/{folder}: a new crate needs a row in ARROWS of this test and in ARCHITECTURE.md"
        )];
    };
    let targets = manifest.get("target").and_then(|value| value.as_table());
    let sections = targets.into_iter().flat_map(Table::values).filter_map(|value| value.as_table());
    let mut diagnostics = Vec::new();
    for section in std::iter::once(manifest).chain(sections) {
        for used in used_crates(workspace, section) {
            if !allowed.contains(&used.as_str()) {
                let may = if allowed.is_empty() { "no crate of ours".to_owned() } else { allowed.join(", ") };
                diagnostics
                    .push(format!("crates/{folder}/Cargo.toml uses `{used}`, but {folder} may use {may}"));
            }
        }
    }
    diagnostics
}

/// Folders of the workspace crates among the dependencies and build dependencies of a section.
fn used_crates(workspace: &Table, section: &Table) -> Vec<String> {
    let shared = workspace.get("workspace").and_then(|value| value.get("dependencies"));
    let mut used = Vec::new();
    for kind in ["dependencies", "build-dependencies"] {
        for (name, given) in section.get(kind).and_then(|value| value.as_table()).into_iter().flatten() {
            let inherited = given.get("workspace").is_some();
            let place = if inherited { shared.and_then(|table| table.get(name)) } else { Some(given) };
            let path = place.and_then(|place| place.get("path")).and_then(|path| path.as_str());
            used.extend(path.and_then(|path| path.rsplit('/').next()).map(str::to_owned));
        }
    }
    used
}

fn unopened(source: &Source) -> Vec<String> {
    if !source.in_crate() || source.text.starts_with("//!") {
        return Vec::new();
    }
    vec![format!("{}: open it with `//!`: what the file takes, gives and does not do", source.path)]
}

/// Public types and functions without a comment. Fields and variants need none if their names explain them, and modules
/// begin with theirs; the crate `ferrofuse` requires more by the lint `missing_docs`.
fn undocumented(source: &Source) -> Vec<String> {
    if !source.in_crate() || source.in_tests() {
        return Vec::new();
    }
    let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
    let declares = |line: &str| DECLARATIONS.iter().any(|start| line.starts_with(start));
    let breaches =
        (0..lines.len()).filter(|&number| declares(lines[number]) && !has_comment(&lines[..number]));
    breaches.map(|number| format!("{}:{}: say what it is", source.path, number + 1)).collect()
}

/// Whether the last of these lines, attributes aside, is a comment for the next line, or a macro passes one on.
fn has_comment(before: &[&str]) -> bool {
    let is_comment = |line: &&str| line.starts_with("///") || line.starts_with("$(#[");
    let ends = |line: &&str| line.is_empty() || line.ends_with(['{', '}', ';']) || is_comment(line);
    before.iter().rev().find(|line| ends(line)).is_some_and(is_comment)
}

fn badly_named(source: &Source) -> Vec<String> {
    let breach = |part: &&str| EMPTY_NAMES.contains(&part.split('.').next().unwrap_or(part));
    let parts = source.path.split('/').filter(breach);
    parts
        .map(|part| format!("{}: `{part}` says nothing; name it after what is inside", source.path))
        .collect()
}

fn too_long(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    // Generated files are neither read in one sitting nor written by hand.
    let is_generated = source.text.starts_with("# Made by scripts/");
    if source.in_tests() || is_generated || lines <= MOST_LINES {
        return Vec::new();
    }
    vec![format!("{}: {lines} lines, at most {MOST_LINES}; cut it where its subject changes", source.path)]
}

/// Crates that exceed the limit on lines.
fn too_large(sources: &[Source]) -> Vec<String> {
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.in_crate()) {
        let folder = source.path.split('/').nth(1).unwrap_or_default();
        *lines.entry(folder).or_default() += source.text.lines().count();
    }
    let breaches = lines.into_iter().filter(|(_, lines)| *lines > MOST_CRATE_LINES);
    let message = |(folder, lines): (&str, usize)| {
        format!(
            "crates/{folder}: {lines} lines, at most {MOST_CRATE_LINES}; cut it where its subject changes"
        )
    };
    breaches.map(message).collect()
}

/// The types that a file declares.
fn declared_types(source: &Source) -> impl Iterator<Item = &str> {
    let lines = source.code().map(|(_, line)| line.trim_start());
    lines.filter_map(|line| {
        let line = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(") ").map_or(rest, |(_, rest)| rest),
            None => rest.trim_start(),
        });
        ["struct ", "enum ", "union "].iter().find_map(|kind| line.strip_prefix(kind)).map(first_word)
    })
}

/// The type of each inherent impl of a file, and its number of methods. Files are formatted, so the contents of an impl are
/// indented by one step.
fn inherent_impls(source: &Source) -> Vec<(&str, usize)> {
    let mut found: Vec<(&str, usize)> = Vec::new();
    let mut inside: Option<String> = None;
    for (_, line) in source.code() {
        let indent = &line[..line.len() - line.trim_start().len()];
        match &inside {
            Some(end) if line == end.as_str() => inside = None,
            Some(end) if indent.len() + 1 == end.len() + 4 && is_function(line.trim_start()) => {
                found.last_mut().expect("an impl is open").1 += 1;
            }
            Some(_) => {}
            None => {
                let Some(name) = implemented(line.trim_start()) else { continue };
                found.push((name, 0));
                inside = (!line.ends_with("{}")).then(|| format!("{indent}}}"));
            }
        }
    }
    found
}

/// The type of the inherent impl that begins at a line.
fn implemented(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let named = match rest.strip_prefix('<') {
        Some(generics) => behind_angle(generics)?,
        None => rest,
    };
    let is_trait = named.split('{').next().is_some_and(|head| head.contains(" for "));
    let name = first_word(named.strip_prefix(' ')?);
    (!is_trait && name.starts_with(|c: char| c.is_ascii_uppercase())).then_some(name)
}

/// The text after the angle bracket that closes the open one.
fn behind_angle(text: &str) -> Option<&str> {
    let mut depth = 1;
    for (place, c) in text.char_indices() {
        depth += i32::from(c == '<') - i32::from(c == '>' && !text[..place].ends_with('-'));
        if depth == 0 {
            return Some(&text[place + 1..]);
        }
    }
    None
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(text)
}

/// Whether a line of an impl begins a function.
fn is_function(line: &str) -> bool {
    let words = line.split(' ').skip_while(|word| {
        word.starts_with("pub") || word.ends_with(')') || ["const", "unsafe", "async"].contains(word)
    });
    words.into_iter().next() == Some("fn")
}

/// Types that exceed the limit on methods or on files with methods. If a crate has several types with one name, an impl
/// belongs to the one with the nearest declaration.
fn owns_too_much(sources: &[Source]) -> Vec<String> {
    let proper = sources.iter().filter(|source| source.in_crate() && !source.in_tests());
    let sources: Vec<Source> = proper.map(Source::without_unit_tests).collect();
    let folder = |source: &Source| source.path.split('/').nth(1).unwrap_or_default().to_owned();
    let mut declared: BTreeMap<(String, &str), Vec<&str>> = BTreeMap::new();
    for source in &sources {
        for name in declared_types(source) {
            declared.entry((folder(source), name)).or_default().push(&source.path);
        }
    }
    let shared = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let mut methods: BTreeMap<(String, &str, &str), (usize, BTreeSet<&str>)> = BTreeMap::new();
    for source in &sources {
        for (name, count) in inherent_impls(source) {
            let places = declared.get(&(folder(source), name)).into_iter().flatten();
            let place = places.copied().max_by_key(|place| shared(place, &source.path)).unwrap_or_default();
            let (all, files) = methods.entry((folder(source), name, place)).or_default();
            *all += count;
            files.insert(&source.path);
        }
    }
    let is_large =
        |(count, files): &(usize, BTreeSet<&str>)| *count > MOST_METHODS || files.len() > MOST_METHOD_FILES;
    let breaches = methods.into_iter().filter(|(_, large)| is_large(large));
    let message = |((folder, name, _), (count, files)): ((String, &str, &str), (usize, BTreeSet<&str>))| {
        format!(
            "crates/{folder}: `{name}` has {count} methods in {} files, at most {MOST_METHODS} in {MOST_METHOD_FILES}; cut it \
             into types that each own something, or into functions over a smaller one",
            files.len()
        )
    };
    breaches.map(message).collect()
}

fn reads_environment(source: &Source) -> Vec<String> {
    if !source.is_rust() || ENVIRONMENT_FILES.contains(&source.path.as_str()) {
        return Vec::new();
    }
    let breach = |(_, line): &(usize, &str)| line.contains(READS_ENVIRONMENT);
    let message = |(number, _)| {
        format!(
            "{}:{number}: take an option; the environment is read in {} only",
            source.path, ENVIRONMENT_FILES[0]
        )
    };
    source.code().filter(breach).map(message).collect()
}

fn names_machine_code(source: &Source) -> Vec<String> {
    let may = MACHINE_CODE.iter().any(|path| source.path.starts_with(path));
    if !source.in_crate() || source.in_tests() || may {
        return Vec::new();
    }
    let message = |(number, _)| format!("{}:{number}: machine code is the affair of a device", source.path);
    source.code().filter(|(_, line)| line.contains("codegen::cpu")).map(message).collect()
}

/// Steps of a plan that `compiler` exports, as a function or through a name that it uses.
fn offers_a_step(source: &Source) -> Vec<String> {
    if !source.in_crate() || !source.path.starts_with("crates/compiler/") {
        return Vec::new();
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut names: Vec<&str> = Vec::new();
    for (at, _) in source
        .text
        .match_indices("pub ")
        .filter(|(at, _)| source.text[..*at].ends_with(['\n', '}']) || *at == 0)
    {
        let rest = &source.text[at + "pub ".len()..];
        if let Some(name) = rest.strip_prefix("fn ") {
            names.extend(name.split(|c| !is_word(c)).next());
        } else if let Some(used) = rest.strip_prefix("use ") {
            // All parts of a path but the last end with a colon.
            let used = used.split(';').next().unwrap_or_default();
            let words = used.split(|c| !is_word(c) && c != ':').filter(|word| !word.ends_with(':'));
            names.extend(words.filter_map(|word| word.rsplit(':').next()));
        }
    }
    let breaches = names.into_iter().filter(|name| PLAN_STEPS.contains(name));
    breaches.map(|name| format!("{}: `{name}` is for the stages of `pipeline` only", source.path)).collect()
}

fn marked_unfinished(source: &Source) -> Vec<String> {
    if !source.is_rust() {
        return Vec::new();
    }
    let breaches = source
        .code()
        .filter_map(|(number, line)| Some((number, MARKS.iter().find(|mark| line.contains(**mark))?)));
    let message =
        |(number, mark)| format!("{}:{number}: `{mark}`: finish it, or return an error", source.path);
    breaches.map(message).collect()
}

#[track_caller]
pub(super) fn assert_none(diagnostics: Vec<String>) {
    assert!(diagnostics.is_empty(), "\n{}\n", diagnostics.join("\n"));
}

#[track_caller]
fn assert_all_keep(rule: fn(&Source) -> Vec<String>) {
    let sources = sources();
    assert!(sources.len() > 10, "the source files were not found below {}", root().display());
    assert_none(sources.iter().flat_map(rule).collect());
}

pub(super) fn table(text: &str) -> Table {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn manifest(path: &Path) -> Table {
    table(&fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

#[test]
fn crates_use_only_what_lies_below_them() {
    let workspace = manifest(&root().join("Cargo.toml"));
    let mut folders: Vec<PathBuf> = fs::read_dir(root().join("crates"))
        .expect("crates")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.retain(|folder| folder.join("Cargo.toml").exists());
    folders.sort();
    assert!(folders.len() >= 7, "crates not found: {folders:?}");
    let diagnostics = folders.iter().flat_map(|folder| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        wrong_arrows(&workspace, &name, &manifest(&folder.join("Cargo.toml")))
    });
    assert_none(diagnostics.collect());
}

#[test]
fn every_crate_is_seen() {
    let seen: BTreeSet<String> = sources().into_iter().map(|source| source.path).collect();
    for (folder, _) in ARROWS {
        let is_root = |file: &str| seen.contains(&format!("crates/{folder}/src/{file}.rs"));
        assert!(is_root("lib") || is_root("main"), "no rule reads crates/{folder}");
    }
}

#[test]
fn every_file_says_what_it_is() {
    assert_all_keep(unopened);
}

#[test]
fn every_public_type_and_function_says_what_it_is() {
    assert_all_keep(undocumented);
}

#[test]
fn every_name_says_what_is_inside() {
    assert_all_keep(badly_named);
}

#[test]
fn every_file_is_read_in_one_sitting() {
    assert_all_keep(too_long);
}

#[test]
fn every_crate_has_one_subject() {
    assert_none(too_large(&sources()));
}

#[test]
fn no_type_owns_too_much() {
    assert_none(owns_too_much(&sources()));
}

#[test]
fn the_environment_is_read_in_one_file() {
    assert_all_keep(reads_environment);
}

#[test]
fn machine_code_is_named_where_it_runs() {
    assert_all_keep(names_machine_code);
}

#[test]
fn only_the_pipeline_takes_the_steps_of_a_plan() {
    assert_all_keep(offers_a_step);
}

#[test]
fn nothing_is_left_unfinished() {
    assert_all_keep(marked_unfinished);
}

#[test]
fn a_wrong_arrow_is_caught() {
    let workspace =
        table("[workspace.dependencies]\nir = { path = 'crates/ir' }\nback = { path = 'crates/compiler' }");
    let check = |folder, text| wrong_arrows(&workspace, folder, &table(text));
    assert!(check("compiler", "[dependencies]\nir.workspace = true\nhalf = '2'").is_empty());
    assert!(check("codegen", "[dev-dependencies]\nback.workspace = true").is_empty());
    let forbidden = [
        ("codegen", "[dependencies]\nback.workspace = true"),
        ("ir", "[build-dependencies]\nback = { workspace = true, optional = true }"),
        ("ir", "[target.'cfg(unix)'.dependencies]\nback = { path = '../compiler' }"),
        ("python", "[dependencies]\nback.workspace = true"),
    ];
    for (folder, text) in forbidden {
        let diagnostics = check(folder, text);
        assert!(diagnostics.len() == 1 && diagnostics[0].contains("`compiler`"), "{folder}: {diagnostics:?}");
    }
    assert_eq!(check("unheard", "").len(), 1);
}

#[test]
fn a_breach_of_each_rule_is_caught() {
    let breaches = |rule: fn(&Source) -> Vec<String>, path: &str, text: &str| {
        rule(&Source { path: path.to_owned(), text: text.to_owned() }).len()
    };
    let reading = format!("let x = std::{READS_ENVIRONMENT}(\"X\");");
    let long = "\n".repeat(MOST_LINES + 1);
    assert_eq!(breaches(unopened, "crates/ir/src/a.rs", "// no\n"), 1);
    assert_eq!(breaches(unopened, "crates/ir/src/a.rs", "//! yes\n"), 0);
    assert_eq!(
        breaches(undocumented, "crates/ir/src/a.rs", "}\n\n#[derive(Debug)]\npub struct A;\npub fn a() {}\n"),
        2
    );
    assert_eq!(
        breaches(undocumented, "crates/ir/src/a.rs", "/// An A.\n#[derive(Debug)]\npub struct A;\n"),
        0
    );
    assert_eq!(breaches(badly_named, "crates/ir/src/utils.rs", ""), 1);
    assert_eq!(breaches(badly_named, "crates/ir/src/common/a.rs", ""), 1);
    assert_eq!(breaches(badly_named, "crates/ir/src/database.rs", ""), 0);
    assert_eq!(breaches(too_long, "python/ferrofuse/a.py", &long), 1);
    assert_eq!(breaches(too_long, "python/tests/a.py", &long), 0);
    let of_crate = |folder: &str, lines: usize| {
        let path = format!("crates/{folder}/src/a.rs");
        too_large(&[Source { path, text: "\n".repeat(lines) }]).len()
    };
    assert_eq!(of_crate("ir", MOST_CRATE_LINES), 0);
    assert_eq!(of_crate("ir", MOST_CRATE_LINES + 1), 1);
    assert_eq!(breaches(reads_environment, "crates/ir/src/a.rs", &reading), 1);
    assert_eq!(breaches(reads_environment, ENVIRONMENT_FILES[0], &reading), 0);
    assert_eq!(breaches(reads_environment, "crates/ir/src/a.rs", &format!("// {reading}")), 0);
    assert_eq!(breaches(names_machine_code, "crates/runtime/src/call/mod.rs", "use codegen::cpu::Isa;"), 1);
    assert_eq!(breaches(names_machine_code, "crates/runtime/src/host/code.rs", "use codegen::cpu::Isa;"), 0);
    for (text, expected) in [
        ("pub fn optimize(graph: &mut Graph) {}", 1),
        ("pub(crate) fn optimize(graph: &mut Graph) {}", 0),
        ("impl A {\n    pub fn views(&self) {}\n}", 0),
        ("mod order;\npub use order::{\n    Order,\n    ordered,\n};", 1),
        ("pub use scheduler::{layout, legal, lower};", 1),
        ("pub use scheduler::legal::{Rejection, Witness};", 0),
        ("pub use scheduler::legal::legal as is_legal;", 1),
    ] {
        assert_eq!(breaches(offers_a_step, "crates/compiler/src/lib.rs", text), expected, "{text}");
    }
    for mark in MARKS {
        assert_eq!(breaches(marked_unfinished, "crates/ir/src/a.rs", &format!("//! a\n  {mark}")), 1);
        assert_eq!(breaches(marked_unfinished, "crates/ir/src/a.rs", &format!("// {mark}")), 0);
    }
}

#[test]
fn a_type_that_owns_too_much_is_caught() {
    let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
    let methods =
        |count: usize| "    pub(super) const fn a(&self) {\n        fn inner() {}\n    }\n".repeat(count);
    let of = |head: &str, count: usize| format!("{head} {{\n{}}}\n", methods(count));
    let declared = "struct Owner<'a> {\n    fn_of: fn(),\n}\n\n";
    let one = |text: &str| owns_too_much(&[source("crates/ir/src/a.rs", &format!("{declared}{text}"))]).len();
    assert_eq!(one(&of("impl<'a, T: Fn() -> Vec<T>> Owner<'a>", MOST_METHODS)), 0);
    assert_eq!(one(&of("impl<'a, T: Fn() -> Vec<T>> Owner<'a>", MOST_METHODS + 1)), 1);
    assert_eq!(one(&of("impl From<Other> for Owner<'_>", MOST_METHODS + 1)), 0);
    assert_eq!(one(&format!("{}{}", of("impl Owner<'_>", 40), of("impl Other", 40))), 0);
    assert_eq!(one(&format!("{}{}", of("impl Owner<'_>", 40), of("impl Owner<'_>", 40))), 1);
    assert_eq!(one(&format!("#[cfg(test)]\nmod tests {{\n{}}}\n", of("impl Owner", 61))), 0);
    // Methods in many files, and two types of one name.
    let files = |count: usize| {
        let impls = (0..count)
            .map(|number| source(&format!("crates/ir/src/a/{number}.rs"), &of("impl Owner<'_>", 1)));
        let declares =
            [source("crates/ir/src/a/mod.rs", declared), source("crates/ir/src/b/mod.rs", declared)];
        impls.chain(declares).collect::<Vec<Source>>()
    };
    assert_eq!(owns_too_much(&files(MOST_METHOD_FILES)).len(), 0);
    assert_eq!(owns_too_much(&files(MOST_METHOD_FILES + 1)).len(), 1);
    let mut two = files(MOST_METHOD_FILES);
    two.push(source("crates/ir/src/b/c.rs", &of("impl Owner<'_>", MOST_METHODS)));
    assert_eq!(owns_too_much(&two).len(), 0);
}
