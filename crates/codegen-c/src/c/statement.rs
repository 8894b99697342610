//! Statements of C as a small tree, which is printed at the end: printing decides which bodies need braces, and which are in
//! one line with their head.

use super::names::words;

/// The longest line, in columns, of a head and its statement together.
const LONGEST_LINE: usize = 100;

/// The longest line, in columns, of variables that are declared together.
const LONGEST_LIST: usize = 60;

/// A statement, in a list of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Statement {
    /// One that contains no other.
    Simple(String),
    /// Variables of one type, each with its value.
    Variables { type_name: &'static str, variables: Vec<String> },
    /// Statements in a scope of their own.
    Scope(Vec<Statement>),
    /// A head, such as that of a loop, and its body.
    Held(Held),
    /// Statements for when a condition holds, and for when it does not.
    Either { condition: String, then: Vec<Statement>, otherwise: Vec<Statement> },
}

/// A head and its body.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Held {
    /// The line before the head that says how compilers unroll the loop.
    pub(super) pragma: Option<String>,
    pub(super) head: String,
    pub(super) body: Vec<Statement>,
}

impl Statement {
    /// Whether a word occurs in it.
    pub(super) fn mentions(&self, word: &str) -> bool {
        let is_in = |text: &String| words(text).any(|found| found == word);
        let is_within = |body: &[Statement]| body.iter().any(|inner| inner.mentions(word));
        match self {
            Statement::Simple(text) => is_in(text),
            Statement::Variables { variables, .. } => variables.iter().any(is_in),
            Statement::Scope(body) => is_within(body),
            Statement::Held(Held { head, body, .. }) => is_in(head) || is_within(body),
            Statement::Either { condition, then, otherwise } => {
                is_in(condition) || is_within(then) || is_within(otherwise)
            }
        }
    }

    /// Whether it may follow a head without braces: it reads as one statement.
    fn stands_alone(&self) -> bool {
        match self {
            Statement::Simple(_) | Statement::Variables { .. } => true,
            Statement::Held(held) => held.pragma.is_none(),
            Statement::Scope(_) | Statement::Either { .. } => false,
        }
    }
}

/// Declares a variable, together with those before it if they have its type and one line holds all.
pub(super) fn declare(statements: &mut Vec<Statement>, type_name: &'static str, variable: String) {
    if let Some(Statement::Variables { type_name: before, variables }) = statements.last_mut()
        && *before == type_name
        && variables.iter().map(|it| it.len() + 2).sum::<usize>() + variable.len() <= LONGEST_LIST
    {
        variables.push(variable);
        return;
    }
    statements.push(Statement::Variables { type_name, variables: vec![variable] });
}

/// The lines of statements at this depth.
pub(super) fn lines(statements: &[Statement], depth: usize) -> String {
    let mut text = String::new();
    for statement in statements {
        match statement {
            Statement::Simple(line) => push(&mut text, depth, line),
            Statement::Variables { type_name, variables } => {
                push(&mut text, depth, &format!("{type_name} {};", variables.join(", ")));
            }
            Statement::Scope(body) => {
                push(&mut text, depth, "{");
                text += &lines(body, depth + 1);
                push(&mut text, depth, "}");
            }
            Statement::Held(held) => held.write(&mut text, depth),
            Statement::Either { condition, then, otherwise } => {
                push(&mut text, depth, &format!("if ({condition}) {{"));
                text += &lines(then, depth + 1);
                push(&mut text, depth, "} else {");
                text += &lines(otherwise, depth + 1);
                push(&mut text, depth, "}");
            }
        }
    }
    text
}

fn push(text: &mut String, depth: usize, line: &str) {
    *text += &"  ".repeat(depth);
    *text += line;
    text.push('\n');
}

impl Held {
    /// The head with its body, in braces unless that is one statement, which may stand in the same line.
    fn write(&self, text: &mut String, depth: usize) {
        if let Some(pragma) = &self.pragma {
            push(text, depth, pragma);
        }
        let (head, body) = (&self.head, lines(&self.body, depth + 1));
        let [only] = self.body.as_slice() else { return self.in_braces(text, depth, &body) };
        if !only.stands_alone() {
            return self.in_braces(text, depth, &body);
        }
        let line = format!("{head} {}", body.trim());
        if body.lines().count() == 1 && 2 * depth + line.len() <= LONGEST_LINE {
            push(text, depth, &line);
        } else {
            push(text, depth, head);
            *text += &body;
        }
    }

    fn in_braces(&self, text: &mut String, depth: usize, body: &str) {
        push(text, depth, &format!("{} {{", self.head));
        *text += body;
        push(text, depth, "}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simple(text: &str) -> Statement {
        Statement::Simple(text.to_owned())
    }

    fn held(pragma: Option<&str>, head: &str, body: Vec<Statement>) -> Statement {
        Statement::Held(Held { pragma: pragma.map(str::to_owned), head: head.to_owned(), body })
    }

    #[test]
    fn one_statement_has_no_braces() {
        let nested = held(None, "for (;;)", vec![held(None, "if (a)", vec![simple("b = c;")])]);
        assert_eq!(lines(&[nested], 1), "  for (;;) if (a) b = c;\n");
        let two = held(None, "for (;;)", vec![held(None, "if (a)", vec![simple("b();"), simple("c();")])]);
        assert_eq!(lines(&[two], 0), "for (;;)\n  if (a) {\n    b();\n    c();\n  }\n");
        assert_eq!(lines(&[held(None, "for (;;)", Vec::new())], 0), "for (;;) {\n}\n");
    }

    #[test]
    fn a_pragma_a_scope_and_two_ways_stand_in_braces() {
        let unrolled = held(Some("#pragma unroll"), "for (;;)", vec![simple("a();")]);
        let text = lines(&[held(None, "if (b)", vec![unrolled])], 0);
        assert_eq!(text, "if (b) {\n  #pragma unroll\n  for (;;) a();\n}\n");
        let text = lines(&[held(None, "if (b)", vec![Statement::Scope(vec![simple("a();")])])], 0);
        assert_eq!(text, "if (b) {\n  {\n    a();\n  }\n}\n");
        let (condition, then, otherwise) = ("c".to_owned(), vec![simple("a();")], vec![simple("b();")]);
        let text = lines(&[held(None, "if (d)", vec![Statement::Either { condition, then, otherwise }])], 0);
        assert_eq!(text, "if (d) {\n  if (c) {\n    a();\n  } else {\n    b();\n  }\n}\n");
    }

    #[test]
    fn variables_of_one_type_stand_together() {
        let mut statements = Vec::new();
        for (type_name, name) in [("float", "a"), ("float", "b"), ("double", "c")] {
            declare(&mut statements, type_name, format!("{name} = 0"));
        }
        assert_eq!(lines(&statements, 0), "float a = 0, b = 0;\ndouble c = 0;\n");
        (0..10).for_each(|number| declare(&mut statements, "double", format!("d{number} = 0.0")));
        assert!(lines(&statements, 0).lines().count() > 2);
    }

    #[test]
    fn a_long_line_is_two() {
        let text = lines(&[held(None, "for (;;)", vec![simple(&"a".repeat(92))])], 0);
        assert_eq!(text.lines().count(), 2);
        assert_eq!(lines(&[held(None, "for (;;)", vec![simple(&"a".repeat(91))])], 0).lines().count(), 1);
    }

    #[test]
    fn a_word_is_found_wherever_it_stands() {
        let tree = Statement::Scope(vec![held(None, "for (int a;;)", vec![simple("b = cd;")])]);
        assert!(["a", "b", "cd"].iter().all(|word| tree.mentions(word)));
        assert!(!tree.mentions("c"));
    }
}
