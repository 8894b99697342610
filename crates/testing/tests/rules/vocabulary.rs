//! The words of the project, as tests: words that `docs/glossary.md` retires do not occur. Two public types that one reader
//! may meet have one name only if a row of this file allows it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml::Table;

/// Names that several public types may have, of one crate or of a crate and one that it uses, each with the reason.
const SHARED_NAMES: &[(&str, &str)] = &[
    ("Body", "of a lambda, and of a parallel loop"),
    ("Buffer", "of a kernel, and memory that the runtime owns"),
    ("Checked", "a step that was checked, and a seed"),
    ("EmitError", "one a code generator"),
    ("Error", "one a layer"),
    ("Evaluation", "what an evaluator gives, and the step that asks for it"),
    ("Executable", "the face of Rust, and that of Python"),
    ("Failure", "of a differential test, and of the command line"),
    ("Fault", "of the interpreter, and whose a failure is"),
    ("Identity", "of a monoid, and of a libLLVM"),
    ("Kernel", "a loop program, and the row of an op's code for one"),
    ("Launch", "a step of a plan, and what the emulator runs"),
    ("Mark", "how far a graph has come, and how far a record"),
    ("Module", "of LLVM IR, and of emulated C++"),
    ("Object", "of the definition language, and compiled"),
    ("Options", "one a verb of the command line, and the interpreter's"),
    ("Output", "of a graph, of libLLVM, of a call"),
    ("ParseError", "one a language"),
    ("Place", "of a kernel's memory, and of an argument of Python"),
    ("Placement", "of an output, and of drawn data"),
    ("Request", "for inputs, and to a process that fuzzes"),
    ("Row", "of a table"),
    ("Slot", "of a call's arguments, and of a plan's memory"),
    ("Source", "of an operand, and of an input"),
    ("Stats", "of the allocator, and of an emulated launch"),
    ("Step", "of a plan, and of a drawn program"),
    ("Tensor", "memory with a layout, and one of a drawn program"),
    ("Term", "of an index, and of a lambda"),
    ("Val", "of a graph, and the face of one in Python"),
    ("Workload", "of a schedule, and of the benchmark"),
];

/// The places of sources and documents, besides the documents at the root.
const FOLDERS: [&str; 9] =
    ["bench", "crates", "docs", "examples", "fuzz", "python", "scripts", "tests", "README.md"];

/// Files that are not our text, or that state the rule itself.
const LEFT_OUT: [&str; 3] = ["docs/glossary.md", "fuzz/corpus", "fuzz/target"];

/// A file: its path from the root, with `/`, and its text.
struct File {
    path: String,
    text: String,
}

/// A retired name or phrase.
enum Retired {
    /// An identifier or a path, which is found only as written.
    Name(String),
    /// Words, which are found in prose and in names.
    Words(Vec<String>),
}

/// A row: the term, the ends of its paths, the retired words, and phrases in which the words stay.
struct Row {
    term: String,
    places: Vec<String>,
    retired: Vec<Retired>,
    stays: Vec<Vec<String>>,
}

fn rows(glossary: &str) -> Vec<Row> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let table = glossary.lines().filter(|line| line.starts_with('|')).map(cells).skip(2);
    table
        .map(|cells| {
            let [term, _, places, retired, stays] = &cells[..] else { panic!("not five cells: {cells:?}") };
            let places = listed(places).map(|place| place.trim_matches('`').to_owned()).collect();
            let stays = listed(stays).map(words).collect();
            Row { term: term.clone(), places, retired: listed(retired).map(item).collect(), stays }
        })
        .collect()
}

fn listed(cell: &str) -> impl Iterator<Item = &str> {
    cell.split(", ").filter(|item| !item.is_empty())
}

fn item(text: &str) -> Retired {
    match text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
        Some(name) => Retired::Name(name.to_owned()),
        None => Retired::Words(words(text)),
    }
}

fn words(text: &str) -> Vec<String> {
    text.split([' ', '.']).map(str::to_lowercase).collect()
}

/// The words of a text and of the names in it: where each begins, in lower case. Names are words with `_`, or with capitals
/// within.
fn words_of(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut before = ' ';
    for (place, c) in text.char_indices() {
        let begins = !before.is_alphabetic() || (before.is_lowercase() && c.is_uppercase());
        match found.last_mut().filter(|_| !begins) {
            Some((_, word)) if c.is_alphabetic() => word.extend(c.to_lowercase()),
            _ if c.is_alphabetic() => found.push((place, c.to_lowercase().collect())),
            _ => {}
        }
        before = c;
    }
    found
}

/// The indices of the words of `text` at which `phrase` begins.
fn occurrences(text: &[(usize, String)], phrase: &[String]) -> Vec<usize> {
    let begins = text.windows(phrase.len()).enumerate();
    begins.filter(|(_, window)| window.iter().map(|(_, word)| word).eq(phrase)).map(|(n, _)| n).collect()
}

/// Where `name` is in a text, except as a part of a longer one.
fn names(text: &str, name: &str) -> Vec<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let alone = |place: usize| {
        let (before, after) = (text[..place].chars().next_back(), text[place + name.len()..].chars().next());
        !before.filter(|_| name.starts_with(is_part)).is_some_and(is_part)
            && !after.filter(|_| name.ends_with(is_part)).is_some_and(is_part)
    };
    text.match_indices(name).map(|(place, _)| place).filter(|&place| alone(place)).collect()
}

/// The retired words of a file, with their lines. Its path counts as text before its own.
fn breaches(rows: &[Row], file: &File) -> Vec<String> {
    let text = format!("{}\n{}", file.path, file.text);
    let spoken = words_of(&text);
    let mut found = Vec::new();
    for row in rows {
        let within = |place: usize, stay: &Vec<String>| {
            (place.saturating_sub(stay.len() - 1)..=place).any(|begin| {
                spoken
                    .get(begin..begin + stay.len())
                    .is_some_and(|window| window.iter().map(|(_, word)| word).eq(stay))
            })
        };
        for retired in &row.retired {
            let (name, places) = match retired {
                Retired::Name(name) => (name.clone(), names(&text, name)),
                Retired::Words(phrase) => {
                    let mut places = occurrences(&spoken, phrase);
                    places.retain(|&place| !row.stays.iter().any(|stay| within(place, stay)));
                    (phrase.join(" "), places.into_iter().map(|place| spoken[place].0).collect())
                }
            };
            found.extend(places.into_iter().map(|place| {
                let line = text[..place].matches('\n').count();
                format!("{}:{line}: `{name}` is retired; docs/glossary.md has `{}`", file.path, row.term)
            }));
        }
    }
    found
}

/// Places in rows that match no file, or several.
fn wrong_places(rows: &[Row], files: &[File]) -> Vec<String> {
    let is_at = |path: &str, place: &str| {
        path.starts_with("crates/") && path.strip_suffix(place).is_some_and(|folder| folder.ends_with('/'))
    };
    let places = rows.iter().flat_map(|row| row.places.iter().map(move |place| (&row.term, place)));
    let count = |place: &str| files.iter().filter(|file| is_at(&file.path, place)).count();
    let wrong = places.map(|(term, place)| (term, place, count(place))).filter(|(.., count)| *count != 1);
    wrong.map(|(term, place, count)| format!("the place `{place}` of `{term}` is {count} files")).collect()
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the crate lies two folders below the root").to_path_buf()
}

fn collect(path: &Path, files: &mut Vec<File>) {
    let inside = path.strip_prefix(root()).expect("below the root");
    let inside = inside.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if LEFT_OUT.contains(&inside.as_str()) || name.starts_with('.') || name == "__pycache__" {
        return;
    }
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{inside}: {error}"));
        entries.for_each(|entry| collect(&entry.expect("an entry").path(), files));
    } else if let Ok(text) = fs::read_to_string(path) {
        files.push(File { path: inside, text });
    }
}

/// Sources and documents of the project.
fn files() -> Vec<File> {
    let mut files = Vec::new();
    FOLDERS.iter().for_each(|folder| collect(&root().join(folder), &mut files));
    for document in ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"] {
        collect(&root().join(document), &mut files);
    }
    files.retain(|file| {
        [".rs", ".py", ".pyi", ".h", ".cu", ".kernel", ".md", ".toml"]
            .iter()
            .any(|end| file.path.ends_with(end))
    });
    files
}

fn glossary() -> Vec<Row> {
    rows(&fs::read_to_string(root().join("docs/glossary.md")).expect("docs/glossary.md"))
}

/// The crates (by folder) that each crate uses, directly or not.
fn uses() -> BTreeMap<String, BTreeSet<String>> {
    let folders = fs::read_dir(root().join("crates")).expect("crates");
    let folders = folders.map(|entry| entry.expect("an entry").path());
    let manifests: BTreeMap<String, String> = folders
        .filter_map(|folder| {
            let name = folder.file_name()?.to_string_lossy().into_owned();
            Some((name, fs::read_to_string(folder.join("Cargo.toml")).ok()?))
        })
        .collect();
    let direct = |manifest: &str| -> BTreeSet<String> {
        let manifest: Table = manifest.parse().unwrap_or_else(|error| panic!("{error}"));
        let used = manifest.get("dependencies").and_then(|value| value.as_table());
        used.into_iter().flat_map(Table::keys).filter(|name| manifests.contains_key(*name)).cloned().collect()
    };
    let mut uses: BTreeMap<String, BTreeSet<String>> =
        manifests.iter().map(|(name, manifest)| (name.clone(), direct(manifest))).collect();
    for _ in 0..uses.len() {
        let known = uses.clone();
        for used in uses.values_mut() {
            let further: Vec<String> = used.iter().flat_map(|name| known[name].iter().cloned()).collect();
            used.extend(further);
        }
    }
    uses
}

/// The names of the types that a source file makes public.
fn public_types(text: &str) -> impl Iterator<Item = &str> {
    const KINDS: [&str; 5] = ["struct ", "enum ", "trait ", "type ", "union "];
    let declared = text.lines().filter_map(|line| line.trim_start().strip_prefix("pub "));
    declared.filter_map(|declared| {
        let name = KINDS.iter().find_map(|kind| declared.strip_prefix(kind))?;
        name.split(|c: char| !c.is_alphanumeric()).next()
    })
}

/// Public types with one name, in one crate or in a crate and one that it uses, that no row allows.
fn shared_names(
    files: &[File],
    uses: &BTreeMap<String, BTreeSet<String>>,
    allowed: &[(&str, &str)],
) -> Vec<String> {
    let mut types: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for file in files {
        let parts: Vec<&str> = file.path.split('/').collect();
        if let ["crates", package, "src", ..] = parts[..] {
            public_types(&file.text)
                .for_each(|name| types.entry(name).or_default().push((package, &file.path)));
        }
    }
    let related = |a: &str, b: &str| {
        a == b || [(a, b), (b, a)].iter().any(|(of, on)| uses.get(*of).is_some_and(|used| used.contains(*on)))
    };
    let mut found = Vec::new();
    for (name, places) in types {
        let pair = places.iter().enumerate().find_map(|(n, (a, first))| {
            places[n + 1..].iter().find(|(b, _)| related(a, b)).map(|(_, second)| (first, second))
        });
        if let (Some((first, second)), false) = (pair, allowed.iter().any(|(allowed, _)| *allowed == name)) {
            found.push(format!("`{name}` is a type of {first} and of {second}: give one another name"));
        }
    }
    found
}

#[track_caller]
fn assert_none(diagnostics: &[String]) {
    assert!(diagnostics.is_empty(), "\n{}\n", diagnostics.join("\n"));
}

#[test]
fn nothing_that_the_glossary_retires_is_used() {
    let (rows, files) = (glossary(), files());
    assert!(rows.len() > 30 && files.len() > 500, "{} rows, {} files", rows.len(), files.len());
    assert_none(&files.iter().flat_map(|file| breaches(&rows, file)).collect::<Vec<_>>());
}

#[test]
fn every_term_is_in_one_row() {
    let rows = glossary();
    let terms: BTreeSet<&str> = rows.iter().map(|row| row.term.as_str()).collect();
    assert_eq!(terms.len(), rows.len());
}

#[test]
fn every_place_is_a_file() {
    assert_none(&wrong_places(&glossary(), &files()));
}

#[test]
fn a_wrong_place_is_caught() {
    let rows = rows("| T | M | P | R | S |\n|---|---|---|---|---|\n| thing | m | `a/mod.rs`, `b.rs` | | |\n");
    let files = |paths: &[&str]| -> Vec<File> {
        paths.iter().map(|path| File { path: (*path).to_owned(), text: String::new() }).collect()
    };
    let count = |paths: &[&str]| wrong_places(&rows, &files(paths)).len();
    assert_eq!(count(&["crates/ir/src/a/mod.rs", "crates/ir/src/b.rs", "docs/b.rs"]), 0);
    assert_eq!(count(&["crates/ir/src/a/mod.rs", "crates/ir/src/ab.rs"]), 1);
    assert_eq!(count(&["crates/ir/src/a/mod.rs", "crates/ops/src/a/mod.rs", "crates/ir/src/b.rs"]), 1);
}

#[test]
fn types_have_names_of_their_own() {
    assert_none(&shared_names(&files(), &uses(), SHARED_NAMES));
}

#[test]
fn a_retired_word_is_caught() {
    let table = "| Term | Meaning | Place | Retired | Stays |\n|---|---|---|---|---|\n\
         | thing | m | p | gizmo, gizmo box, `Widget`, `emit/old.rs` | a gizmo of old |\n| other | m | p | | |\n";
    let rows = rows(table);
    let count = |path: &str, text: &str| {
        breaches(&rows, &File { path: path.to_owned(), text: text.to_owned() }).len()
    };
    assert_eq!(rows.len(), 2);
    for breach in
        ["// One Gizmo.", "fn a_gizmo_here() {}", "struct MyGizmo;", "const GIZMO: u8", "Widget { x }"]
    {
        assert_eq!(count("a.rs", breach), 1, "{breach}");
    }
    assert_eq!(count("a.rs", "//! the gizmo\n//! box"), 2, "the word, and the phrase over two lines");
    assert_eq!(count("crates/emit/old.rs", ""), 1);
    assert_eq!(count("tests/run/gizmo_first.py", ""), 1);
    for fine in ["gizmos", "a gizmo of old", "a_gizmo_of_old", "Widgets", "widget", "the old one"] {
        assert_eq!(count("a.rs", fine), 0, "{fine}");
    }
    let told = breaches(&rows, &File { path: "a.rs".to_owned(), text: "\n\nx gizmo".to_owned() });
    assert_eq!(told, ["a.rs:3: `gizmo` is retired; docs/glossary.md has `thing`"]);
}

#[test]
fn a_shared_name_is_caught() {
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let uses = BTreeMap::from([
        ("top".to_owned(), BTreeSet::from(["low".to_owned()])),
        ("low".to_owned(), BTreeSet::new()),
        ("side".to_owned(), BTreeSet::new()),
    ]);
    let check = |first: &str, second: &str, allowed: &[(&str, &str)]| {
        let files = [file(first, "pub struct Thing;"), file(second, "    pub enum Thing {")];
        shared_names(&files, &uses, allowed).len()
    };
    assert_eq!(check("crates/top/src/a.rs", "crates/low/src/b.rs", &[]), 1);
    assert_eq!(check("crates/low/src/a.rs", "crates/low/src/b.rs", &[]), 1);
    assert_eq!(check("crates/side/src/a.rs", "crates/low/src/b.rs", &[]), 0);
    assert_eq!(check("crates/top/src/a.rs", "crates/low/src/b.rs", &[("Thing", "for a reason")]), 0);
    let hidden = [
        file("crates/low/src/a.rs", "pub(crate) struct Thing;"),
        file("crates/low/src/b.rs", "struct Thing;"),
    ];
    assert_none(&shared_names(&hidden, &uses, &[]));
}
