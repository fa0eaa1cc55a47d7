//! What the user is told before his first prompt.

use disklab_lab_guest::DiskTransport;
use disklab_processor::Processor;
use disklab_units::Bytes;

use super::drives::SessionDrive;

/// Names the drives and the processor whose work is charged, what to try, and how to
/// leave.
pub fn greeting(
    drives: &[SessionDrive],
    transport: DiskTransport,
    processor: Option<&Processor>,
) -> String {
    let node = |index| format!("/dev/{}", transport.disk_name(index));
    let mut text =
        "The lab: a Linux kernel of its own, modelled drives, virtual time.\n\n".to_owned();
    let width = drives.iter().map(|d| d.model.model.chars().count()).max().unwrap_or(0);
    for (index, drive) in drives.iter().enumerate() {
        let model = &drive.model.model;
        let size = Bytes(drive.model.capacity()).si();
        text.push_str(&format!("  {}  {model:width$}  {size:>8}  {}\n", node(index), drive.link()));
    }
    if let Some(processor) = processor {
        let about = processor.about();
        text.push_str(&format!("\n  CPU time is charged as on {about}.\n"));
    }
    let mut notes: Vec<&str> = drives.iter().map(|d| d.model.note.as_str()).collect();
    notes.retain(|note| !note.is_empty());
    notes.dedup();
    for note in notes {
        text.push_str(&format!("\n  {}\n", note.replace('\n', "\n  ")));
    }
    text.push_str(
        "
Time goes with yours while you type, and as fast as it can while a command runs:
`sleep 3600` returns at once. All files of this machine can be read; what is
written, to the drives too, vanishes at the end, save in directories given by
--writable, where mode, owner and times of files stay as they are. There is no
network.

",
    );
    for line in suggestions(drives.len(), &node(0)) {
        text.push_str(&format!("  {line}\n"));
    }
    text.push_str(
        "\n`exit` or Control-D leaves; Control-] three times, where nothing else helps.\n\n",
    );
    text
}

/// There are 26 drives at most.
fn letter(index: usize) -> char {
    char::from(b'a' + (index % 26) as u8)
}

/// Something to try with so many drives.
fn suggestions(drives: usize, first: &str) -> Vec<String> {
    let mut lines = vec![format!("hdparm -t {first}")];
    let device = if drives < 3 {
        first
    } else {
        lines.push(format!(
            "mdadm --create /dev/md0 --level 5 --raid-devices {drives} --assume-clean {}[a-{}]",
            first.trim_end_matches('a'),
            letter(drives - 1)
        ));
        "/dev/md0"
    };
    lines.push(format!("mkfs.ext4 {device} && mount {device} /mnt"));
    lines.push("dd if=/dev/zero of=/mnt/file bs=1M count=1000 conv=fsync".to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::super::drives::drives;
    use super::*;

    #[test]
    fn greeting_names_every_drive() {
        let text = greeting(
            &drives(&["hgst-10tb:4".into(), "st8000as0002".into()]).expect("drives"),
            DiskTransport::Block,
            None,
        );
        for expected in
            ["/dev/vda  HGST HDN721010ALE604", "10 TB", "/dev/vde", "virtio-HDN721010ALE604-04"]
        {
            assert!(text.contains(expected), "{expected} in {text}");
        }
        assert!(text.contains("This drive is shingled"), "a drive's note is told: {text}");
        assert!(text.contains("--raid-devices 5 --assume-clean /dev/vd[a-e]"), "{text}");
        let one = greeting(
            &drives(&["hgst-10tb".into()]).expect("drives"),
            DiskTransport::Scsi,
            disklab_processor::by_name("atom-d2700").as_ref(),
        );
        assert!(one.contains("on Intel Atom D2700") && !text.contains("Atom"), "{one}");
        assert!(!one.contains("mdadm") && one.contains("mkfs.ext4 /dev/sda"), "{one}");
    }
}
