//! A cut is a plan without kernels.

use ferrofuse_compiler::{PlanError, PlanOptions, PlanRequest, cut};
use ir::layout::LayoutClass;
use lowering::temporaries;
use scheduler::hints::Hints;
use target::Target;

use super::{INNER_OUTER, SOFTMAX, cpu_plan, define, kernels};

#[test]
fn a_cut_has_the_segments_and_the_schedules_of_the_plan() {
    for body in [SOFTMAX, INNER_OUTER] {
        let definition = define(body);
        let plan = cpu_plan(&definition);
        let layouts = vec![LayoutClass::Dense; definition.fusion.inputs().len()];
        let (target, hints, options) = (Target::cpu(512), Hints::default(), PlanOptions::default());
        let cut = cut(PlanRequest {
            graph: &definition.graph,
            fusion: &definition.fusion,
            tasks: &definition.tasks,
            layouts: &layouts,
            target: &target,
            hints: &hints,
            options: &options,
        });
        let cut = cut.expect("no choices, no errors");
        assert_eq!(cut.segmentation, plan.segmentation);
        assert_eq!(cut.segments.len(), plan.lowered.len());
        for ((own, planned), lowered) in cut.segments.iter().zip(&plan.segments).zip(&plan.lowered) {
            let [own_kernels, planned] =
                [own, planned].map(|segment| kernels(segment).expect("a segment with a kernel"));
            assert_eq!(own_kernels.schedule, planned.schedule);
            let group = own.group(&cut.graph).expect("a segment with a kernel");
            assert_eq!(temporaries(&group), lowered.temporaries);
        }
    }
}

#[test]
fn a_cut_checks_the_schedules_of_the_user() {
    let definition = define(SOFTMAX);
    let plan = cpu_plan(&definition);
    let mut schedule = kernels(&plan.segments[0]).expect("a segment with a kernel").schedule.clone();
    schedule.rows.clear();
    schedule.inner.clear();
    schedule.blocks.clear();
    let (target, hints) = (Target::cpu(512), Hints::default());
    let options = PlanOptions { schedules: vec![(0.into(), schedule)], ..PlanOptions::default() };
    let cut = cut(PlanRequest {
        graph: &definition.graph,
        fusion: &definition.fusion,
        tasks: &definition.tasks,
        layouts: &[LayoutClass::Dense],
        target: &target,
        hints: &hints,
        options: &options,
    });
    assert!(matches!(cut, Err(PlanError::Schedule { segment, .. }) if segment == "seg0"));
}
