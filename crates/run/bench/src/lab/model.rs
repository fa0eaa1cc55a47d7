//! Finding a drive model by what people call it.

use std::path::Path;

use disklab_cell::DriveModelPlan;
use disklab_config::{ModelSetting, Node, Setting};
use disklab_drive::{DriveFile, SHIPPED, by_name, load, load_with};
use disklab_study::nearest_models;

use super::model_error::{ModelError, read_model_file};

/// The shipped model with this id or nick name, or that of a drive file, which is
/// looked for against `directory`.
///
/// # Errors
/// [`ModelError`] if there is none, or its file is wrong.
pub fn find_model(name: &str, directory: &Path) -> Result<DriveFile, ModelError> {
    find(name, directory).map(|found| found.file)
}

/// The same model, with what a study's drive (`own`) and then the command line (`over`)
/// set, and the plan of it, without a serial number. Says too which of `over` belong to it: they
/// name it as the study does, by its id or by another of its names.
///
/// # Errors
/// As for [`find_model`], and if something cannot be set.
pub(super) fn find_model_with(
    name: &str,
    directory: &Path,
    own: &[Setting],
    over: &[ModelSetting],
) -> Result<(DriveFile, DriveModelPlan, Vec<bool>), ModelError> {
    let Found { file, path, text, is_shipped } = find(name, directory)?;
    let is_meant = |model: &str| {
        let names = file.aliases.iter().chain([&file.id]);
        model == name || names.into_iter().any(|known| known.eq_ignore_ascii_case(model))
    };
    let meant: Vec<bool> = over.iter().map(|set| is_meant(&set.model)).collect();
    let further = over.iter().zip(&meant).filter(|(_, meant)| **meant).map(|(set, _)| &set.setting);
    let set: Vec<Setting> = own.iter().chain(further).cloned().collect();
    let changed = load_with(&path, &text, &set)?;
    let set = set.into_iter().map(|set| (set.field, set.value)).collect();
    let (model, text) = if is_shipped { (file.id, None) } else { (path, Some(text)) };
    Ok((changed, DriveModelPlan { model, text, set, serial: String::new() }, meant))
}

/// The model of a plan.
///
/// # Errors
/// As for [`find_model`], and if something cannot be set.
pub(super) fn planned_model(plan: &DriveModelPlan) -> Result<DriveFile, ModelError> {
    let (path, text) = match &plan.text {
        Some(text) => (plan.model.clone(), text.clone()),
        None => {
            let id = plan.model.to_lowercase();
            let shipped = SHIPPED.iter().find(|(known, _)| **known == id);
            let unknown = || {
                ModelError::unknown(
                    "drive model",
                    "drive",
                    &plan.model,
                    nearest_models(&plan.model),
                )
            };
            let (id, text) = shipped.ok_or_else(unknown)?;
            (format!("drives/{id}.toml"), (*text).to_owned())
        }
    };
    let setting = |(field, value): &(String, Node)| Setting {
        field: field.clone(),
        place: value.place.clone(),
        value: value.clone(),
    };
    let set: Vec<Setting> = plan.set.iter().map(setting).collect();
    Ok(load_with(&path, &text, &set)?)
}

/// A model, and the file that it came from.
struct Found {
    file: DriveFile,
    path: String,
    text: String,
    is_shipped: bool,
}

fn find(name: &str, directory: &Path) -> Result<Found, ModelError> {
    if let Some(file) = by_name(name) {
        let text = SHIPPED.iter().find(|(id, _)| *id == file.id).map(|(_, text)| *text);
        let path = format!("drives/{}.toml", file.id);
        let text = text.unwrap_or_default().to_owned();
        return Ok(Found { file, path, text, is_shipped: true });
    }
    if name.contains('/') || name.ends_with(".toml") {
        return read(&directory.join(name));
    }
    Err(ModelError::unknown("drive model", "drive", name, nearest_models(name)))
}

fn read(path: &Path) -> Result<Found, ModelError> {
    let text = read_model_file("drive", path)?;
    let path = path.display().to_string();
    let file = load(&path, &text)?;
    Ok(Found { file, path, text, is_shipped: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_by_id_nick_name_and_file() {
        let directory = tempfile::tempdir().unwrap();
        let (id, text) = SHIPPED[0];
        std::fs::write(directory.path().join("mine.toml"), text).unwrap();
        for name in [id, "hgst-10tb", "./mine.toml", "mine.toml"] {
            assert_eq!(find_model(name, directory.path()).unwrap().id, id, "{name}");
        }
        for (name, expected) in [
            ("hgst-10tv", "did you mean 'hgst-10tb'"),
            ("", "unknown drive model"),
            ("no/such.toml", "cannot read the drive file"),
            ("/dev/null", "/dev/null"),
        ] {
            let error = find_model(name, directory.path()).unwrap_err();
            assert!(error.to_string().contains(expected), "{name}: {error}");
        }
    }
}
