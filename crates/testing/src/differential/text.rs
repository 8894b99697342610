//! The text of a definition: what is printed reads back as an equal graph and prints the same again.

use ferrofuse::Definition;
use frontend::text::{NameStyle, parse, print, print_view};
use ir::graph::dump;

use super::failure::{Failure, Kind};

pub(super) fn check(definition: &Definition) -> Result<(), Failure> {
    check_outlined(definition)?;
    let graph = dump(&definition.graph, &definition.fusion);
    for names in [NameStyle::Long, NameStyle::Short] {
        let printed = print(definition, names);
        let again = match parse(&printed) {
            Ok(file) => file.definition,
            Err(error) => return Err(Failure::new(Kind::Text, format!("{error}\n{printed}"))),
        };
        let read = dump(&again.graph, &again.fusion);
        if read != graph {
            return Err(Failure::new(Kind::Text, format!("another graph:\n{read}\n{graph}\n{printed}")));
        }
        let reprinted = print(&again, names);
        if reprinted != printed {
            return Err(Failure::new(Kind::Text, format!("prints otherwise:\n{reprinted}\n{printed}")));
        }
    }
    Ok(())
}

/// The definition's view outlined and printed, op by op, prints the same when it is read back.
fn check_outlined(definition: &Definition) -> Result<(), Failure> {
    let outlined = print_view(&definition.graph, &definition.fusion, &definition.record, NameStyle::Long)
        .map_err(|error| Failure::new(Kind::Text, format!("outlining: {error}")))?;
    let again = match parse(&outlined) {
        Ok(file) => print(&file.definition, NameStyle::Long),
        Err(error) => return Err(Failure::new(Kind::Text, format!("outlined: {error}\n{outlined}"))),
    };
    if again == outlined {
        return Ok(());
    }
    Err(Failure::new(Kind::Text, format!("outlined, prints otherwise:\n{again}\n{outlined}")))
}
