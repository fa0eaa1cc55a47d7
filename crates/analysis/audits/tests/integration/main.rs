//! What documents say of audits and tests.

mod docs;
