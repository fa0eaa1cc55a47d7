//! The machine and its system: distribution, processor, memory, hypervisor.

use crate::SystemRoot;

/// The distribution's name, from `os-release` (man page os-release(5)).
pub(crate) fn distribution(root: &SystemRoot) -> Option<String> {
    let files = ["/etc/os-release", "/usr/lib/os-release"];
    files.iter().find_map(|file| pretty_name(&root.text(file)?))
}

fn pretty_name(text: &str) -> Option<String> {
    let value = |key: &str| {
        text.lines().find_map(|line| {
            let quoted = line.trim().strip_prefix(key)?.strip_prefix('=')?;
            // The values are quoted as in a shell.
            let words = shell_words::split(quoted).ok()?;
            words.into_iter().next().filter(|word| !word.trim().is_empty())
        })
    };
    value("PRETTY_NAME").or_else(|| value("NAME"))
}

/// The processor's name, from `/proc/cpuinfo`, whose keys differ between
/// architectures.
pub(crate) fn processor(root: &SystemRoot) -> Option<String> {
    processor_name(&root.text("/proc/cpuinfo")?)
}

fn processor_name(cpuinfo: &str) -> Option<String> {
    // x86; MIPS; POWER; old ARM.
    let names = ["model name", "cpu model", "cpu", "Processor", "Hardware"];
    if let Some(name) = names.iter().find_map(|key| cpuinfo_value(cpuinfo, key)) {
        return Some(name.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    // 64-bit ARM gives numbers only.
    let implementer = cpuinfo_value(cpuinfo, "CPU implementer")?;
    let part = cpuinfo_value(cpuinfo, "CPU part").unwrap_or("unknown");
    Some(format!("ARM implementer {implementer} part {part}"))
}

fn cpuinfo_value<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key && !value.trim().is_empty()).then(|| value.trim())
    })
}

/// Main memory in bytes; 0 where it is unknown.
pub(crate) fn memory_bytes(root: &SystemRoot) -> u64 {
    let meminfo = root.text("/proc/meminfo").unwrap_or_default();
    let kib = meminfo.lines().find_map(|line| {
        line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    });
    kib.unwrap_or(0).saturating_mul(1024)
}

/// What the firmware's tables (DMI) say of themselves under a hypervisor, and
/// its name. The strings are those that systemd-detect-virt(1) knows.
const HYPERVISORS: [(&str, &str); 14] = [
    ("OpenStack", "KVM (OpenStack)"),
    ("KubeVirt", "KVM (KubeVirt)"),
    ("Amazon EC2", "Amazon EC2"),
    ("Google Compute Engine", "KVM (Google Compute Engine)"),
    ("QEMU", "QEMU"),
    ("KVM", "KVM"),
    ("VMware", "VMware"),
    ("VirtualBox", "VirtualBox"),
    ("innotek", "VirtualBox"),
    ("Xen", "Xen"),
    ("Bochs", "Bochs"),
    ("Parallels", "Parallels"),
    ("BHYVE", "bhyve"),
    ("Apple Virtualization", "Apple Virtualization"),
];

/// The hypervisor below, in words; `None` where nothing hints at one.
pub(crate) fn hypervisor(root: &SystemRoot) -> Option<String> {
    if let Some(kind) = root.value("/sys/hypervisor/type") {
        // The first domain of Xen owns the hardware.
        let capabilities = root.text("/proc/xen/capabilities").unwrap_or_default();
        let place = if capabilities.contains("control_d") { " (dom0)" } else { "" };
        return Some(format!("{}{place}", if kind == "xen" { "Xen" } else { &kind }));
    }
    let dmi = |file: &str| root.text(format!("/sys/class/dmi/id/{file}")).unwrap_or_default();
    let vendor = dmi("sys_vendor");
    let product = dmi("product_name");
    let strings = [&product, &vendor, &dmi("board_vendor"), &dmi("bios_vendor")];
    let cpuinfo = root.text("/proc/cpuinfo").unwrap_or_default();
    let flags = cpuinfo_value(&cpuinfo, "flags");
    let flagged = flags.is_some_and(|flags| flags.split(' ').any(|f| f == "hypervisor"));
    if vendor == "Microsoft Corporation" && product == "Virtual Machine" {
        return Some("Hyper-V".to_owned());
    }
    // x86 has the flag under every hypervisor; without it, a machine that is
    // named after a cloud is rented metal.
    if flags.is_none() || flagged {
        let known = HYPERVISORS.iter().find(|(mark, _)| strings.iter().any(|s| s.contains(mark)));
        if let Some((_, name)) = known {
            return Some((*name).to_owned());
        }
    }
    let tree = root.text("/proc/device-tree/hypervisor/compatible");
    tree.or_else(|| flagged.then(|| "a hypervisor of unknown kind".to_owned()))
}

/// The kind of container that disklab runs in; `None` outside of one.
pub(crate) fn container(root: &SystemRoot) -> Option<String> {
    if let Some(kind) = root.value("/run/systemd/container") {
        return Some(kind);
    }
    let marks = [("/run/.containerenv", "podman"), ("/.dockerenv", "docker")];
    let found = marks.iter().find(|(file, _)| root.path(file).exists());
    found.map(|(_, kind)| (*kind).to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fabricated::Fabricated;

    fn hypervisor_with(files: &[(&str, &str)]) -> Option<String> {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        for (file, text) in files {
            tree.file(file, text);
        }
        hypervisor(&tree.root())
    }

    #[test]
    fn hypervisors_are_named() {
        let flag = ("/proc/cpuinfo", "flags\t\t: fpu hypervisor lm\n");
        let metal = ("/proc/cpuinfo", "flags\t\t: fpu lm\n");
        let vendor = "/sys/class/dmi/id/sys_vendor";
        let product = "/sys/class/dmi/id/product_name";
        assert_eq!(hypervisor_with(&[metal]), None);
        assert_eq!(hypervisor_with(&[flag]).as_deref(), Some("a hypervisor of unknown kind"));
        assert_eq!(hypervisor_with(&[flag, (vendor, "QEMU")]).as_deref(), Some("QEMU"));
        assert_eq!(
            hypervisor_with(&[flag, (vendor, "innotek GmbH"), (product, "VirtualBox")]).as_deref(),
            Some("VirtualBox")
        );
        let azure = [(vendor, "Microsoft Corporation"), (product, "Virtual Machine")];
        assert_eq!(hypervisor_with(&azure).as_deref(), Some("Hyper-V"));
        let rented = [metal, (vendor, "Amazon EC2"), (product, "m5.metal")];
        assert_eq!(hypervisor_with(&rented), None);
        let xen = ("/sys/hypervisor/type", "xen\n");
        assert_eq!(hypervisor_with(&[xen]).as_deref(), Some("Xen"));
        let first = [xen, ("/proc/xen/capabilities", "control_d\n")];
        assert_eq!(hypervisor_with(&first).as_deref(), Some("Xen (dom0)"));
    }

    #[test]
    fn names_are_read_as_a_shell_would() {
        let text = "# a remark\nNAME=Gentoo\nPRETTY_NAME=\"Gentoo \\\"x\\\" Linux\"\n";
        assert_eq!(pretty_name(text).as_deref(), Some("Gentoo \"x\" Linux"));
        assert_eq!(
            pretty_name("NAME='Arch Linux'\nPRETTY_NAME=\"\"").as_deref(),
            Some("Arch Linux")
        );
        assert_eq!(pretty_name("PRETTY_NAME=\"open"), None);
    }

    #[test]
    fn processors_of_several_architectures_have_names() {
        let x86 = "processor : 0\nmodel name\t: Intel(R)  Celeron(R) CPU\nmodel name : other\n";
        assert_eq!(processor_name(x86).as_deref(), Some("Intel(R) Celeron(R) CPU"));
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(processor_name(arm).as_deref(), Some("ARM implementer 0x41 part 0xd0c"));
        assert_eq!(processor_name(""), None);
    }

    #[test]
    fn this_machine_has_memory_and_a_kernel() {
        assert!(memory_bytes(&SystemRoot::here()) > 16 << 20);
    }

    proptest! {
        #[test]
        fn hostile_files_do_no_harm(text in "((PRETTY_NAME|NAME)?[= \"'\\\\:\\PC]{0,20}\n){0,8}", memory in "\\PC{0,30}") {
            let _ = (pretty_name(&text), processor_name(&text));
            let directory = tempfile::tempdir().expect("temp");
            let tree = Fabricated::new(directory.path());
            tree.file("/proc/meminfo", &format!("MemTotal: {memory} kB\n"));
            let _ = memory_bytes(&tree.root());
        }
    }
}
