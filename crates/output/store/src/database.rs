//! The database of a run.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::StoreError;
use crate::directory::keep_links_in_paths;
use crate::untrusted::{self, Steps};

pub(crate) fn connect(path: &Path, flags: OpenFlags) -> Result<(Connection, Steps), StoreError> {
    keep_links_in_paths();
    let wrap = StoreError::sqlite(path);
    let connection = Connection::open_with_flags(path, flags).map_err(&wrap)?;
    let steps = untrusted::guard(&connection).map_err(&wrap)?;
    // FULL: a cell once recorded survives a power cut.
    connection.pragma_update(None, "synchronous", "FULL").map_err(&wrap)?;
    connection.busy_timeout(std::time::Duration::from_secs(20)).map_err(&wrap)?;
    Ok((connection, steps))
}
