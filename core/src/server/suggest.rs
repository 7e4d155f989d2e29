//! The name that was probably meant, for errors about a name that nobody knows.

/// Names longer than this are neither compared nor repeated in an error (TOOL-10 allows no longer ones).
pub(super) const LONGEST: usize = 128;
/// At most this many names are compared: the work per error stays small whatever the catalog holds.
const COMPARED: usize = 1_024;

/// The name among `known` that differs from `wrong` by the fewest edits, if those are few.
pub(super) fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if wrong.len() > LONGEST {
        return None;
    }
    let allowed = (wrong.len() / 3).clamp(1, 3);
    known
        .take(COMPARED)
        .filter(|name| name.len().abs_diff(wrong.len()) <= allowed && name.len() <= LONGEST)
        .map(|name| (distance(wrong.as_bytes(), name.as_bytes()), name))
        .filter(|(edits, _)| *edits <= allowed)
        // The first of equals, so that the answer does not depend on anything but the catalog's order.
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, neither of them longer
/// than [`LONGEST`]. Letters of different case count as equal: a wrong case is the likeliest mistake.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before = [0; LONGEST + 1];
    let mut above: [usize; LONGEST + 1] = core::array::from_fn(|column| column);
    let mut left_out = None;
    for (line, x) in a.iter().enumerate() {
        let mut here = [0; LONGEST + 1];
        here[0] = line + 1;
        let mut left = None;
        // Zipping with the row bounds the columns: the index below stays within `LONGEST`.
        for (column, y) in (1..=LONGEST).zip(b) {
            let replaced = above[column - 1] + usize::from(!x.eq_ignore_ascii_case(y));
            here[column] = replaced.min(above[column] + 1).min(here[column - 1] + 1);
            if left_out == Some(y) && left == Some(x) && column > 1 {
                here[column] = here[column].min(before[column - 2] + 1);
            }
            left = Some(y);
        }
        left_out = Some(x);
        before = above;
        above = here;
    }
    above[b.len().min(LONGEST)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::vec::Vec;

    #[test]
    fn distance_counts_edits() {
        for (a, b, edits) in [
            ("search", "search", 0),
            ("serach", "search", 1),
            ("SEARCH", "search", 0),
            ("kitten", "sitting", 3),
            ("", "ab", 2),
            ("ab", "", 2),
        ] {
            assert_eq!(distance(a.as_bytes(), b.as_bytes()), edits, "{a} {b}");
        }
    }

    /// P05
    #[test]
    fn the_nearest_name_is_suggested_and_a_far_one_is_not() {
        let known = ["add", "search", "research"];
        assert_eq!(nearest("serach", known.into_iter()), Some("search"));
        assert_eq!(nearest("delete_everything", known.into_iter()), None);
        assert_eq!(nearest("", known.into_iter()), None);
    }

    /// P05: the work is bounded by the length of the name and by the number of names compared.
    #[test]
    fn bounds_are_reached_exactly_and_passed_by_one() {
        let longest = "a".repeat(LONGEST);
        assert_eq!(nearest(&longest, [longest.as_str()].into_iter()), Some(longest.as_str()));
        let longer = "a".repeat(LONGEST + 1);
        assert_eq!(nearest(&longer, [longer.as_str()].into_iter()), None);

        let mut names: Vec<String> =
            (0..COMPARED - 1).map(|n| alloc::format!("unrelated-name-{n}")).collect();
        names.push("search".into());
        assert_eq!(nearest("serach", names.iter().map(String::as_str)), Some("search"));
        names.insert(0, "one-more".into());
        assert_eq!(nearest("serach", names.iter().map(String::as_str)), None);
    }
}
