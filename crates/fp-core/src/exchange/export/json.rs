//! `json`: the portable plan as it is.

use serde::Serialize;

use super::object::document;
use crate::exchange::portable::PortablePlan;

/// Version of the form.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Versioned<'p> {
    #[serde(rename = "schemaVersion")]
    schema_version: u32,
    #[serde(flatten)]
    plan: &'p PortablePlan,
}

pub(super) fn text(plan: &PortablePlan) -> String {
    document(&Versioned { schema_version: SCHEMA_VERSION, plan })
}
