//! `ferrofuse ops`: every op of the definition language, as the tables declare it.

use std::io::Write;

use clap::Args;
use ir::DType;
use ir::ops::call::OpRef;
use ir::ops::{Operand, Param, ParamDefault, Prim, Typing};
use serde::Serialize;

use crate::failure::{Failure, Outcome};

/// List every op: signature, dtypes, typing rule, error bound, meaning.
#[derive(Args)]
pub struct Options {
    /// One JSON array instead of text
    #[arg(long)]
    json: bool,
}

/// What a row says to users.
#[derive(Serialize)]
struct Entry {
    name: &'static str,
    kind: &'static str,
    signature: String,
    /// The dtypes that operands may have; none where the op says more than a list can.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dtypes: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'static str>,
    /// How far a compiled f32 or f64 result may be from the meaning, in units in the last place.
    #[serde(skip_serializing_if = "Option::is_none")]
    ulp: Option<f64>,
    /// The expression over primitives that a composite stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    expression: Option<&'static str>,
    doc: &'static str,
}

/// Writes the list.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let entries: Vec<Entry> = OpRef::all().map(entry).collect();
    if options.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&entries).expect("entries are plain data"))?;
        return Ok(Outcome::Fine);
    }
    let mut kind = "";
    for entry in &entries {
        if entry.kind != kind {
            kind = entry.kind;
            writeln!(out, "# {kind}\n")?;
        }
        write_entry(entry, out)?;
    }
    Ok(Outcome::Fine)
}

fn write_entry(entry: &Entry, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{}", entry.signature)?;
    writeln!(out, "    {}", entry.doc)?;
    if let Some(expression) = entry.expression {
        writeln!(out, "    = {expression}")?;
    }
    if let Some(rule) = entry.rule {
        let bound = match entry.ulp {
            Some(0.0) => "; exact".to_owned(),
            Some(ulp) => format!("; within {ulp} ulp"),
            None => String::new(),
        };
        writeln!(out, "    {} -> {rule}{bound}", entry.dtypes.join(" "))?;
    }
    writeln!(out)
}

fn entry(op: OpRef) -> Entry {
    let (kind, rule, ulp, expression) = match op {
        OpRef::Prim(prim) => ("primitives", Some(rule(prim.row().typing)), Some(prim.row().ulp), None),
        OpRef::Composite(composite) => {
            let row = composite.row();
            ("composites", Some(rule(row.typing)), None, Some(row.text))
        }
        OpRef::Form(_) => ("forms", None, None, None),
    };
    Entry {
        name: op.name(),
        kind,
        signature: signature(op),
        dtypes: dtypes(op),
        rule,
        ulp,
        expression,
        doc: op.doc(),
    }
}

fn signature(op: OpRef) -> String {
    let params: Vec<String> = op.params().iter().map(param).collect();
    format!("{}({})", op.name(), params.join(", "))
}

fn param(param: &Param) -> String {
    let name = param.name;
    match param.default {
        ParamDefault::Required => name.to_owned(),
        ParamDefault::Absent => format!("{name}=None"),
        ParamDefault::Int(value) => format!("{name}={value}"),
        ParamDefault::Float(value) => format!("{name}={value:?}"),
        ParamDefault::Bool(true) => format!("{name}=True"),
        ParamDefault::Bool(false) => format!("{name}=False"),
        ParamDefault::DType(dtype) => format!("{name}=DataType.{}", dtype.nvfuser_name()),
        ParamDefault::Lowest => format!("{name}=-inf"),
        ParamDefault::Highest => format!("{name}=inf"),
    }
}

/// The dtypes that all operands may have at once; the condition of `where` is a bool besides.
fn dtypes(op: OpRef) -> Vec<&'static str> {
    let applies = |dtype: &DType| {
        let mut operands = vec![Operand::tensor(*dtype); op.params().len()];
        match op {
            OpRef::Prim(prim) => {
                if prim == Prim::Where {
                    operands[0] = Operand::tensor(DType::Bool);
                }
                ir::ops::signature(prim, &operands).is_ok()
            }
            OpRef::Composite(composite) => composite.signature(&operands).is_ok(),
            OpRef::Form(_) => false,
        }
    };
    DType::ALL.iter().filter(|dtype| applies(dtype)).map(|dtype| dtype.short_name()).collect()
}

/// A typing rule in words: the dtype of the result.
fn rule(typing: Typing) -> &'static str {
    match typing {
        Typing::Float => "f32, or f64 for f64",
        Typing::Plain => "the dtype of the first operand",
        Typing::Arithmetic => "the promoted dtype, f32 for halves",
        Typing::Compare | Typing::Test | Typing::Logical => "bool",
        Typing::Bitwise => "the promoted dtype",
        Typing::Where => "the promoted dtype of the second and third operand",
        Typing::Set => "the same bits",
    }
}
