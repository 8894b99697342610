//! The segments of a definition, the bytes they move and the reasons for boundaries. The segmentation's text reads back.

use ferrofuse::{Hints, Segmentation, explain, value_named};

use super::{Case, Outcome, Stage, planned, planned_as};
use crate::inputs::facts_of;

pub(super) struct Segments;

impl Stage for Segments {
    fn name(&self) -> &'static str {
        "segments"
    }

    fn run(&self, case: &Case) -> Outcome {
        explained(case).into()
    }
}

fn explained(case: &Case) -> Result<String, String> {
    let (file, plan) = planned(case)?;
    let hints = file.inputs.as_ref().map_or_else(Hints::default, |specs| facts_of(&file.definition, specs).0);
    let text = super::emitted(case, ferrofuse::Stage::Segments)?;
    let named = |name: &str| value_named(&file.definition, name);
    let parsed = Segmentation::parse(&text, &named).map_err(|error| error.to_string())?;
    let again =
        planned_as(case, Some(parsed)).map_err(|error| format!("{error}, for its own segments:\n{text}"))?;
    let explained = |plan| explain(&file.definition, plan, &hints).map_err(|error| error.to_string());
    let (explained, again) = (explained(&plan)?, explained(&again.1)?);
    if (again.bytes, again.segments.len()) != (explained.bytes, explained.segments.len()) {
        return Err(format!("the segmentation reads back as another one:\n{text}\n{again}"));
    }
    Ok(format!("{text}\n{explained}"))
}
