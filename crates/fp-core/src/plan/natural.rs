//! The order of ids as people read them: `1.2` before `1.10`.

use std::cmp::Ordering;

/// Compares two ids segment by segment, numbers as numbers; equal only for equal ids.
#[must_use]
pub fn compare(a: &str, b: &str) -> Ordering {
    let mut left = a.split('.');
    let mut right = b.split('.');
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return a.cmp(b),
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(left), Some(right)) => segment(left, right),
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// A common prefix, then a number: `T2` before `T10`.
fn segment(a: &str, b: &str) -> Ordering {
    let digits = |text: &str| text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (head_a, number_a) = a.split_at(digits(a));
    let (head_b, number_b) = b.split_at(digits(b));
    let value = |number: &str| number.trim_start_matches('0').to_owned();
    let (value_a, value_b) = (value(number_a), value(number_b));
    head_a.cmp(head_b).then(value_a.len().cmp(&value_b.len())).then(value_a.cmp(&value_b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order() {
        let check = |a: &str, b: &str, expect: Ordering| {
            assert_eq!(compare(a, b), expect, "{a} {b}");
            assert_eq!(compare(b, a), expect.reverse(), "{b} {a}");
        };
        check("1.2", "1.10", Ordering::Less);
        check("1", "1.1", Ordering::Less);
        check("T2", "T10", Ordering::Less);
        check("2", "10.1", Ordering::Less);
        check("1.01", "1.1", Ordering::Less);
        check("a", "b", Ordering::Less);
        check("1.1", "1.1", Ordering::Equal);
    }
}
