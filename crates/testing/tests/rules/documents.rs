//! The budgets of the documents, as tests: the length of each, and of sentences. Each rule is a function from text to
//! diagnostics, and is tested with a planted breach.

use std::fs;
use std::path::Path;

const MOST_WORDS_OF_ARCHITECTURE: usize = 1600;
const MOST_LINES_OF_RESULTS: usize = 150;
const MOST_WORDS_OF_ALL: usize = 6500;
const MOST_WORDS_OF_A_SENTENCE: usize = 30;
const MARGIN: usize = 120;
const SECTIONS: [&str; 4] = ["### Added", "### Changed", "### Fixed", "### Performance"];

fn text(path: &str) -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().nth(2).expect("the crate lies two folders below the root");
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// The paragraphs and items of lists, each on one line; without code, tables, headings and pictures.
fn paragraphs(document: &str) -> Vec<String> {
    let prose = document.split("```").step_by(2).collect::<String>();
    let mut paragraphs = vec![String::new()];
    for line in prose.lines().map(str::trim) {
        let is_item = line.starts_with("* ") || line.starts_with("- ");
        if line.is_empty() || is_item || line.starts_with(['#', '|', '!']) {
            paragraphs.push(String::new());
        }
        if !line.starts_with(['#', '|', '!']) {
            let paragraph = paragraphs.last_mut().expect("there is always one");
            *paragraph += line.trim_start_matches("* ");
            paragraph.push(' ');
        }
    }
    paragraphs.retain(|paragraph| !paragraph.trim().is_empty());
    paragraphs
}

/// Sentences end with a period, a question mark or an exclamation mark at the end of a word.
fn sentences(paragraph: &str) -> Vec<Vec<&str>> {
    let mut sentences = vec![Vec::new()];
    for word in paragraph.split_whitespace() {
        sentences.last_mut().expect("there is always one").push(word);
        if word.trim_end_matches([')', '*', '"']).ends_with(['.', '?', '!']) {
            sentences.push(Vec::new());
        }
    }
    sentences
}

fn long_sentences(document: &str) -> Vec<String> {
    let paragraphs = paragraphs(document);
    let long = paragraphs.iter().flat_map(|paragraph| sentences(paragraph));
    let long = long.filter(|sentence| sentence.len() > MOST_WORDS_OF_A_SENTENCE);
    long.map(|sentence| format!("{} words: {}", sentence.len(), sentence.join(" "))).collect()
}

/// The lines of a changelog that are neither a heading nor an entry on one line.
fn long_entries(changelog: &str) -> Vec<String> {
    let fits = |line: &&str| {
        let known =
            line.is_empty() || line.starts_with("# ") || line.starts_with("## ") || SECTIONS.contains(line);
        known || (line.starts_with("* ") && line.chars().count() < MARGIN)
    };
    changelog.lines().filter(|line| !fits(line)).map(str::to_owned).collect()
}

#[track_caller]
fn assert_none(diagnostics: &[String]) {
    assert!(diagnostics.is_empty(), "\n{}\n", diagnostics.join("\n"));
}

#[test]
fn documents_keep_their_budgets() {
    let architecture = words(&text("ARCHITECTURE.md"));
    assert!(architecture <= MOST_WORDS_OF_ARCHITECTURE, "ARCHITECTURE.md has {architecture} words");
    let results = text("bench/RESULTS.md").lines().count();
    assert!(results <= MOST_LINES_OF_RESULTS, "bench/RESULTS.md has {results} lines");
    let all =
        ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "bench/RESULTS.md"].map(|path| words(&text(path)));
    let sum: usize = all.iter().sum();
    assert!(sum <= MOST_WORDS_OF_ALL, "{sum} words together: {all:?}; details go to docs/internals");
}

#[test]
fn sentences_are_short() {
    for document in ["README.md", "ARCHITECTURE.md"].map(text) {
        assert!(paragraphs(&document).len() > 10);
        assert_none(&long_sentences(&document));
    }
}

#[test]
fn entries_of_the_changelog_are_lines() {
    let changelog = text("CHANGELOG.md");
    assert!(SECTIONS.iter().all(|section| changelog.contains(section)), "sections: {SECTIONS:?}");
    assert_none(&long_entries(&changelog));
}

#[test]
fn a_breach_of_each_budget_is_caught() {
    let long = format!("{}end.", "word ".repeat(MOST_WORDS_OF_A_SENTENCE));
    assert_eq!(long_sentences(&format!("# A\n\nShort. {long} Short.\n")).len(), 1);
    assert_eq!(long_sentences(&format!("* One.\n* {long}\n")).len(), 1);
    assert_eq!(long_sentences(&format!("```\n{long}\n```\n\n| {long} |\n")).len(), 0);
    let entry = |length: usize| format!("# C\n\n### Added\n\n* {}\n", "x".repeat(length));
    assert_eq!(long_entries(&entry(MARGIN - 3)).len(), 0);
    assert_eq!(long_entries(&entry(MARGIN - 2)).len(), 1);
    assert_eq!(long_entries("* one\n  two\n").len(), 1);
    assert_eq!(long_entries("### Other\n").len(), 1);
}
