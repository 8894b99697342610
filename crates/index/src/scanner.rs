//! Texts read from left to right: words, marks and stretches up to a mark, and lines without their comments.
//!
//! Index expressions, op expressions, kernels, schedules and segmentations are read with it. It knows no grammar and no
//! error: each of these languages says what it expects, at the place that is read next.

/// A text and how far it has been read. Blanks in front of what is read next count as read.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// The beginning of a text.
    pub fn new(text: &'a str) -> Scanner<'a> {
        Scanner { text, at: text.len() - text.trim_start().len() }
    }

    /// The whole text, read or not.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The byte offset of what is read next.
    pub fn at(&self) -> usize {
        self.at
    }

    /// What is left.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Whether nothing is left.
    pub fn is_done(&self) -> bool {
        self.rest().is_empty()
    }

    /// The column of a byte offset: in characters, from 1.
    pub fn column(&self, at: usize) -> usize {
        self.text.char_indices().take_while(|(place, _)| *place < at).count() + 1
    }

    /// Reads `mark` if it is next. A mark of letters must end where the word ends.
    pub fn eat(&mut self, mark: &str) -> bool {
        let Some(rest) = self.rest().strip_prefix(mark) else { return false };
        let goes_on = mark.ends_with(is_word_char) && rest.starts_with(is_word_char);
        if !goes_on {
            self.advance(mark.len());
        }
        !goes_on
    }

    /// Reads letters, digits and underscores, be it none.
    pub fn word(&mut self) -> &'a str {
        self.take_while(is_word_char)
    }

    /// Reads as long as the characters are of a kind, be it none.
    pub fn take_while(&mut self, is_of_kind: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        self.take(rest.find(|c| !is_of_kind(c)).unwrap_or(rest.len()))
    }

    /// Reads up to the next `mark` and past it, if there is one; gives what stands in front of it.
    pub fn until(&mut self, mark: &str) -> Option<&'a str> {
        let length = self.rest().find(mark)?;
        let before = self.take(length);
        self.advance(mark.len());
        Some(before.trim_end())
    }

    /// Reads `length` bytes.
    pub fn take(&mut self, length: usize) -> &'a str {
        let taken = &self.rest()[..length];
        self.advance(length);
        taken
    }

    fn advance(&mut self, length: usize) {
        self.at += length;
        self.at += self.rest().len() - self.rest().trim_start().len();
    }
}

/// The lines of a text, by number from 1. What follows a `#` is no part of a line, and empty lines are skipped.
#[derive(Clone, Debug)]
pub struct TextLines<'a> {
    lines: std::str::Lines<'a>,
    number: usize,
}

impl<'a> TextLines<'a> {
    /// All lines of a text.
    pub fn new(text: &'a str) -> TextLines<'a> {
        TextLines { lines: text.lines(), number: 0 }
    }

    /// The number of the line that was read last, skipped ones included.
    pub fn number(&self) -> usize {
        self.number
    }
}

impl<'a> Iterator for TextLines<'a> {
    type Item = (usize, Scanner<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        for line in self.lines.by_ref() {
            self.number += 1;
            let line = Scanner::new(line.split('#').next().unwrap_or_default().trim_end());
            if !line.is_done() {
                return Some((self.number, line));
            }
        }
        None
    }
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_letters_are_whole_words() {
        let mut text = Scanner::new("  for x0in in 0..i1");
        assert!(!text.eat("fo") && text.eat("for"));
        assert_eq!((text.at(), text.word()), (6, "x0in"));
        assert!(text.eat("in") && text.eat("0") && text.eat(".."));
        assert_eq!((text.rest(), text.word(), text.is_done()), ("i1", "i1", true));
        assert_eq!((text.word(), text.at()), ("", text.text().len()));
    }

    #[test]
    fn stretches_end_at_a_mark() {
        let mut text = Scanner::new("[ a + b ] = é, x");
        assert!(text.eat("["));
        assert_eq!(text.until("]"), Some("a + b"));
        assert_eq!((text.until("]"), text.rest()), (None, "= é, x"));
        assert_eq!((text.until(","), text.column(text.at())), (Some("= é"), 16));
    }

    #[test]
    fn lines_are_numbered_and_have_no_comments() {
        let lines = TextLines::new("a b # c\n\n  # d\n e  \n");
        let read: Vec<(usize, &str)> = lines.map(|(number, line)| (number, line.rest())).collect();
        assert_eq!(read, [(1, "a b"), (4, "e")]);
    }
}
