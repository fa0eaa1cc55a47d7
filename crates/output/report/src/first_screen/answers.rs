//! The answers on a terminal: which stack to take, for what.

use disklab_decision::Recommendation;

use super::lines::{Face, SCREEN_WIDTH, ScreenLine, column, right, wrapped};
use super::{FirstScreen, Pick, space};

/// Columns of a purpose at most: 'Films and photos (likely)'.
const PURPOSE: usize = 25;
/// Columns of the usable space: '29.4 TB' and a gap.
const SPACE: usize = 8;

/// The answers: first those for one drive that may fail, then the others while there is room.
pub(super) fn answers(screen: &FirstScreen<'_>, room: usize, width: usize) -> Vec<ScreenLine> {
    let first = screen.first_class();
    let mut classes: Vec<Option<u32>> = first.into_iter().collect();
    classes.extend(screen.classes.iter().copied().filter(|class| Some(*class) != first));
    let picks: Vec<(Option<u32>, Vec<Pick<'_>>)> =
        classes.into_iter().map(|class| (class, screen.picks(class))).collect();
    let widest = |of: fn(&FirstScreen<'_>, &Pick<'_>) -> String, most: usize| {
        let all = picks.iter().flat_map(|(_, picks)| picks);
        all.map(|pick| of(screen, pick).chars().count()).max().unwrap_or(0).min(most)
    };
    let widths = (widest(|_, pick| purpose(pick), PURPOSE), widest(take, 18));
    let mut lines = Vec::new();
    for (class, picks) in &picks {
        let mut of_class = if width < SCREEN_WIDTH {
            narrow(screen, *class, picks, width)
        } else {
            table(screen, *class, picks, widths)
        };
        for trade in screen.trades(*class).into_iter().chain(screen.passes(*class)) {
            let text = wrapped(&trade, width - 4);
            of_class.extend(text.iter().map(|line| ScreenLine::soft(&format!("    {line}"))));
        }
        if !lines.is_empty() && lines.len() + of_class.len() + 1 > room {
            let others = "Other numbers of drives that may fail: see the page.";
            lines.extend(ScreenLine::soft_wrapped(others, width));
            break;
        }
        if !lines.is_empty() {
            lines.push(ScreenLine::plain(""));
        }
        lines.extend(of_class);
    }
    lines
}

/// The answers of a class, one a line.
fn table(
    screen: &FirstScreen<'_>,
    class: Option<u32>,
    picks: &[Pick<'_>],
    widths: (usize, usize),
) -> Vec<ScreenLine> {
    let head = ScreenLine::of(vec![
        (Face::Bold, column(&Recommendation::may_fail(class), widths.0 + 4)),
        (Face::Soft, format!("{}{}  speed", column("take", widths.1), right("usable", SPACE))),
    ]);
    std::iter::once(head).chain(picks.iter().map(|pick| answer(screen, pick, widths))).collect()
}

/// The answers of a class where a line has no room for one: what for and what to take, and below
/// it the space and the speed.
fn narrow(
    screen: &FirstScreen<'_>,
    class: Option<u32>,
    picks: &[Pick<'_>],
    width: usize,
) -> Vec<ScreenLine> {
    let mut lines = vec![ScreenLine::bold(&Recommendation::may_fail(class))];
    for pick in picks {
        let (purpose, take) = (format!("  {}:", purpose(pick)), take(screen, pick));
        if purpose.chars().count() + 1 + take.chars().count() <= width {
            lines.push(ScreenLine::of(vec![(Face::Plain, purpose + " "), (Face::Bold, take)]));
        } else {
            lines.extend([ScreenLine::plain(&purpose), ScreenLine::bold(&format!("    {take}"))]);
        }
        let text = format!("{}, {}", usable(screen, pick), speed(screen, pick, width - 4));
        lines.extend(
            wrapped(&text, width - 4).iter().map(|l| ScreenLine::plain(&format!("    {l}"))),
        );
    }
    lines
}

fn purpose(pick: &Pick<'_>) -> String {
    let purpose = pick.recommendation.purpose.short;
    match pick.decision.caveat() {
        Some(caveat) => format!("{purpose} ({caveat})"),
        None => purpose.to_owned(),
    }
}

fn take(screen: &FirstScreen<'_>, pick: &Pick<'_>) -> String {
    screen.label(&pick.decision.take).to_owned()
}

fn usable(screen: &FirstScreen<'_>, pick: &Pick<'_>) -> String {
    space(screen.stack(&pick.decision.take).and_then(|s| s.usable))
}

/// How fast, and how it stands to what else there is, in so many columns if that can be.
fn speed(screen: &FirstScreen<'_>, pick: &Pick<'_>, room: usize) -> String {
    let mut speed = pick.decision.values().unwrap_or_else(|| "overall".to_owned());
    match (pick.decision.as_good.as_slice(), &pick.decision.next) {
        ([], Some(next)) if next.is_taken_for_the_rest() => {
            speed.push_str(", best overall");
        }
        ([], Some(next)) => {
            let times = next.times_short();
            speed.push_str(&format!(", {} the next", times.as_deref().unwrap_or("like")));
        }
        ([], None) => speed.push_str(", the only one"),
        ([one], _) => {
            let room = room.saturating_sub(speed.chars().count() + ", or ".len());
            let one = other(&take(screen, pick), screen.label(one), room);
            speed.push_str(&format!(", or {one}"));
        }
        (more, _) => speed.push_str(&format!(", or {} others", more.len())),
    }
    speed
}

fn answer(
    screen: &FirstScreen<'_>,
    pick: &Pick<'_>,
    (purposes, takes): (usize, usize),
) -> ScreenLine {
    let room = SCREEN_WIDTH.saturating_sub(purposes + takes + 4 + SPACE + 2);
    let usable = right(&usable(screen, pick), SPACE);
    let speed = column(&speed(screen, pick, room), room);
    ScreenLine::of(vec![
        (Face::Plain, format!("  {}  ", column(&purpose(pick), purposes))),
        (Face::Bold, column(&take(screen, pick), takes)),
        (Face::Plain, format!("{usable}  {speed}")),
    ])
}

/// Another stack that may be taken, in so many columns: whole, or else by what it does not share
/// with the one that is named already, and never cut to what says nothing.
fn other(taken: &str, other: &str, room: usize) -> String {
    const BETWEEN: &str = " · ";
    let fits = |text: &str| text.chars().count() <= room;
    let own = match (taken.split_once(BETWEEN), other.split_once(BETWEEN)) {
        (Some((layout, _)), Some((same, rest))) if layout == same => rest,
        (Some((_, system)), Some((rest, same))) if system == same => rest,
        _ => other,
    };
    [other, own].into_iter().find(|text| fits(text)).unwrap_or("1 other").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_stack_is_named_in_what_room_there_is() {
        let taken = "RAID 5 · Btrfs";
        assert_eq!(other(taken, "RAID 5 · ext4", 13), "RAID 5 · ext4");
        assert_eq!(other(taken, "RAID 5 · ext4", 12), "ext4");
        assert_eq!(other(taken, "RAID 10 · Btrfs", 10), "RAID 10");
        assert_eq!(other(taken, "RAID 10 · ext4", 10), "1 other");
        assert_eq!(other(taken, "Btrfs RAID 10", 10), "1 other");
    }
}
