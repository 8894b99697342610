//! A kernel as text, which `parse.rs` reads back to an equal kernel. Takes any kernel, even one that does not verify.
//!
//! One line is one statement; blanks separate words, `#` starts a comment, the indentation is for readers only.
//!
//! ```text
//! kernel    := "kernel" NAME "(" [SYM {"," SYM}] ")" "lanes" COUNT ["warps" COUNT] ["teams" COUNT] ["cluster" COUNT] "{" header {statement} "}"
//! header    := ["symbols" SYM {"," SYM}]               all symbols, in the order of their numbers
//!              "blocks" SYM "in" "0" ".." INDEX        the block's symbol, and how many blocks run
//!              {"assume" SYM ("%" COUNT "==" "0" | "<=" COUNT)}
//!                                                      what divides an argument, and the most it is
//!              {("read" | "write" | "faults") BUFFER ":" DTYPE NAME ["align" COUNT] ["over" BUFFER]}
//!                                                      `over`: a buffer whose memory it may be
//!              {("scratch" | "private") SCRATCH ":" DTYPE "[" INDEX "]"}
//! statement := new "=" "const" LITERAL                  of the value's dtype
//!            | new "=" "index" INDEX
//!            | new "=" "cast" VALUE
//!            | new "=" "load" place ["if" VALUE]
//!            | new "=" "get" ACCUMULATOR
//!            | new "=" SCALAR_OP VALUE {"," VALUE}
//!            | new {"," new} "=" "reduce" (MONOID | LAMBDA) ACCUMULATOR {"," ACCUMULATOR}
//!            | "bind" SYM "=" VALUE
//!            | "store" place "=" VALUE ["if" VALUE]
//!            | "prefetch" place ["L2"]
//!            | "fetch" SCRATCH "[" INDEX "]" "=" BUFFER "[" INDEX "]"
//!            | "await" COUNT
//!            | "fault" BUFFER "[" COUNT "]" "=" VALUE "if" VALUE
//!            | "acc" ACCUMULATOR ":" DTYPE "=" VALUE
//!            | "set" ACCUMULATOR "=" VALUE
//!            | "barrier"
//!            | "for" SYM "in" INDEX ".." INDEX [kind] "{" {statement} "}"
//! kind      := "remainder" | "transpose" | ("lanes" | "exact") ["by" COUNT]
//! new       := VALUE ":" DTYPE
//! place     := (BUFFER | SCRATCH) "[" INDEX "]"
//! ```
//!
//! Values are `v0`, buffers `b0`, scratch arrays `w0`, accumulators `a0`, numbered without gaps. Names are C
//! identifiers. INDEX is the text of [`Expr`], LAMBDA that of [`ops::Lambda`].

use std::fmt::{self, Display, Formatter, Write};

use index::{Expr, Sym};
use ops::literal;

use super::{Access, Accumulator, Assumption, Kernel, Loop, LoopKind, Place, Stmt, Value};

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_header(f, self)?;
        write_body(f, self, &self.body, 1)?;
        writeln!(f, "}}")
    }
}

/// The line of a statement; of a loop, its head.
pub fn statement(kernel: &Kernel, statement: &Stmt) -> String {
    let mut line = String::new();
    write_statement(&mut line, kernel, statement).expect("writing to a string cannot fail");
    line
}

/// The text of an index expression, with the kernel's names.
pub fn index(kernel: &Kernel, index: &Expr) -> String {
    index.display(&|symbol| symbol_name(kernel, symbol)).to_string()
}

/// An assumption about an argument: `i1 % 8 == 0`.
pub fn assumption(kernel: &Kernel, assumption: Assumption) -> String {
    let name = symbol_name(kernel, assumption.symbol());
    match assumption {
        Assumption::Multiple { of, .. } => format!("{name} % {of} == 0"),
        Assumption::AtMost { most, .. } => format!("{name} <= {most}"),
    }
}

fn symbol_name(kernel: &Kernel, symbol: Sym) -> String {
    kernel.symbols.get(symbol).cloned().unwrap_or_else(|| "?".to_owned())
}

fn write_header(f: &mut impl Write, kernel: &Kernel) -> fmt::Result {
    let arguments = kernel.arguments.iter().map(|&symbol| symbol_name(kernel, symbol));
    let warps = if kernel.warp == kernel.lanes { String::new() } else { format!(" warps {}", kernel.warp) };
    let teams = if kernel.teams == 1 { String::new() } else { format!(" teams {}", kernel.teams) };
    let cluster = if kernel.cluster == 1 { String::new() } else { format!(" cluster {}", kernel.cluster) };
    let Kernel { name, lanes, .. } = kernel;
    writeln!(f, "kernel {name}({}) lanes {lanes}{warps}{teams}{cluster} {{", listed(arguments))?;
    if !kernel.symbols.is_empty() {
        writeln!(f, "  symbols {}", listed(kernel.symbols.values()))?;
    }
    writeln!(f, "  blocks {} in 0 .. {}", symbol_name(kernel, kernel.block), index(kernel, &kernel.blocks))?;
    for held in &kernel.assumptions {
        writeln!(f, "  assume {}", assumption(kernel, *held))?;
    }
    for (id, buffer) in &kernel.buffers {
        let access = match buffer.access {
            Access::Read => "read",
            Access::Write => "write",
            Access::Fault => "faults",
        };
        write!(f, "  {access} {id}: {} {}", buffer.dtype, buffer.name)?;
        let more = buffer.align != buffer.dtype.size() as u32;
        write!(f, "{}", if more { format!(" align {}", buffer.align) } else { String::new() })?;
        writeln!(f, "{}", buffer.over.map_or_else(String::new, |read| format!(" over {read}")))?;
    }
    for (id, scratch) in &kernel.scratch {
        let word = if scratch.private { "private" } else { "scratch" };
        writeln!(f, "  {word} {id}: {}[{}]", scratch.dtype, index(kernel, &scratch.len))?;
    }
    Ok(())
}

fn write_body(f: &mut impl Write, kernel: &Kernel, body: &[Stmt], depth: usize) -> fmt::Result {
    for statement in body {
        write!(f, "{:1$}", "", 2 * depth)?;
        write_statement(f, kernel, statement)?;
        writeln!(f)?;
        if let Stmt::For(for_loop) = statement {
            write_body(f, kernel, &for_loop.body, depth + 1)?;
            writeln!(f, "{:1$}}}", "", 2 * depth)?;
        }
    }
    Ok(())
}

fn write_statement(f: &mut impl Write, kernel: &Kernel, statement: &Stmt) -> fmt::Result {
    match statement {
        Stmt::Apply { value, op, args } => {
            write!(f, "{} = {} {}", new(kernel, *value), op.name(), listed(args))
        }
        Stmt::Cast { value, arg } => write!(f, "{} = cast {arg}", new(kernel, *value)),
        Stmt::Const { value, constant } => {
            write!(f, "{} = const {}", new(kernel, *value), literal::print(*constant))
        }
        Stmt::Index { value, index: expr } => {
            write!(f, "{} = index {}", new(kernel, *value), index(kernel, expr))
        }
        Stmt::Bind { symbol, value } => write!(f, "bind {} = {value}", symbol_name(kernel, *symbol)),
        Stmt::Load { value, place, index, guard } => {
            write!(f, "{} = load {}", new(kernel, *value), element(kernel, *place, index))?;
            write_guard(f, *guard)
        }
        Stmt::Store { place, index, value, guard } => {
            write!(f, "store {} = {value}", element(kernel, *place, index))?;
            write_guard(f, *guard)
        }
        Stmt::Prefetch { buffer, index, l2 } => {
            let l2 = if *l2 { " L2" } else { "" };
            write!(f, "prefetch {}{l2}", element(kernel, Place::Buffer(*buffer), index))
        }
        Stmt::Fetch { scratch, index, buffer, from } => {
            let [to, from] = [((*scratch).into(), index), ((*buffer).into(), from)]
                .map(|(place, index)| element(kernel, place, index));
            write!(f, "fetch {to} = {from}")
        }
        Stmt::Await { pending } => write!(f, "await {pending}"),
        Stmt::Fault { buffer, word, value, condition } => {
            write!(f, "fault {buffer}[{word}] = {value} if {condition}")
        }
        Stmt::Open { accumulator, init } => write!(f, "acc {} = {init}", opened(kernel, *accumulator)),
        Stmt::Get { value, accumulator } => write!(f, "{} = get {accumulator}", new(kernel, *value)),
        Stmt::Set { accumulator, value } => write!(f, "set {accumulator} = {value}"),
        Stmt::Reduce { values, monoid, accumulators } => {
            let values = values.iter().map(|&value| new(kernel, value));
            write!(f, "{} = reduce {monoid} {}", listed(values), listed(accumulators))
        }
        Stmt::For(for_loop) => write_loop_head(f, kernel, for_loop),
        Stmt::Barrier => write!(f, "barrier"),
    }
}

fn write_loop_head(f: &mut impl Write, kernel: &Kernel, for_loop: &Loop) -> fmt::Result {
    let kind = match for_loop.kind {
        LoopKind::Serial => "",
        LoopKind::Remainder => " remainder",
        LoopKind::Transpose => " transpose",
        LoopKind::Lanes => " lanes",
        LoopKind::ExactLanes => " exact",
    };
    let width = if for_loop.width == 1 { String::new() } else { format!(" by {}", for_loop.width) };
    let (begin, end) = (index(kernel, &for_loop.begin), index(kernel, &for_loop.end));
    write!(f, "for {} in {begin} .. {end}{kind}{width} {{", symbol_name(kernel, for_loop.var))
}

fn write_guard(f: &mut impl Write, guard: Option<Value>) -> fmt::Result {
    guard.map_or(Ok(()), |guard| write!(f, " if {guard}"))
}

/// `v0: f32`; a value that is not declared has the dtype `?`.
fn new(kernel: &Kernel, value: Value) -> String {
    kernel.values.get(value).map_or_else(|| format!("{value}: ?"), |dtype| format!("{value}: {dtype}"))
}

fn opened(kernel: &Kernel, accumulator: Accumulator) -> String {
    let dtype = kernel.accumulators.get(accumulator);
    dtype.map_or_else(|| format!("{accumulator}: ?"), |dtype| format!("{accumulator}: {dtype}"))
}

fn element(kernel: &Kernel, place: Place, at: &Expr) -> String {
    format!("{place}[{}]", index(kernel, at))
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffer(buffer) => buffer.fmt(f),
            Self::Scratch(scratch) => scratch.fmt(f),
        }
    }
}

fn listed<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    texts.join(", ")
}
