//! Parses a page of the documentation into blocks, spans, links, headings and tables, each with its line.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A Markdown page of the repository.
pub(crate) struct Page {
    /// Path relative to the root of the repository.
    pub(crate) path: &'static str,
    pub(crate) text: String,
    pub(crate) blocks: Vec<Block>,
    /// Code spans, including those in tables.
    pub(crate) spans: Vec<String>,
    pub(crate) links: Vec<String>,
    /// The anchors of the page's headings, without the `#`.
    pub(crate) anchors: Vec<String>,
    /// Every table as rows of cells, the header row first.
    pub(crate) tables: Vec<Vec<Row>>,
}

/// The cells of a table row, as text without markup.
pub(crate) type Row = Vec<String>;

/// A code block.
#[derive(Clone)]
pub(crate) struct Block {
    /// The info string after the opening fence.
    pub(crate) kind: String,
    pub(crate) text: String,
    /// `path:line` of the fence.
    pub(crate) place: String,
}

impl Page {
    /// Reads the page at `path`.
    pub(crate) fn read(path: &'static str) -> Self {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = std::fs::read_to_string(file).unwrap();
        let mut page = Self {
            path,
            blocks: Vec::new(),
            spans: Vec::new(),
            links: Vec::new(),
            anchors: Vec::new(),
            tables: Vec::new(),
            text: text.clone(),
        };
        page.take_apart(&text);
        page
    }

    /// The blocks of a kind.
    pub(crate) fn blocks(&self, kind: &str) -> Vec<&Block> {
        self.blocks
            .iter()
            .filter(|block| block.kind == kind)
            .collect()
    }

    /// The rows of each table whose header row is `heading`, without that row.
    pub(crate) fn tables_of<'p>(&'p self, heading: &'p [&str]) -> impl Iterator<Item = &'p [Row]> {
        self.tables
            .iter()
            .filter(move |table| table[0] == heading)
            .map(|table| &table[1..])
    }

    fn take_apart(&mut self, text: &str) {
        let mut within = Within::Prose;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { .. }) => within = Within::Heading(String::new()),
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(kind))) => {
                    let line = text[..range.start].matches('\n').count() + 1;
                    let place = format!("{}:{line}", self.path);
                    within = Within::Block(Block {
                        kind: kind.into_string(),
                        text: String::new(),
                        place,
                    });
                }
                Event::Start(Tag::TableCell) => within = Within::Cell(String::new()),
                Event::End(TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::TableCell) => {
                    self.take(std::mem::take(&mut within));
                }
                Event::Start(Tag::Table(_)) => self.tables.push(Vec::new()),
                Event::Start(Tag::TableHead | Tag::TableRow) => self.table().push(Row::new()),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    self.links.push(dest_url.into_string());
                }
                Event::Code(code) => {
                    within.say(&code);
                    self.spans.push(code.into_string());
                }
                Event::Text(text) => within.say(&text),
                _ => {}
            }
        }
    }

    fn take(&mut self, part: Within) {
        match part {
            Within::Prose => {}
            Within::Heading(text) => self.anchors.push(anchor(&text)),
            Within::Block(block) => self.blocks.push(block),
            Within::Cell(text) => self
                .table()
                .last_mut()
                .expect("a cell is in a row")
                .push(text),
        }
    }

    fn table(&mut self) -> &mut Vec<Row> {
        self.tables.last_mut().expect("a row is in a table")
    }
}

/// Where the next text belongs.
#[derive(Default)]
enum Within {
    #[default]
    Prose,
    Heading(String),
    Block(Block),
    Cell(String),
}

impl Within {
    fn say(&mut self, more: &str) {
        match self {
            Self::Prose => {}
            Self::Heading(text) | Self::Cell(text) | Self::Block(Block { text, .. }) => {
                text.push_str(more)
            }
        }
    }
}

/// The anchor that GitHub generates for a heading.
fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}
