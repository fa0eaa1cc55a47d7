//! Values that no run can measure, each with its source.

use crate::Uncertain;

/// Bits read for one that cannot be. Data sheets of hard disks for NAS and servers print at most 1 in
/// 1e15 (Seagate IronWolf and Exos, WD Red Pro and Ultrastar, Toshiba MG), those of desktop drives 1 in
/// 1e14; JEDEC's JESD218 asks 1e15 of client SSDs and 1e16 of servers'. These are limits, and what was
/// read in the field is often better: hence up to 1e16.
pub const UNREADABLE: Uncertain = Uncertain { value: 1e15, low: 1e14, high: 1e16 };

/// Hours until somebody has put in a new drive: ordered at once, three days; from one on the shelf to a
/// holiday of two weeks. An assumption: everybody knows their own.
pub const DEFAULT_REPLACEMENT: Uncertain = Uncertain { value: 72.0, low: 2.0, high: 336.0 };
