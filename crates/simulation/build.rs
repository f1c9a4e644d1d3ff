//! Exports the simulation's `getrandom`, so that it is found by code that looks it up at run time.

fn main() {
    println!("cargo::rustc-link-arg=-Wl,--export-dynamic-symbol=getrandom");
    println!("cargo::rerun-if-changed=build.rs");
}
