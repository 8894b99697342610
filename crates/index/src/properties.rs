//! Random expressions against an evaluator that knows nothing of canonical forms: every rewriting keeps the value,
//! every interval contains it, every proof holds on the sample that the facts were taken from.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Expr, Facts, Prover, Sym};

const SYMBOLS: u32 = 4;

/// An expression as written, before any canonical form.
#[derive(Clone, Debug)]
enum Tree {
    Constant(i64),
    Sym(u32),
    Node(Op, Box<Tree>, Box<Tree>),
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Add,
    Sub,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod,
    Min,
    Max,
}

impl Op {
    /// The exact value, `None` where it is not defined.
    fn value(self, a: i128, b: i128) -> Option<i128> {
        match self {
            Op::Add => a.checked_add(b),
            Op::Sub => a.checked_sub(b),
            Op::Mul => a.checked_mul(b),
            Op::Min => Some(a.min(b)),
            Op::Max => Some(a.max(b)),
            _ if b == 0 => None,
            Op::FloorDiv => floor(a, b),
            Op::CeilDiv => floor(a.checked_neg()?, b)?.checked_neg(),
            Op::Mod => a.checked_sub(b.checked_mul(floor(a, b)?)?),
        }
    }

    fn build(self, a: &Expr, b: &Expr) -> Expr {
        match self {
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Mul => a * b,
            Op::FloorDiv => a.floor_div(b),
            Op::CeilDiv => a.ceil_div(b),
            Op::Mod => a.modulo(b),
            Op::Min => a.min(b),
            Op::Max => a.max(b),
        }
    }
}

/// Rounds the Euclidean quotient, whose remainder is never negative, to minus infinity.
fn floor(a: i128, b: i128) -> Option<i128> {
    let euclidean = a.checked_div_euclid(b)?;
    Some(if b < 0 && a.checked_rem_euclid(b)? != 0 { euclidean - 1 } else { euclidean })
}

impl Tree {
    fn value(&self, values: &[i64]) -> Option<i128> {
        match self {
            Tree::Constant(value) => Some(i128::from(*value)),
            Tree::Sym(index) => Some(i128::from(values[*index as usize])),
            Tree::Node(op, a, b) => op.value(a.value(values)?, b.value(values)?),
        }
    }

    fn build(&self) -> Expr {
        match self {
            Tree::Constant(value) => Expr::constant(*value),
            Tree::Sym(index) => Expr::sym(Sym::from_u32(*index)),
            Tree::Node(op, a, b) => op.build(&a.build(), &b.build()),
        }
    }
}

fn op() -> impl Strategy<Value = Op> {
    use Op::*;
    proptest::sample::select(vec![Add, Add, Sub, Mul, Mul, FloorDiv, FloorDiv, CeilDiv, Mod, Mod, Min, Max])
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        2 => (-8i64..=8).prop_map(Tree::Constant),
        5 => (0..SYMBOLS).prop_map(Tree::Sym),
    ];
    leaf.prop_recursive(5, 24, 2, |inner| {
        (op(), inner.clone(), inner).prop_map(|(op, a, b)| Tree::Node(op, Box::new(a), Box::new(b)))
    })
}

fn wild_tree() -> impl Strategy<Value = Tree> {
    let constants = prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(0), any::<i64>(), -3i64..=3];
    let leaf = prop_oneof![constants.prop_map(Tree::Constant), (0..SYMBOLS).prop_map(Tree::Sym)];
    leaf.prop_recursive(5, 24, 2, |inner| {
        (op(), inner.clone(), inner).prop_map(|(op, a, b)| Tree::Node(op, Box::new(a), Box::new(b)))
    })
}

fn values() -> impl Strategy<Value = Vec<i64>> {
    let value = prop_oneof![0i64..=16, -6i64..=40, (1i64..=6).prop_map(|k| k * 4)];
    vec(value, SYMBOLS as usize)
}

fn value_of(e: &Expr, values: &[i64]) -> Option<i128> {
    e.eval(&|sym| values.get(sym.as_u32() as usize).copied()).ok().map(i128::from)
}

/// A kind of fact to take from a sample, with slack that keeps it from being exact.
#[derive(Clone, Debug)]
enum Claim {
    Range(u32, i64, i64),
    Multiple(Tree),
    Equal(Tree, Tree),
    AtMost(Tree, Tree, i64),
    Positive(u32),
}

fn claim() -> impl Strategy<Value = Claim> {
    prop_oneof![
        (0..SYMBOLS, 0i64..=4, 0i64..=4).prop_map(|(s, lo, hi)| Claim::Range(s, lo, hi)),
        (0..SYMBOLS).prop_map(Claim::Positive),
        tree().prop_map(Claim::Multiple),
        (tree(), tree()).prop_map(|(a, b)| Claim::Equal(a, b)),
        (tree(), tree(), 0i64..=2).prop_map(|(a, b, slack)| Claim::AtMost(a, b, slack)),
    ]
}

/// Facts that hold for the values, with whatever the claims must be bent to be true.
fn facts_holding(claims: &[Claim], values: &[i64]) -> Result<Facts, TestCaseError> {
    let mut facts = Facts::new();
    let constant = |value: i128| i64::try_from(value).ok().map(Expr::constant);
    for claim in claims {
        match claim {
            Claim::Range(index, below, above) => {
                let value = values[*index as usize];
                facts.assume_range(Sym::from_u32(*index), value - below, value + above);
            }
            Claim::Positive(index) => {
                let min = values[*index as usize].min(1);
                facts.assume_range(Sym::from_u32(*index), min, None);
            }
            Claim::Multiple(tree) => {
                let Some(value) = tree.value(values).and_then(|value| i64::try_from(value).ok()) else {
                    continue;
                };
                let multiple = [12, 8, 6, 4, 3, 2].into_iter().find(|k| value % k == 0);
                facts.assume_multiple(&tree.build(), multiple.unwrap_or(1));
            }
            Claim::Equal(a, b) => {
                let (Some(left), Some(right)) = (a.value(values), b.value(values)) else { continue };
                let Some(gap) = constant(left - right) else { continue };
                let outcome = facts.assume_equal(&a.build(), &(b.build() + gap));
                prop_assert!(outcome.is_ok(), "{outcome:?} under {values:?}");
            }
            Claim::AtMost(a, b, slack) => {
                let (Some(left), Some(right)) = (a.value(values), b.value(values)) else { continue };
                let Some(gap) = constant(left - right) else { continue };
                let outcome = facts.assume_le(&a.build(), &(b.build() + gap + *slack));
                prop_assert!(outcome.is_ok(), "{outcome:?} under {values:?}");
            }
        }
    }
    Ok(facts)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn canonical_forms_keep_the_value(tree in tree(), values in values()) {
        if let (Some(value), e) = (tree.value(&values), tree.build()) {
            prop_assert!(e.is_overflow() || value_of(&e, &values) == Some(value), "{e}");
        }
    }

    #[test]
    fn extreme_constants_never_wrap(tree in wild_tree(), values in values()) {
        let e = tree.build();
        if let (Some(value), Some(got)) = (tree.value(&values), value_of(&e, &values)) {
            prop_assert_eq!(value, got, "{}", e);
        }
        let facts = Facts::new();
        prop_assert!(facts.prove_eq(&e, &e) || e.is_overflow());
        prop_assert!(!e.is_overflow() || !facts.prove_eq(&e, &e));
    }

    #[test]
    fn substitution_keeps_the_value(tree in tree(), inner in tree(), values in values()) {
        let Some(replaced) = inner.value(&values).and_then(|value| i64::try_from(value).ok()) else { return Ok(()) };
        let e = tree.build().substitute(&|sym| (sym.as_u32() == 0).then(|| inner.build()));
        let mut changed = values.clone();
        changed[0] = replaced;
        if let Some(value) = tree.value(&changed) {
            prop_assert!(e.is_overflow() || value_of(&e, &values) == Some(value), "{e}");
        }
    }

    #[test]
    fn printed_expressions_read_back(tree in tree()) {
        let e = tree.build();
        let read = Expr::parse(&e.to_string(), &mut |name| Some(Sym::from_u32(name.strip_prefix('i')?.parse().ok()?)));
        prop_assert_eq!(read, Ok(e));
    }

    #[test]
    fn any_text_is_read_or_rejected(text in "[i0-3min,ax()*/%+ -]{0,24}|\\PC{0,12}") {
        let _ = Expr::parse(&text, &mut |name| Some(Sym::from_u32(name.strip_prefix('i')?.parse().ok()?)));
    }

    #[test]
    fn linear_parts_add_up(tree in tree(), values in values()) {
        let e = tree.build();
        if let (Some((coefficient, rest)), Some(value)) = (e.split_linear(Sym::from_u32(1)), tree.value(&values)) {
            let sum = coefficient * Expr::sym(Sym::from_u32(1)) + rest;
            prop_assert_eq!(value_of(&sum, &values), Some(value));
        }
    }

    #[test]
    fn normal_forms_keep_the_value(tree in tree(), values in values(), claims in vec(claim(), 0..5)) {
        let facts = facts_holding(&claims, &values)?;
        let normal = facts.normalize(&tree.build());
        if let Some(value) = tree.value(&values) {
            prop_assert!(normal.is_overflow() || value_of(&normal, &values) == Some(value), "{normal} with {facts:?}");
            prop_assert!(facts.bounds(&tree.build()).contains(value), "bounds with {facts:?}");
        }
        prop_assert_eq!(facts.normalize(&normal), normal);
    }

    #[test]
    fn proofs_hold(a in tree(), b in tree(), values in values(), claims in vec(claim(), 0..5)) {
        let facts = facts_holding(&claims, &values)?;
        let (Some(left), Some(right)) = (a.value(&values), b.value(&values)) else { return Ok(()) };
        // Shifted copies make the two sides close enough for a wrong proof to show.
        for shift in [0, 1, -1, left.saturating_sub(right).clamp(-1000, 1000) as i64] {
            let (e, f, right) = (a.build(), b.build() + shift, right + i128::from(shift));
            prop_assert!(!facts.prove_eq(&e, &f) || left == right, "{e} = {f} with {facts:?}");
            prop_assert!(!facts.prove_ne(&e, &f) || left != right, "{e} != {f} with {facts:?}");
            prop_assert!(!facts.prove_le(&e, &f) || left <= right, "{e} <= {f} with {facts:?}");
            prop_assert!(!facts.prove_lt(&e, &f) || left < right, "{e} < {f} with {facts:?}");
            let multiple = if right == 0 { left == 0 } else { left % right == 0 };
            prop_assert!(!facts.prove_divides(&f, &e) || multiple, "{f} divides {e} with {facts:?}");
        }
    }

    #[test]
    fn a_prover_answers_as_its_facts_do(claims in vec((tree(), tree()), 0..4), asked in vec((tree(), tree()), 1..6)) {
        let (mut prover, mut facts) = (Prover::default(), Facts::new());
        for (a, b) in &claims {
            let [a, b] = [a, b].map(Tree::build);
            prop_assert_eq!(prover.assume_le(&a, &b), facts.assume_le(&a, &b));
        }
        for (a, b) in &asked {
            let [a, b] = [a, b].map(Tree::build);
            prop_assert_eq!(prover.prove_le(&a, &b), facts.prove_le(&a, &b), "{} and {} with {:?}", a, b, facts);
            prop_assert_eq!(prover.normalize(&a), facts.normalize(&a), "with {:?}", facts);
        }
    }

    #[test]
    fn what_differs_at_a_sample_is_not_proved_equal(a in tree(), b in tree(), values in values(), claims in vec(claim(), 0..5)) {
        let facts = facts_holding(&claims, &values)?;
        let (e, f) = (a.build(), b.build());
        let simplest = facts.normalize(&e);
        if let Some(sample) = facts.sample() {
            prop_assert!(!(facts.prove_eq(&e, &f) && facts.differ_at(sample, &e, &f)), "{e} = {f} with {facts:?}");
            prop_assert!(!facts.differ_at(sample, &e, &simplest), "{e} = {simplest} with {facts:?}");
        }
    }
}
