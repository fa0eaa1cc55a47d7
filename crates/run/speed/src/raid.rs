//! An md RAID 5 without mdadm, so that nothing but the kernel and this program is
//! needed: as `Documentation/admin-guide/md.rst` of the kernel tells, by sysfs.

use std::fs;
use std::path::Path;

use crate::GuestWorkError;

const DRIVES: [&str; 4] = ["vda", "vdb", "vdc", "vdd"];
/// What it uses of each, in KiB: 1 GiB.
const COMPONENT_KIB: &str = "1048576";
/// Where the kernel makes arrays of a name (`drivers/md/md.c`).
const NEW_ARRAY: &str = "/sys/module/md_mod/parameters/new_array";
/// The array's name: the kernel wants 'md_' or 'md' and a number of 512 or more.
const NAME: &str = "md_speed";

/// Makes the array and returns its path. Fresh drives read as zeros, so that its
/// parity is right as it is.
///
/// # Errors
/// [`GuestWorkError::NoDrive`] or [`GuestWorkError::Attribute`], after which the guest ends.
pub(crate) fn assemble() -> Result<String, GuestWorkError> {
    put(Path::new(NEW_ARRAY), NAME)?;
    let array = Path::new("/sys/block").join(NAME).join("md");
    // No superblocks: what is known of it is told here.
    put(&array.join("metadata_version"), "none")?;
    put(&array.join("level"), "raid5")?;
    put(&array.join("chunk_size"), "524288")?;
    // Left-symmetric, mdadm's default.
    put(&array.join("layout"), "2")?;
    put(&array.join("raid_disks"), "4")?;
    put(&array.join("component_size"), COMPONENT_KIB)?;
    for (slot, drive) in DRIVES.iter().enumerate() {
        let number = fs::read_to_string(Path::new("/sys/block").join(drive).join("dev"))
            .map_err(|source| GuestWorkError::NoDrive { drive, source })?;
        put(&array.join("new_dev"), number.trim())?;
        let member = array.join(format!("dev-{drive}"));
        put(&member.join("slot"), &slot.to_string())?;
    }
    put(&array.join("resync_start"), "none")?;
    put(&array.join("array_state"), "active")?;
    Ok(format!("/dev/{NAME}"))
}

fn put(file: &Path, word: &str) -> Result<(), GuestWorkError> {
    fs::write(file, word).map_err(|source| {
        let (word, file) = (word.to_owned(), file.to_owned());
        GuestWorkError::Attribute { word, file, source }
    })
}
