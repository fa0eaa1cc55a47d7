//! Scripts made to hurt.

use proptest::prelude::*;

use super::{around, fails, read_with};
use crate::random::{Rng, Uniform};

#[test]
fn loops_do_not_run_away() {
    let loops = "foreach $x in 1,2,3,4,5,6,7,8,9,10 { ".repeat(8) + &"} ".repeat(8);
    fails(&format!("{loops}{}", around("flowop aiowait name=a")), "1:268", "turns");
    let text = "set $a=\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" set $b=\"x$a$a$a$a$a$a$a$a\" set $c=\"$b$b$b$b$b$b$b$b\"\n\
                set $d=\"$c$c$c$c$c$c$c$c\" set $e=\"$d$d$d$d$d$d$d$d\" set $f=\"$e$e$e$e$e$e$e$e\"\n";
    fails(&format!("{text}{}", around("flowop aiowait name=a")), "2:34", "grows beyond");
}

proptest! {
    #[test]
    fn no_script_panics(words in prop::collection::vec(prop::sample::select(vec![
        "set $a=5", "set $b=$a*$a", "set $r=randvar(mean=$a)", "set $c=cvar(type=cvar-gamma)", "set $t=\"$t$a$b\"",
        "define fileset name=fs,path=$t,entries=$a,dirwidth=$r", "define file name=$t,path=/t,prealloc=$b",
        "define process name=p{thread name=t,instances=$a{", "}}", "flowop read name=x,filesetname=fs,iosize=$r",
        "flowop comp name=y,$v=$a", "define flowop name=comp,$v{", "}", "flowop hog name=z,value=$v",
        "foreach $a in 1,2{", "run $a", "create files", "eventgen rate=$r", "psrun -1 5", "load varmail", "quit",
        "flowop wakeup name=q,target=x", "set mode quit alldone", "stats snap", "set $r.mean=$a",
    ]), 0..25), given in prop::collection::vec(("[abrt]", "[0-9a-z]{0,3}"), 0..2)) {
        let text = words.join("\n");
        let given: Vec<(&str, &str)> = given.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        if let Ok(personality) = read_with(&text, &given) {
            let mut rng = Rng::stream(1, 0);
            prop_assert_eq!(personality.flowops().len(), personality.flowop_count);
            for flowop in personality.flowops() {
                flowop.iters.draw(&mut rng);
            }
            prop_assert!(rng.unit() < 1.0);
        }
    }

    #[test]
    fn no_damaged_personality_panics(which in 0..crate::PERSONALITIES.len(), cuts in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..40, "[$={},a-z0-9\" ]{0,5}"), 1..5)) {
        let mut text = crate::PERSONALITIES[which].text.to_owned();
        for (at, len, put) in cuts {
            let at = at.index(text.len());
            let end = (at + len).min(text.len());
            // All messages are ASCII.
            text.replace_range(at..end, &put);
        }
        if let Err(error) = read_with(&text, &[]) {
            prop_assert!(error.to_string().starts_with("a.f:"), "{}", error);
        }
    }
}

/// What grows fastest must end with an error in no time, whatever the machine.
#[test]
fn scripts_made_to_grow_are_refused() {
    let long = "a".repeat(900_000);
    fails(&format!("set $x={long}"), "1:8", "longer than");
    fails(&format!("echo \"{long}\""), "1:6", "longer than");
    let error =
        read_with(&format!("set $nn=5 run ${}", "b".repeat(900)), &[]).expect_err("not set");
    assert!(error.to_string().contains("is not set"), "{error}");
    let text = format!(
        "set $a=\"{}\" foreach $x in {} {{ echo \"$a$a\" }}",
        "a".repeat(30_000),
        vec!["1"; 900].join(",")
    );
    let error = read_with(&text, &[]).expect_err("too much").to_string();
    assert!(error.contains("the texts grow beyond"), "{error}");
    let many: String = (0..9000)
        .map(|i| format!("flowop block name=n{i} flowop wakeup name=w{i},target=n{i}\n"))
        .collect();
    let error = read_with(&around(&many), &[]).expect_err("too many").to_string();
    assert!(error.contains("more than 16384 flowops"), "{error}");
}
