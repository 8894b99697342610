//! The text of a definition: what is printed reads back as an equal graph and prints the same again.

use ferrofuse::Definition;
use frontend::text::{Names, parse, print, print_view};
use ir::graph::dump;

use super::failure::{Failure, Kind};

pub(super) fn check(definition: &Definition) -> Result<(), Failure> {
    check_lifted(definition)?;
    let graph = dump(&definition.graph, &definition.fusion);
    for names in [Names::Long, Names::Short] {
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

/// The definition's view lifted and printed, form by form, prints the same when it is read back.
fn check_lifted(definition: &Definition) -> Result<(), Failure> {
    let lifted = print_view(&definition.graph, &definition.fusion, &definition.record, Names::Long)
        .map_err(|error| Failure::new(Kind::Text, format!("lifting: {error}")))?;
    let again = match parse(&lifted) {
        Ok(file) => print(&file.definition, Names::Long),
        Err(error) => return Err(Failure::new(Kind::Text, format!("lifted: {error}\n{lifted}"))),
    };
    if again == lifted {
        return Ok(());
    }
    Err(Failure::new(Kind::Text, format!("lifted, prints otherwise:\n{again}\n{lifted}")))
}
