//! Objects in a bucket's folder through power losses: what was reported as written is there, complete.

use crate::disk::Disk;
use crate::intercept;
use partita_engine::bucket::Buckets;
use partita_engine::bucket::bucket_folder::BucketFolders;
use partita_list_append::random::Random;
use std::path::Path;

const KEYS: [&str; 3] = ["one/two/three", "one/two/four", "five"];

#[test]
fn what_was_written_survives_a_power_loss() {
    for seed in 0..20 {
        let folder = tempfile::tempdir().expect("there is a folder for tests");
        let root = folder.path().canonicalize().expect("the folder is there");
        std::fs::create_dir(root.join("bucket")).expect("a bucket is made");
        intercept::install(Disk::new(root.clone(), Random::new(seed), None));
        let written = write_all(&root);
        let mut disk = intercept::uninstall().expect("it was installed");
        written.expect("the disk does not fail");
        disk.crash();
        let left = disk.left.expect("there was a crash").0;
        for key in KEYS {
            let bytes = left.get(&Path::new("bucket").join(key)).cloned().flatten();
            assert_eq!(bytes.as_deref(), Some(key.as_bytes()), "{key}, seed {seed}");
        }
        assert!(left.contains_key(Path::new("bucket/one/two")), "seed {seed}");
    }
}

fn write_all(root: &Path) -> Result<(), String> {
    let bucket = BucketFolders(root.to_owned()).open("bucket").map_err(|failure| failure.message)?;
    KEYS.iter().try_for_each(|key| bucket.write(key, key.as_bytes()).map_err(|failure| failure.message))
}
