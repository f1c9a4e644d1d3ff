//! Lets the simulation's `getrandom` be found by those who look for it at run time.

fn main() {
    println!("cargo::rustc-link-arg=-Wl,--export-dynamic-symbol=getrandom");
    println!("cargo::rerun-if-changed=build.rs");
}
