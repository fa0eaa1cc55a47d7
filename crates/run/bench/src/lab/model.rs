//! Finding a drive model by what people call it.

use std::path::Path;

use disklab_config::{ModelSetting, Setting};
use disklab_drive::{DriveFile, SHIPPED, by_name, load, load_with};
use disklab_study::nearest_models;

use super::model_error::{ModelError, read_model_file};

/// The shipped model with this id or nick name, or that of a drive file, which is
/// looked for against `folder`.
///
/// # Errors
/// [`ModelError`] if there is none, or its file is wrong.
pub fn find_model(name: &str, folder: &Path) -> Result<DriveFile, ModelError> {
    find(name, folder).map(|found| found.file)
}

/// The same model, with what a study's drive (`own`) and then the command line (`over`)
/// set. Says too which of `over` belong to it: they name it as the study does, by its id
/// or by another of its names.
///
/// # Errors
/// As for [`find_model`], and if something cannot be set.
pub(super) fn find_model_with(
    name: &str,
    folder: &Path,
    own: &[Setting],
    over: &[ModelSetting],
) -> Result<(DriveFile, Vec<bool>), ModelError> {
    let Found { file, path, text } = find(name, folder)?;
    let is_meant = |model: &str| {
        let names = file.aliases.iter().chain([&file.id]);
        model == name || names.into_iter().any(|known| known.eq_ignore_ascii_case(model))
    };
    let meant: Vec<bool> = over.iter().map(|set| is_meant(&set.model)).collect();
    let further = over.iter().zip(&meant).filter(|(_, meant)| **meant).map(|(set, _)| &set.setting);
    let set: Vec<Setting> = own.iter().chain(further).cloned().collect();
    let file = load_with(&path, &text, &set)?;
    Ok((file, meant))
}

/// A model, and the file that it came from.
struct Found {
    file: DriveFile,
    path: String,
    text: String,
}

fn find(name: &str, folder: &Path) -> Result<Found, ModelError> {
    if let Some(file) = by_name(name) {
        let text = SHIPPED.iter().find(|(id, _)| *id == file.id).map(|(_, text)| *text);
        let path = format!("drives/{}.toml", file.id);
        return Ok(Found { file, path, text: text.unwrap_or_default().to_owned() });
    }
    if name.contains('/') || name.ends_with(".toml") {
        return read(&folder.join(name));
    }
    Err(ModelError::unknown("drive model", "drive", name, nearest_models(name)))
}

fn read(path: &Path) -> Result<Found, ModelError> {
    let text = read_model_file("drive", path)?;
    let path = path.display().to_string();
    let file = load(&path, &text)?;
    Ok(Found { file, path, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_by_id_nick_name_and_file() {
        let folder = tempfile::tempdir().unwrap();
        let (id, text) = SHIPPED[0];
        std::fs::write(folder.path().join("mine.toml"), text).unwrap();
        for name in [id, "hgst-10tb", "./mine.toml", "mine.toml"] {
            assert_eq!(find_model(name, folder.path()).unwrap().id, id, "{name}");
        }
        for (name, expected) in [
            ("hgst-10tv", "did you mean 'hgst-10tb'"),
            ("", "unknown drive model"),
            ("no/such.toml", "cannot read the drive file"),
            ("/dev/null", "/dev/null"),
        ] {
            let error = find_model(name, folder.path()).unwrap_err();
            assert!(error.to_string().contains(expected), "{name}: {error}");
        }
    }
}
