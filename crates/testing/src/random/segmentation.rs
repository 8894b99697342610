//! A random segmentation that fits a definition: any values kept, any of them together, as long as none is needed before
//! it is made.

use ferrofuse::{Definition, Segmentation};
use ir::graph::{Form, Val};

use super::draws::Draws;

/// How often values are drawn before each gets a segment of its own.
const TRIES: usize = 20;

/// A random segmentation.
pub fn segmentation(definition: &Definition, draws: &mut Draws) -> Segmentation {
    let kept = kept(definition, draws);
    let fits = |drawn: &Segmentation| drawn.check(&definition.graph, &definition.fusion).is_ok();
    let drawn = (0..TRIES).map(|_| grouped(&kept, draws)).find(fits);
    // Operands stand before users, so this one always fits.
    drawn.unwrap_or_else(|| Segmentation { segments: kept.iter().map(|&val| vec![val]).collect() })
}

/// The outputs and some other values, operands before users.
fn kept(definition: &Definition, draws: &mut Draws) -> Vec<Val> {
    let (graph, fusion) = (&definition.graph, &definition.fusion);
    let chance = draws.one_of(&[0, 5, 15, 30, 60]);
    let values = fusion.order().iter().flat_map(|&node| graph.results(node));
    let mut chosen = |val: Val| match graph.form(val) {
        _ if fusion.is_output(val) => true,
        Form::Constant(_) | Form::Size(_) => draws.percent(chance / 5),
        _ => draws.percent(chance),
    };
    values.filter(|&val| !fusion.is_input(val) && chosen(val)).collect()
}

fn grouped(kept: &[Val], draws: &mut Draws) -> Segmentation {
    let alone = draws.one_of(&[10, 40, 80]);
    let mut segments: Vec<Vec<Val>> = Vec::new();
    for &val in kept {
        if segments.is_empty() || draws.percent(alone) {
            segments.push(vec![val]);
        } else {
            let late = if draws.percent(70) { segments.len() - 1 } else { draws.below(segments.len()) };
            segments[late].push(val);
        }
    }
    segments.iter_mut().for_each(|made| made.sort_unstable());
    Segmentation { segments }
}
