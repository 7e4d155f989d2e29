use std::fs;
use std::path::PathBuf;

use super::*;
use crate::reply::block_on;

/// A folder that is gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("mcp-grants-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn store(&self) -> FileStore {
        FileStore::new(self.0.join("grants.json"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn grant(issuer: &str, token: &str) -> Grant {
    Grant::from_json(&format!(
        r#"{{"issuer":"{issuer}","resource":"https://h.example/mcp","registration":null,"access_token":"{token}",
            "token_type":"bearer","issued":1,"expires":null,"refresh_token":null,"scopes":null,"requested":null,
            "token_endpoint":"{issuer}/token"}}"#
    ))
    .unwrap()
}

fn load(store: &FileStore, server: &str, issuer: Option<&str>) -> Option<String> {
    let found = block_on(store.load(server, issuer)).unwrap();
    found.map(|grant| grant.access_token.as_str().to_owned())
}

fn save(store: &FileStore, server: &str, grant: &Grant) {
    block_on(store.save(server, grant)).unwrap();
}

/// AUTH-30, AUTH-31: by server and issuer; without an issuer the one that was saved last.
#[test]
fn grants_are_found_by_server_and_issuer() {
    let folder = Folder::new("found");
    let store = folder.store();
    assert_eq!(load(&store, "s", None), None);
    save(&store, "s", &grant("https://a.example", "a1"));
    save(&store, "s", &grant("https://b.example", "b1"));
    save(&store, "t", &grant("https://a.example", "t1"));
    assert_eq!(load(&store, "s", None).as_deref(), Some("b1"));
    assert_eq!(load(&store, "s", Some("https://a.example")).as_deref(), Some("a1"));
    assert_eq!(load(&store, "s", Some("https://c.example")), None);
    save(&store, "s", &grant("https://a.example", "a2"));
    assert_eq!(load(&folder.store(), "s", None).as_deref(), Some("a2"));
    assert_eq!(load(&store, "t", None).as_deref(), Some("t1"));
}

/// AUTH-70: what is removed is in no file any more, and what others were given stays.
#[test]
fn a_grant_can_be_forgotten() {
    let folder = Folder::new("forgotten");
    let store = folder.store();
    let remove = |issuer: &str| block_on(store.remove("s", issuer)).unwrap();
    remove("https://a.example");
    assert!(!folder.0.join("grants.json").exists());
    save(&store, "s", &grant("https://a.example", "hush"));
    save(&store, "s", &grant("https://b.example", "b1"));
    save(&store, "t", &grant("https://a.example", "t1"));
    remove("https://a.example");
    assert_eq!(load(&store, "s", Some("https://a.example")), None);
    assert_eq!(load(&store, "s", None).as_deref(), Some("b1"));
    assert_eq!(load(&store, "t", None).as_deref(), Some("t1"));
    assert!(!fs::read_to_string(folder.0.join("grants.json")).unwrap().contains("hush"));
    remove("https://b.example");
    assert_eq!(load(&store, "s", None), None);
}

/// B75: what came of a grant takes the place of that grant alone, not of what somebody else has stored meanwhile, nor of
/// nothing.
#[test]
fn a_grant_is_replaced_by_what_came_of_it() {
    let folder = Folder::new("replaced");
    let file = folder.store();
    let memory = super::super::MemoryStore::default();
    let (a, s) = ("https://a.example", "s");
    let (first, second, other) = (grant(a, "a1"), grant(a, "a2"), grant("https://b.example", "a1"));
    for store in [&file as &dyn GrantStore, &memory] {
        let token = |issuer| block_on(store.load(s, Some(issuer))).unwrap().map(|it| it.access_token);
        let replace =
            |before: &Grant, grant| block_on(store.replace(s, &before.access_token, grant)).unwrap();
        assert!(!replace(&first, &second));
        assert_eq!(token(a), None);
        block_on(store.save(s, &first)).unwrap();
        assert!(!replace(&first, &other), "another issuer's");
        assert!(replace(&first, &second));
        assert_eq!(token(a), Some(second.access_token.clone()));
        assert!(!replace(&first, &grant(a, "a3")));
        assert_eq!(token(a), Some(second.access_token.clone()));
    }
}

/// AUTH-66, AUTH-70: nobody else may read it, whatever was there before.
#[cfg(unix)]
#[test]
fn the_file_is_for_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("owner");
    let store = folder.store();
    for name in ["grants.json", "grants.json.new"] {
        let path = folder.0.join(name);
        fs::write(&path, r#"{"servers":{}}"#).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    }
    save(&store, "s", &grant("https://a.example", "a1"));
    for name in ["grants.json", "grants.json.lock"] {
        let mode = fs::metadata(folder.0.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    assert!(!folder.0.join("grants.json.new").exists());
}

/// AUTH-70: what cannot be read is an error that repeats none of it, and is not written over.
#[test]
fn an_unreadable_file_stays() {
    let folder = Folder::new("unreadable");
    let store = folder.store();
    fs::write(folder.0.join("grants.json"), "secret, and no JSON").unwrap();
    let error = block_on(store.load("s", None)).unwrap_err();
    assert!(error.to_string().ends_with("holds no grants as they are written here"), "{error}");
    block_on(store.save("s", &grant("https://a.example", "a1"))).unwrap_err();
    assert_eq!(fs::read_to_string(folder.0.join("grants.json")).unwrap(), "secret, and no JSON");
}

/// AUTH-70: whoever writes at the same time takes nothing away from the others.
#[test]
fn writers_wait_for_each_other() {
    let folder = Folder::new("writers");
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let store = folder.store();
            std::thread::spawn(move || {
                for turn in 0..8 {
                    save(&store, &format!("s{writer}-{turn}"), &grant("https://a.example", "t"));
                }
            })
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    let store = folder.store();
    for server in 0..64 {
        assert!(load(&store, &format!("s{}-{}", server / 8, server % 8), None).is_some());
    }
}

/// Where `with_no_place_on_the_disk` finds its folder.
#[cfg(unix)]
const FULL: &str = "MCP_TEST_FULL_DISK";

/// What that says in the end, whoever runs it.
#[cfg(unix)]
const SAID: &str = "what there was is still there";

/// AUTH-70: without a place on the disk saving is an error, and what there was is still there. Files may have no byte
/// there, which is as good as a full disk, and only for a process of its own.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_and_keeps_what_there_was() {
    let folder = Folder::new("full");
    save(&folder.store(), "s", &grant("https://a.example", "a1"));
    let test = format!("{}::with_no_place_on_the_disk", module_path!().split_once("::").unwrap().1);
    let output = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &test, "--ignored", "--nocapture"])
        .env(FULL, &folder.0)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains(SAID), "{output:?}");
    save(&folder.store(), "s", &grant("https://a.example", "a3"));
    assert_eq!(load(&folder.store(), "s", None).as_deref(), Some("a3"));
}

#[cfg(unix)]
#[test]
#[ignore = "a part of the test above, which runs it where files cannot grow"]
fn with_no_place_on_the_disk() {
    let Some(folder) = std::env::var_os(FULL) else { return };
    let store = FileStore::new(PathBuf::from(folder).join("grants.json"));
    let error = block_on(store.save("s", &grant("https://a.example", "a2"))).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    assert_eq!(load(&store, "s", None).as_deref(), Some("a1"));
    block_on(store.remove("s", "https://a.example")).unwrap_err();
    assert_eq!(load(&store, "s", None).as_deref(), Some("a1"));
    println!("{SAID}");
}
