//! From tokens to the tree: the straight-line subset of Python in which definitions are written.
//!
//! Takes a source text, returns its parts. Imports, comments and `pass` are dropped here. All other Python is rejected with
//! its place. Statements are here, expressions in `expression`.

use ir::Span;

use crate::diagnostic::RawDiagnostic;
use crate::lexer::{Token, tokens};
use crate::tree::{Item, Line, Name, StatementSyntax, Tree, TreeKind};

/// Keywords that begin statements outside of this subset of Python.
pub(crate) const REJECTED: [&str; 22] = [
    "if", "elif", "else", "for", "while", "try", "except", "finally", "raise", "class", "lambda", "async",
    "await", "global", "nonlocal", "assert", "del", "yield", "return", "match", "break", "continue",
];

/// The limit on nested blocks; the builder accepts fewer groups.
const MAX_BLOCKS: usize = 64;

/// The parts of a file, in order.
pub fn parse_file(source: &str) -> Result<Vec<Item>, RawDiagnostic> {
    let mut parser = Parser { tokens: tokens(source)?, at: 0, depth: 0, open_blocks: 0 };
    let mut items = Vec::new();
    while *parser.peek() != Token::End {
        parser.item(&mut items)?;
    }
    Ok(items)
}

/// The tokens of a file and the parser's position in them.
pub(crate) struct Parser {
    pub tokens: Vec<(Token, Span)>,
    pub at: usize,
    /// The depth of open expressions.
    pub depth: u16,
    /// The depth of open blocks.
    open_blocks: usize,
}

impl Parser {
    /// The current token; the last one is the end of the text.
    pub fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    /// The place of the current token.
    pub fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// The place from `start` to the end of the token before the current one.
    pub fn since(&self, start: Span) -> Span {
        start.to(self.tokens[self.at.saturating_sub(1)].1)
    }

    /// Advances to the next token, but not beyond the end.
    pub fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    /// Consumes this mark if it is next; returns whether it was.
    pub fn accept(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Token::Mark(m) if *m == mark);
        if found {
            self.advance();
        }
        found
    }

    /// Consumes this word if it is next; returns whether it was.
    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Name(name) if name == word);
        if found {
            self.advance();
        }
        found
    }

    /// Consumes this mark, which has to be next.
    pub fn expect(&mut self, mark: &str) -> Result<(), RawDiagnostic> {
        if self.accept(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    /// The diagnostic about a current token that is not `expected`.
    pub fn unexpected(&self, expected: &str) -> RawDiagnostic {
        let given = match self.peek() {
            Token::Name(name) => format!("`{name}`"),
            Token::Int(_) | Token::Wide(_) | Token::Float(_) | Token::Imaginary(_) => "number".to_owned(),
            Token::Text(_) => "string".to_owned(),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::Newline => "end of line".to_owned(),
            Token::Indent => "indentation".to_owned(),
            Token::Dedent => "end of block".to_owned(),
            Token::End => "end of file".to_owned(),
        };
        RawDiagnostic::new(self.span(), format!("unexpected {given}"), format!("expected {expected}"))
    }

    /// Consumes a name, which has to be next; `what` describes the thing that it names.
    pub fn name(&mut self, what: &str) -> Result<Name, RawDiagnostic> {
        match self.peek() {
            Token::Name(text) => {
                let name = Name { text: text.clone(), span: self.span() };
                self.advance();
                Ok(name)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    fn item(&mut self, items: &mut Vec<Item>) -> Result<(), RawDiagnostic> {
        let start = self.span();
        if self.accept_word("def") {
            items.push(self.function()?);
        } else if self.accept_word("with") {
            items.push(self.with(start)?);
        } else {
            let line = self.simple_line()?;
            items.extend(line.map(Item::Line));
        }
        Ok(())
    }

    fn function(&mut self) -> Result<Item, RawDiagnostic> {
        let name = self.name("the function's name")?;
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.accept(")") {
            parameters.push(self.name("a parameter")?);
            if self.accept(":") {
                self.expression()?;
            }
            if !self.accept(",") {
                self.expect(")")?;
                break;
            }
        }
        if self.accept("->") {
            self.expression()?;
        }
        let body = self.block()?;
        Ok(Item::Function { name, parameters, body })
    }

    fn with(&mut self, start: Span) -> Result<Item, RawDiagnostic> {
        let context = self.expression()?;
        let alias = if self.accept_word("as") { Some(self.name("a name")?) } else { None };
        let span = self.since(start);
        let body = self.block()?;
        Ok(Item::With { context, alias, body, span })
    }

    fn block(&mut self) -> Result<Vec<Line>, RawDiagnostic> {
        self.expect(":")?;
        let mut body = Vec::new();
        if *self.peek() != Token::Newline {
            body.extend(self.simple_line()?.map(Line::Statement));
            return Ok(body);
        }
        self.advance();
        if *self.peek() != Token::Indent {
            return Err(self.unexpected("an indented block"));
        }
        self.advance();
        while !matches!(self.peek(), Token::Dedent | Token::End) {
            body.extend(self.line()?);
        }
        if *self.peek() == Token::Dedent {
            self.advance();
        }
        Ok(body)
    }

    /// One line of a block, with the block that it opens; `None` for lines without effect.
    fn line(&mut self) -> Result<Option<Line>, RawDiagnostic> {
        let start = self.span();
        match self.accept_word("with") {
            true => self.group(start).map(Some),
            false => Ok(self.simple_line()?.map(Line::Statement)),
        }
    }

    /// `with fd.group(...):` within a block.
    fn group(&mut self, start: Span) -> Result<Line, RawDiagnostic> {
        let context = self.expression()?;
        let span = self.since(start);
        if self.open_blocks == MAX_BLOCKS {
            return Err(RawDiagnostic::new(
                span,
                "blocks are nested too deeply",
                "expected fewer blocks around it",
            ));
        }
        self.open_blocks += 1;
        let body = self.block()?;
        self.open_blocks -= 1;
        Ok(Line::Group { context, body, span })
    }

    /// One line without a nested block; `None` for lines without effect.
    fn simple_line(&mut self) -> Result<Option<StatementSyntax>, RawDiagnostic> {
        let start = self.span();
        if let Token::Name(word) = self.peek() {
            match word.as_str() {
                "import" | "from" => {
                    self.skip_line();
                    return Ok(None);
                }
                "pass" => {
                    self.advance();
                    return self.line_end().map(|()| None);
                }
                "def" | "with" => {
                    let message = format!("`{word}` inside a block");
                    return Err(RawDiagnostic::new(start, message, "write it at the start of a line"));
                }
                word if REJECTED.contains(&word) => {
                    let message = format!("`{word}` is not part of the definition language");
                    let help =
                        "definitions are straight-line programs: assignments and calls, one after the other";
                    return Err(RawDiagnostic::new(start, message, "expected a statement").help(help));
                }
                _ => {}
            }
        }
        if *self.peek() == Token::Newline {
            self.advance();
            return Ok(None);
        }
        let statement = self.statement(start)?;
        self.line_end()?;
        Ok(Some(statement))
    }

    fn skip_line(&mut self) {
        while !matches!(self.peek(), Token::Newline | Token::End) {
            self.advance();
        }
        self.advance();
    }

    fn line_end(&mut self) -> Result<(), RawDiagnostic> {
        if *self.peek() != Token::Newline {
            return Err(self.unexpected("the end of the line"));
        }
        self.advance();
        Ok(())
    }

    fn statement(&mut self, start: Span) -> Result<StatementSyntax, RawDiagnostic> {
        let first = self.expressions()?;
        if !self.accept("=") {
            let span = self.since(start);
            return Ok(StatementSyntax { targets: Vec::new(), unpacks: false, value: first, span });
        }
        let unpacks = matches!(first.kind, TreeKind::List(_));
        let targets = targets(first)?;
        let value = self.expressions()?;
        if matches!(self.peek(), Token::Mark("=")) {
            return Err(self.unexpected("one assignment a line"));
        }
        Ok(StatementSyntax { targets, unpacks, value, span: self.since(start) })
    }
}

/// The names on the left of an assignment.
fn targets(tree: Tree) -> Result<Vec<Name>, RawDiagnostic> {
    let reject = |span| RawDiagnostic::new(span, "cannot assign to this", "expected a name");
    match tree.kind {
        TreeKind::Name(text) => Ok(vec![Name { text, span: tree.span }]),
        TreeKind::List(items) => {
            let names = items.into_iter().map(|item| match item.kind {
                TreeKind::Name(text) => Ok(Name { text, span: item.span }),
                _ => Err(reject(item.span)),
            });
            names.collect()
        }
        _ => Err(reject(tree.span)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree as text, with every level in brackets.
    fn shown(tree: &Tree) -> String {
        let list = |items: Vec<String>| items.join(", ");
        match &tree.kind {
            TreeKind::Name(name) => name.clone(),
            TreeKind::Int(n) => n.to_string(),
            TreeKind::Wide(n) => n.to_string(),
            TreeKind::Float(x) => format!("{x:?}"),
            TreeKind::Imaginary(x) => format!("{x:?}j"),
            TreeKind::Text(text) => format!("{text:?}"),
            TreeKind::Bool(b) => b.to_string(),
            TreeKind::None => "None".to_owned(),
            TreeKind::List(items) => format!("[{}]", list(items.iter().map(shown).collect())),
            TreeKind::Attribute(base, name) => format!("{}.{}", shown(base), name.text),
            TreeKind::Item(base, index) => format!("{}[{}]", shown(base), shown(index)),
            TreeKind::Call(base, arguments) => {
                let arguments = arguments.iter().map(|argument| {
                    let keyword = argument.keyword.as_ref().map_or(String::new(), |k| format!("{}=", k.text));
                    format!("{keyword}{}", shown(&argument.value))
                });
                format!("{}({})", shown(base), list(arguments.collect()))
            }
            TreeKind::Lambda(parameters, result) => {
                let names = parameters.iter().map(|name| name.text.clone()).collect();
                format!("(lambda {}: {})", list(names), shown(result))
            }
            TreeKind::Unary(operator, operand) => format!("({operator}{})", shown(operand)),
            TreeKind::Binary(operator, a, b) => format!("({} {operator} {})", shown(a), shown(b)),
        }
    }

    fn check(source: &str, expected: &str) {
        let text = match parse_file(source) {
            Ok(items) => items.iter().map(part).collect::<Vec<_>>().join("; "),
            Err(diagnostic) => {
                format!("{} at {}: {}", diagnostic.message, diagnostic.span.start, diagnostic.label)
            }
        };
        assert_eq!(text, expected, "{source:?}");
    }

    fn part(item: &Item) -> String {
        let lines = |body: &[Line]| body.iter().map(in_block).collect::<Vec<_>>().join("; ");
        match item {
            Item::Function { name, parameters, body } => {
                format!("{}/{} {{{}}}", name.text, parameters.len(), lines(body))
            }
            Item::With { context, body, .. } => format!("with {} {{{}}}", shown(context), lines(body)),
            Item::Line(statement) => line(statement),
        }
    }

    fn in_block(part: &Line) -> String {
        match part {
            Line::Statement(statement) => line(statement),
            Line::Group { context, body, .. } => {
                let body: Vec<String> = body.iter().map(in_block).collect();
                format!("with {} {{{}}}", shown(context), body.join("; "))
            }
        }
    }

    fn line(statement: &StatementSyntax) -> String {
        let targets: Vec<&str> = statement.targets.iter().map(|name| name.text.as_str()).collect();
        format!("{}={}", targets.join(","), shown(&statement.value))
    }

    #[test]
    fn operators_bind_as_in_python() {
        check("a = b + c * -d ** 2", "a=(b + (c * (-(d ** 2))))");
        check("a - b - c < d | e & f", "=(((a - b) - c) < (d | (e & f)))");
        check("(a, b), x[0]", "=[[a, b], x[0]]");
        check("(a) + (b,)", "=(a + [b])");
    }

    #[test]
    fn calls_and_assignments() {
        check("a, b = f.g(x, [1, 2.5], k=None,)", "a,b=f.g(x, [1, 2.5], k=None)");
        check("(a, b) = f()", "a,b=f()");
        check("f(lambda a, b: a + b, k=lambda: 1)", "=f((lambda a, b: (a + b)), k=(lambda : 1))");
        check("f(lambda 1: 2)", "unexpected number at 9: expected a parameter");
        check("f(k=1, 2)", "unexpected number at 7: expected a keyword argument, since one went before");
        check("1 = x", "cannot assign to this at 0: expected a name");
        check("a = b = c", "unexpected `=` at 6: expected one assignment a line");
        check("a = ", "unexpected end of line at 4: expected a value");
    }

    #[test]
    fn files_have_functions_blocks_and_lines() {
        let file = "import torch\nfrom a import (b,\n c)\ndef f(fd : X) -> None :\n    pass\n    a = 1\nwith F() as fd: f(fd)\nx=1";
        check(file, "f/1 {a=1}; with F() {=f(fd)}; x=1");
        check("def f(fd):\na = 1", "unexpected `a` at 11: expected an indented block");
        check(
            "for i in x:\n  pass",
            "`for` is not part of the definition language at 0: expected a statement",
        );
        check("x = not y", "unexpected `not` at 4: expected a value");
    }

    #[test]
    fn blocks_stand_in_blocks() {
        check(
            "def f(fd):\n  with fd.group(\"a\"):\n    with fd.group(\"b\"): x = 1\n    y = 2\n  z = 3",
            "f/1 {with fd.group(\"a\") {with fd.group(\"b\") {x=1}; y=2}; z=3}",
        );
        let open = |level: usize| format!("{}with g():\n", " ".repeat(level));
        let source: String = (0..100).map(open).collect();
        let diagnostic = parse_file(&source).unwrap_err();
        assert_eq!(diagnostic.message, "blocks are nested too deeply");
    }

    #[test]
    fn nesting_is_bounded() {
        for (open, close) in [("(", ")"), ("[", "]"), ("f(", ")"), ("-", ""), ("~", ""), ("2**", "")] {
            let source = format!("x = {}1{}", open.repeat(100_000), close.repeat(100_000));
            let diagnostic = parse_file(&source).unwrap_err();
            assert_eq!(diagnostic.message, "this expression is nested too deeply", "{open}");
        }
        for link in ["+1", ".a", "()", "[0]"] {
            let diagnostic = parse_file(&format!("x = a{}", link.repeat(100_000))).unwrap_err();
            assert_eq!(diagnostic.message, "this expression is nested too deeply", "{link}");
        }
    }
}
