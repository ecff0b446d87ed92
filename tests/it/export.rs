//! What `fp show` and `fp report` export, held against the programs that read it: the pages in Chromium, the
//! flowchart in Mermaid.

mod chromium;
mod mermaid;
mod page;
mod run_page;
mod sample;
