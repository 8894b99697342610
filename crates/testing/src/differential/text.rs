//! The text of a definition: what is printed reads back as an equal graph and prints the same again.

use ferrofuse::Definition;
use ir::graph::dump;
use ir::text::{Names, parse, print};

use super::failure::{Failure, Kind};

pub(super) fn check(definition: &Definition) -> Result<(), Failure> {
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
