//! From tokens to the tree: the straight-line subset of Python in which definitions are written.
//!
//! Takes a source text, gives its parts. Imports, comments and `pass` vanish here. Whatever else of Python is
//! refused with its place. Nesting is bounded, so no input overflows the stack.

use super::lexer::{Token, tokens};
use super::span::{Complaint, Span};
use super::syntax::{Argument, Item, Kind, Name, Statement, Tree};

/// Levels of nested expressions that are accepted.
const MAX_DEPTH: u16 = 64;

/// Words that begin what this subset of Python leaves out.
const REFUSED: [&str; 22] = [
    "if", "elif", "else", "for", "while", "try", "except", "finally", "raise", "class", "lambda", "async",
    "await", "global", "nonlocal", "assert", "del", "yield", "return", "match", "break", "continue",
];

/// Binary operators, loosest first; those of a row bind alike.
const LEVELS: [&[&str]; 7] = [
    &["==", "!=", "<", "<=", ">", ">="],
    &["|"],
    &["^"],
    &["&"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "//", "%"],
];

/// The parts of a file, in order.
pub(super) fn parse_file(source: &str) -> Result<Vec<Item>, Complaint> {
    let mut parser = Parser { tokens: tokens(source)?, at: 0, depth: 0 };
    let mut items = Vec::new();
    while *parser.peek() != Token::End {
        parser.item(&mut items)?;
    }
    Ok(items)
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: u16,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// The place that ends with the token just passed.
    fn since(&self, start: Span) -> Span {
        start.to(self.tokens[self.at.saturating_sub(1)].1)
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn accept(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Token::Mark(m) if *m == mark);
        if found {
            self.advance();
        }
        found
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Name(name) if name == word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, mark: &str) -> Result<(), Complaint> {
        if self.accept(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    fn unexpected(&self, expected: &str) -> Complaint {
        let given = match self.peek() {
            Token::Name(name) => format!("`{name}`"),
            Token::Int(_) | Token::Float(_) => "number".to_owned(),
            Token::Text(_) => "string".to_owned(),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::Newline => "end of line".to_owned(),
            Token::Indent => "indentation".to_owned(),
            Token::Dedent => "end of block".to_owned(),
            Token::End => "end of file".to_owned(),
        };
        Complaint::new(self.span(), format!("unexpected {given}"), format!("expected {expected}"))
    }

    fn name(&mut self, what: &str) -> Result<Name, Complaint> {
        match self.peek() {
            Token::Name(text) => {
                let name = Name { text: text.clone(), span: self.span() };
                self.advance();
                Ok(name)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    fn item(&mut self, items: &mut Vec<Item>) -> Result<(), Complaint> {
        let start = self.span();
        if self.accept_word("def") {
            items.push(self.function()?);
        } else if self.accept_word("with") {
            items.push(self.with(start)?);
        } else {
            let line = self.line()?;
            items.extend(line.map(Item::Line));
        }
        Ok(())
    }

    fn function(&mut self) -> Result<Item, Complaint> {
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

    fn with(&mut self, start: Span) -> Result<Item, Complaint> {
        let context = self.expression()?;
        let alias = if self.accept_word("as") { Some(self.name("a name")?) } else { None };
        let span = self.since(start);
        let body = self.block()?;
        Ok(Item::With { context, alias, body, span })
    }

    fn block(&mut self) -> Result<Vec<Statement>, Complaint> {
        self.expect(":")?;
        let mut body = Vec::new();
        if *self.peek() != Token::Newline {
            body.extend(self.line()?);
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

    /// One line; nothing for those that say nothing.
    fn line(&mut self) -> Result<Option<Statement>, Complaint> {
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
                    return Err(Complaint::new(start, message, "write it at the start of a line"));
                }
                word if REFUSED.contains(&word) => {
                    let message = format!("`{word}` is not part of the definition language");
                    let help =
                        "definitions are straight-line programs: assignments and calls, one after the other";
                    return Err(Complaint::new(start, message, "expected a statement").help(help));
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

    fn line_end(&mut self) -> Result<(), Complaint> {
        if *self.peek() != Token::Newline {
            return Err(self.unexpected("the end of the line"));
        }
        self.advance();
        Ok(())
    }

    fn statement(&mut self, start: Span) -> Result<Statement, Complaint> {
        let first = self.expressions()?;
        if !self.accept("=") {
            return Ok(Statement { targets: Vec::new(), value: first, span: self.since(start) });
        }
        let targets = targets(first)?;
        let value = self.expressions()?;
        if matches!(self.peek(), Token::Mark("=")) {
            return Err(self.unexpected("one assignment a line"));
        }
        Ok(Statement { targets, value, span: self.since(start) })
    }

    /// An expression, or several with commas between them: a tuple.
    fn expressions(&mut self) -> Result<Tree, Complaint> {
        let start = self.span();
        let first = self.expression()?;
        if !matches!(self.peek(), Token::Mark(",")) {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.accept(",") {
            if matches!(self.peek(), Token::Mark("=") | Token::Newline) {
                break;
            }
            items.push(self.expression()?);
        }
        self.tree(Kind::List(items), start)
    }

    /// Every nested expression passes here, which bounds the recursion.
    fn expression(&mut self) -> Result<Tree, Complaint> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep(self.span()));
        }
        let tree = self.binary(0);
        self.depth -= 1;
        tree
    }

    fn tree(&self, kind: Kind, start: Span) -> Result<Tree, Complaint> {
        let span = self.since(start);
        let depth = 1 + match &kind {
            Kind::List(items) => items.iter().map(|item| item.depth).max().unwrap_or(0),
            Kind::Attribute(base, _) | Kind::Unary(_, base) => base.depth,
            Kind::Item(base, other) | Kind::Binary(_, base, other) => base.depth.max(other.depth),
            Kind::Call(base, arguments) => {
                arguments.iter().map(|argument| argument.value.depth).fold(base.depth, u16::max)
            }
            _ => 0,
        };
        if depth > 4 * MAX_DEPTH { Err(too_deep(span)) } else { Ok(Tree { kind, span, depth }) }
    }

    fn binary(&mut self, level: usize) -> Result<Tree, Complaint> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let start = self.span();
        let mut left = self.binary(level + 1)?;
        loop {
            let operator = match self.peek() {
                Token::Mark(mark) if operators.contains(mark) => *mark,
                _ => return Ok(left),
            };
            self.advance();
            let right = self.binary(level + 1)?;
            left = self.tree(Kind::Binary(operator, Box::new(left), Box::new(right)), start)?;
        }
    }

    fn unary(&mut self) -> Result<Tree, Complaint> {
        let start = self.span();
        let operator = match self.peek() {
            Token::Mark(mark @ ("-" | "+" | "~")) => *mark,
            _ => return self.power(),
        };
        self.advance();
        self.depth += 1;
        let operand = if self.depth > MAX_DEPTH { Err(too_deep(start)) } else { self.unary() }?;
        self.depth -= 1;
        self.tree(Kind::Unary(operator, Box::new(operand)), start)
    }

    fn power(&mut self) -> Result<Tree, Complaint> {
        let start = self.span();
        let base = self.postfix()?;
        if !self.accept("**") {
            return Ok(base);
        }
        self.depth += 1;
        let exponent = if self.depth > MAX_DEPTH { Err(too_deep(start)) } else { self.unary() }?;
        self.depth -= 1;
        self.tree(Kind::Binary("**", Box::new(base), Box::new(exponent)), start)
    }

    fn postfix(&mut self) -> Result<Tree, Complaint> {
        let start = self.span();
        let mut tree = self.atom()?;
        loop {
            let kind = if self.accept(".") {
                Kind::Attribute(Box::new(tree), self.name("a name after the dot")?)
            } else if self.accept("(") {
                Kind::Call(Box::new(tree), self.arguments()?)
            } else if self.accept("[") {
                let index = self.expression()?;
                self.expect("]")?;
                Kind::Item(Box::new(tree), Box::new(index))
            } else {
                return Ok(tree);
            };
            tree = self.tree(kind, start)?;
        }
    }

    fn arguments(&mut self) -> Result<Vec<Argument>, Complaint> {
        let mut arguments: Vec<Argument> = Vec::new();
        while !self.accept(")") {
            let keyword = self.keyword();
            if keyword.is_none() && arguments.last().is_some_and(|argument| argument.keyword.is_some()) {
                return Err(self.unexpected("a keyword argument, since one went before"));
            }
            arguments.push(Argument { keyword, value: self.expression()? });
            if !self.accept(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(arguments)
    }

    /// `name =`, if that is what follows.
    fn keyword(&mut self) -> Option<Name> {
        let Token::Name(text) = self.peek() else { return None };
        let name = Name { text: text.clone(), span: self.span() };
        if !matches!(self.tokens[self.at + 1].0, Token::Mark("=")) {
            return None;
        }
        self.at += 2;
        Some(name)
    }

    fn atom(&mut self) -> Result<Tree, Complaint> {
        let start = self.span();
        let kind = match self.peek() {
            Token::Int(n) => Kind::Int(*n),
            Token::Float(x) => Kind::Float(*x),
            Token::Text(text) => Kind::Text(text.clone()),
            Token::Name(name) => match name.as_str() {
                "True" => Kind::Bool(true),
                "False" => Kind::Bool(false),
                "None" => Kind::None,
                word if REFUSED.contains(&word) || matches!(word, "and" | "or" | "not" | "in" | "is") => {
                    let help = "use fd.ops.logical_and, logical_or, logical_not or where";
                    return Err(self.unexpected("a value").help(help));
                }
                _ => Kind::Name(name.clone()),
            },
            Token::Mark("(") => return self.bracket(start, ")"),
            Token::Mark("[") => return self.bracket(start, "]"),
            _ => return Err(self.unexpected("a value")),
        };
        self.advance();
        self.tree(kind, start)
    }

    /// A list, a tuple, or an expression in parentheses.
    fn bracket(&mut self, start: Span, closer: &'static str) -> Result<Tree, Complaint> {
        self.advance();
        let mut items = Vec::new();
        let mut comma = false;
        while !self.accept(closer) {
            items.push(self.expression()?);
            comma = self.accept(",");
            if !comma {
                self.expect(closer)?;
                break;
            }
        }
        match items.pop() {
            Some(only) if closer == ")" && items.is_empty() && !comma => Ok(only),
            last => {
                items.extend(last);
                self.tree(Kind::List(items), start)
            }
        }
    }
}

fn too_deep(span: Span) -> Complaint {
    Complaint::new(span, "this expression is nested too deeply", format!("at most {MAX_DEPTH} levels"))
        .help("give parts of it names of their own")
}

/// The names on the left of an assignment.
fn targets(tree: Tree) -> Result<Vec<Name>, Complaint> {
    let refuse = |span| Complaint::new(span, "cannot assign to this", "expected a name");
    match tree.kind {
        Kind::Name(text) => Ok(vec![Name { text, span: tree.span }]),
        Kind::List(items) => {
            let names = items.into_iter().map(|item| match item.kind {
                Kind::Name(text) => Ok(Name { text, span: item.span }),
                _ => Err(refuse(item.span)),
            });
            names.collect()
        }
        _ => Err(refuse(tree.span)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree with every level in brackets.
    fn shown(tree: &Tree) -> String {
        let list = |items: Vec<String>| items.join(", ");
        match &tree.kind {
            Kind::Name(name) => name.clone(),
            Kind::Int(n) => n.to_string(),
            Kind::Float(x) => format!("{x:?}"),
            Kind::Text(text) => format!("{text:?}"),
            Kind::Bool(b) => b.to_string(),
            Kind::None => "None".to_owned(),
            Kind::List(items) => format!("[{}]", list(items.iter().map(shown).collect())),
            Kind::Attribute(base, name) => format!("{}.{}", shown(base), name.text),
            Kind::Item(base, index) => format!("{}[{}]", shown(base), shown(index)),
            Kind::Call(base, arguments) => {
                let arguments = arguments.iter().map(|argument| {
                    let keyword = argument.keyword.as_ref().map_or(String::new(), |k| format!("{}=", k.text));
                    format!("{keyword}{}", shown(&argument.value))
                });
                format!("{}({})", shown(base), list(arguments.collect()))
            }
            Kind::Unary(operator, operand) => format!("({operator}{})", shown(operand)),
            Kind::Binary(operator, a, b) => format!("({} {operator} {})", shown(a), shown(b)),
        }
    }

    fn check(source: &str, expected: &str) {
        let text = match parse_file(source) {
            Ok(items) => items.iter().map(part).collect::<Vec<_>>().join("; "),
            Err(complaint) => {
                format!("{} at {}: {}", complaint.message, complaint.span.start, complaint.label)
            }
        };
        assert_eq!(text, expected, "{source:?}");
    }

    fn part(item: &Item) -> String {
        let lines = |body: &[Statement]| body.iter().map(line).collect::<Vec<_>>().join("; ");
        match item {
            Item::Function { name, parameters, body } => {
                format!("{}/{} {{{}}}", name.text, parameters.len(), lines(body))
            }
            Item::With { context, body, .. } => format!("with {} {{{}}}", shown(context), lines(body)),
            Item::Line(statement) => line(statement),
        }
    }

    fn line(statement: &Statement) -> String {
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
    fn nesting_is_bounded() {
        for (open, close) in [("(", ")"), ("[", "]"), ("f(", ")"), ("-", ""), ("~", ""), ("2**", "")] {
            let source = format!("x = {}1{}", open.repeat(100_000), close.repeat(100_000));
            let complaint = parse_file(&source).unwrap_err();
            assert_eq!(complaint.message, "this expression is nested too deeply", "{open}");
        }
        for link in ["+1", ".a", "()", "[0]"] {
            let complaint = parse_file(&format!("x = a{}", link.repeat(100_000))).unwrap_err();
            assert_eq!(complaint.message, "this expression is nested too deeply", "{link}");
        }
    }
}
