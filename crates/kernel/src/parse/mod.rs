//! Kernel text to a kernel: the grammar is in `print.rs`. Takes any text, gives the kernel or the first error with its line
//! and column. Checks only what parsing needs; `verify` checks the kernel.

mod statements;

use std::collections::BTreeMap;

use cranelift_entity::{EntityRef, PrimaryMap};

use super::line::Line;
pub use super::line::ParseError;
use super::{
    Access, Assumption, BufferDecl, Kernel, KernelBuilder, Loop, LoopKind, MAX_NESTING, ScratchDecl, Stmt,
};
use index::{Expr, Scanner, Sym, integer};
use ops::DType;

/// The largest id that a text may use: far above any real kernel, small enough to be no danger.
const MAX_ID: u32 = 1 << 24;

/// Reads a kernel. Ids and symbols get the numbers that the text gives them, so that printing gives the same text.
pub fn parse(text: &str) -> Result<Kernel, ParseError> {
    let mut lines = Lines(index::TextLines::new(text));
    let mut head = lines.next()?;
    let (kernel, arguments) = kernel_line(&mut head)?;
    head.end()?;
    let mut line = lines.next()?;
    let mut parser = Parser::new(symbol_table(&mut line)?);
    line.end()?;
    let arguments = arguments
        .into_iter()
        .map(|(name, at)| parser.symbols.get(name).copied().ok_or(at))
        .collect::<Result<_, _>>()?;
    let mut line = lines.next()?;
    let (block, blocks) = parser.blocks(&mut line)?;
    line.end()?;
    let assumptions = parser.assumptions(&mut lines)?;
    let body = parser.body(&mut lines)?;
    lines.nothing_follows()?;
    let last = lines.last();
    Ok(Kernel {
        blocks,
        block,
        arguments,
        assumptions,
        buffers: dense("b", parser.buffers, &last)?,
        scratch: dense("w", parser.scratch, &last)?,
        values: dense("v", parser.values, &last)?,
        accumulators: dense("a", parser.accumulators, &last)?,
        symbols: parser.names,
        body,
        ..kernel
    })
}

/// The lines that are not empty.
struct Lines<'a>(index::TextLines<'a>);

impl<'a> Lines<'a> {
    fn following(&mut self) -> Option<Line<'a>> {
        self.0.next().map(|(number, text)| Line::new(text, number))
    }

    /// The next line without taking it.
    fn peek(&self) -> Option<Line<'a>> {
        Lines(self.0.clone()).following()
    }

    fn next(&mut self) -> Result<Line<'a>, ParseError> {
        self.following()
            .ok_or_else(|| self.last().fail("the text ends too early: expected more of the kernel"))
    }

    fn nothing_follows(&mut self) -> Result<(), ParseError> {
        self.following().map_or(Ok(()), |line| Err(line.fail("expected nothing after the kernel's last `}`")))
    }

    /// The place where the text ends, for errors.
    fn last(&self) -> Line<'a> {
        Line::new(Scanner::new(""), self.0.number().max(1))
    }
}

/// An argument's name, and the error to give if no such symbol is declared.
type SizeArgument<'a> = (&'a str, ParseError);

/// The first line of a kernel: a kernel without symbols and body, and its arguments.
fn kernel_line<'a>(line: &mut Line<'a>) -> Result<(Kernel, Vec<SizeArgument<'a>>), ParseError> {
    line.expect("kernel")?;
    let name = line.word("the kernel's name")?;
    line.expect("(")?;
    let mut arguments = Vec::new();
    while !line.eat(")") {
        if !arguments.is_empty() {
            line.expect(",")?;
        }
        let unknown = line.fail("expected an argument that the line `symbols` declares");
        arguments.push((line.word("an argument's name or `)`")?, unknown));
    }
    line.expect("lanes")?;
    let lanes = line.count("the number of lanes", u32::MAX)?;
    let mut optional = |word, what, none| if line.eat(word) { line.count(what, u32::MAX) } else { Ok(none) };
    let warp = optional("warps", "the lanes of a warp", lanes)?;
    let teams = optional("teams", "the number of teams", 1)?;
    let cluster = optional("cluster", "the number of blocks of a cluster", 1)?;
    line.expect("{")?;
    let empty = KernelBuilder::new(name, lanes).finish();
    Ok((Kernel { warp, teams, cluster, ..empty }, arguments))
}

fn symbol_table(line: &mut Line<'_>) -> Result<PrimaryMap<Sym, String>, ParseError> {
    line.expect("symbols")?;
    let mut names = PrimaryMap::new();
    loop {
        names.push(line.word("a symbol's name")?.to_owned());
        if !line.eat(",") {
            return Ok(names);
        }
    }
}

/// What has been read so far.
struct Parser {
    names: PrimaryMap<Sym, String>,
    symbols: BTreeMap<String, Sym>,
    buffers: BTreeMap<u32, BufferDecl>,
    scratch: BTreeMap<u32, ScratchDecl>,
    values: BTreeMap<u32, DType>,
    accumulators: BTreeMap<u32, DType>,
}

impl Parser {
    fn new(names: PrimaryMap<Sym, String>) -> Self {
        let symbols = names.iter().map(|(symbol, name)| (name.clone(), symbol)).collect();
        let (buffers, scratch) = (BTreeMap::new(), BTreeMap::new());
        Self { names, symbols, buffers, scratch, values: BTreeMap::new(), accumulators: BTreeMap::new() }
    }

    fn blocks(&self, line: &mut Line<'_>) -> Result<(Sym, Expr), ParseError> {
        line.expect("blocks")?;
        let block = self.symbol(line)?;
        line.expect("in")?;
        line.expect("0")?;
        line.expect("..")?;
        let count = line.rest();
        Ok((block, self.index(line, count)?))
    }

    /// The lines `assume i1 % 8 == 0` and `assume i1 <= 4096` that follow.
    fn assumptions(&self, lines: &mut Lines<'_>) -> Result<Vec<Assumption>, ParseError> {
        let mut assumptions = Vec::new();
        while lines.peek().is_some_and(|mut line| line.eat("assume")) {
            let mut line = lines.next()?;
            line.expect("assume")?;
            let symbol = self.symbol(&mut line)?;
            assumptions.push(if line.eat("<=") {
                let most = line.count("the most that it is", u32::MAX)?.into();
                Assumption::AtMost { symbol, most }
            } else {
                line.expect("%")?;
                let of = line.count("a number that divides it", u32::MAX)?.into();
                line.expect("==")?;
                line.expect("0")?;
                Assumption::Multiple { symbol, of }
            });
            line.end()?;
        }
        Ok(assumptions)
    }

    /// Declarations and statements up to the kernel's last `}`. Open loops are on an explicit stack.
    fn body(&mut self, lines: &mut Lines<'_>) -> Result<Vec<Stmt>, ParseError> {
        let mut open: Vec<Loop> = Vec::new();
        let mut body = Vec::new();
        loop {
            let mut line = lines.next()?;
            if line.eat("}") {
                line.end()?;
                let Some(for_loop) = open.pop() else { return Ok(body) };
                innermost(&mut open, &mut body).push(Stmt::For(for_loop));
            } else if line.eat("for") {
                if open.len() == MAX_NESTING {
                    return Err(line.fail(format!("loops may nest {MAX_NESTING} deep, not deeper")));
                }
                open.push(self.loop_head(&mut line)?);
            } else if !self.declaration(&mut line)? {
                let statement = self.statement(&mut line)?;
                line.end()?;
                innermost(&mut open, &mut body).push(statement);
            }
        }
    }

    fn loop_head(&self, line: &mut Line<'_>) -> Result<Loop, ParseError> {
        let var = self.symbol(line)?;
        line.expect("in")?;
        let begin = line.until("..")?;
        let begin = self.index(line, begin)?;
        let (range, start) = line.until("{")?;
        let (range, width) = width_of(range);
        let kinds = [
            ("lanes", LoopKind::Lanes),
            ("exact", LoopKind::ExactLanes),
            ("remainder", LoopKind::Remainder),
            ("transpose", LoopKind::Transpose),
        ];
        let kind = kinds.into_iter().find_map(|(word, kind)| Some((range.strip_suffix(word)?, kind)));
        let (end, kind) =
            kind.filter(|(end, _)| end.ends_with(char::is_whitespace)).unwrap_or((range, LoopKind::Serial));
        let end = self.index(line, (end.trim_end(), start))?;
        line.clone().end()?;
        Ok(Loop { var, begin, end, kind, width, body: Vec::new() })
    }

    /// Reads a declaration of memory, if the line is one.
    fn declaration(&mut self, line: &mut Line<'_>) -> Result<bool, ParseError> {
        let accesses = [("read", Access::Read), ("write", Access::Write), ("faults", Access::Fault)];
        if let Some((_, access)) = accesses.into_iter().find(|(word, _)| line.eat(word)) {
            self.buffer(line, access)?;
        } else if line.eat("scratch") {
            self.scratch(line, false)?;
        } else if line.eat("private") {
            self.scratch(line, true)?;
        } else {
            return Ok(false);
        }
        line.clone().end().map(|()| true)
    }

    fn buffer(&mut self, line: &mut Line<'_>, access: Access) -> Result<(), ParseError> {
        let again = line.fail("this buffer is declared twice");
        let id = numbered(line, "b", "a buffer such as b0")?;
        line.expect(":")?;
        let dtype = dtype(line)?;
        let name = line.word("the buffer's name")?.to_owned();
        let align =
            if line.eat("align") { line.count("an alignment", u32::MAX)? } else { dtype.size() as u32 };
        let over = if line.eat("over") { Some(statements::buffer(line)?) } else { None };
        declare(&mut self.buffers, id, BufferDecl { name, dtype, access, align, over }, again)
    }

    fn scratch(&mut self, line: &mut Line<'_>, private: bool) -> Result<(), ParseError> {
        let again = line.fail("this scratch array is declared twice");
        let id = numbered(line, "w", "a scratch array such as w0")?;
        line.expect(":")?;
        let dtype = dtype(line)?;
        line.expect("[")?;
        let len = line.until("]")?;
        let len = self.index(line, len)?;
        declare(&mut self.scratch, id, ScratchDecl { dtype, len, private }, again)
    }

    fn symbol(&self, line: &mut Line<'_>) -> Result<Sym, ParseError> {
        let unknown = line.fail("expected a symbol that the line `symbols` declares");
        let name = line.word("a symbol's name")?;
        self.symbols.get(name).copied().ok_or(unknown)
    }

    /// The index expression of a stretch of a line.
    fn index(&self, line: &Line<'_>, (text, start): (&str, usize)) -> Result<Expr, ParseError> {
        Expr::parse(text, &mut |name| self.symbols.get(name).copied())
            .map_err(|error| line.fail_at(start + error.at, error.message))
    }
}

/// The text before ` by 8` at the end of a loop's range, and the number; 1 without one.
fn width_of(range: &str) -> (&str, u32) {
    let by = range.trim_end().rsplit_once(" by ");
    by.and_then(|(range, width)| Some((range, integer::<u32>(width)?))).unwrap_or((range, 1))
}

fn innermost<'a>(open: &'a mut [Loop], body: &'a mut Vec<Stmt>) -> &'a mut Vec<Stmt> {
    open.last_mut().map_or(body, |for_loop| &mut for_loop.body)
}

fn numbered(line: &mut Line<'_>, prefix: &str, what: &str) -> Result<u32, ParseError> {
    let fail = line.fail(format!("expected {what}"));
    let Ok(word) = line.word(what) else { return Err(fail) };
    let number = word.strip_prefix(prefix).and_then(integer::<u32>);
    number.filter(|&id| id <= MAX_ID).ok_or(fail)
}

fn dtype(line: &mut Line<'_>) -> Result<DType, ParseError> {
    let name = line.clone().word("a dtype")?;
    let dtype = name.parse().map_err(|_| line.fail(format!("no dtype is named `{name}`")))?;
    line.expect(name)?;
    Ok(dtype)
}

fn declare<T>(table: &mut BTreeMap<u32, T>, id: u32, entry: T, again: ParseError) -> Result<(), ParseError> {
    if table.insert(id, entry).is_some() { Err(again) } else { Ok(()) }
}

/// The ids of a kind are numbered from 0 without gaps.
fn dense<K: EntityRef, T>(
    prefix: &str,
    table: BTreeMap<u32, T>,
    end: &Line<'_>,
) -> Result<PrimaryMap<K, T>, ParseError> {
    let gap = (0..).zip(table.keys()).find(|&(expected, &id)| expected != id);
    if let Some((missing, _)) = gap {
        return Err(end.fail(format!("{prefix}{missing} is missing: ids are numbered without gaps")));
    }
    Ok(table.into_values().collect())
}
