//! What a verb works on: a whole definition with the user's choices, or segments that run one by one, from a folder or
//! from a file that Python saved.

use std::path::Path;

use ferrofuse::{Cut, File, Hints, PlanOptions, SavedDefinition, Schedule, Section, Segment, segments};

use crate::definition;
use crate::failure::{Failure, tell};
use crate::planning::Choices;
use crate::segment_folder::SegmentFolder;

/// What a verb works on.
pub enum Chosen {
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
    schedules: Vec<(usize, Schedule)>,
}

/// Where the segments come from.
enum Given {
    /// Definitions and schedules of a folder.
    Folder(SegmentFolder),
    /// Schedules of a file that Python saved, by the names of segments.
    Saved(Vec<(String, Schedule)>),
}

impl Chosen {
    /// Reads a definition file or a folder of segments. Options of the command line have priority over choices of the file,
    /// and a note on stderr says so.
    ///
    /// # Errors
    /// When a file cannot be read, and for choices that do not fit the definition.
    pub fn read(path: &Path, choices: &Choices) -> Result<Chosen, Failure> {
        match path.is_dir() {
            true => GivenSegments::of_folder(path, choices).map(Chosen::Segments),
            false => Chosen::read_file(path, choices),
        }
    }

    /// Reads a definition file.
    ///
    /// # Errors
    /// As [`Chosen::read`], and for a folder.
    pub fn read_file(path: &Path, choices: &Choices) -> Result<Chosen, Failure> {
        let (file, saved) = definition::read_saved(path)?;
        let mut options = choices.read(&file.definition)?;
        tell_of_replaced(path, &saved, choices, &options);
        options.peak_memory = options.peak_memory.or(saved.peak_memory);
        if saved.segmentation.is_some() && options.segmentation.is_none() {
            return GivenSegments::of_saved(path, file, saved, options).map(Chosen::Segments);
        }
        match saved.schedules.first().filter(|_| saved.segmentation.is_none()) {
            Some((name, _)) => Err(no_segment(path, name)),
            None => Ok(Chosen::Whole(file, options)),
        }
    }

    /// The whole definition.
    pub fn file(&self) -> &File {
        match self {
            Chosen::Whole(file, _) => file,
            Chosen::Segments(given) => &given.file,
        }
    }
}

impl GivenSegments {
    fn of_folder(path: &Path, choices: &Choices) -> Result<GivenSegments, Failure> {
        choices.require_no_segmentation("segments have their own: edit index_map.json")?;
        let folder = SegmentFolder::read(path)?;
        let file = folder.file.clone();
        let PlanOptions { schedules, peak_memory, .. } = choices.read(&file.definition)?;
        let segmentation = Some(folder.segmentation.clone());
        let options = PlanOptions { segmentation, peak_memory, ..PlanOptions::default() };
        Ok(GivenSegments { file, options, given: Given::Folder(folder), schedules })
    }

    fn of_saved(
        path: &Path,
        file: File,
        saved: SavedDefinition,
        mut options: PlanOptions,
    ) -> Result<GivenSegments, Failure> {
        let of_file = |error: &dyn std::fmt::Display| Failure::of_file(path, error);
        let segmentation = saved.segmentation.unwrap_or_default().in_place();
        let read = ferrofuse::read_segmentation(&file.definition, &segmentation);
        options.segmentation = Some(read.map_err(|error| of_file(&error))?);
        let schedule = |(name, section): (String, Section)| {
            let read = ferrofuse::parse_schedule(&section.in_place());
            Ok((name, read.map_err(|error| of_file(&error))?))
        };
        let given = saved.schedules.into_iter().map(schedule).collect::<Result<_, Failure>>()?;
        let schedules = std::mem::take(&mut options.schedules);
        Ok(GivenSegments { file, options, given: Given::Saved(given), schedules })
    }

    /// The segments of a cut that was made with the options, with the given definitions and schedules.
    ///
    /// # Errors
    /// For a segment with other inputs or outputs than before, and for a schedule of no segment.
    pub fn of_cut(self, path: &Path, cut: &Cut, hints: &Hints) -> Result<Vec<Segment>, Failure> {
        let made = segments(&self.file.definition, cut, hints).map_err(Failure::of_segments)?;
        let mut made = match self.given {
            Given::Folder(folder) => folder.edited(made)?,
            Given::Saved(schedules) => scheduled(path, made, schedules)?,
        };
        let count = made.len();
        for (number, schedule) in self.schedules {
            let segment = made.get_mut(number).ok_or_else(|| {
                Failure::user(format!("--schedule: there is no segment {number}; there are {count}"))
            })?;
            segment.schedule = Some(schedule);
        }
        Ok(made)
    }
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

/// Says which choices of a file are not used, because options have priority.
fn tell_of_replaced(path: &Path, saved: &SavedDefinition, choices: &Choices, options: &PlanOptions) {
    let mut replaced = Vec::new();
    if options.segmentation.is_some() && saved.segmentation.is_some() {
        replaced.push(("--segmentation", "segmentation".to_owned()));
        let schedules = saved.schedules.iter();
        replaced.extend(schedules.map(|(name, _)| ("--segmentation", format!("schedule of {name}"))));
    } else {
        let scheduled = |name: &String| choices.schedules().any(|number| *name == format!("seg{number}"));
        let schedules = saved.schedules.iter().filter(|(name, _)| scheduled(name));
        replaced.extend(schedules.map(|(name, _)| ("--schedule", format!("schedule of {name}"))));
    }
    if options.peak_memory.is_some() && saved.peak_memory.is_some() {
        replaced.push(("--peak-memory", "peak_memory".to_owned()));
    }
    for (option, choice) in replaced {
        tell(format_args!("{}: its {choice} is not used: {option} is given", path.display()));
    }
}
