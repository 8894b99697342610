//! Which values are used once, in the very body that defines them: these may be written where they are used.

use cranelift_entity::SecondaryMap;

use kernel::{Kernel, Stmt, Value};

/// For each value, whether it has one use and that is in the body of its definition.
pub(super) fn single_use(kernel: &Kernel) -> SecondaryMap<Value, bool> {
    let mut scan = Scan { definition: SecondaryMap::new(), uses: SecondaryMap::new(), bodies: 0 };
    scan.body(&kernel.body);
    let mut single = SecondaryMap::new();
    for value in kernel.values.keys() {
        single[value] = scan.uses[value] == Uses::OneNear;
    }
    single
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Uses {
    #[default]
    None,
    OneNear,
    Other,
}

struct Scan {
    /// The number of the body that defines a value.
    definition: SecondaryMap<Value, u32>,
    uses: SecondaryMap<Value, Uses>,
    bodies: u32,
}

impl Scan {
    fn body(&mut self, body: &[Stmt]) {
        self.bodies += 1;
        let number = self.bodies;
        for statement in body {
            for used in statement.used() {
                let first = self.uses[used] == Uses::None && self.definition[used] == number;
                self.uses[used] = if first { Uses::OneNear } else { Uses::Other };
            }
            for &value in statement.defined() {
                self.definition[value] = number;
            }
            if let Stmt::For(for_loop) = statement {
                self.body(&for_loop.body);
            }
        }
    }
}
