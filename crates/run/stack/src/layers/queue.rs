//! Settings of a block device's queue: what the kernel makes of requests on their way
//! to it. Nothing is made; what was set on a device that outlives the stack is set back.
//!
//! Where the layer stands decides whose queue it is: below LVM that of the drive, above
//! it that of the volume. A volume has no scheduler, and cuts no writes.

use disklab_cell::LayerSpec;
use disklab_measure::{BlockDevice, SystemRoot};
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::partition::no_block_device;
use crate::reading::OptionReader;
use crate::redundancy::{devices, members};
use crate::undo::{QueueSetting, instance};
use crate::{
    Layer, LayerContext, LayerKind, LayerOutput, Need, QueueProblem, Shape, ShapeError, StackError,
    undo,
};

/// The layer's line in the table.
pub(super) const KIND: LayerKind = LayerKind {
    name: "queue",
    summary: "settings of each device's queue; what is below decides whose queue it is",
    options: &[
        ("max-request", "bytes in a request at most, such as 128K; reads ahead are cut to it, too"),
        ("read-ahead", "bytes read before they are asked for, such as 4M, or 0 for none"),
        ("scheduler", "none, mq-deadline, kyber, bfq; drives only"),
        ("requests", "how many wait in the scheduler, 4 to 2048; drives only"),
    ],
    inputs: &[],
    parse,
};

/// The words of `/sys/block/*/queue/scheduler`.
const SCHEDULERS: [(&str, &str); 4] =
    [("none", "none"), ("mq-deadline", "mq-deadline"), ("kyber", "kyber"), ("bfq", "bfq")];

/// The largest read-ahead that makes sense: the kernel holds it in memory for each file.
const MOST: Bytes = Bytes::mib(1024);

/// What is set, as (file in the directory `queue`, value), in this order: a scheduler has
/// requests of its own, and a new limit of requests may set read-ahead back.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Queue {
    settings: Vec<(QueueSetting, String)>,
}

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    Ok(Box::new(read_options(spec)?))
}

fn read_options(spec: &LayerSpec) -> Result<Queue, SourceError> {
    let mut reading = OptionReader::new(spec);
    let mut settings = Vec::new();
    if let Some(name) = reading.word("scheduler", &SCHEDULERS)? {
        settings.push((QueueSetting::Scheduler, name.to_owned()));
    }
    // Four requests are the least that the kernel takes (BLKDEV_MIN_RQ), 16 times 128
    // the most (MAX_SCHED_RQ, block/blk-mq-sched.h).
    if let Some(count) = reading.integer("requests", 4..=2048)? {
        settings.push((QueueSetting::Requests, count.to_string()));
    }
    if let Some(size) = pages(&mut reading, "max-request", Bytes::kib(4))? {
        settings.push((QueueSetting::MaxRequest, (size.0 / 1024).to_string()));
    }
    if let Some(size) = pages(&mut reading, "read-ahead", Bytes(0))? {
        settings.push((QueueSetting::ReadAhead, (size.0 / 1024).to_string()));
    }
    reading.finish()?;
    Ok(Queue { settings })
}

/// A multiple of a page of 4 KiB, from `least` up.
fn pages(
    reading: &mut OptionReader<'_>,
    name: &'static str,
    least: Bytes,
) -> Result<Option<Bytes>, SourceError> {
    let Some(text) = reading.text(name) else { return Ok(None) };
    match text.parse::<Bytes>() {
        Ok(size) if size >= least && size <= MOST && size.0 % 4096 == 0 => Ok(Some(size)),
        _ => {
            let expected = format!("a multiple of 4 KiB from {least} to {MOST}, such as 128K");
            Err(reading.expected(name, &expected, text))
        }
    }
}

impl Layer for Queue {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        members("queue", below).map(|volumes| Shape::Devices(volumes.to_vec()))
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::Root]
    }

    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let devices = devices("queue", below)?;
        for device in &devices {
            let found = BlockDevice::at(&SystemRoot::here(), device)
                .ok_or_else(|| no_block_device("queue", device))?;
            // A partition has its drive's queue.
            let whole = found.whole();
            for (setting, value) in &self.settings {
                set(&whole, *setting, value, context)?;
            }
        }
        Ok(LayerOutput::Devices(devices))
    }

    /// A restart has forgotten the settings.
    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        self.make(below, context)
    }
}

/// Sets one thing, enters how it was, and sees whether the kernel took it.
fn set(
    device: &BlockDevice,
    setting: QueueSetting,
    value: &str,
    context: &mut LayerContext<'_>,
) -> Result<(), StackError> {
    let name = device.name();
    let cannot = |why| StackError::Queue { setting, device: name.to_owned(), why };
    let before = setting.of(device).ok_or_else(|| cannot(QueueProblem::Absent))?;
    if before == value {
        return Ok(());
    }
    // What is built on drives vanishes with the stack, and its settings with it.
    if device.is_physical() || name.starts_with("loop") {
        let instance = instance(device).ok_or_else(|| cannot(QueueProblem::NoNumber))?;
        let device = device.node();
        context.enter(undo::RestoreQueue { device, instance, setting, value: before })?;
    }
    setting.write(device, value)?;
    match setting.of(device) {
        Some(now) if now == value => Ok(()),
        now => Err(cannot(QueueProblem::NotTaken {
            wanted: value.to_owned(),
            found: now.unwrap_or_else(|| "nothing".to_owned()),
        })),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reading::tests::spec;

    #[test]
    fn options_are_understood() {
        let queue = "queue[read-ahead=4M,max-request=128K,requests=256,scheduler=bfq]";
        let found = read_options(&spec(queue)).expect("queue");
        let texts: Vec<_> = found.settings.iter().map(|(s, v)| format!("{s}={v}")).collect();
        assert_eq!(texts, ["scheduler=bfq", "requests=256", "max-request=128", "read-ahead=4096"]);
        assert_eq!(read_options(&spec("queue[read-ahead=0]")).expect("off").settings.len(), 1);
        for (text, words) in [
            ("queue[max-request=0]", "from 4 KiB to 1 GiB"),
            ("queue[max-request=6K]", "a multiple of 4 KiB"),
            ("queue[read-ahead=2G]", "to 1 GiB"),
            ("queue[scheduler=deadline]", "'mq-deadline'"),
            ("queue[requests=1]", "from 4 to 2048"),
            ("queue[readahead=4M]", "did you mean 'read-ahead'"),
        ] {
            let error = read_options(&spec(text)).expect_err(text);
            assert!(error.message.contains(words), "{text}: {}", error.message);
        }
    }

    #[test]
    fn devices_pass_through_and_directories_do_not() {
        let queue = read_options(&spec("queue[max-request=128K]")).expect("queue");
        let drives = Shape::drives(&[Bytes::gib(1), Bytes::gib(2)]);
        let Ok(Shape::Devices(volumes)) = queue.shape(&drives) else { panic!("devices") };
        assert_eq!(volumes.iter().map(|v| v.size).collect::<Vec<_>>(), [1, 2].map(Bytes::gib));
        let directory = Shape::Directory(volumes[0].clone());
        let error = queue.shape(&directory).expect_err("a directory");
        assert_eq!(error, ShapeError::unfit("queue", "devices", crate::Below::Directory));
    }

    proptest! {
        #[test]
        fn hostile_values_give_errors(value in "[^\\[\\]/,]{0,20}") {
            for name in ["max-request", "read-ahead", "scheduler", "requests"] {
                let mut spec = spec("queue");
                spec.options = vec![(name.to_owned(), Some(value.clone()))];
                if let Ok(queue) = read_options(&spec) {
                    // What goes into sysfs is a number or one of four words.
                    let (setting, text) = &queue.settings[0];
                    let word = *setting == QueueSetting::Scheduler;
                    prop_assert!(word || text.parse::<u32>().is_ok(), "{text}");
                }
            }
        }
    }
}
