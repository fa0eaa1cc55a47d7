//! What cells will cost: by what is known of workloads and benches, or by what a run's cells
//! took.

use std::collections::HashMap;
use std::path::Path;

use disklab_bench::{LayoutCost, Prediction, cell_seconds, predict};
use disklab_study::Cell;
use disklab_units::Bytes;
use disklab_workload::Cost;

use super::Setup;
use super::making::{making, making_writes};
use super::pilot::Pilot;
use crate::exit::Failure;

impl Setup {
    /// What a cell will cost.
    pub fn cost(&self, cell: &Cell) -> Cost {
        self.campaign
            .study
            .workload_index(&cell.workload)
            .map_or_else(Cost::default, |index| self.campaign.workloads[index].cost())
    }

    /// What a cell will take, in seconds.
    pub fn seconds(&self, cell: &Cell) -> f64 {
        let layout = self.layout(cell);
        let formula = cell_seconds(&self.cost(cell), &layout, self.bench.medium());
        self.pilot.as_ref().map_or(formula, |pilot| pilot.seconds(cell, formula))
    }

    /// What a cell's stack makes of its workload's I/O.
    fn layout(&self, cell: &Cell) -> LayoutCost {
        let Some(stack) = self.survey.stacks.iter().position(|s| s.id == cell.stack) else {
            return LayoutCost::SINGLE;
        };
        let (planned, shares) = (&self.survey.stacks[stack], &self.survey.drive_writes[stack]);
        let made = making(&planned.layers, planned.capacity, shares);
        let writes = making_writes(&planned.layers, planned.capacity);
        LayoutCost::new(shares, planned.tolerates, &made, writes)
    }

    /// Has predictions rest on what the cells of a run took.
    ///
    /// # Errors
    /// As [`Pilot::of`].
    pub fn learn_from(&mut self, folder: &Path) -> Result<(), Failure> {
        self.pilot = Some(Pilot::of(folder, self)?);
        Ok(())
    }

    /// Whether they do.
    pub fn is_learnt(&self) -> bool {
        self.pilot.is_some()
    }

    /// Virtual seconds of these cells, where a run in the lab has told them.
    pub fn virtual_seconds(&self, cells: &[Cell]) -> Option<f64> {
        self.pilot.as_ref().filter(|_| self.is_lab)?.clock_seconds(cells)
    }

    /// The drives that are written to, by their names.
    pub fn drive_names(&self) -> Vec<String> {
        // A directory has drives of its own, the other benches have the study's.
        match self.survey.stacks.first() {
            Some(stack) if self.bench.name().starts_with("dir:") => stack.drives.clone(),
            _ => self.campaign.study.drives.iter().map(|d| d.name.to_string()).collect(),
        }
    }

    /// What these cells will cost together.
    pub fn predict<'a>(&self, cells: impl IntoIterator<Item = &'a Cell>) -> Prediction {
        let cells: Vec<&Cell> = cells.into_iter().collect();
        let places = self.planned_stacks();
        let mut prediction = self.formula(&cells, &places);
        if let Some(pilot) = &self.pilot {
            let seconds: f64 = cells.iter().map(|cell| self.seconds(cell)).sum();
            prediction.seconds = seconds / self.bench.at_once() as f64;
            let one = |cell: &Cell| self.formula(&[cell], &places);
            prediction.drive_writes = pilot.written(&cells, &self.drive_names(), one);
        }
        prediction
    }

    /// Bytes written to each of the study's drives for one byte of a cell's data, by stack
    /// and workload; none where nothing is known of the drives' sizes.
    fn shares_of_first<'a>(&self, cells: &[&'a Cell]) -> HashMap<(&'a str, &'a str), Vec<f64>> {
        let mut all = HashMap::new();
        for cell in cells {
            let pair = (cell.stack.as_str(), cell.workload.as_str());
            if all.contains_key(&pair) {
                continue;
            }
            let Some(index) = self.campaign.study.stack_index(&cell.stack) else { continue };
            let drives = &self.campaign.study.stacks[index].drives;
            let size = |drive: &usize| self.survey.sizes.get(*drive).copied().flatten();
            let Some(sizes) = drives.iter().map(size).collect::<Option<Vec<Bytes>>>() else {
                continue;
            };
            let data = self.cost(cell).space;
            let Ok(volume) = self.campaign.stacks[index].shape_of_first(&sizes, data) else {
                continue;
            };
            let mut shares = vec![0.0; self.survey.sizes.len()];
            for (drive, share) in drives.iter().zip(volume.drive_writes) {
                shares[*drive] = share;
            }
            all.insert(pair, shares);
        }
        all
    }

    /// Where each stack is in the survey, by its id.
    fn planned_stacks(&self) -> HashMap<&str, usize> {
        self.survey.stacks.iter().enumerate().map(|(at, stack)| (stack.id.as_str(), at)).collect()
    }

    /// What these cells will cost by what is known of the workloads and the bench.
    fn formula(&self, cells: &[&Cell], places: &HashMap<&str, usize>) -> Prediction {
        let stack = |cell: &Cell| places.get(cell.stack.as_str()).copied();
        let shares = self.shares_of_first(cells);
        let writes = |cell: &Cell| {
            let own = shares.get(&(cell.stack.as_str(), cell.workload.as_str())).cloned();
            own.or_else(|| stack(cell).map(|i| self.survey.drive_writes[i].clone()))
        };
        let costed = |writes: &dyn Fn(&Cell) -> Option<Vec<f64>>| {
            let one = |cell: &&Cell| {
                (self.cost(cell), self.layout(cell), writes(cell).unwrap_or_default())
            };
            let all: Vec<(Cost, LayoutCost, Vec<f64>)> = cells.iter().map(one).collect();
            let all = all.iter().map(|(cost, layout, writes)| (*cost, *layout, writes.as_slice()));
            predict(all, self.bench.medium())
        };
        let mut prediction = costed(&writes);
        for stack in cells.iter().filter_map(|cell| stack(cell)) {
            let planned = &self.survey.stacks[stack];
            let shares = &self.survey.drive_writes[stack];
            let made = making(&planned.layers, planned.capacity, shares);
            for (sum, bytes) in prediction.drive_writes.iter_mut().zip(made) {
                *sum += Bytes(bytes as u64);
            }
        }
        let at_once = self.bench.at_once();
        prediction.seconds /= at_once as f64;
        if self.is_lab {
            // The lab keeps equal blocks once, and so all copies of a mirror.
            let kept = |cell: &Cell| {
                let mut writes = writes(cell)?;
                let sum: f64 = writes.iter().sum();
                if stack(cell).is_some_and(|i| is_mirror(&self.survey.stacks[i].layers)) {
                    writes.iter_mut().for_each(|share| *share /= sum.max(1.0));
                }
                Some(writes)
            };
            prediction.space = costed(&kept).content.saturating_mul(at_once as u64);
        }
        prediction
    }
}

/// Whether a stack of these layers keeps copies and no parity.
fn is_mirror(layers: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| layers.contains(word));
    has(&["raid1", "mirror"]) && !has(&["raid5", "raid6", "raidz", "shr"])
}

#[cfg(test)]
mod tests {
    use super::is_mirror;

    #[test]
    fn copies_are_told_from_parity() {
        for layers in ["md-raid1/ext4", "partition/md-raid10/xfs", "btrfs-raid1c3", "zfs-mirror"] {
            assert!(is_mirror(layers), "{layers}");
        }
        for layers in ["partition/ext4", "md-raid5/ext4", "shr/btrfs", "zfs-raidz1", "md-raid0"] {
            assert!(!is_mirror(layers), "{layers}");
        }
    }
}
