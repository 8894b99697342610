//! From characters to tokens: names, numbers, strings, marks, and Python's line structure.
//!
//! Takes a source text, returns tokens with their places. Line breaks inside brackets are dropped, indentation becomes
//! `Indent` and `Dedent`. Knows nothing of statements.

use ir::Span;

use crate::diagnostic::RawDiagnostic;

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Name(String),
    Int(i64),
    /// An integer that needs u64.
    Wide(u64),
    Float(f64),
    Imaginary(f64),
    Text(String),
    Mark(&'static str),
    Newline,
    Indent,
    Dedent,
    End,
}

/// Marks; longer ones come before their prefixes.
const MARKS: [&str; 31] = [
    "**", "//", "->", "==", "!=", "<=", ">=", "<<", ">>", "(", ")", "[", "]", "{", "}", ",", ":", ".", "=",
    "+", "-", "*", "/", "%", "<", ">", "&", "|", "^", "~", "@",
];

/// The tokens of a text, the last one being `End`.
pub(crate) fn tokens(source: &str) -> Result<Vec<(Token, Span)>, RawDiagnostic> {
    let mut lexer = Lexer { source, at: 0, open: Vec::new(), indents: vec![0], tokens: Vec::new() };
    if source.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    lexer.line_start()?;
    while lexer.at < source.len() {
        lexer.token()?;
    }
    lexer.finish()
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    /// Brackets not closed yet.
    open: Vec<(&'static str, Span)>,
    /// Indentation of the enclosing blocks.
    indents: Vec<usize>,
    tokens: Vec<(Token, Span)>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn push(&mut self, token: Token, start: usize) {
        self.tokens.push((token, Span::new(start, self.at)));
    }

    /// One token, or white space, within a line.
    fn token(&mut self) -> Result<(), RawDiagnostic> {
        let start = self.at;
        let Some(first) = self.rest().chars().next() else { return Ok(()) };
        match first {
            ' ' | '\t' | '\r' | '\u{c}' => self.at += 1,
            '#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
            '\n' => {
                self.at += 1;
                if self.open.is_empty() {
                    self.push(Token::Newline, start);
                    self.line_start()?;
                }
            }
            '\\' => self.continuation()?,
            ';' => {
                self.at += 1;
                self.push(Token::Newline, start);
            }
            '"' | '\'' => self.string(start)?,
            _ if first.is_ascii_digit() || self.starts_fraction() => self.number(start)?,
            _ if first.is_ascii_alphabetic() || first == '_' => self.word(start)?,
            _ => self.mark(start, first)?,
        }
        Ok(())
    }

    fn starts_fraction(&self) -> bool {
        let bytes = self.rest().as_bytes();
        bytes.first() == Some(&b'.') && bytes.get(1).is_some_and(u8::is_ascii_digit)
    }

    fn continuation(&mut self) -> Result<(), RawDiagnostic> {
        let rest = self.rest();
        let break_length = ["\\\n", "\\\r\n"].iter().find(|mark| rest.starts_with(**mark)).map(|m| m.len());
        let span = Span::new(self.at, self.at + 1);
        self.at += break_length
            .ok_or_else(|| RawDiagnostic::new(span, "unexpected backslash", "only at the end of a line"))?;
        Ok(())
    }

    /// Measures the indentation of a line; blank lines do not count.
    fn line_start(&mut self) -> Result<(), RawDiagnostic> {
        loop {
            let line = self.rest();
            let width = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let content = line[width..].trim_start_matches('\r');
            if content.starts_with('\n') || content.starts_with('#') {
                self.at += line.find('\n').map_or(line.len(), |newline| newline + 1);
                continue;
            }
            let (columns, empty) = (columns(&line[..width]), content.is_empty());
            self.at += width;
            return if empty { Ok(()) } else { self.indent(columns) };
        }
    }

    fn indent(&mut self, columns: usize) -> Result<(), RawDiagnostic> {
        let start = self.at;
        if columns > self.indents[self.indents.len() - 1] {
            self.indents.push(columns);
            self.push(Token::Indent, start);
        }
        while columns < self.indents[self.indents.len() - 1] {
            self.indents.pop();
            self.push(Token::Dedent, start);
        }
        if columns == self.indents[self.indents.len() - 1] {
            return Ok(());
        }
        let span = Span::new(start, start + 1);
        Err(RawDiagnostic::new(span, "this line is indented like no line above it", "unknown indentation"))
    }

    fn string(&mut self, start: usize) -> Result<(), RawDiagnostic> {
        let rest = self.rest();
        let mark =
            ["\"\"\"", "'''", "\"", "'"].into_iter().find(|mark| rest.starts_with(mark)).unwrap_or("\"");
        let body = &rest[mark.len()..];
        let mut end = None;
        let mut bytes = body.bytes().enumerate();
        while let Some((place, byte)) = bytes.next() {
            if byte == b'\\' {
                bytes.next();
            } else if body.as_bytes()[place..].starts_with(mark.as_bytes()) {
                end = Some(place);
                break;
            } else if byte == b'\n' && mark.len() == 1 {
                break;
            }
        }
        let Some(end) = end else {
            let span = Span::new(start, start + mark.len());
            return Err(RawDiagnostic::new(
                span,
                "this string is not closed",
                format!("expected a closing {mark}"),
            ));
        };
        let text = body[..end].to_owned();
        self.at += 2 * mark.len() + end;
        self.push(Token::Text(text), start);
        Ok(())
    }

    fn number(&mut self, start: usize) -> Result<(), RawDiagnostic> {
        let length = number_length(self.rest().as_bytes());
        let written = &self.rest()[..length];
        let (wrong, digits) = (misspelt(written), written.replace('_', ""));
        self.at += length;
        let imaginary = self.rest().starts_with(['j', 'J']);
        self.at += usize::from(imaginary);
        let span = Span::new(start, self.at);
        if self.rest().starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            return Err(RawDiagnostic::new(
                span,
                "this is not a number",
                "a number ends here, and more follows",
            ));
        }
        if let Some(wrong) = wrong.filter(|_| !imaginary).or(wrong.filter(|wrong| *wrong != LEADING_ZERO)) {
            return Err(RawDiagnostic::new(span, "this is not a number", wrong));
        }
        let token = if imaginary {
            digits.parse().ok().map(Token::Imaginary)
        } else if digits.contains(['.', 'e', 'E']) {
            digits.parse().ok().map(Token::Float)
        } else {
            digits.parse().ok().map(Token::Int).or_else(|| digits.parse().ok().map(Token::Wide))
        };
        let too_large =
            || RawDiagnostic::new(span, "this number is too large", "integers have at most 64 bits");
        self.push(token.ok_or_else(too_large)?, start);
        Ok(())
    }

    fn word(&mut self, start: usize) -> Result<(), RawDiagnostic> {
        let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let length = self.rest().find(word).unwrap_or(self.rest().len());
        let name = self.rest()[..length].to_owned();
        self.at += length;
        self.push(Token::Name(name), start);
        Ok(())
    }

    fn mark(&mut self, start: usize, first: char) -> Result<(), RawDiagnostic> {
        let span = Span::new(start, start + first.len_utf8());
        let Some(mark) = MARKS.into_iter().find(|mark| self.rest().starts_with(mark)) else {
            let shown = first.escape_debug();
            return Err(RawDiagnostic::new(
                span,
                format!("unexpected character `{shown}`"),
                "not part of the language",
            ));
        };
        self.at += mark.len();
        match mark {
            "(" | "[" | "{" => self.open.push((mark, span)),
            ")" | "]" | "}" => {
                let opener = self.open.pop().map(|(opener, _)| opener);
                if opener.map(closer) != Some(mark) {
                    let label = opener
                        .map_or("nothing is open here".to_owned(), |o| format!("expected `{}`", closer(o)));
                    return Err(RawDiagnostic::new(span, format!("unexpected `{mark}`"), label));
                }
            }
            _ => {}
        }
        self.push(Token::Mark(mark), start);
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<(Token, Span)>, RawDiagnostic> {
        if let Some((mark, span)) = self.open.pop() {
            let label = format!("expected `{}` before the end of the file", closer(mark));
            return Err(RawDiagnostic::new(span, format!("this `{mark}` is not closed"), label));
        }
        let end = self.source.len();
        if self.tokens.last().is_some_and(|(token, _)| *token != Token::Newline) {
            self.push(Token::Newline, end);
        }
        for _ in 1..self.indents.len() {
            self.push(Token::Dedent, end);
        }
        self.push(Token::End, end);
        Ok(self.tokens)
    }
}

fn closer(opener: &str) -> &'static str {
    match opener {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}

/// Tabs advance to the next multiple of eight, as in Python.
fn columns(white: &str) -> usize {
    white.bytes().fold(0, |column, byte| if byte == b'\t' { column / 8 * 8 + 8 } else { column + 1 })
}

/// Digits, a fraction and an exponent.
fn number_length(bytes: &[u8]) -> usize {
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count();
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') {
        length += 1;
        length += digits(length);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = bytes.get(length + 1 + sign).is_some_and(u8::is_ascii_digit);
        if exponent {
            length += 1 + sign;
            length += digits(length);
        }
    }
    length
}

const LEADING_ZERO: &str = "an integer other than 0 does not begin with 0";

/// The error in the digits of a number that Python rejects.
fn misspelt(number: &str) -> Option<&'static str> {
    let bytes = number.as_bytes();
    let is_digit =
        |place: Option<usize>| place.and_then(|place| bytes.get(place)).is_some_and(u8::is_ascii_digit);
    let between = |place: usize| is_digit(place.checked_sub(1)) && is_digit(Some(place + 1));
    if number.match_indices('_').any(|(place, _)| !between(place)) {
        return Some("`_` stands between two digits");
    }
    let whole = !number.contains(['.', 'e', 'E']);
    let zeros = number.starts_with('0') && number.contains(|c: char| c.is_ascii_digit() && c != '0');
    (whole && zeros).then_some(LEADING_ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &str) {
        let text = match tokens(source) {
            Ok(tokens) => tokens.iter().map(|(token, _)| shown(token)).collect::<Vec<_>>().join(" "),
            Err(diagnostic) => format!("{} at {}", diagnostic.message, diagnostic.span.start),
        };
        assert_eq!(text, expected, "{source:?}");
    }

    fn shown(token: &Token) -> String {
        match token {
            Token::Name(name) => name.clone(),
            Token::Int(n) => n.to_string(),
            Token::Wide(n) => n.to_string(),
            Token::Float(x) => format!("{x:?}"),
            Token::Imaginary(x) => format!("{x:?}j"),
            Token::Text(text) => format!("{text:?}"),
            Token::Mark(mark) => (*mark).to_owned(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn numbers_are_python_s() {
        check("1 -2 1. .5 1e-5 3.00000 1_000", "1 - 2 1.0 0.5 1e-5 3.0 1000 Newline End");
        check("1e", "this is not a number at 0");
        for number in ["0777", "00_7", "1__0", "1_", "1_.5", "1._5", "1e1_", "1_e5", "1__0j"] {
            check(number, "this is not a number at 0");
        }
        check("00 0_0 007.5 01e2 007j", "0 0 7.5 100.0 7.0j Newline End");
        check("1.0+2j .5e1J", "1.0 + 2.0j 5.0j Newline End");
        check("2jj", "this is not a number at 0");
        check("18446744073709551615", "18446744073709551615 Newline End");
        check("18446744073709551616", "this number is too large at 0");
    }

    #[test]
    fn line_structure_is_python_s() {
        check("a:\n  b\n\n # c\n  d\ne", "a : Newline Indent b Newline d Newline Dedent e Newline End");
        check("f(a,\n  b)\nc\\\n d", "f ( a , b ) Newline c d Newline End");
        check("if x:\n    a\n  b", "this line is indented like no line above it at 14");
        check("a; b", "a Newline b Newline End");
        check("", "End");
    }

    #[test]
    fn strings_and_brackets_close() {
        check("float(\"inf\") '''a\nb'''", "float ( \"inf\" ) \"a\\nb\" Newline End");
        check("'abc", "this string is not closed at 0");
        check("(a", "this `(` is not closed at 0");
        check("(a]", "unexpected `]` at 2");
        check("a)", "unexpected `)` at 1");
        check("a € b", "unexpected character `€` at 2");
    }
}
