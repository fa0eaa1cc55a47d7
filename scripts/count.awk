# Lists what tests were skipped for, and counts tests: awk -v examples=LOG -f … junit.xml
#
# A test is skipped if it passed and said 'skipped: needs …', be it for a part of it only.
# The log is what `cargo test --doc` printed; there may be none.

function close_test() {
    if (name == "") return
    if (failed_here) failed++
    else if (skipped_here) skipped++
    else passed++
    name = ""
}
/<testcase / {
    close_test()
    name = $0
    failed_here = skipped_here = 0
}
/<(failure|error)[ >]/ { failed_here = 1 }
match($0, /skipped: needs .*/) {
    skipped_here = 1
    why = substr($0, RSTART)
    sub(/<\/system-(out|err)>.*/, "", why)
    gsub(/&apos;/, "'", why)
    gsub(/&quot;/, "\"", why)
    gsub(/&lt;/, "<", why)
    gsub(/&gt;/, ">", why)
    gsub(/&amp;/, "\\&", why)
    reasons[why]++
}
END {
    close_test()
    while (examples != "" && (getline line < examples) > 0) {
        if (line !~ /^test result: /) continue
        split(line, words, /[^0-9]+/)
        passed += words[2]
        failed += words[3]
    }
    for (why in reasons) printf "%7d %s\n", reasons[why], why | "sort -k2"
    close("sort -k2")
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
}
