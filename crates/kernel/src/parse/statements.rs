//! Kernel text to statements: the right and left sides of one line. Loops and declarations are in `parse`.

use index::Expr;
use ops::{DType, Monoid, Scalar, ScalarOp, body_text, literal};

use super::{MAX_ID, Parser, declare, dtype, numbered};
use crate::line::{Line, ParseError};
use crate::{Accumulator, Buffer, Place, Scratch, Stmt, Value};

impl Parser {
    /// Any statement but a loop.
    pub(super) fn statement(&mut self, line: &mut Line<'_>) -> Result<Stmt, ParseError> {
        if line.eat("store") {
            let (place, index) = self.element(line)?;
            line.expect("=")?;
            Ok(Stmt::Store { place, index, value: value(line)?, guard: guard(line)? })
        } else if line.eat("bind") {
            let symbol = self.symbol(line)?;
            line.expect("=")?;
            Ok(Stmt::Bind { symbol, value: value(line)? })
        } else if line.eat("prefetch") {
            let buffer = buffer(line)?;
            Ok(Stmt::Prefetch { buffer, index: self.subscript(line)?, l2: line.eat("L2") })
        } else if line.eat("fetch") {
            self.fetch(line)
        } else if line.eat("await") {
            Ok(Stmt::Await { pending: line.count("how many groups may be pending", MAX_ID)? })
        } else if line.eat("fault") {
            fault(line)
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

    fn fetch(&self, line: &mut Line<'_>) -> Result<Stmt, ParseError> {
        let scratch = scratch(line)?;
        let index = self.subscript(line)?;
        line.expect("=")?;
        Ok(Stmt::Fetch { scratch, index, buffer: buffer(line)?, from: self.subscript(line)? })
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
            let monoid = monoid(line)?;
            return Ok(Stmt::Reduce { values, monoid, accumulators: listed(line, accumulator)? });
        }
        if values.len() > 1 {
            return Err(line.fail("expected `reduce`: no other statement defines several values"));
        }
        self.right_side(line, value, dtype)
    }

    fn new_value(&mut self, line: &mut Line<'_>) -> Result<(Value, DType), ParseError> {
        let again = line.fail("this value is defined twice");
        let expectation = "a statement: a new value such as v0, or bind, store, prefetch, fetch, await, fault, acc, set, for, barrier";
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
        let op = ScalarOp::from_name(name)
            .ok_or_else(|| line.fail(format!("no primitive op is named `{name}`")))?;
        line.expect(name)?;
        Ok(Stmt::Apply { value: new, op, args: listed(line, value)? })
    }

    fn element(&self, line: &mut Line<'_>) -> Result<(Place, Expr), ParseError> {
        let place = match buffer(&mut line.clone()) {
            Ok(_) => Place::Buffer(buffer(line)?),
            Err(_) => Place::Scratch(scratch(line)?),
        };
        Ok((place, self.subscript(line)?))
    }

    fn subscript(&self, line: &mut Line<'_>) -> Result<Expr, ParseError> {
        line.expect("[")?;
        let index = line.until("]")?;
        self.index(line, index)
    }
}

/// A monoid by name, or a lambda written out.
fn monoid(line: &mut Line<'_>) -> Result<Monoid, ParseError> {
    let name = line.clone().word("a monoid")?;
    if name == "lambda" {
        let wrong = line.fail("this is no lambda");
        line.expect(name)?;
        line.expect("(")?;
        let (text, _) = line.until(")")?;
        return body_text::parse(text).map(Monoid::Lambda).ok_or(wrong);
    }
    let monoid = Monoid::from_name(name).ok_or_else(|| line.fail(format!("no monoid is named `{name}`")))?;
    line.expect(name)?;
    Ok(monoid)
}

fn scratch(line: &mut Line<'_>) -> Result<Scratch, ParseError> {
    Ok(Scratch::from_u32(numbered(line, "w", "a place such as b0[x0] or w0[x0]")?))
}

fn fault(line: &mut Line<'_>) -> Result<Stmt, ParseError> {
    let buffer = buffer(line)?;
    line.expect("[")?;
    let word = line.count("the number of a word", MAX_ID)?;
    line.expect("]")?;
    line.expect("=")?;
    let reported = value(line)?;
    line.expect("if")?;
    Ok(Stmt::Fault { buffer, word, value: reported, condition: value(line)? })
}

pub(super) fn buffer(line: &mut Line<'_>) -> Result<Buffer, ParseError> {
    numbered(line, "b", "a buffer such as b0").map(Buffer::from_u32)
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

fn literal(line: &mut Line<'_>, dtype: DType) -> Result<Scalar, ParseError> {
    let (text, start) = line.rest();
    literal::parse(dtype, text)
        .ok_or_else(|| line.fail_at(start, format!("expected a constant of dtype {dtype}")))
}
