//! Welford's states of the lanes of a register as one state: the lanes' means by their share of all elements, and what the
//! squares about each lack of those about all (Chan, Golub and LeVeque 1983, for any number of groups).
//!
//! By halves each step divides, and waits for the one before; here the counts, which are known early, are divided by their
//! sum once.

use ir::DType;

use super::Emitter;
use super::operand::{Element, Operand, Type};

impl Emitter<'_> {
    /// How many lanes are taken at once: those of a register of the means.
    pub(super) fn lanes_of_means(&self, mean: DType) -> u32 {
        self.w.isa.vector_bits / Element::of(mean).bits()
    }

    /// Mean, sum of squared deviations and count of all lanes, from those of each. Lanes without elements have zeros.
    pub(super) fn mean_of_means(&mut self, [mean, m2, count]: [Operand; 3]) -> [Operand; 3] {
        let all = self.total(count);
        let none = self.w.compare("fcmp oeq", all, 0.0);
        let [one, divisor] = [Operand::float(1.0, all.ty), self.w.select(none, 1.0, all)];
        let inverse = self.w.binary("fdiv", one, divisor);
        // A share before its product: the sum of elements may overflow where their mean does not.
        let share = self.w.mul(count, inverse);
        let part = self.w.mul(mean, share);
        let center = self.total(part);
        let deviation = self.w.sub(mean, center);
        let weighted = self.w.mul(deviation, count);
        let square = self.w.mul(deviation, weighted);
        let about_center = self.w.add(m2, square);
        [center, self.total(about_center), all]
    }

    /// The sum of a vector's elements, the lower half with the upper.
    fn total(&mut self, mut vector: Operand) -> Operand {
        while let Type { lanes: Some(lanes), .. } = vector.ty {
            let half = lanes / 2;
            let [low, high] = [0, half].map(|from| self.part(vector, from, half));
            vector = self.w.add(low, high);
        }
        vector
    }
}
