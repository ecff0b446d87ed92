//! The key with which this machine signs what its own `fp` writes: the lines of a log, and its snapshot. It is stored
//! beside the trust store, out of reach of repositories, so that they can't forge anything with it.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::error::{HostError, HostResult};
use crate::file;
use crate::platform::{self, make_private_folder};

/// Length of a key in bytes.
const LENGTH: usize = 32;
const FILE: &str = "key";

pub(crate) struct MachineKey([u8; LENGTH]);

impl std::fmt::Debug for MachineKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MachineKey")
    }
}

impl MachineKey {
    /// Reads the key in `folder`, the trust store's folder; `None` if there is none yet.
    ///
    /// # Errors
    /// The file can't be read, isn't a key, or may be known to somebody other than the user.
    pub(crate) fn read(folder: &Path) -> HostResult<Option<Self>> {
        let path = folder.join(FILE);
        let bytes = match file::read_bytes(&path, LENGTH as u64) {
            Err(error) if error.is_missing() => return Ok(None),
            read => read?,
        };
        let read = HostError::reading(&path);
        let unusable = |said: std::fmt::Arguments<'_>| {
            let path = path.display();
            Err(HostError::failed(said).with_hint(format_args!(
                "remove it: fp makes another one, and `fp approve PLAN` begins the log of a plan anew: rm {path}"
            )))
        };
        if !platform::is_private(&fs::metadata(&path).map_err(read)?) {
            return unusable(format_args!(
                "somebody else may know {}, the key by which fp recognises its own entries",
                path.display()
            ));
        }
        match bytes.try_into() {
            Ok(key) => Ok(Some(Self(key))),
            Err(_) => unusable(format_args!("{} is no key of fp", path.display())),
        }
    }

    /// Returns the key in `folder`, creating it if there is none. If several processes create one at once, the first
    /// key wins.
    ///
    /// # Errors
    /// As for [`MachineKey::read`], or writing to disk fails.
    pub(crate) fn make(folder: &Path) -> HostResult<Self> {
        if let Some(key) = Self::read(folder)? {
            return Ok(key);
        }
        let path = folder.join(FILE);
        let failed = HostError::writing(&path);
        let mut key = [0; LENGTH];
        getrandom::fill(&mut key).map_err(|error| failed(std::io::Error::other(error)))?;
        make_private_folder(folder).map_err(failed)?;
        // Temporary files can only be read by their owner.
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        file.write_all(&key)
            .and_then(|()| file.as_file().sync_all())
            .map_err(failed)?;
        // Another process may have written one first.
        let refused = file.persist_noclobber(&path).err();
        Self::read(folder)?.ok_or_else(|| {
            let gone = std::io::ErrorKind::NotFound.into();
            failed(refused.map_or(gone, |refused| refused.error))
        })
    }

    /// The code of `parts` in this order, which can't be computed without the key: an HMAC-SHA256 as 64 hexadecimal
    /// digits.
    pub(crate) fn code_of(&self, parts: &[&[u8]]) -> String {
        let mut code =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes a key of any length");
        for part in parts {
            code.update(&(part.len() as u64).to_be_bytes());
            code.update(part);
        }
        let code = code.finalize().into_bytes();
        code.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
