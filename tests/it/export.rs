//! What `fp show` and `fp report` export, held against the programs that read it: the pages in Chromium, the
//! flowchart in Mermaid, the graph in Graphviz.

mod chromium;
mod dot;
mod mermaid;
mod page;
mod run_page;
mod sample;
