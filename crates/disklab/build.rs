//! Links the guests' program to one place in memory: a program for any place is linked anew page
//! by page when it starts, and each page that it writes stops it twice in the lab.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-link-arg-bin=disklab-guest=-no-pie");
    // What is static is so by -static-pie, which -no-pie cancels.
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    if features.split(',').any(|feature| feature == "crt-static") {
        println!("cargo:rustc-link-arg-bin=disklab-guest=-static");
    }
}
