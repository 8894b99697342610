//! The text before the body of a kernel's function: the comment that describes it, and its head.

use index::Facts;
use kernel::{Access, Assumption, Buffer, BufferDecl, Kernel, Stmt};

use super::dialect::{BatchForm, Dialect};
use super::index_text::IndexWriter;
use super::names::Names;
use super::prelude::Prelude;

/// Columns of a line at most.
const LONGEST_LINE: usize = 120;

/// The comment that opens the text: its inputs and outputs, and how it is launched.
pub(super) fn header(kernel: &Kernel, names: &Names, dialect: &'static Dialect) -> String {
    let facts = Facts::new();
    let blocks = kernel.launched_blocks();
    let blocks = IndexWriter { names, facts: &facts, prelude: &mut Prelude::new(dialect), hoisted: None }
        .text(&blocks);
    let listed = |access| {
        let of_access = kernel.buffers.iter().filter(|(_, decl)| decl.access == access);
        let texts: Vec<String> =
            of_access.map(|(id, decl)| format!("{} ({})", names.buffer(id), decl.dtype)).collect();
        if texts.is_empty() { "nothing".to_owned() } else { texts.join(", ") }
    };
    let (reads, writes) = (listed(Access::Read), listed(Access::Write));
    let reports = kernel.buffers.values().any(|decl| decl.access == Access::Fault);
    let faults = if reports { format!("; reports in {}", listed(Access::Fault)) } else { String::new() };
    format!(
        "// {}: reads {reads}; writes {writes}{faults}.\n{}{}",
        names.kernel,
        (dialect.function.launched)(&blocks, kernel.threads(), kernel.cluster),
        assumptions_line(kernel, names)
    )
}

/// The line that says for which launches the text is; empty if it is for all.
fn assumptions_line(kernel: &Kernel, names: &Names) -> String {
    let sizes = kernel.assumptions.iter().map(|assumption| {
        let name = names.symbol(assumption.symbol());
        match assumption {
            Assumption::Multiple { of, .. } => format!("{name} % {of} == 0"),
            Assumption::AtMost { most, .. } => format!("{name} <= {most}"),
        }
    });
    let aligned = kernel.buffers.iter().filter(|(_, decl)| decl.align > decl.dtype.size() as u32);
    let aligned = aligned.map(|(id, decl)| format!("{} aligned to {} bytes", names.buffer(id), decl.align));
    let all: Vec<String> = sizes.chain(aligned).collect();
    if all.is_empty() { String::new() } else { format!("// Assumes {}.\n", all.join(", ")) }
}

/// The head of the function that computes, up to the brace; the parameters in lines of their own where one line would be
/// long. In a `batch` it is called with one member's parameters, and the number of the block among the member's.
pub(super) fn signature(
    kernel: &Kernel,
    names: &Names,
    batch: Option<&BatchForm>,
    dialect: &Dialect,
) -> String {
    // Not where two may be the same memory: then compilers may move a load behind the store.
    let is_alone = |id: Buffer, decl: &BufferDecl| decl.over.is_none() && !is_overwritten(kernel, id);
    let buffers = kernel.buffers.iter().map(|(id, decl)| {
        let restrict = if is_alone(id, decl) { dialect.function.restrict } else { "" };
        let words = [restrict, names.buffer(id)].into_iter().filter(|word| !word.is_empty());
        let words: Vec<&str> = words.collect();
        format!("{}* {}", element_type(decl, dialect), words.join(" "))
    });
    let arguments = kernel.arguments.iter();
    let arguments = arguments.map(|&symbol| format!("{} {}", dialect.index_type(), names.symbol(symbol)));
    let block = batch.map(|batch| format!("{} {}", dialect.index_type(), batch.block));
    let parameters: Vec<String> = buffers.chain(arguments).chain(block).collect();
    let head = match batch {
        Some(batch) => format!("{} {}_member(", batch.head, names.kernel),
        None => format!("{} {}(", launch_head(kernel, dialect), names.kernel),
    };
    let one_line = format!("{head}{}) {{\n", parameters.join(", "));
    if one_line.len() <= LONGEST_LINE {
        one_line
    } else {
        format!("{head}\n    {}) {{\n", filled(&parameters).join("\n    "))
    }
}

/// Whether a buffer may be written to through another one.
pub(super) fn is_overwritten(kernel: &Kernel, read: Buffer) -> bool {
    kernel.buffers.values().any(|decl| decl.over == Some(read))
}

/// The text before the name of the function that is launched.
pub(super) fn launch_head(kernel: &Kernel, dialect: &Dialect) -> String {
    let walks = kernel.body.iter().any(is_walk);
    (dialect.function.head)(kernel.threads(), kernel.cluster, walks)
}

/// The element type of pointers to a buffer.
pub(super) fn element_type(decl: &BufferDecl, dialect: &Dialect) -> String {
    let constant = if decl.access == Access::Read { "const " } else { "" };
    format!("{constant}{}", dialect.in_memory(decl.dtype))
}

/// Whether each lane walks its own loops, for example to add up partial results.
fn is_walk(statement: &Stmt) -> bool {
    let Stmt::For(it) = statement else { return false };
    it.kind.is_over_lanes() && it.body.iter().any(|inner| matches!(inner, Stmt::For(_)))
}

/// Parameters with commas between them, in as few lines as hold them.
fn filled(parameters: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (place, parameter) in parameters.iter().enumerate() {
        let text = if place + 1 < parameters.len() { format!("{parameter},") } else { parameter.clone() };
        match lines.last_mut() {
            Some(line) if line.len() + text.len() + "     ) {".len() <= LONGEST_LINE => {
                *line += &format!(" {text}")
            }
            _ => lines.push(text),
        }
    }
    lines
}
