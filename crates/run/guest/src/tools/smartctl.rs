//! `smartctl` for modelled drives. Of an ATA drive the real program tells, from the drive's
//! answer to IDENTIFY DEVICE; of others, this one, in the same words.

use disklab_drive::Transport;
use serde_json::json;

use super::real::{become_real, drive_of, feed_real, set_write_cache};
use crate::drives::identify::{for_smartctl, identify};
use crate::drives::{DriveFacts, FIRMWARE};

/// Bits of smartctl's exit code (smartctl(8)): it could not be done; a command failed.
const NOT_OPENED: u8 = 2;
const COMMAND_FAILED: u8 = 4;

pub fn smartctl(words: &[String], drives: &[DriveFacts]) -> u8 {
    if words.iter().any(|word| word == "--scan" || word == "--scan-open") {
        for drive in drives {
            let (kind, bus) = kind(drive);
            println!("/dev/{0} -d {kind} # /dev/{0}, {bus} device", drive.node);
        }
        return 0;
    }
    let target =
        words.iter().enumerate().find_map(|(at, word)| Some((at, drive_of(word, drives)?)));
    let Some((at, drive)) = target else { return become_real("smartctl", words) };
    let mut words = words.to_vec();
    words.remove(at);
    drop_device_type(&mut words);
    if let Some(on) = take_write_cache(&mut words) {
        println!("=== START OF ENABLE/DISABLE COMMANDS SECTION ===");
        if let Err(error) = set_write_cache(drive, on) {
            println!("Write cache {}able failed: {error}\n", if on { "en" } else { "dis" });
            return COMMAND_FAILED;
        }
        println!("Write cache {}abled\n", if on { "en" } else { "dis" });
        if words.is_empty() {
            return 0;
        }
    }
    match drive.transport {
        Transport::Sata => by_ata(&words, drive),
        Transport::Sas | Transport::Nvme => tell(&words, drive),
    }
}

fn kind(drive: &DriveFacts) -> (&'static str, &'static str) {
    match drive.transport {
        Transport::Sata => ("ata", "ATA"),
        Transport::Sas => ("scsi", "SCSI"),
        Transport::Nvme => ("nvme", "NVMe"),
    }
}

/// Takes `-d TYPE` away: there is nothing to choose.
fn drop_device_type(words: &mut Vec<String>) {
    while let Some(at) = words.iter().position(|word| word == "-d") {
        words.drain(at..(at + 2).min(words.len()));
    }
    words.retain(|word| !(word.starts_with("-d") || word.starts_with("--device=")));
}

/// Takes `-s wcache,on` away, and says what it wants.
fn take_write_cache(words: &mut Vec<String>) -> Option<bool> {
    let value = |text: &str| match text.strip_prefix("wcache,") {
        Some("on") => Some(true),
        Some("off") => Some(false),
        _ => None,
    };
    for at in 0..words.len() {
        let (wanted, count) = match words[at].as_str() {
            "-s" | "--set" => (words.get(at + 1).and_then(|next| value(next)), 2),
            word => {
                let rest = word.strip_prefix("--set=").or_else(|| word.strip_prefix("-s"));
                (rest.and_then(value), 1)
            }
        };
        if wanted.is_some() {
            words.drain(at..at + count);
            return wanted;
        }
    }
    None
}

/// Has the real program tell what the drive's answer says.
fn by_ata(words: &[String], drive: &DriveFacts) -> u8 {
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["-"]).collect();
    let report = for_smartctl(&identify(drive, drive.write_cache()));
    match feed_real("smartctl", &words, &report) {
        Ok(status) => status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(NOT_OPENED),
        Err(error) => {
            eprintln!("disklab: {error}");
            NOT_OPENED
        }
    }
}

/// Describes a drive of which no program reads an answer from a file.
fn tell(words: &[String], drive: &DriveFacts) -> u8 {
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    if has(&["-j", "--json"]) {
        println!("{:#}", as_json(drive));
    } else if has(&["-g", "--get=wcache", "--get=all"]) {
        println!("Write cache is:   {}", if drive.write_cache() { "Enabled" } else { "Disabled" });
    } else {
        println!("=== START OF INFORMATION SECTION ===\n{}", information(drive));
    }
    let informs =
        ["-i", "--info", "-j", "--json", "-g", "--get=wcache", "--get=all", "wcache", "all"];
    if words.iter().all(|word| informs.contains(&word.as_str())) {
        return 0;
    }
    eprintln!("disklab: the modelled drive keeps no SMART data: it does not age, warm up or fail");
    COMMAND_FAILED
}

fn information(drive: &DriveFacts) -> String {
    let (bytes, serial) = (grouped(drive.bytes), &drive.serial);
    let (logical, physical) = (drive.logical_bytes, drive.physical_bytes);
    if drive.transport == Transport::Nvme {
        return format!(
            "Model Number:                       {}\n\
             Serial Number:                      {serial}\n\
             Firmware Version:                   {FIRMWARE}\n\
             Number of Namespaces:               1\n\
             Namespace 1 Size/Capacity:          {bytes}\n\
             Namespace 1 Formatted LBA Size:     {logical}\n",
            drive.model_field(40)
        );
    }
    let (vendor, product) = drive.vendor_and_product();
    let rotation = drive.rpm.map_or("Solid State Device".to_owned(), |rpm| format!("{rpm} rpm"));
    format!(
        "Vendor:               {vendor}\n\
         Product:              {product}\n\
         Revision:             {FIRMWARE}\n\
         User Capacity:        {bytes} bytes\n\
         Logical block size:   {logical} bytes\n\
         Physical block size:  {physical} bytes\n\
         Rotation Rate:        {rotation}\n\
         Serial number:        {serial}\n\
         Device type:          disk\n\
         Transport protocol:   SAS (SPL-4)\n\
         SMART support is:     Unavailable - device lacks SMART capability.\n"
    )
}

/// The fields of `smartctl --json -i`.
fn as_json(drive: &DriveFacts) -> serde_json::Value {
    let (kind, protocol) = kind(drive);
    json!({
        "json_format_version": [1, 0],
        "smartctl": { "exit_status": 0, "build_info": "(disklab)" },
        "device": { "name": format!("/dev/{}", drive.node), "type": kind, "protocol": protocol },
        "model_name": drive.model_field(40),
        "serial_number": drive.serial,
        "firmware_version": FIRMWARE,
        "user_capacity": {
            "blocks": drive.bytes / drive.logical_bytes.max(1),
            "bytes": drive.bytes,
        },
        "logical_block_size": drive.logical_bytes,
        "physical_block_size": drive.physical_bytes,
        "rotation_rate": drive.rpm.unwrap_or(0),
        "smart_support": { "available": false },
    })
}

/// With a comma before each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drives::tests::facts;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_write_cache_and_the_type_are_taken_away() {
        for (line, wanted, rest) in [
            ("-s wcache,off", Some(false), ""),
            ("--set=wcache,on -i", Some(true), "-i"),
            ("-i -swcache,off -d sat", Some(false), "-i"),
            ("-s standby,off -d", None, "-s standby,off"),
            ("-s", None, "-s"),
            ("--device=scsi -x", None, "-x"),
        ] {
            let mut all = words(line);
            drop_device_type(&mut all);
            assert_eq!(take_write_cache(&mut all), wanted, "{line}");
            assert_eq!(all, words(rest), "{line}");
        }
    }

    #[test]
    fn drives_without_ata_are_described_in_smartctls_words() {
        let nvme = information(&facts("samsung-980-1tb"));
        assert!(
            nvme.contains("Model Number:                       Samsung SSD 980 1TB\n"),
            "{nvme}"
        );
        let sas = information(&facts("st9300603ss"));
        assert!(sas.contains("Rotation Rate:        10000 rpm\n"), "{sas}");
        assert!(sas.contains("User Capacity:        300,000,000,000 bytes\n"), "{sas}");
        assert_eq!(as_json(&facts("samsung-980-1tb"))["device"]["type"], "nvme");
        assert_eq!((grouped(0), grouped(1000)), ("0".to_owned(), "1,000".to_owned()));
    }
}
