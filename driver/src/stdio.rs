//! The process's own standard input and output, kept for the protocol alone.

use std::fs::File;
use std::io;

/// Standard input and output as the protocol uses them.
#[derive(Debug)]
pub struct Stdio {
    /// What the client writes.
    pub input: File,
    /// What the client reads.
    pub output: File,
}

impl Stdio {
    /// Takes standard input and output away from the rest of the process.
    ///
    /// On Unix both are moved to descriptors that child processes do not inherit; in their place stand
    /// `/dev/null` and standard error. A stray `println!` in a handler then ends up in the log instead of
    /// corrupting the protocol, and a child process started by a handler cannot eat the client's requests.
    /// Both block, whatever mode they were inherited in; a reactor changes that again.
    ///
    /// # Errors
    /// When a descriptor is closed or cannot be duplicated.
    #[cfg(unix)]
    pub fn take() -> io::Result<Self> {
        use std::os::fd::AsFd;
        let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        rustix::stdio::dup2_stdout(io::stderr().as_fd())?;
        for file in [&input, &output] {
            rustix::io::ioctl_fionbio(file, false)?;
        }
        Ok(Self { input, output })
    }

    /// Takes standard input and output.
    ///
    /// # Errors
    /// When they cannot be duplicated.
    #[cfg(windows)]
    pub fn take() -> io::Result<Self> {
        use std::os::windows::io::AsHandle;
        let input = File::from(io::stdin().as_handle().try_clone_to_owned()?);
        let output = File::from(io::stdout().as_handle().try_clone_to_owned()?);
        Ok(Self { input, output })
    }

    /// Whether a file is a pipe or a socket, which a reactor can wait for; a terminal or a regular file needs
    /// a thread that blocks.
    pub fn is_pollable(file: &File) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileTypeExt;
            file.metadata().is_ok_and(|data| data.file_type().is_fifo() || data.file_type().is_socket())
        }
        #[cfg(not(unix))]
        {
            let _ = file;
            false
        }
    }
}
