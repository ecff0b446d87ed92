//! A leaf is cut out of a tree where that is sure to be what was approved, and nowhere else.

use crate::plan::parse;
use crate::run::approval::{excerpt, leaves};
use crate::run::event::Leaf;

const TREE: &str = "## Root Task
- [ID: root] Goal, see [ID: 1.1] (Complexity: 5)

### Subtasks
- [ID: 1] Group (Complexity: 4)
  - [ID: 1.1] First (Complexity: 2)
    - Acceptance: it does
    - Files: a.rs
    - Hints:
      - As in
        two lines

      - ```
        - [ID: 1.2] Second (Complexity: 9)
        ```
  - [ID: 1.2] Second (Complexity: 1)
    - Acceptance: 한글, too
    - Files: b.rs
- [ID: 2] Last (Complexity: 3)
  - Acceptance: it ends
  - Files: c.rs";

fn approved(tree: &str) -> Vec<Leaf> {
    leaves(&parse(tree).0, &[]).unwrap()
}

#[test]
fn every_leaf_of_a_tree() {
    for tree in [TREE.to_owned(), TREE.replace('\n', "\r\n")] {
        let cut: Vec<String> = approved(&tree).iter().filter_map(|leaf| excerpt(&tree, leaf)).collect();
        assert_eq!(cut.len(), 3, "{cut:#?}");
        assert!(cut[0].starts_with("- [ID: 1.1] First") && cut[0].trim_end().ends_with("```"), "{}", cut[0]);
        assert!(cut[2].starts_with("- [ID: 2] Last") && cut[2].ends_with("c.rs"), "{}", cut[2]);
        for (leaf, cut) in approved(&tree).iter().zip(&cut) {
            let again = approved(cut);
            assert_eq!((&again[0].id, &again[0].hash), (&leaf.id, &leaf.hash));
        }
    }
}

#[test]
fn not_one_that_was_edited_or_is_gone_or_is_no_leaf_any_more() {
    let check = |from: &str, to: &str, left: &[&str]| {
        assert!(TREE.contains(from));
        let tree = TREE.replace(from, to);
        let cut: Vec<String> = approved(TREE)
            .iter()
            .filter(|leaf| excerpt(&tree, leaf).is_some())
            .map(|leaf| leaf.id.to_string())
            .collect();
        assert_eq!(cut, left, "{tree}");
    };
    check("it does", "it does not", &["1.2", "2"]);
    check("two lines", "three lines", &["1.2", "2"]);
    check("- [ID: 1.2] Second (Complexity: 1)", "- [ID: 1.3] Second (Complexity: 1)", &["1.1", "2"]);
    check("    - Files: b.rs", "    - Files: b.rs\n    - [ID: 1.2.1] Part", &["1.1", "2"]);
    check("c.rs", "d.rs", &["1.1", "1.2"]);
}
