//! A failing program as text: the definition, its inputs, the choices, and how it fails.

use std::fmt::Write;

use ferrofuse::{Definition, Hints};
use frontend::text::{NameStyle, print};
use index::Expr;

use super::Failing;
use crate::differential::{Choice, Device, chosen, without_panic};
use crate::random::{Input, Placed, Program, Tensor, place};

/// The report of a failing program: a definition file with comments.
pub fn report(failing: &Failing, seed: u64) -> String {
    let mut text = format!("# seed {seed}, choices {:?}\n", failing.choice);
    for line in failing.failure.to_string().lines() {
        let _ = writeln!(text, "# {line}");
    }
    match failing.program.define() {
        Ok(definition) => {
            text += &file(&failing.program, &definition);
            choices(&failing.program, &definition, failing.choice, &mut text);
        }
        Err(error) => {
            let _ = writeln!(text, "# {error}\n# {:?}", failing.program);
        }
    }
    text
}

/// A program, with this definition, as a definition file; comments describe its inputs' contents and layouts.
pub fn file(program: &Program, definition: &Definition) -> String {
    let mut text = print(definition, NameStyle::Long);
    text += "\ninputs = [\n";
    for (_, input) in &program.inputs {
        let Input { numbers, placement, .. } = input;
        let within = input.within.map(|within| sharing(program, within)).unwrap_or_default();
        let _ = writeln!(text, "    {},  # {numbers:?}, {placement:?}{within}", constructor(input));
    }
    text + "]\n"
}

/// A comment on where an input begins in the memory of another.
fn sharing(program: &Program, (host, element): (Tensor, usize)) -> String {
    match program.inputs.iter().position(|(tensor, _)| *tensor == host) {
        Some(number) => format!(", in the memory of input {number} from element {element} on"),
        None => String::new(),
    }
}

/// The torch call that makes a tensor of an input's type, or the value of a scalar: sizes may depend on it.
fn constructor(input: &Input) -> String {
    if input.is_scalar {
        return input.place().view().scalar(0).to_string();
    }
    let sizes: Vec<String> = input.sizes.iter().map(|size| format!("{size},")).collect();
    let dtype = input.dtype.numpy_name();
    match input.dtype.is_float() || input.dtype.is_complex() {
        true => format!("torch.randn(({}), dtype=torch.{dtype})", sizes.join(" ")),
        false => format!("torch.randint(0, 2, ({}), dtype=torch.{dtype})", sizes.join(" ")),
    }
}

fn choices(program: &Program, definition: &Definition, choice: Choice, text: &mut String) {
    let placed = place(&program.inputs);
    let views: Vec<_> = placed.iter().map(Placed::view).collect();
    let Ok(chosen) = without_panic(|| chosen(definition, &views, choice)) else { return };
    if chosen.device != Device::default() {
        let _ = writeln!(text, "# {}", chosen.device);
    }
    for symbol in definition.graph.symbols().keys() {
        let (chosen, usual) = (&chosen.hints, Hints::default());
        let size = Expr::sym(symbol);
        if chosen.value(&size) != usual.value(&size) {
            let _ = writeln!(text, "# {symbol} decided for as {}", chosen.value(&size));
        }
    }
    if let Some(segmentation) = &chosen.plan.segmentation {
        for line in segmentation.to_text(&|val| definition.name_of(val)).lines() {
            let _ = writeln!(text, "# {line}");
        }
    }
    for (segment, schedule) in &chosen.plan.schedules {
        let _ = writeln!(text, "# seg{segment}:");
        schedule.to_string().lines().for_each(|line| {
            let _ = writeln!(text, "#   {line}");
        });
    }
}
