//! The tree of a definition file: the text with places, before names are resolved.

use ir::Span;

/// A name and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    pub kind: TreeKind,
    pub span: Span,
    /// Levels of expressions inside; bounded, so that traversals may recurse.
    pub depth: u16,
}

/// The kind of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeKind {
    Name(String),
    Int(i64),
    /// An integer that needs u64.
    Wide(u64),
    Float(f64),
    Imaginary(f64),
    Text(String),
    Bool(bool),
    None,
    /// A list or a tuple; they are not told apart later.
    List(Vec<Tree>),
    Attribute(Box<Tree>, Name),
    Item(Box<Tree>, Box<Tree>),
    Call(Box<Tree>, Vec<ArgumentSyntax>),
    /// `lambda a, b: …`.
    Lambda(Vec<Name>, Box<Tree>),
    /// An operator, as written, before one operand.
    Unary(&'static str, Box<Tree>),
    /// An operator between two operands.
    Binary(&'static str, Box<Tree>, Box<Tree>),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgumentSyntax {
    pub keyword: Option<Name>,
    pub value: Tree,
}

/// A line of a body: an expression whose results may get names.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementSyntax {
    pub targets: Vec<Name>,
    /// Whether the names form a list, which unpacks the value: `a, = x` has one name.
    pub unpacks: bool,
    pub value: Tree,
    pub span: Span,
}

/// A part of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// A statement.
    Statement(StatementSyntax),
    /// `with fd.group(...):` and the lines in the group.
    Group { context: Tree, body: Vec<Line>, span: Span },
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `def name(parameter):` and its body.
    Function { name: Name, parameters: Vec<Name>, body: Vec<Line> },
    /// `with context as alias:` and its body.
    With { context: Tree, alias: Option<Name>, body: Vec<Line>, span: Span },
    /// A line outside of both.
    Line(StatementSyntax),
}

impl Tree {
    /// The tree as a dotted path, such as `fd.ops.add`, if it is one.
    pub fn path(&self) -> Option<Vec<&str>> {
        match &self.kind {
            TreeKind::Name(name) => Some(vec![name]),
            TreeKind::Attribute(base, name) => {
                let mut path = base.path()?;
                path.push(&name.text);
                Some(path)
            }
            _ => None,
        }
    }
}
