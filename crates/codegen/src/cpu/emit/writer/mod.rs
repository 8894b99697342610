//! Instructions of one LLVM function, written one after the other: operands in, text and fresh registers out.
//!
//! Knows the shapes of instructions, and that a scalar beside a vector stands for all its elements; knows no kernels. `lines.rs`
//! has lines and blocks, `flow.rs` loops, `vectors.rs` what takes vectors apart and puts them together.

mod flow;
mod lines;
mod vectors;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};

use super::operand::{Element, Operand, Term, Type};
use super::outline::Outlined;
use crate::cpu::Isa;
use lines::{Label, Lines};

/// Writes instructions on typed operands, over the lines of a function body.
pub(super) struct Writer<'i> {
    pub(super) isa: &'i Isa,
    /// Whether code is in a loop where lanes are deinterleaved (`deinterleave.rs`).
    pub(super) deinterleaved: bool,
    /// Whether code is in the remainder, where short code matters more than fast code.
    pub(super) runs_seldom: bool,
    /// The ops that call a function of the module (`outline.rs`).
    pub(super) outlined: Outlined,
    lines: Lines,
    /// Slots that hold zeros.
    zeros: Vec<(Type, Operand)>,
    declarations: BTreeSet<String>,
    calls: BTreeSet<&'static str>,
    /// Functions of the module beside the kernel's, by name.
    functions: BTreeMap<String, Function>,
}

/// A function of the module beside the kernel's.
pub(super) struct Function {
    pub(super) text: String,
    result: Type,
}

/// The text of a finished function.
pub(super) struct Finished {
    /// The body from the entry block on.
    pub(super) body: String,
    /// The functions of the module that it calls, by name.
    pub(super) functions: BTreeMap<String, Function>,
    /// The declarations that it needs.
    pub(super) declarations: BTreeSet<String>,
    /// The functions outside that it calls.
    pub(super) calls: BTreeSet<&'static str>,
}

impl Deref for Writer<'_> {
    type Target = Lines;

    fn deref(&self) -> &Lines {
        &self.lines
    }
}

impl DerefMut for Writer<'_> {
    fn deref_mut(&mut self) -> &mut Lines {
        &mut self.lines
    }
}

impl<'i> Writer<'i> {
    pub(super) fn new(isa: &'i Isa) -> Writer<'i> {
        let (declarations, calls) = (BTreeSet::new(), BTreeSet::new());
        Writer {
            isa,
            deinterleaved: false,
            runs_seldom: false,
            outlined: Outlined::default(),
            lines: Lines::new(),
            zeros: Vec::new(),
            declarations,
            calls,
            functions: BTreeMap::new(),
        }
    }

    /// The text so far.
    pub(super) fn finish(self) -> Finished {
        Finished {
            body: self.lines.finish(),
            functions: self.functions,
            declarations: self.declarations,
            calls: self.calls,
        }
    }

    /// A stack slot that holds zeros, for loads that may not happen: one for each type.
    pub(super) fn zeros(&mut self, ty: Type) -> Operand {
        if let Some(&(_, slot)) = self.zeros.iter().find(|(known, _)| *known == ty) {
            return slot;
        }
        let slot = self.slot(ty);
        self.entry_effect(format_args!("store {ty} zeroinitializer, {}", slot.typed()));
        self.zeros.push((ty, slot));
        slot
    }

    /// Brings both sides of an instruction to one shape.
    fn pair(&mut self, a: Operand, b: impl Into<Term>) -> (Operand, Operand) {
        let b = b.into().beside(a.ty);
        let lanes = a.ty.lanes.or(b.ty.lanes);
        (self.shaped(a, lanes), self.shaped(b, lanes))
    }

    /// An instruction of two operands of one type, with a result of that type.
    pub(super) fn binary(&mut self, opcode: &str, a: Operand, b: impl Into<Term>) -> Operand {
        let (a, b) = self.pair(a, b);
        self.instruction(a.ty, format_args!("{opcode} {}, {b}", a.typed()))
    }

    /// An instruction of one operand, with a result of its type.
    pub(super) fn unary(&mut self, opcode: &str, a: Operand) -> Operand {
        self.instruction(a.ty, format_args!("{opcode} {}", a.typed()))
    }

    /// A comparison such as `icmp slt`.
    pub(super) fn compare(&mut self, predicate: &str, a: Operand, b: impl Into<Term>) -> Operand {
        let (a, b) = self.pair(a, b);
        self.instruction(a.ty.with(Element::I1), format_args!("{predicate} {}, {b}", a.typed()))
    }

    /// `a` where the condition holds, else `b`. One of them must be an operand with the type of the result.
    pub(super) fn select(&mut self, condition: Operand, a: impl Into<Term>, b: impl Into<Term>) -> Operand {
        let (a, b) = match (a.into(), b.into()) {
            (Term::Operand(a), b) => (a, b.beside(a.ty)),
            (a, b) => {
                let b = b.beside(Type::scalar(Element::I64));
                (a.beside(b.ty), b)
            }
        };
        let (a, b) = self.pair(a, b);
        let lanes = a.ty.lanes.or(condition.ty.lanes);
        let (a, b) = (self.shaped(a, lanes), self.shaped(b, lanes));
        self.instruction(a.ty, format_args!("select {}, {}, {}", condition.typed(), a.typed(), b.typed()))
    }

    /// A conversion such as `zext`, to elements of another type.
    pub(super) fn convert(&mut self, opcode: &str, a: Operand, to: Element) -> Operand {
        let ty = a.ty.with(to);
        self.instruction(ty, format_args!("{opcode} {} to {ty}", a.typed()))
    }

    /// A call of an intrinsic overloaded on the types in `overloads`.
    pub(super) fn intrinsic(
        &mut self,
        name: &str,
        overloads: &[Type],
        result: Type,
        args: &[Operand],
    ) -> Operand {
        let call = self.intrinsic_call(name, overloads, &result.to_string(), args);
        self.instruction(result, call)
    }

    /// The same for one without a result.
    pub(super) fn intrinsic_effect(&mut self, name: &str, overloads: &[Type], args: &[Operand]) {
        let call = self.intrinsic_call(name, overloads, "void", args);
        self.effect(call);
    }

    fn intrinsic_call(&mut self, name: &str, overloads: &[Type], result: &str, args: &[Operand]) -> String {
        let suffixes: String = overloads.iter().map(|ty| format!(".{}", ty.suffix())).collect();
        let types: Vec<String> = args.iter().map(|arg| arg.ty.to_string()).collect();
        let args: Vec<String> = args.iter().map(|arg| arg.typed()).collect();
        self.declarations.insert(format!("declare {result} @{name}{suffixes}({})", types.join(", ")));
        format!("call {result} @{name}{suffixes}({})", args.join(", "))
    }

    /// An intrinsic on operands of one type, with a result of that type.
    pub(super) fn overloaded(&mut self, name: &str, a: Operand, rest: &[Operand]) -> Operand {
        let lanes = rest.iter().fold(a.ty.lanes, |lanes, b| lanes.or(b.ty.lanes));
        let args: Vec<Operand> =
            [&[a], rest].concat().into_iter().map(|arg| self.shaped(arg, lanes)).collect();
        self.intrinsic(name, &[args[0].ty], args[0].ty, &args)
    }

    /// A call of a C function on f32 or f64. For vectors a function of the module calls it lane by lane: inline, 32 calls
    /// take libLLVM 4 ms to compile.
    pub(super) fn call_lanes(&mut self, function: &'static str, args: &[Operand]) -> Operand {
        let lanes = args.iter().fold(None, |lanes: Option<u32>, arg| lanes.or(arg.ty.lanes));
        let args: Vec<Operand> = args.iter().map(|&arg| self.shaped(arg, lanes)).collect();
        match lanes {
            None => self.call_scalar(function, &args),
            Some(lanes) => self.call_own(&format!("{function}.lanes"), &args, |w, args| {
                w.lane_by_lane(function, args, lanes)
            }),
        }
    }

    fn call_scalar(&mut self, function: &'static str, args: &[Operand]) -> Operand {
        self.declare_call(function, args[0].ty.element, args.len());
        self.call(function, args)
    }

    fn lane_by_lane(&mut self, function: &'static str, args: &[Operand], lanes: u32) -> Operand {
        let zero = match args[0].ty.element {
            Element::I32 | Element::I64 => Operand::integer(0, args[0].ty),
            _ => Operand::float(0.0, args[0].ty),
        };
        (0..lanes).fold(zero, |vector, lane| {
            let args: Vec<Operand> = args.iter().map(|&arg| self.extract(arg, lane)).collect();
            let result = self.call_scalar(function, &args);
            self.instruction(
                vector.ty,
                format_args!("insertelement {}, {}, i64 {lane}", vector.typed(), result.typed()),
            )
        })
    }

    fn declare_call(&mut self, function: &'static str, element: Element, arity: usize) {
        let types = vec![element.to_string(); arity].join(", ");
        let attributes = "nounwind willreturn memory(none)";
        self.declarations.insert(format!("declare {element} @{function}({types}) {attributes}"));
        self.calls.insert(function);
    }

    fn call(&mut self, function: &'static str, args: &[Operand]) -> Operand {
        let result = args[0].ty;
        let args: Vec<String> = args.iter().map(|arg| arg.typed()).collect();
        self.instruction(result, format_args!("call {result} @{function}({})", args.join(", ")))
    }

    /// A call of a function of the module, which is written at the first call on arguments of these types.
    pub(super) fn call_own(
        &mut self,
        name: &str,
        args: &[Operand],
        write: impl FnOnce(&mut Writer<'i>, &[Operand]) -> Operand,
    ) -> Operand {
        let types: String = args.iter().map(|arg| format!(".{}", arg.ty.suffix())).collect();
        let symbol = format!("{name}{types}");
        let known = self.functions.get(&symbol).map(|function| function.result);
        let result = known.unwrap_or_else(|| {
            let function = self.function(&symbol, args, write);
            let result = function.result;
            self.functions.insert(symbol.clone(), function);
            result
        });
        let args: Vec<String> = args.iter().map(|arg| arg.typed()).collect();
        self.instruction(result, format_args!("call {result} @{symbol}({})", args.join(", ")))
    }

    fn function(
        &mut self,
        symbol: &str,
        args: &[Operand],
        write: impl FnOnce(&mut Writer<'i>, &[Operand]) -> Operand,
    ) -> Function {
        let mut own = Writer::new(self.isa);
        let parameters: Vec<Operand> = args.iter().map(|arg| own.register(arg.ty)).collect();
        let result = write(&mut own, &parameters);
        own.effect(format_args!("ret {}", result.typed()));
        let listed: Vec<String> = parameters.iter().map(|parameter| parameter.typed()).collect();
        let attributes = format!("noinline nounwind {}", self.isa.spec().function_attributes());
        let Finished { body, functions, declarations, calls } = own.finish();
        self.functions.extend(functions);
        self.declarations.extend(declarations);
        self.calls.extend(calls);
        let listed = listed.join(", ");
        let text = format!("define internal {} @{symbol}({listed}) {attributes} {{\n{body}}}\n", result.ty);
        Function { text, result: result.ty }
    }

    /// The address `index` elements after `base`; of a vector of indices, a vector of addresses.
    pub(super) fn address(&mut self, element: Element, base: Operand, index: Operand) -> Operand {
        let ty = index.ty.with(Element::Ptr);
        self.instruction(ty, format_args!("getelementptr {element}, {}, {}", base.typed(), index.typed()))
    }

    /// Whether a condition holds in any lane.
    pub(super) fn any(&mut self, condition: Operand) -> Operand {
        let scalar = Type::scalar(Element::I1);
        if condition.ty == scalar {
            return condition;
        }
        self.intrinsic("llvm.vector.reduce.or", &[condition.ty], scalar, &[condition])
    }
}
