//! Kernel text to a kernel: the grammar is in `print.rs`. Takes any text, gives the kernel or the first error with
//! its line and column. Checks only what it needs to read on; whether the kernel makes sense is for `verify.rs`.

use std::collections::BTreeMap;

use cranelift_entity::{EntityRef, PrimaryMap};

use super::line::Line;
pub use super::line::ParseError;
use super::{
    Access, Accumulator, Buffer, BufferDecl, Kernel, Loop, LoopKind, MAX_NESTING, Place, Scratch,
    ScratchDecl, Stmt, Value, literal,
};
use crate::index::{Expr, Sym};
use crate::ops::{Monoid, Prim};
use crate::{DType, Scalar};

/// The largest id that a text may use: far above any real kernel, small enough to be no danger.
const MAX_ID: u32 = 1 << 24;

/// Reads a kernel. Ids and symbols get the numbers that the text gives them, so that printing gives the same text.
pub fn parse(text: &str) -> Result<Kernel, ParseError> {
    let mut lines = Lines { lines: text.lines(), number: 0 };
    let mut head = lines.next()?;
    let (name, lanes, arguments) = kernel_line(&mut head)?;
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
    let body = parser.body(&mut lines)?;
    lines.nothing_follows()?;
    let last = lines.last();
    Ok(Kernel {
        name,
        lanes,
        blocks,
        block,
        arguments,
        buffers: dense("b", parser.buffers, &last)?,
        scratch: dense("w", parser.scratch, &last)?,
        values: dense("v", parser.values, &last)?,
        accumulators: dense("a", parser.accumulators, &last)?,
        symbols: parser.names,
        body,
    })
}

/// The lines that are not empty.
struct Lines<'a> {
    lines: std::str::Lines<'a>,
    number: usize,
}

impl<'a> Lines<'a> {
    fn following(&mut self) -> Option<Line<'a>> {
        for text in self.lines.by_ref() {
            self.number += 1;
            let mut line = Line::new(text, self.number);
            if !line.is_done() {
                return Some(line);
            }
        }
        None
    }

    fn next(&mut self) -> Result<Line<'a>, ParseError> {
        self.following()
            .ok_or_else(|| self.last().fail("the text ends too early: expected more of the kernel"))
    }

    fn nothing_follows(&mut self) -> Result<(), ParseError> {
        self.following()
            .map_or(Ok(()), |mut line| Err(line.fail("expected nothing after the kernel's last `}`")))
    }

    /// The place where the text ends, for errors.
    fn last(&self) -> Line<'a> {
        Line::new("", self.number.max(1))
    }
}

/// An argument's name, and the error to give if no such symbol is declared.
type Argument<'a> = (&'a str, ParseError);

fn kernel_line<'a>(line: &mut Line<'a>) -> Result<(String, u32, Vec<Argument<'a>>), ParseError> {
    line.expect("kernel")?;
    let name = line.word("the kernel's name")?.to_owned();
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
    line.expect("{")?;
    Ok((name, lanes, arguments))
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

    /// Declarations and statements up to the kernel's last `}`. The loops that are open lie on a stack of our own.
    fn body(&mut self, lines: &mut Lines<'_>) -> Result<Vec<Stmt>, ParseError> {
        let mut open: Vec<Loop> = Vec::new();
        let mut body = Vec::new();
        loop {
            let mut line = lines.next()?;
            if line.eat("}") {
                line.end()?;
                let Some(turns) = open.pop() else { return Ok(body) };
                innermost(&mut open, &mut body).push(Stmt::For(turns));
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
        let (end, kind) = match range.strip_suffix("lanes") {
            Some(end) if end.ends_with(char::is_whitespace) => (end, LoopKind::Lanes),
            _ => (range, LoopKind::Serial),
        };
        let end = self.index(line, (end.trim_end(), start))?;
        line.clone().end()?;
        Ok(Loop { var, begin, end, kind, body: Vec::new() })
    }

    /// Reads a declaration of memory, if the line is one.
    fn declaration(&mut self, line: &mut Line<'_>) -> Result<bool, ParseError> {
        if line.eat("read") {
            self.buffer(line, Access::Read)?;
        } else if line.eat("write") {
            self.buffer(line, Access::Write)?;
        } else if line.eat("scratch") {
            self.scratch(line)?;
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
        declare(&mut self.buffers, id, BufferDecl { name, dtype, access }, again)
    }

    fn scratch(&mut self, line: &mut Line<'_>) -> Result<(), ParseError> {
        let again = line.fail("this scratch array is declared twice");
        let id = numbered(line, "w", "a scratch array such as w0")?;
        line.expect(":")?;
        let dtype = dtype(line)?;
        line.expect("[")?;
        let len = line.until("]")?;
        let len = self.index(line, len)?;
        declare(&mut self.scratch, id, ScratchDecl { dtype, len }, again)
    }

    fn statement(&mut self, line: &mut Line<'_>) -> Result<Stmt, ParseError> {
        if line.eat("store") {
            let (place, index) = self.element(line)?;
            line.expect("=")?;
            Ok(Stmt::Store { place, index, value: value(line)?, guard: guard(line)? })
        } else if line.eat("acc") {
            self.open(line)
        } else if line.eat("set") {
            let accumulator = accumulator(line)?;
            line.expect("=")?;
            Ok(Stmt::Set { accumulator, value: value(line)? })
        } else if line.eat("barrier") {
            Ok(Stmt::Barrier)
        } else {
            self.definition(line)
        }
    }

    fn open(&mut self, line: &mut Line<'_>) -> Result<Stmt, ParseError> {
        let again = line.fail("this accumulator is opened twice");
        let accumulator = accumulator(line)?;
        line.expect(":")?;
        declare(&mut self.accumulators, accumulator.as_u32(), dtype(line)?, again)?;
        line.expect("=")?;
        Ok(Stmt::Open { accumulator, init: value(line)? })
    }

    /// `v0: f32 = …`, or several new values before a `reduce`.
    fn definition(&mut self, line: &mut Line<'_>) -> Result<Stmt, ParseError> {
        let (value, dtype) = self.new_value(line)?;
        let mut values = vec![value];
        while line.eat(",") {
            values.push(self.new_value(line)?.0);
        }
        line.expect("=")?;
        if line.eat("reduce") {
            let name = line.clone().word("a monoid")?;
            let monoid =
                Monoid::from_name(name).ok_or_else(|| line.fail(format!("no monoid is named `{name}`")))?;
            line.expect(name)?;
            return Ok(Stmt::Reduce { values, monoid, accumulators: listed(line, accumulator)? });
        }
        if values.len() > 1 {
            return Err(line.fail("expected `reduce`: no other statement defines several values"));
        }
        self.right_side(line, value, dtype)
    }

    fn new_value(&mut self, line: &mut Line<'_>) -> Result<(Value, DType), ParseError> {
        let again = line.fail("this value is defined twice");
        let expectation = "a statement: a new value such as v0, or store, acc, set, for, barrier";
        let id = numbered(line, "v", expectation)?;
        line.expect(":")?;
        let dtype = dtype(line)?;
        declare(&mut self.values, id, dtype, again)?;
        Ok((Value::from_u32(id), dtype))
    }

    fn right_side(&self, line: &mut Line<'_>, new: Value, dtype: DType) -> Result<Stmt, ParseError> {
        if line.eat("const") {
            return Ok(Stmt::Const { value: new, constant: literal(line, dtype)? });
        }
        if line.eat("index") {
            let text = line.rest();
            return Ok(Stmt::Index { value: new, index: self.index(line, text)? });
        }
        if line.eat("cast") {
            return Ok(Stmt::Cast { value: new, arg: value(line)? });
        }
        if line.eat("load") {
            let (place, index) = self.element(line)?;
            return Ok(Stmt::Load { value: new, place, index, guard: guard(line)? });
        }
        if line.eat("get") {
            return Ok(Stmt::Get { value: new, accumulator: accumulator(line)? });
        }
        let name = line.clone().word("const, index, cast, load, get, reduce or an op")?;
        let op =
            Prim::from_name(name).ok_or_else(|| line.fail(format!("no primitive op is named `{name}`")))?;
        line.expect(name)?;
        Ok(Stmt::Apply { value: new, op, args: listed(line, value)? })
    }

    fn element(&self, line: &mut Line<'_>) -> Result<(Place, Expr), ParseError> {
        let place = match numbered(&mut line.clone(), "b", "") {
            Ok(_) => Place::Buffer(Buffer::from_u32(numbered(line, "b", "a buffer")?)),
            Err(_) => {
                Place::Scratch(Scratch::from_u32(numbered(line, "w", "a place such as b0[x0] or w0[x0]")?))
            }
        };
        line.expect("[")?;
        let index = line.until("]")?;
        Ok((place, self.index(line, index)?))
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

fn innermost<'a>(open: &'a mut [Loop], body: &'a mut Vec<Stmt>) -> &'a mut Vec<Stmt> {
    open.last_mut().map_or(body, |turns| &mut turns.body)
}

fn numbered(line: &mut Line<'_>, prefix: &str, what: &str) -> Result<u32, ParseError> {
    let fail = line.fail(format!("expected {what}"));
    let Ok(word) = line.word(what) else { return Err(fail) };
    let digits = word.strip_prefix(prefix).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|digits| digits.parse().ok()).filter(|&id| id <= MAX_ID).ok_or(fail)
}

fn value(line: &mut Line<'_>) -> Result<Value, ParseError> {
    numbered(line, "v", "a value such as v0").map(Value::from_u32)
}

fn accumulator(line: &mut Line<'_>) -> Result<Accumulator, ParseError> {
    numbered(line, "a", "an accumulator such as a0").map(Accumulator::from_u32)
}

fn guard(line: &mut Line<'_>) -> Result<Option<Value>, ParseError> {
    if line.eat("if") { value(line).map(Some) } else { Ok(None) }
}

fn listed<T>(
    line: &mut Line<'_>,
    item: fn(&mut Line<'_>) -> Result<T, ParseError>,
) -> Result<Vec<T>, ParseError> {
    let mut items = vec![item(line)?];
    while line.eat(",") {
        items.push(item(line)?);
    }
    Ok(items)
}

fn dtype(line: &mut Line<'_>) -> Result<DType, ParseError> {
    let name = line.clone().word("a dtype")?;
    let dtype = name.parse().map_err(|_| line.fail(format!("no dtype is named `{name}`")))?;
    line.expect(name)?;
    Ok(dtype)
}

fn literal(line: &mut Line<'_>, dtype: DType) -> Result<Scalar, ParseError> {
    let (text, start) = line.rest();
    literal::parse(dtype, text)
        .ok_or_else(|| line.fail_at(start, format!("expected a constant of dtype {dtype}")))
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
        return Err(end.clone().fail(format!("{prefix}{missing} is missing: ids are numbered without gaps")));
    }
    Ok(table.into_values().collect())
}
