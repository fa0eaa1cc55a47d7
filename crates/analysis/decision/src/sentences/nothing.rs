//! What is said of a run that measured nothing.

use disklab_audits::Unfinished;

/// What a run says of which no cell has a sample; nothing where there are no cells.
pub(crate) fn nothing_measured(unfinished: &[Unfinished]) -> Vec<String> {
    let failed = unfinished.iter().filter_map(Unfinished::reason).collect::<Vec<_>>();
    let (all, waiting) = (unfinished.len(), unfinished.len() - failed.len());
    let Some(first) = failed.first() else {
        let none = "Nothing has been measured yet: no cell has run.".to_owned();
        return if all == 0 { Vec::new() } else { vec![none] };
    };
    let how_many = match (waiting, all) {
        (0, 1) => "the only cell failed".to_owned(),
        (0, _) => format!("all {all} cells failed"),
        (1, _) => format!("{} of {all} cells failed, and 1 has not run", failed.len()),
        _ => format!("{} of {all} cells failed, and {waiting} have not run", failed.len()),
    };
    vec![format!("Nothing was measured: {how_many}. The first said: {first}")]
}

#[cfg(test)]
mod tests {
    use disklab_store::CellState;

    use crate::testing::RunFixture;

    const ASK: &str = "[[questions]]\nask = \"?\"\nworkloads = \"dd-4k\"";

    #[test]
    fn a_run_of_which_all_failed_says_so_at_the_top() {
        let mut fixture = RunFixture::new(ASK);
        fixture.unfinished("single/ext4", "dd-4k", 0, CellState::Failed);
        let said = ["Nothing was measured: the only cell failed. The first said: no space left"];
        assert_eq!(fixture.analyse().summary, said);
        fixture.unfinished("single/btrfs", "dd-4k", 0, CellState::Failed);
        let said = ["Nothing was measured: all 2 cells failed. The first said: no space left"];
        assert_eq!(fixture.analyse().summary, said);
        fixture.unfinished("single/ext4", "dd-4k", 1, CellState::Waiting);
        let said = [
            "Nothing was measured: 2 of 3 cells failed, and 1 has not run. The first said: no space left",
        ];
        assert_eq!(fixture.analyse().summary, said);
        let mut fixture = RunFixture::new(ASK);
        fixture.unfinished("single/ext4", "dd-4k", 0, CellState::Waiting);
        assert_eq!(fixture.analyse().summary, ["Nothing has been measured yet: no cell has run."]);
    }
}
