//! The kernels that a CUDA C++ text declares: takes the text, gives the names after `__global__` and the blocks of their
//! clusters. Knows comments and strings, no templates: what stands before the first parenthesis of a declaration is its
//! name.

/// A kernel of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    pub name: String,
    /// The blocks of a cluster along x, as written in the text: a number or a constant; 1 if not given.
    pub cluster: String,
}

/// The kernels, each once, in the order of the text.
pub(crate) fn kernels(source: &str) -> Vec<Declared> {
    let words = words(source);
    let mut kernels: Vec<Declared> = Vec::new();
    for place in (0..words.len()).filter(|&place| words[place] == "__global__") {
        if let Some(kernel) = before_parameters(&words[place + 1..])
            && kernels.iter().all(|known| known.name != kernel.name)
        {
            kernels.push(kernel);
        }
    }
    kernels
}

/// What stands before the parenthesis that opens the parameters; attributes have parentheses of their own.
fn before_parameters(words: &[String]) -> Option<Declared> {
    let (mut place, mut cluster) = (0, "1".to_owned());
    while place + 1 < words.len() {
        let is_attribute = words[place].starts_with("__") && words[place].ends_with("__");
        if words[place] == "__cluster_dims__" {
            cluster = words.get(place + 2)?.clone();
        }
        match words[place + 1].as_str() {
            "(" if is_attribute => place = behind_parentheses(words, place + 1),
            "(" => return Some(Declared { name: words[place].clone(), cluster }),
            _ => place += 1,
        }
    }
    None
}

fn behind_parentheses(words: &[String], open: usize) -> usize {
    let mut depth = 0;
    for (place, word) in words.iter().enumerate().skip(open) {
        match word.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return place + 1;
        }
    }
    words.len()
}

/// Identifiers, and every other character but blanks as a word of its own; no comments and no strings.
fn words(source: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            string_length(rest)
        } else {
            let identifier = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let length = if identifier > 0 { identifier } else { first.len_utf8() };
            if !first.is_whitespace() {
                words.push(rest[..length].to_owned());
            }
            length
        };
        rest = &rest[length..];
    }
    words
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (place, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return place + 1,
            c => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}
