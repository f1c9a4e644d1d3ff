//! The repaired systems of `models/` check clean.

mod support;

#[test]
fn every_model_of_the_project_is_clean() {
    let mut count = 0;
    for entry in std::fs::read_dir(support::root().join("models")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            support::assert_clean(&path.file_name().unwrap().to_string_lossy(), &text);
            count += 1;
        }
    }
    assert!(count > 0);
}
