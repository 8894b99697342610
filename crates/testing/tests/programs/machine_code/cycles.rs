//! The cost model's cycles compared with the instructions of machine code.

use ferrofuse::{Stage, explain, read};
use ferrofuse_testing::machine_code::{Counts, Tools};

use super::{planned, text_of};

/// Ops of f32 whose cycles in the cost model differ from their instructions, and why.
const FEWER_CYCLES: [(&str, &str); 2] =
    [("sin", "large arguments take a way of their own"), ("cos", "large arguments take a way of their own")];

const UNARY: [&str; 26] = [
    "reciprocal",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "tanh",
    "erf",
    "erfc",
    "lgamma",
    "erfinv",
    "erfcinv",
    "floor",
    "ceil",
    "round",
    "trunc",
];

const BINARY: [&str; 8] = ["mul", "div", "fmod", "minimum", "maximum", "atan2", "pow", "nextafter"];

/// Elements that a lane takes in an iteration, each with separate instructions.
const NEIGHBOURS: f64 = 8.0;

/// Lanes of the other units for each lane of the special function unit.
const SPECIAL: f64 = 8.0;

/// A chain of `length` calls of an op, each with an addition, on memory with any strides.
fn chain(call: &str, length: usize) -> String {
    let input = "fd.define_tensor(shape=[-1], contiguity=False, dtype=DataType.Float)";
    let step = format!("    y = fd.ops.add({call}, x)\n");
    format!(
        "def chain(fd: FusionDefinition) -> None:\n    x = {input}\n    y = {input}\n{}    fd.add_output(y)\n\n\n\
         inputs = [torch.randn(({ELEMENTS},)), torch.randn(({ELEMENTS},))]\n",
        step.repeat(length)
    )
}

const ELEMENTS: u64 = 1 << 20;

/// Cycles that the cost model expects for an element of a chain.
fn modelled(source: &str) -> f64 {
    let file = read(source).unwrap_or_else(|error| panic!("{error:?}\n{source}"));
    let (plan, hints) = planned(&file);
    let explained = explain(&file.definition, &plan, &hints).expect("its own plan");
    let seconds: f64 = explained.segments.iter().map(|segment| segment.cost_us.computing / 1e6).sum();
    seconds * plan.target.throughput / ELEMENTS as f64
}

/// Cycles of an element of a chain from its machine code: instructions, and those of the special function unit.
fn cycles(counts: &Counts) -> [f64; 2] {
    let of_element = |count: u32| f64::from(count) / NEIGHBOURS;
    [of_element(counts.instructions), SPECIAL * of_element(counts.special)]
}

/// The cost model's cycles of an op agree with its machine code within a factor of 1.5.
#[test]
fn cycles_of_the_cost_model_are_instructions() {
    let tools = match Tools::find() {
        Ok(tools) => tools,
        Err(reason) => return eprintln!("not checked: {reason}"),
    };
    let unary = UNARY.iter().map(|op| (*op, format!("fd.ops.{op}(y)")));
    let binary = BINARY.iter().map(|op| (*op, format!("fd.ops.{op}(y, x)")));
    let chains: Vec<(&str, [String; 2])> =
        unary.chain(binary).map(|(op, call)| (op, [2, 6].map(|length| chain(&call, length)))).collect();
    let texts: Vec<String> =
        chains.iter().flat_map(|(_, chain)| chain).map(|source| text_of(Stage::CUDA, source)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let counts = tools.counts_of_each(&texts, "sm_90").unwrap_or_else(|error| panic!("{error}"));
    let mut wrong = Vec::new();
    for ((op, [short, long]), counts) in chains.iter().zip(counts.chunks(2)) {
        let [few, many] = [&counts[0][0], &counts[1][0]].map(cycles);
        // An addition is one of them.
        let counted = ((many[0] - few[0]) / 4.0 - 1.0).max((many[1] - few[1]) / 4.0);
        let modelled = (modelled(long) - modelled(short)) / 4.0 - 1.0;
        let is_right = (counted / 1.5 - 0.5..=counted * 1.5 + 0.5).contains(&modelled);
        if is_right == FEWER_CYCLES.iter().any(|(known, _)| known == op) {
            wrong.push(format!("{op}: {counted} counted, {modelled} in the cost model"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
