//! Expressions: Python's operators, calls, lists and names, by precedence.
//!
//! Nesting is bounded, so no input overflows the stack, here or in a later traversal of the tree.

use ir::Span;

use crate::diagnostic::RawDiagnostic;
use crate::grammar::{Parser, REJECTED};
use crate::lexer::Token;
use crate::tree::{ArgumentSyntax, Name, Tree, TreeKind};

/// The limit on nested expressions.
const MAX_DEPTH: u16 = 64;

/// Binary operators, loosest first; those of a row have equal precedence.
const LEVELS: [&[&str]; 7] = [
    &["==", "!=", "<", "<=", ">", ">="],
    &["|"],
    &["^"],
    &["&"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "//", "%", "@"],
];

/// The row of comparisons; Python chains these, tensors do not.
const COMPARISONS: usize = 0;

impl Parser {
    /// An expression, or several separated by commas: a tuple.
    pub fn expressions(&mut self) -> Result<Tree, RawDiagnostic> {
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
        self.tree(TreeKind::List(items), start)
    }

    /// Every nested expression goes through here, which bounds the recursion.
    pub fn expression(&mut self) -> Result<Tree, RawDiagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep(self.span()));
        }
        let is_lambda = matches!(self.peek(), Token::Name(word) if word == "lambda");
        let tree = if is_lambda { self.lambda() } else { self.binary(0) };
        self.depth -= 1;
        tree
    }

    fn lambda(&mut self) -> Result<Tree, RawDiagnostic> {
        let start = self.span();
        self.advance();
        let mut parameters = Vec::new();
        while !self.accept(":") {
            let parameter = self.name("a parameter")?;
            if parameters.iter().any(|other: &Name| other.text == parameter.text) {
                let message = format!("the parameter `{}` is named twice", parameter.text);
                return Err(RawDiagnostic::new(parameter.span, message, "expected another name"));
            }
            parameters.push(parameter);
            if !self.accept(",") {
                self.expect(":")?;
                break;
            }
        }
        let result = self.expression()?;
        self.tree(TreeKind::Lambda(parameters, Box::new(result)), start)
    }

    fn tree(&self, kind: TreeKind, start: Span) -> Result<Tree, RawDiagnostic> {
        let span = self.since(start);
        let depth = 1 + match &kind {
            TreeKind::List(items) => items.iter().map(|item| item.depth).max().unwrap_or(0),
            TreeKind::Attribute(base, _) | TreeKind::Unary(_, base) | TreeKind::Lambda(_, base) => base.depth,
            TreeKind::Item(base, other) | TreeKind::Binary(_, base, other) => base.depth.max(other.depth),
            TreeKind::Call(base, arguments) => {
                arguments.iter().map(|argument| argument.value.depth).fold(base.depth, u16::max)
            }
            _ => 0,
        };
        if depth > 4 * MAX_DEPTH { Err(too_deep(span)) } else { Ok(Tree { kind, span, depth }) }
    }

    fn binary(&mut self, level: usize) -> Result<Tree, RawDiagnostic> {
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
            left = self.tree(TreeKind::Binary(operator, Box::new(left), Box::new(right)), start)?;
            if level == COMPARISONS && matches!(self.peek(), Token::Mark(mark) if operators.contains(mark)) {
                let help = "combine two comparisons: (a < b) & (b < c)";
                return Err(self.unexpected("the end of the comparison").help(help));
            }
        }
    }

    fn unary(&mut self) -> Result<Tree, RawDiagnostic> {
        let start = self.span();
        let operator = match self.peek() {
            Token::Mark(mark @ ("-" | "+" | "~")) => *mark,
            _ => return self.power(),
        };
        self.advance();
        self.depth += 1;
        let operand = if self.depth > MAX_DEPTH { Err(too_deep(start)) } else { self.unary() }?;
        self.depth -= 1;
        self.tree(TreeKind::Unary(operator, Box::new(operand)), start)
    }

    fn power(&mut self) -> Result<Tree, RawDiagnostic> {
        let start = self.span();
        let base = self.postfix()?;
        if !self.accept("**") {
            return Ok(base);
        }
        self.depth += 1;
        let exponent = if self.depth > MAX_DEPTH { Err(too_deep(start)) } else { self.unary() }?;
        self.depth -= 1;
        self.tree(TreeKind::Binary("**", Box::new(base), Box::new(exponent)), start)
    }

    fn postfix(&mut self) -> Result<Tree, RawDiagnostic> {
        let start = self.span();
        let mut tree = self.atom()?;
        loop {
            let kind = if self.accept(".") {
                TreeKind::Attribute(Box::new(tree), self.name("a name after the dot")?)
            } else if self.accept("(") {
                TreeKind::Call(Box::new(tree), self.arguments()?)
            } else if self.accept("[") {
                let index = self.expression()?;
                self.expect("]")?;
                TreeKind::Item(Box::new(tree), Box::new(index))
            } else {
                return Ok(tree);
            };
            tree = self.tree(kind, start)?;
        }
    }

    fn arguments(&mut self) -> Result<Vec<ArgumentSyntax>, RawDiagnostic> {
        let mut arguments: Vec<ArgumentSyntax> = Vec::new();
        while !self.accept(")") {
            let keyword = self.keyword();
            if keyword.is_none() && arguments.last().is_some_and(|argument| argument.keyword.is_some()) {
                return Err(self.unexpected("a keyword argument, since one went before"));
            }
            arguments.push(ArgumentSyntax { keyword, value: self.expression()? });
            if !self.accept(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(arguments)
    }

    /// `name =`, if it comes next.
    fn keyword(&mut self) -> Option<Name> {
        let Token::Name(text) = self.peek() else { return None };
        let name = Name { text: text.clone(), span: self.span() };
        if !matches!(self.tokens[self.at + 1].0, Token::Mark("=")) {
            return None;
        }
        self.at += 2;
        Some(name)
    }

    fn atom(&mut self) -> Result<Tree, RawDiagnostic> {
        let start = self.span();
        let kind = match self.peek() {
            Token::Int(n) => TreeKind::Int(*n),
            Token::Wide(n) => TreeKind::Wide(*n),
            Token::Float(x) => TreeKind::Float(*x),
            Token::Imaginary(x) => TreeKind::Imaginary(*x),
            Token::Text(text) => TreeKind::Text(text.clone()),
            Token::Name(name) => match name.as_str() {
                "True" => TreeKind::Bool(true),
                "False" => TreeKind::Bool(false),
                "None" => TreeKind::None,
                word if REJECTED.contains(&word) || matches!(word, "and" | "or" | "not" | "in" | "is") => {
                    let help = "use fd.ops.logical_and, logical_or, logical_not or where";
                    return Err(self.unexpected("a value").help(help));
                }
                _ => TreeKind::Name(name.clone()),
            },
            Token::Mark("(") => return self.bracket(start, ")"),
            Token::Mark("[") => return self.bracket(start, "]"),
            _ => return Err(self.unexpected("a value")),
        };
        self.advance();
        self.tree(kind, start)
    }

    /// A list, a tuple, or an expression in parentheses.
    fn bracket(&mut self, start: Span, closer: &'static str) -> Result<Tree, RawDiagnostic> {
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
                self.tree(TreeKind::List(items), start)
            }
        }
    }
}

fn too_deep(span: Span) -> RawDiagnostic {
    RawDiagnostic::new(span, "this expression is nested too deeply", format!("at most {MAX_DEPTH} levels"))
        .help("give parts of it names of their own")
}
