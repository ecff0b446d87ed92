//! What `fp show` and `fp report` export, held against the programs that read it: the pages in Chromium.

mod chromium;
mod page;
mod run_page;
mod sample;
