//! An object store of `fp`'s own, for the trees that it judges. Git believes the name of an object that it already has,
//! and a builder can write to the repository's objects. So this store is outside the repository, and takes objects only
//! as packs: git computes the names of what it unpacks.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fp_plan::plan::id::PlanId;

use crate::error::{HostError, HostErrorKind, HostResult};
use crate::git::{Git, Oid};
use crate::platform;

/// An object store without references. Its trees are complete, since each pack is taken whole or not at all.
#[derive(Debug)]
pub(super) struct ObjectStore {
    pub(super) git: Git,
}

impl ObjectStore {
    /// The store in `folder`, if it exists.
    pub(super) fn existing(folder: PathBuf) -> Option<Self> {
        folder.join("HEAD").exists().then(|| Self {
            git: Git::of_store(folder.clone(), folder),
        })
    }

    /// Makes the store in `folder`, with ids as long as `like`.
    pub(super) fn make(folder: &Path, like: &Oid) -> HostResult<Self> {
        let above = folder.parent().unwrap_or(folder);
        let failed = HostError::writing(folder);
        platform::make_private_folder(above).map_err(failed)?;
        let new = tempfile::tempdir_in(above).map_err(failed)?;
        Git::make_store(new.path(), like)?;
        let made = fs::create_dir_all(new.path().join("info"))
            .and_then(|()| fs::write(new.path().join("info/attributes"), ATTRIBUTES));
        made.map_err(failed)?;
        let mut moved = fs::rename(new.path(), folder);
        // Another process may have been faster. What else is there is damaged.
        if moved.is_err() && Self::existing(folder.to_owned()).is_none() {
            set_aside(folder).map_err(failed)?;
            moved = fs::rename(new.path(), folder);
        }
        Self::existing(folder.to_owned()).ok_or_else(|| match moved {
            Err(error) => failed(error),
            Ok(()) => HostError::failed(format_args!("{} is gone", folder.display()))
                .with_hint("run the command again"),
        })
    }

    /// Replaces the store in `folder` by an empty one.
    pub(super) fn renew(folder: &Path, like: &Oid) -> HostResult<Self> {
        set_aside(folder).map_err(HostError::writing(folder))?;
        Self::make(folder, like)
    }

    /// Copies `tree` and the tree `known`, which is much like it, from the repository of `from`.
    ///
    /// # Errors
    /// [`HostErrorKind::MissingObject`] if an object isn't what its name says, or is missing.
    pub(super) fn take(&self, from: &Git, tree: &Oid, known: &Oid) -> HostResult<()> {
        let [has_tree, has_known] = self.git.has_objects([tree, known])?;
        if !has_known {
            from.send_objects(known, &[], &self.git)?;
        }
        if !has_tree && tree != known {
            from.send_objects(tree, &[known], &self.git)?;
        }
        let is_here = (has_tree && has_known) || self.git.has_objects([tree, known])? == [true; 2];
        if is_here { Ok(()) } else { Err(forged(tree)) }
    }

    /// Fails if an object of `tree` that is another one in `base` isn't the same in the repository of `git`. Both trees
    /// come here first, should they be missing.
    pub(super) fn compare(&self, git: &Git, tree: &Oid, base: &Oid) -> HostResult<()> {
        self.take(git, tree, base)?;
        let changed = self.git.objects_changed(base, tree)?;
        match git.contents_of(&changed)? == self.git.contents_of(&changed)? {
            true => Ok(()),
            false => Err(forged(tree)),
        }
    }
}

/// Removes `folder`, at once for all other processes.
fn set_aside(folder: &Path) -> io::Result<()> {
    let place = tempfile::tempdir_in(folder.parent().unwrap_or(folder))?;
    match fs::rename(folder, place.path().join("damaged")) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        moved => moved,
    }
}

/// No attribute of a repository changes what a checkout from the store has in its files.
const ATTRIBUTES: &str = "* -text -ident -filter -eol -working-tree-encoding\n";

pub(super) fn forged(tree: &Oid) -> HostError {
    let said = format!(
        "the repository's objects are damaged: one of tree {} isn't what its name says",
        tree.short()
    );
    HostError::failed(said)
        .with_hint(
            "`git fsck --full` names it; fetch it again, or remove it and hand the work in anew",
        )
        .with_kind(HostErrorKind::MissingObject)
}

/// A name for what belongs to the plan `id` in the repository `common_dir`.
pub(super) fn place_name(id: &PlanId, common_dir: &Path) -> String {
    let hash = crate::git::text_hash(common_dir.as_os_str().as_encoded_bytes());
    format!("{id}-{}", &hash[..8])
}
