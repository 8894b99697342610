//! What a verb works on: a whole definition with the user's choices, or segments that run one by one, from a folder or
//! from a file that Python saved.

use std::path::Path;

use ferrofuse::{
    CodeTarget, Cut, File, Hints, Machine, PlanOptions, SavedDefinition, Schedule, Section, Segment,
    SegmentId,
};

use crate::definition;
use crate::failure::{Failure, tell};
use crate::inputs::Request;
use crate::planning::{self, Choices, Planned};
use crate::segment_folder::SegmentFolder;

/// What a verb works on.
pub enum GivenDefinition {
    /// The whole definition, planned with these options.
    Whole(File, PlanOptions),
    /// Segments, each a definition of its own.
    Segments(GivenSegments),
}

/// Segments that the user gives, each a definition of its own.
pub struct GivenSegments {
    /// The whole definition.
    pub file: File,
    /// The options to cut it with: the segmentation, and a limit on memory.
    pub options: PlanOptions,
    given: Given,
    /// The schedules of the command line.
    schedules: Vec<(SegmentId, Schedule)>,
}

/// Where the segments come from.
enum Given {
    /// Definitions and schedules of a folder.
    Folder(Box<SegmentFolder>),
    /// Schedules of a file that Python saved, by the names of segments.
    Saved(Vec<(String, Schedule)>),
}

impl GivenDefinition {
    /// Reads a definition file or a folder of segments. Options of the command line have priority over choices of the file,
    /// and a note on stderr says so.
    ///
    /// # Errors
    /// When a file cannot be read, and for choices that do not fit the definition.
    pub fn read(path: &Path, choices: &Choices) -> Result<GivenDefinition, Failure> {
        match path.is_dir() {
            true => GivenSegments::of_folder(path, choices).map(GivenDefinition::Segments),
            false => GivenDefinition::read_file(path, choices),
        }
    }

    /// Reads a definition file.
    ///
    /// # Errors
    /// As [`GivenDefinition::read`], and for a folder.
    pub fn read_file(path: &Path, choices: &Choices) -> Result<GivenDefinition, Failure> {
        let (file, saved) = definition::read_saved(path)?;
        let mut options = choices.read(&file.definition)?;
        tell_of_replaced(path, &saved, &options);
        options.peak_memory = options.peak_memory.or(saved.peak_memory);
        if saved.segmentation.is_some() && options.segmentation.is_none() {
            let given = GivenSegments::of_saved(path, file, saved, options, choices)?;
            return Ok(GivenDefinition::Segments(given));
        }
        options.schedules =
            choices.schedules(options.segmentation.as_ref().map_or(&[], |chosen| &chosen.names))?;
        match saved.schedules.first().filter(|_| saved.segmentation.is_none()) {
            Some((name, _)) => Err(no_segment(path, name)),
            None => Ok(GivenDefinition::Whole(file, options)),
        }
    }

    /// The whole definition.
    pub fn file(&self) -> &File {
        match self {
            GivenDefinition::Whole(file, _) => file,
            GivenDefinition::Segments(given) => &given.file,
        }
    }
}

impl GivenSegments {
    fn of_folder(path: &Path, choices: &Choices) -> Result<GivenSegments, Failure> {
        choices.require_no_segmentation("segments have their own: edit index_map.json")?;
        let folder = SegmentFolder::read(path)?;
        let file = folder.file.clone();
        let schedules = choices.schedules(&folder.segmentation.names)?;
        let segmentation = Some(folder.segmentation.clone());
        let options = PlanOptions { segmentation, ..choices.read(&file.definition)? };
        Ok(GivenSegments { file, options, given: Given::Folder(Box::new(folder)), schedules })
    }

    fn of_saved(
        path: &Path,
        file: File,
        saved: SavedDefinition,
        options: PlanOptions,
        choices: &Choices,
    ) -> Result<GivenSegments, Failure> {
        let of_file = |error: &dyn std::fmt::Display| Failure::of_file(path, error);
        let segmentation = saved.segmentation.unwrap_or_default().in_place();
        let read = ferrofuse::read_segmentation(&file.definition, &segmentation);
        let segmentation = read.map_err(|error| of_file(&error))?;
        let schedules = choices.schedules(&segmentation.names)?;
        let schedule = |(name, section): (String, Section)| {
            let read = ferrofuse::parse_schedule(&section.in_place());
            Ok((name, read.map_err(|error| of_file(&error))?))
        };
        let given = saved.schedules.into_iter().map(schedule).collect::<Result<Vec<_>, Failure>>()?;
        for (name, _) in &given {
            let number = segmentation.names.iter().position(|other| other == name);
            if number.is_some_and(|number| schedules.iter().any(|(id, _)| id.is_of(number, name))) {
                tell_of(path, &format!("schedule of {name}"), "--schedule");
            }
        }
        let options = PlanOptions { segmentation: Some(segmentation), ..options };
        Ok(GivenSegments { file, options, given: Given::Saved(given), schedules })
    }

    /// The segments of a cut that was made with the options, with the given definitions and schedules.
    ///
    /// # Errors
    /// For a segment with other inputs or outputs than before, and for a schedule of no segment.
    pub fn of_cut(self, path: &Path, cut: &Cut, hints: &Hints) -> Result<Vec<Segment>, Failure> {
        let made = ferrofuse::segments(&self.file.definition, cut, hints).map_err(Failure::of_segments)?;
        let mut made = match self.given {
            Given::Folder(folder) => folder.edited(made)?,
            Given::Saved(schedules) => scheduled(path, made, schedules)?,
        };
        let count = made.len();
        for (id, schedule) in self.schedules {
            let mut numbered = made.iter_mut().enumerate();
            let found = numbered.find(|(number, segment)| id.is_of(*number, &segment.name));
            let (_, segment) = found.ok_or_else(|| {
                Failure::user(format!("--schedule: there is no segment {id}; there are {count}"))
            })?;
            segment.schedule = Some(schedule);
        }
        Ok(made)
    }
}

/// The segments of a definition or a folder cut with these choices, each with the schedule that was chosen for it.
///
/// # Errors
/// When inputs or choices do not fit the definition, or the definition language cannot express a segment.
pub fn segments(
    path: &Path,
    definition: GivenDefinition,
    request: &Request,
    target: CodeTarget,
    machine: &Machine,
) -> Result<Vec<Segment>, Failure> {
    let (file, options) = match definition {
        GivenDefinition::Segments(given) => {
            let Planned { plan: cut, hints, .. } =
                planning::cut(&given.file, request, &given.options, target, machine)?;
            return given.of_cut(path, &cut, &hints);
        }
        GivenDefinition::Whole(file, options) => (file, options),
    };
    let Planned { plan: cut, hints, .. } = planning::cut(&file, request, &options, target, machine)?;
    let mut segments = ferrofuse::segments(&file.definition, &cut, &hints).map_err(Failure::user)?;
    for (id, schedule) in options.schedules {
        let is_meant = |number: usize| id.is_of(number, &cut.segments[number].name);
        let number = (0..cut.segments.len()).find(|&number| is_meant(number));
        let segment =
            number.and_then(|number| segments.iter_mut().find(|segment| segment.is_planned_as(number)));
        let segment = segment.ok_or_else(|| {
            Failure::user(format!("--schedule: segment {id} of the plan is no segment by itself here"))
        })?;
        segment.schedule = Some(schedule);
    }
    Ok(segments)
}

/// The segments with the schedules that a file has for them.
fn scheduled(
    path: &Path,
    mut segments: Vec<Segment>,
    schedules: Vec<(String, Schedule)>,
) -> Result<Vec<Segment>, Failure> {
    for (name, schedule) in schedules {
        let segment = segments.iter_mut().find(|segment| segment.name == name);
        segment.ok_or_else(|| no_segment(path, &name))?.schedule = Some(schedule);
    }
    Ok(segments)
}

fn no_segment(path: &Path, name: &str) -> Failure {
    Failure::of_file(path, &format!("`schedule {name}` names no segment"))
}

/// Says which choices of a file are not used because of options for the whole definition.
fn tell_of_replaced(path: &Path, saved: &SavedDefinition, options: &PlanOptions) {
    if options.segmentation.is_some() && saved.segmentation.is_some() {
        tell_of(path, "segmentation", "--segmentation");
        for (name, _) in &saved.schedules {
            tell_of(path, &format!("schedule of {name}"), "--segmentation");
        }
    }
    if options.peak_memory.is_some() && saved.peak_memory.is_some() {
        tell_of(path, "peak_memory", "--peak-memory");
    }
}

/// Says that a choice of a file is not used because of an option.
fn tell_of(path: &Path, choice: &str, option: &str) {
    tell(format_args!("{}: its {choice} is not used: {option} is given", path.display()));
}
