//! The exports of `fp show` and `fp report`, tested in the program that reads them: the pages in Chromium.

mod changes;
mod chromium;
mod page;
mod run_page;
mod sample;
