//! A study's drives, as the lab models them.

use std::path::{Path, PathBuf};

use disklab_cell::{DriveKind, DriveModelPlan, DrivePlan, LabPlan, MakingPlan};
use disklab_config::ModelSetting;
use disklab_drive::{DriveFile, Kind, Nanos, SettingChange, SizeError, Transport};
use disklab_exec::Executor;
use disklab_host::HostSettings;
use disklab_lab::{DiskOptions, MOST_DISKS};
use disklab_measure::{BlockDevice, DriveTraits, NamedDevice, SystemRoot, identity};
use disklab_prediction::Medium;
use disklab_sample::Note;
use disklab_source::one_of;
use disklab_stack::{Ledger, Need};
use disklab_study::Study;
use disklab_units::Bytes;

use super::drives_error::{DrivesError, UnavailableSize};
use super::host::{host_of, hosts, virtual_disk};
use super::machine::transport_of;
use super::model::{find_model_with, planned_model};
use super::processor::processor_of;
use super::serial::SerialNumbers;
use crate::drives::Ready;
use crate::{BenchError, Drives};

/// A study's `10 TB` is the model's 10,000,831,348,736 bytes: sizes on labels are
/// rounded, by less than this.
const LABEL_ROUNDING: f64 = 0.01;

/// A drive of the study, and the model that stands for it.
#[derive(Debug, Clone)]
struct Modelled {
    plan: DrivePlan,
    file: DriveFile,
}

/// The drives of a study in the lab: disks `/dev/vda` or `/dev/sda`, … of a guest,
/// those of one stack at a time. The host makes them from a plan, the guest finds them
/// again by their serial numbers.
#[derive(Debug, Clone, Default)]
pub struct ModelledDrives {
    drives: Vec<Modelled>,
    /// Of each of the study's stacks: the host between the guest and its drives.
    hosts: Vec<Option<HostSettings>>,
}

impl ModelledDrives {
    /// Finds the model of each of the study's drives: a shipped one by its id, any
    /// other by its file, against `directory`; each with what the study sets, and `over`
    /// that.
    ///
    /// # Errors
    /// [`DrivesError`] if there is no such model, a drive file or a setting is wrong, a setting
    /// is for no drive of the study, or the study needs a drive larger than its model or a host
    /// that cannot be.
    pub fn new(
        study: &Study,
        directory: &Path,
        over: &[ModelSetting],
    ) -> Result<Self, DrivesError> {
        let mut serials = SerialNumbers::default();
        let mut used = vec![false; over.len()];
        let drives = study
            .drives
            .iter()
            .zip(0..)
            .map(|(spec, position)| {
                let name = spec.name.to_string();
                let (file, mut model, meant) =
                    find_model_with(&spec.model, directory, &spec.set, over)
                        .map_err(|source| DrivesError::model(&name, source))?;
                let file =
                    sized(file, spec.size).map_err(|source| DrivesError::size(&name, source))?;
                used.iter_mut().zip(meant).for_each(|(used, meant)| *used |= meant);
                model.serial = serials.next(&file.id);
                let (size, kind) = (Bytes(file.capacity()), DriveKind::Model(model));
                Ok(Modelled {
                    plan: DrivePlan { name, position, size, kind, stands_for: None, role: None },
                    file,
                })
            })
            .collect::<Result<Vec<_>, DrivesError>>()?;
        if let Some((set, _)) = over.iter().zip(used).find(|(_, used)| !used) {
            let mut models: Vec<&str> = study.drives.iter().map(|d| d.model.as_str()).collect();
            models.dedup();
            let error = set.place.error(format!(
                "the study has no drive of the model '{}'; it has {}",
                set.model,
                one_of(models.iter().copied())
            ));
            return Err(error.into());
        }
        Ok(Self { drives, hosts: hosts(study)? })
    }

    /// Refuses drives that cannot be SCSI disks.
    ///
    /// # Errors
    /// [`DrivesError::NotScsi`] with the first.
    pub fn check_scsi(&self) -> Result<(), DrivesError> {
        self.drives.iter().try_for_each(|drive| check_scsi(&drive.plan, &drive.file))
    }

    /// The model of each of the study's drives, by the same index.
    pub fn models(&self) -> impl Iterator<Item = &DriveFile> {
        self.drives.iter().map(|drive| &drive.file)
    }

    /// What readers must know of the models, each note once.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for drive in &self.drives {
            for change in &drive.file.changes {
                let from = change.from.as_deref().unwrap_or("nothing");
                let note = format!(
                    "{}: {} instead of its file's {from}; the figures are not the model's own",
                    drive.file.name,
                    change.words(),
                );
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        for drive in self.drives.iter().filter(|d| !d.file.note.is_empty()) {
            // A note is a paragraph in its file.
            let note: Vec<&str> = drive.file.note.split_whitespace().collect();
            let note = format!("{}: {}", drive.file.name, note.join(" "));
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }

    /// The hosts of virtual disks, for a sentence; nothing if there is none.
    fn below(&self) -> String {
        let mut words: Vec<String> = self.hosts.iter().flatten().map(HostSettings::about).collect();
        // The stacks of one mode may stand apart.
        words.sort();
        words.dedup();
        if words.is_empty() {
            return String::new();
        }
        format!(" behind a host's virtual disk ({})", words.join("; or "))
    }

    /// `4 × HGST Ultrastar He10 10 TB`, for a sentence.
    fn words(&self) -> String {
        let mut kinds: Vec<(&DriveFile, usize)> = Vec::new();
        for drive in &self.drives {
            match kinds.iter_mut().find(|(file, _)| **file == drive.file) {
                Some((_, count)) => *count += 1,
                None => kinds.push((&drive.file, 1)),
            }
        }
        let words: Vec<String> = kinds
            .iter()
            .map(|(file, count)| {
                let size = Bytes(file.capacity()).si().to_string();
                // Most names say it themselves.
                let size = if file.name.contains(&size) { "" } else { &format!(" ({size})") };
                // A figure of a changed drive is none of the model's.
                let changes: Vec<String> = file.changes.iter().map(SettingChange::words).collect();
                let changes = if changes.is_empty() {
                    String::new()
                } else {
                    format!(" (changed: {})", changes.join(", "))
                };
                format!("{count} × {}{size}{changes}", file.name)
            })
            .collect();
        words.join(", ")
    }
}

/// The disks of a cell's guest, new, in the order of its plan. Where their platters stand depends
/// on the seed of the making and each drive's place in the study.
///
/// # Errors
/// If a drive is not a model that this version knows, or cannot have the plan's size; if the
/// host below them is not one.
pub(super) fn disks(plan: &MakingPlan, lab: &LabPlan) -> Result<Vec<DiskOptions>, BenchError> {
    let host = host_of(lab)?;
    let disk = |drive: &DrivePlan| {
        let DriveKind::Model(model) = &drive.kind else { return Err(BenchError::OtherBench) };
        // The odd number of splitmix64 keeps neighbours apart.
        let place = (u64::from(drive.position) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let own = plan.seed.wrapping_add(place);
        let file = file_of(drive, model)?;
        let mut disk = DiskOptions::of(&file, own, &model.serial);
        if lab.scsi_timeout.is_some() {
            check_scsi(drive, &file)?;
        }
        (disk.transport, disk.command_timeout) = (transport_of(lab), lab.scsi_timeout);
        if let Some(on) = plan.write_cache {
            disk.drive.set_write_cache(Nanos(0), on);
        }
        Ok(match host.clone() {
            Some(host) => virtual_disk(disk, host),
            None => disk,
        })
    };
    plan.drives.iter().map(disk).collect()
}

/// Refuses a drive that cannot be a SCSI disk.
fn check_scsi(drive: &DrivePlan, file: &DriveFile) -> Result<(), DrivesError> {
    match file.transport() {
        Transport::Nvme => Err(DrivesError::NotScsi { drive: drive.name.clone() }),
        Transport::Sata | Transport::Sas => Ok(()),
    }
}

/// Refuses a plan whose drives, host or processor are none.
pub(crate) fn check_lab(plan: &MakingPlan, lab: &LabPlan) -> Result<(), BenchError> {
    processor_of(lab)?;
    disks(plan, lab).map(drop)
}

/// The model of a planned drive.
fn file_of(drive: &DrivePlan, model: &DriveModelPlan) -> Result<DriveFile, DrivesError> {
    let file = planned_model(model).map_err(|source| DrivesError::model(&drive.name, source))?;
    let sized = match drive.stands_for {
        None => sized(file, drive.size),
        Some(_) => shrunk(file, drive.size),
    };
    sized.map_err(|source| DrivesError::size(&drive.name, source))
}

/// What audits must know of a model, which a guest's disk does not tell.
fn traits_of(file: &DriveFile) -> DriveTraits {
    let disk = |disk: &disklab_drive::hdd::Parameters, staging| DriveTraits {
        cache_bytes: Some(disk.cache),
        staging_bytes: staging,
        link_bytes_per_second: Some(disk.link_rate as u64),
        flush_of_class_ns: None,
    };
    match &file.kind {
        Kind::Hdd(parameters) => disk(parameters, None),
        Kind::Smr(parameters) => disk(&parameters.disk, Some(parameters.log_size)),
        Kind::Ssd(parameters) => DriveTraits {
            cache_bytes: Some(parameters.buffer.size),
            staging_bytes: parameters.slc_cache.as_ref().map(|cache| cache.size),
            link_bytes_per_second: Some(parameters.interface.link_rate as u64),
            flush_of_class_ns: file.flush_of_class(),
        },
    }
}

/// The model that stands for a larger drive.
fn shrunk(file: DriveFile, size: Bytes) -> Result<DriveFile, UnavailableSize> {
    let unavailable = unavailable(&file, size);
    file.shrunk_to(size.0).map_err(unavailable)
}

/// The model with the study's size: the same drive, of which less is seen.
fn sized(file: DriveFile, size: Bytes) -> Result<DriveFile, UnavailableSize> {
    let capacity = file.capacity() as f64;
    if (size.0 as f64 / capacity - 1.0).abs() < LABEL_ROUNDING {
        return Ok(file);
    }
    let (_, physical) = file.sector_sizes();
    file.limited_to(size.0 - size.0 % physical.max(1)).map_err(unavailable(&file, size))
}

/// That a model cannot have this size.
fn unavailable(file: &DriveFile, size: Bytes) -> impl FnOnce(SizeError) -> UnavailableSize + use<> {
    let (model, capacity) = (file.id.clone(), Bytes(file.capacity()));
    move |why| UnavailableSize { size, model, capacity, why: Box::new(why) }
}

impl Drives for ModelledDrives {
    fn name(&self) -> String {
        "lab".to_owned()
    }

    fn about(&self) -> String {
        format!("simulated drives: {}{}", self.words(), self.below())
    }

    fn medium(&self) -> Medium {
        Medium::HARD_DISK
    }

    fn plans(&self, _study: &Study) -> Vec<Option<DrivePlan>> {
        self.drives.iter().map(|drive| Some(drive.plan.clone())).collect()
    }

    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    fn write_cache_switchable(&self) -> bool {
        true
    }

    fn are_ata(&self) -> bool {
        false
    }

    fn most_at_once(&self) -> Option<usize> {
        Some(MOST_DISKS)
    }

    fn are_zero(&self) -> bool {
        true
    }

    fn are_simulated(&self) -> bool {
        true
    }

    fn traits(&self, drives: &[DrivePlan]) -> Vec<(String, DriveTraits)> {
        let traits = |drive: &DrivePlan| {
            let DriveKind::Model(model) = &drive.kind else { return None };
            Some((drive.name.clone(), traits_of(&file_of(drive, model).ok()?)))
        };
        drives.iter().filter_map(traits).collect()
    }

    fn make_ready(
        &mut self,
        drives: &[DrivePlan],
        write_cache: Option<bool>,
        _directory: &Path,
        _ledger: &mut Ledger,
        _executor: &Executor,
    ) -> Result<Ready, BenchError> {
        let mut ready = Ready { are_zero: self.are_zero(), ..Ready::default() };
        let root = SystemRoot::here();
        for DrivePlan { name, kind, .. } in drives {
            let DriveKind::Model(model) = kind else { return Err(BenchError::OtherBench) };
            let device = device_with(&root, &model.serial)
                .ok_or_else(|| BenchError::NoGuestDisk { serial: model.serial.clone() })?;
            ready.drives.push(NamedDevice { name: name.clone(), device });
        }
        if let Some(on) = write_cache {
            ready.notes.push(Note {
                about: "drives".to_owned(),
                text: format!("write cache switched {}", if on { "on" } else { "off" }),
            });
        }
        Ok(ready)
    }
}

/// The guest's disk with this serial number. A virtio disk is asked nothing else: what is read of
/// it takes time of the guest's.
fn device_with(root: &SystemRoot, serial: &str) -> Option<PathBuf> {
    let disks = BlockDevice::all(root);
    let disk_with = |serial_of: fn(&BlockDevice) -> Option<String>| {
        disks.iter().find(|disk| {
            !disk.is_partition() && serial_of(disk).is_some_and(|own| own.trim() == serial)
        })
    };
    let disk = disk_with(|disk| disk.attribute("serial"));
    Some(disk.or_else(|| disk_with(|disk| identity(disk).serial))?.node())
}
