//! The definition printed again; the text reads back and prints the same.

use ferrofuse::read;
use frontend::text::{NameStyle, print};

use super::{Case, Outcome, Stage};

pub(super) struct Parse;

impl Stage for Parse {
    fn name(&self) -> &'static str {
        "parse"
    }

    fn run(&self, case: &Case) -> Outcome {
        printed(case).into()
    }
}

fn printed(case: &Case) -> Result<String, String> {
    let file = read(&case.source).map_err(|error| error.to_string())?;
    for names in [NameStyle::Short, NameStyle::Long] {
        let text = print(&file.definition, names);
        let again =
            read(&text).map_err(|error| format!("what was printed does not read back: {error}\n{text}"))?;
        let second = print(&again.definition, names);
        if second != text {
            return Err(format!("what was printed prints otherwise when read back:\n{second}"));
        }
    }
    Ok(print(&file.definition, NameStyle::Long))
}
