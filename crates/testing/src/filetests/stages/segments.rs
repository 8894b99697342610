//! Which segments a definition becomes, what they move and why they are apart. The segmentation's text reads back.

use ferrofuse::{Hints, explain, value_named};

use super::{Case, Outcome, Stage, planned};
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
    let named = |name: &str| plan.kept(value_named(&file.definition, name)?);
    let again = ferrofuse::Segmentation::parse(&text, &named).map_err(|error| error.to_string())?;
    if again != plan.segmentation {
        return Err(format!("the segmentation reads back as another one:\n{text}"));
    }
    Ok(format!("{text}\n{}", explain(&file.definition, &plan, &hints)))
}
