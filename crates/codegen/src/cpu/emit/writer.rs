//! Instructions of one LLVM function, written one after the other: operands in, text and fresh registers out.
//!
//! Knows the shapes of instructions, and that a scalar beside a vector stands for all its elements; knows no kernels.

use std::collections::BTreeSet;
use std::fmt::{Display, Write};

use super::isa::Isa;
use super::operand::{Element, Operand, Term, Type};

/// A basic block of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(u32);

impl Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "block{}", self.0)
    }
}

/// A loop whose body is being written.
pub(super) struct OpenLoop {
    turn: Operand,
    next: Operand,
    end: Operand,
    head: Label,
    latch: Label,
    exit: Label,
}

/// The text of a function body under construction.
pub(super) struct Writer<'i> {
    pub(super) isa: &'i Isa,
    /// Whether code is in a loop where lanes have the order of words (`words.rs`).
    pub(super) by_words: bool,
    /// Whether code is in what whole vectors leave, where it should be short before it is fast.
    pub(super) is_seldom: bool,
    text: String,
    /// Instructions that must stand in the entry block: stack slots.
    entry: String,
    /// Slots that hold zeros.
    zeros: Vec<(Type, Operand)>,
    registers: u32,
    labels: u32,
    current: Label,
    declarations: BTreeSet<String>,
    calls: BTreeSet<&'static str>,
}

impl<'i> Writer<'i> {
    pub(super) fn new(isa: &'i Isa) -> Writer<'i> {
        let (text, entry) = (String::new(), String::new());
        let (declarations, calls) = (BTreeSet::new(), BTreeSet::new());
        let mut writer = Writer {
            isa,
            by_words: false,
            is_seldom: false,
            text,
            entry,
            zeros: Vec::new(),
            registers: 0,
            labels: 0,
            current: Label(0),
            declarations,
            calls,
        };
        writer.current = writer.label();
        writer
    }

    /// The body from the entry block on, the declarations it needs, and the functions outside that it calls.
    pub(super) fn finish(self) -> (String, BTreeSet<String>, BTreeSet<&'static str>) {
        let body = format!("entry:\n{}  br label %block0\nblock0:\n{}", self.entry, self.text);
        (body, self.declarations, self.calls)
    }

    /// A register that an instruction will define later, as the next turn of a loop variable.
    pub(super) fn register(&mut self, ty: Type) -> Operand {
        self.registers += 1;
        Operand::register(self.registers - 1, ty)
    }

    /// Defines a register by an instruction.
    pub(super) fn define(&mut self, register: Operand, instruction: impl Display) {
        writeln!(self.text, "  {register} = {instruction}").expect("writing to a string cannot fail");
    }

    /// An instruction with a result of type `ty`.
    pub(super) fn instruction(&mut self, ty: Type, text: impl Display) -> Operand {
        let result = self.register(ty);
        self.define(result, text);
        result
    }

    /// An instruction without a result.
    pub(super) fn effect(&mut self, text: impl Display) {
        writeln!(self.text, "  {text}").expect("writing to a string cannot fail");
    }

    /// A line for readers.
    pub(super) fn comment(&mut self, text: impl Display) {
        self.effect(format_args!("; {text}"));
    }

    /// A stack slot that lives as long as the call. The passes turn those that are only loaded and stored into
    /// registers.
    pub(super) fn slot(&mut self, ty: impl Display) -> Operand {
        let slot = self.register(Type::scalar(Element::Ptr));
        writeln!(self.entry, "  {slot} = alloca {ty}").expect("writing to a string cannot fail");
        slot
    }

    /// A stack slot that holds zeros, for loads that may not happen: there is one of a type.
    pub(super) fn zeros(&mut self, ty: Type) -> Operand {
        if let Some(&(_, slot)) = self.zeros.iter().find(|(known, _)| *known == ty) {
            return slot;
        }
        let slot = self.slot(ty);
        writeln!(self.entry, "  store {ty} zeroinitializer, {}", slot.typed())
            .expect("writing to a string cannot fail");
        self.zeros.push((ty, slot));
        slot
    }

    /// The same value in all lanes.
    pub(super) fn splat(&mut self, value: Operand, lanes: u32) -> Operand {
        if value.ty.lanes.is_some() {
            return value;
        }
        if let Some(constant) = value.as_constant(lanes) {
            return constant;
        }
        let vector = Type { lanes: Some(lanes), ..value.ty };
        let first =
            self.instruction(vector, format_args!("insertelement {vector} poison, {}, i64 0", value.typed()));
        let picks = Operand::integer(0, vector.with(Element::I32));
        self.shuffle(first, first, picks)
    }

    fn shuffle(&mut self, a: Operand, b: Operand, picks: Operand) -> Operand {
        self.instruction(a.ty, format_args!("shufflevector {}, {}, {}", a.typed(), b.typed(), picks.typed()))
    }

    /// `value` in the shape of a vector with `lanes` elements, or as it is for `None`.
    pub(super) fn shaped(&mut self, value: Operand, lanes: Option<u32>) -> Operand {
        lanes.map_or(value, |lanes| self.splat(value, lanes))
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

    /// The same for one that gives nothing.
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

    /// A call, lane by lane, of a function of C on f32 or f64.
    pub(super) fn call_lanes(&mut self, function: &'static str, args: &[Operand]) -> Operand {
        let lanes = args.iter().fold(None, |lanes: Option<u32>, arg| lanes.or(arg.ty.lanes));
        let args: Vec<Operand> = args.iter().map(|&arg| self.shaped(arg, lanes)).collect();
        self.declare_call(function, args[0].ty.element, args.len());
        let Some(lanes) = lanes else { return self.call(function, &args) };
        let zero = match args[0].ty.element {
            Element::I32 | Element::I64 => Operand::integer(0, args[0].ty),
            _ => Operand::float(0.0, args[0].ty),
        };
        (0..lanes).fold(zero, |vector, lane| {
            let args: Vec<Operand> = args.iter().map(|&arg| self.extract(arg, lane)).collect();
            let result = self.call(function, &args);
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

    /// One element of a vector.
    pub(super) fn extract(&mut self, vector: Operand, lane: u32) -> Operand {
        let ty = Type::scalar(vector.ty.element);
        self.instruction(ty, format_args!("extractelement {}, i64 {lane}", vector.typed()))
    }

    /// The elements `from .. from + lanes` of a vector.
    pub(super) fn slice(&mut self, vector: Operand, from: u32, lanes: u32) -> Operand {
        let ty = Type { lanes: Some(lanes), ..vector.ty };
        let picks: Vec<String> = (from..from + lanes).map(|lane| format!("i32 {lane}")).collect();
        let text = format!(
            "shufflevector {0}, {1} poison, <{lanes} x i32> <{2}>",
            vector.typed(),
            vector.ty,
            picks.join(", ")
        );
        self.instruction(ty, text)
    }

    /// The picked elements of a vector.
    pub(super) fn picked(&mut self, vector: Operand, picks: &[u32]) -> Operand {
        let picks: Vec<String> = picks.iter().map(|pick| format!("i32 {pick}")).collect();
        let text = format!(
            "shufflevector {0}, {1} poison, <{2} x i32> <{3}>",
            vector.typed(),
            vector.ty,
            picks.len(),
            picks.join(", ")
        );
        self.instruction(Type { lanes: Some(picks.len() as u32), ..vector.ty }, text)
    }

    /// Vectors of one type, a power of two of them, one after the other.
    pub(super) fn joined(&mut self, mut vectors: Vec<Operand>) -> Operand {
        while vectors.len() > 1 {
            vectors = vectors.chunks(2).map(|pair| self.concatenate(pair[0], pair[1])).collect();
        }
        vectors[0]
    }

    /// The bits of a vector as elements of another width.
    pub(super) fn reinterpret(&mut self, vector: Operand, element: Element) -> Operand {
        let bits = vector.ty.lanes.unwrap_or(1) * vector.ty.element.bits();
        let ty = Type { element, lanes: Some(bits / element.bits()) };
        self.instruction(ty, format_args!("bitcast {} to {ty}", vector.typed()))
    }

    /// A vector with so many of its first elements moved to its end.
    pub(super) fn rotated(&mut self, vector: Operand, first: u32) -> Operand {
        let lanes = vector.ty.lanes.unwrap_or(1);
        let picks: Vec<String> = (0..lanes).map(|lane| format!("i32 {}", (lane + first) % lanes)).collect();
        let text = format!(
            "shufflevector {}, {} poison, <{lanes} x i32> <{}>",
            vector.typed(),
            vector.ty,
            picks.join(", ")
        );
        self.instruction(vector.ty, text)
    }

    /// A vector with a shorter one in the place of its first elements.
    pub(super) fn overlaid(&mut self, vector: Operand, first: Operand) -> Operand {
        let (lanes, short) = (vector.ty.lanes.unwrap_or(1), first.ty.lanes.unwrap_or(1));
        let widened =
            (0..lanes).map(|lane| if lane < short { lane.to_string() } else { "poison".to_owned() });
        let widened: Vec<String> = widened.map(|pick| format!("i32 {pick}")).collect();
        let text = format!(
            "shufflevector {0}, {1} poison, <{lanes} x i32> <{2}>",
            first.typed(),
            first.ty,
            widened.join(", ")
        );
        let first = self.instruction(vector.ty, text);
        let picks = (0..lanes).map(|lane| if lane < short { lanes + lane } else { lane });
        let picks: Vec<String> = picks.map(|pick| format!("i32 {pick}")).collect();
        let text = format!(
            "shufflevector {}, {}, <{lanes} x i32> <{}>",
            vector.typed(),
            first.typed(),
            picks.join(", ")
        );
        self.instruction(vector.ty, text)
    }

    /// Two vectors of one type, one after the other.
    pub(super) fn concatenate(&mut self, low: Operand, high: Operand) -> Operand {
        let lanes = low.ty.lanes.unwrap_or(1) * 2;
        let picks: Vec<String> = (0..lanes).map(|lane| format!("i32 {lane}")).collect();
        let text = format!(
            "shufflevector {}, {}, <{lanes} x i32> <{}>",
            low.typed(),
            high.typed(),
            picks.join(", ")
        );
        self.instruction(Type { lanes: Some(lanes), ..low.ty }, text)
    }

    /// The elements of two vectors in turn, as two vectors.
    pub(super) fn interleave(&mut self, a: Operand, b: Operand) -> [Operand; 2] {
        let lanes = a.ty.lanes.unwrap_or(1);
        [0, lanes / 2].map(|from| {
            let pairs = (from..from + lanes / 2).map(|lane| format!("i32 {lane}, i32 {}", lane + lanes));
            let picks: Vec<String> = pairs.collect();
            let text =
                format!("shufflevector {}, {}, <{lanes} x i32> <{}>", a.typed(), b.typed(), picks.join(", "));
            self.instruction(a.ty, text)
        })
    }

    /// The address `index` elements after `base`; of a vector of indices, a vector of addresses.
    pub(super) fn address(&mut self, element: Element, base: Operand, index: Operand) -> Operand {
        let ty = index.ty.with(Element::Ptr);
        self.instruction(ty, format_args!("getelementptr {element}, {}, {}", base.typed(), index.typed()))
    }

    /// A fresh block, not yet begun.
    pub(super) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    /// The block that instructions go to now.
    pub(super) fn current(&self) -> Label {
        self.current
    }

    /// Begins a block; the one before it must have been ended by a branch.
    pub(super) fn begin(&mut self, label: Label) {
        writeln!(self.text, "{label}:").expect("writing to a string cannot fail");
        self.current = label;
    }

    /// Ends the block by a jump.
    pub(super) fn branch(&mut self, to: Label) {
        self.effect(format_args!("br label %{to}"));
    }

    /// Ends the block by a choice.
    pub(super) fn branch_if(&mut self, condition: Operand, then: Label, otherwise: Label) {
        self.effect(format_args!("br {}, label %{then}, label %{otherwise}", condition.typed()));
    }

    /// Begins a loop of turns from `begin` on below `end`: the number of the turn, and what [`Writer::close_loop`] ends. Tests
    /// before the first turn and after each.
    pub(super) fn open_loop(&mut self, begin: Operand, end: Operand) -> (Operand, OpenLoop) {
        let [head, latch, exit] = [self.label(), self.label(), self.label()];
        let any = self.compare("icmp slt", begin, end);
        let before = self.current();
        self.branch_if(any, head, exit);
        self.begin(head);
        let (turn, next) = (self.register(begin.ty), self.register(begin.ty));
        self.define(turn, format_args!("phi {} [{begin}, %{before}], [{next}, %{latch}]", begin.ty));
        (turn, OpenLoop { turn, next, end, head, latch, exit })
    }

    /// Ends a loop whose turns are so far apart.
    pub(super) fn close_loop(&mut self, turns: OpenLoop, step: i64) {
        let OpenLoop { turn, next, end, head, latch, exit } = turns;
        self.branch(latch);
        self.begin(latch);
        self.define(next, format_args!("add nsw {}, {step}", turn.typed()));
        let more = self.compare("icmp slt", next, end);
        self.branch_if(more, head, exit);
        self.begin(exit);
    }

    /// Whether a condition holds in any lane.
    pub(super) fn any(&mut self, condition: Operand) -> Operand {
        let scalar = Type::scalar(Element::I1);
        if condition.ty == scalar {
            return condition;
        }
        self.intrinsic("llvm.vector.reduce.or", &[condition.ty], scalar, &[condition])
    }

    /// What becomes of a vector that is taken in pieces of so many lanes, one after the other in a loop, through memory: few
    /// instructions, for what is seldom needed.
    pub(super) fn by_pieces(
        &mut self,
        x: Operand,
        lanes: u32,
        to: Element,
        make: impl FnOnce(&mut Self, Operand) -> Operand,
    ) -> Operand {
        let result = x.ty.with(to);
        if x.ty.lanes.is_none_or(|all| all <= lanes) {
            return make(self, x);
        }
        // As the stack is: more would take a register to align it.
        const ALIGN: &str = "align 16";
        let [given, made] = [x.ty, result].map(|ty| self.slot(format_args!("{ty}, {ALIGN}")));
        self.effect(format_args!("store {}, {}, {ALIGN}", x.typed(), given.typed()));
        let [begin, end] = [0, x.ty.lanes.unwrap_or(1)]
            .map(|lane| Operand::integer(lane.into(), Type::scalar(Element::I64)));
        let (turn, turns) = self.open_loop(begin, end);
        let piece = Type { lanes: Some(lanes), ..x.ty };
        let [given, place] =
            [(given, x.ty.element), (made, to)].map(|(slot, element)| self.address(element, slot, turn));
        let x = self.instruction(piece, format_args!("load {piece}, {}, {ALIGN}", given.typed()));
        let y = make(self, x);
        self.effect(format_args!("store {}, {}, {ALIGN}", y.typed(), place.typed()));
        self.close_loop(turns, lanes.into());
        self.instruction(result, format_args!("load {result}, {}, {ALIGN}", made.typed()))
    }

    /// The value of one of two ways to compute it.
    pub(super) fn either(
        &mut self,
        condition: Operand,
        then: impl FnOnce(&mut Self) -> Operand,
        otherwise: impl FnOnce(&mut Self) -> Operand,
    ) -> Operand {
        let (yes, no, join) = (self.label(), self.label(), self.label());
        self.branch_if(condition, yes, no);
        self.begin(yes);
        let (a, after_yes) = (then(self), self.current());
        self.branch(join);
        self.begin(no);
        let (b, after_no) = (otherwise(self), self.current());
        self.branch(join);
        self.begin(join);
        self.instruction(a.ty, format_args!("phi {} [{a}, %{after_yes}], [{b}, %{after_no}]", a.ty))
    }
}
