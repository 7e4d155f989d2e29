//! The floor: what it costs to read bytes, parse one typed message with serde_json, and write the answer, over the
//! same pipe or socket. It checks nothing, bounds nothing and knows no more of the protocol than it has to.

mod answer;
mod http;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use memchr::{memchr, memrchr};

fn main() -> io::Result<()> {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some("--stdio") => lines(),
        Some("--port") => {
            http::serve(words.next().and_then(|port| port.parse().ok()).ok_or(io::ErrorKind::InvalidInput)?)
        }
        _ => Err(io::Error::other("floor --stdio | --port P")),
    }
}

/// One write for all lines of one read.
fn lines() -> io::Result<()> {
    // Without the buffers of the standard library.
    let mut stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let (mut buffer, mut filled, mut out) = (vec![0; 256 * 1024], 0, Vec::new());
    loop {
        if filled == buffer.len() {
            buffer.resize(filled * 2, 0);
        }
        let read = stdin.read(buffer.get_mut(filled..).unwrap_or_default())?;
        if read == 0 {
            return Ok(());
        }
        let fresh = buffer.get(filled..filled + read).unwrap_or_default();
        let Some(last) = memrchr(b'\n', fresh) else {
            filled += read;
            continue;
        };
        let end = filled + last + 1;
        filled += read;
        let mut rest = buffer.get(..end).unwrap_or_default();
        while let Some(length) = memchr(b'\n', rest) {
            let (line, after) = rest.split_at(length);
            answer::write(line, &mut out, true);
            rest = after.get(1..).unwrap_or_default();
        }
        stdout.write_all(&out)?;
        out.clear();
        buffer.copy_within(end..filled, 0);
        filled -= end;
    }
}
