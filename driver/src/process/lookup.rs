//! Where a program is that is named without its ending, as shells on Windows find it: `npx` is `npx.cmd` there.

use std::path::{Path, PathBuf};

/// Endings that the system can start, in the order in which they are tried where `PATHEXT` does not say.
const STARTABLE: &str = ".COM;.EXE;.BAT;.CMD";

/// The file of a program: looked up in `folders` unless it is named by a path, with each of the endings of `PATHEXT`
/// unless it has one. A file without any is never it: beside `npx.cmd` lies `npx`, which is for other systems.
pub(super) fn find(
    program: &Path,
    folders: impl IntoIterator<Item = PathBuf>,
    endings: Option<&str>,
    is_file: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let is_startable = |ending: &&str| STARTABLE.split(';').any(|known| known.eq_ignore_ascii_case(ending));
    let endings: Vec<&str> = endings.unwrap_or(STARTABLE).split(';').filter(is_startable).collect();
    let has_ending = program.extension().is_some_and(|own| {
        endings
            .iter()
            .filter_map(|ending| ending.strip_prefix('.'))
            .any(|known| own.eq_ignore_ascii_case(known))
    });
    let try_at = |place: PathBuf| {
        if has_ending && is_file(&place) {
            return Some(place);
        }
        let with = |ending: &&str| {
            let mut named = place.clone().into_os_string();
            named.push(ending);
            PathBuf::from(named)
        };
        endings.iter().map(with).find(|named| is_file(named))
    };
    if program.components().count() > 1 {
        return try_at(program.to_owned());
    }
    folders.into_iter().filter(|folder| folder.is_absolute()).find_map(|folder| try_at(folder.join(program)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(program: &str, endings: Option<&str>) -> Option<String> {
        let there =
            ["/node/npx", "/node/npx.CMD", "/py/uvx.EXE", "/py/npx.EXE", "/py/tool.v2.bat", "/py/s.js"];
        let folders = ["relative", "/empty", "/node", "/py"].map(PathBuf::from);
        let path = find(Path::new(program), folders, endings, |path| {
            there.iter().any(|file| file.eq_ignore_ascii_case(path.to_str().unwrap()))
        });
        path.map(|path| path.to_str().unwrap().to_owned())
    }

    /// B84: a name is completed in the first folder that has it, in the order of `PATHEXT`, and nothing is started that the
    /// system cannot start.
    #[test]
    fn programs_are_found_as_shells_find_them() {
        for (program, endings, expected) in [
            ("npx", None, Some("/node/npx.CMD")),
            ("npx", Some(".EXE"), Some("/py/npx.EXE")),
            ("npx.cmd", None, Some("/node/npx.cmd")),
            ("uvx", Some(".JS;.EXE;.CMD"), Some("/py/uvx.EXE")),
            ("uvx.exe", Some(".exe"), Some("/py/uvx.exe")),
            ("tool.v2", None, Some("/py/tool.v2.BAT")),
            ("s", Some(".JS"), None),
            ("missing", None, None),
            ("/node/npx", None, Some("/node/npx.CMD")),
            ("/empty/npx", None, None),
            ("", None, None),
        ] {
            assert_eq!(found(program, endings).as_deref(), expected, "{program} {endings:?}");
        }
    }

    /// B84: of two endings the first counts, also where the folder has both.
    #[test]
    fn the_order_of_endings_is_that_of_the_system() {
        let folders = || [PathBuf::from("/bin")];
        for (endings, expected) in [(".CMD;.EXE", "/bin/x.CMD"), (".EXE;.CMD", "/bin/x.EXE")] {
            assert_eq!(
                find(Path::new("x"), folders(), Some(endings), |_| true).unwrap(),
                Path::new(expected)
            );
        }
    }
}
