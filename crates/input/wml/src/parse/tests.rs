use std::sync::Arc;

use disklab_source::Source;
use proptest::prelude::*;

use super::syntax::{Expression, SetValue, Statement};
use super::{Script, script};

fn read(text: &str) -> Result<Script, String> {
    let source = Source { name: "a.f".to_owned(), text: text.to_owned() };
    script(&Arc::new(source)).map_err(|e| e.to_string())
}

/// Line, column and a part of the message.
fn fails(text: &str, place: &str, part: &str) {
    let error = read(text).expect_err(text);
    assert!(error.starts_with(&format!("a.f:{place}: ")), "{error}");
    assert!(error.contains(part), "{error}");
}

#[test]
fn numbers_and_values() {
    let script = read("set $a=4k set $bb=true\nset $c=/mnt/x-1.y # text\nset $d=\"a $b\\n\"")
        .expect("valid");
    let values: Vec<_> = script
        .statements
        .iter()
        .map(|s| match &s.value {
            Statement::Set(_, SetValue::Plain(value)) => value.value.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(values[0], Expression::Int(4096));
    assert_eq!(values[1], Expression::Bool(true));
    assert!(script.old.is_none());
    use super::lex::Piece::{Literal, Variable};
    let text = |pieces: &[super::lex::Piece]| Expression::Text(pieces.to_vec());
    assert_eq!(values[2], text(&[Literal("/mnt/x-1.y".to_owned())]));
    let pieces = [Literal("a ".to_owned()), Variable("b".to_owned()), Literal("\n".to_owned())];
    assert_eq!(values[3], text(&pieces));
}

#[test]
fn errors_show_the_location_and_what_was_expected() {
    fails("set $a=4K", "1:8", "k, m or g");
    fails("set $a=1.5", "1:8", "invalid number");
    fails("set $a=99999999999999999999", "1:8", "too large");
    fails("set $a=9g\nset $b=9000000000g", "2:8", "too large");
    fails("set a=4", "1:5", "expected a variable");
    fails("set $=4", "1:5", "variable's name");
    fails("defien file name=x", "1:1", "did you mean 'define'");
    fails("define fileste name=x", "1:8", "did you mean 'fileset'");
    fails("echo hello", "1:6", "a text in quotes");
    fails("echo \"hello", "1:6", "never closed");
    fails("define fileset name=a size=4k", "1:23", "',' before the next attribute");
    fails("define fileset name=a,", "1:23", "an attribute's name");
    fails("define fileset name=a,name=b", "1:23", "twice; first in line 1");
    fails("define process name=a {", "1:23", "never closed");
    fails("define process name=a { }", "1:25", "expected 'thread'");
    fails("define process name=a { thread { flowop read name=x", "1:32", "never closed");
    fails("define process name=a { thread { read name=x } }", "1:34", "expected 'flowop'");
    fails("thread name=a", "1:1", "inside of 'define process");
    fails("set $x=randvar(type=gamma", "1:26", "')'");
    fails("set $x=randvar(type=tabular,randtable={{1,2}})", "1:44", "upper end");
    fails("set mode quit never", "1:15", "'timeout', 'alldone' or 'firstdone'");
    fails("run -5", "1:5", "expected a command");
    fails("set $a=-5", "1:8", "below 0");
    fails("set $a=$(HOME)", "1:8", "environment");
    fails("set $a=${date", "1:8", "never closed");
    fails("set $a=$b+1*2", "1:12", "one operator");
    fails("set $a=%", "1:8", "'%' has no meaning");
    fails("foreach $x in 1,2 { run 5", "1:19", "never closed");
    fails("quit quitt", "1:6", "did you mean 'quit'");
}

#[test]
fn the_old_dialect_is_seen() {
    for text in [
        "usage \"set \\$dir\"",
        "set $a=$b*$c",
        "set $a=$b/2",
        "set $a=$b -2",
        "set $a=$b",
        "define randvar name=$x,type=uniform,mean=5",
        "set $x.mean = 5",
        "stats clear stats snap stats dump \"x.out\" stats directory /tmp stats command \"iostat\"",
        "foreach $n in 1,2,4 { foreach $m in \"a\",\"b\" { run 5 } }",
        "warmup 10",
        "log \"x\"",
        "load fileserver",
        "vars help",
        "fscheck path=/tmp,fstype=zfs",
        "define posset name=p,type=rnd,entries=100,max=10m",
    ] {
        assert!(read(text).expect(text).old.is_some(), "{text}");
    }
    let new = "create files create processes shutdown process list list fileset list flowop\n\
               psrun psrun 10 psrun -10 60 run run 60 run $t sleep 5 debug 3 version\n\
               enable lathist enable multi master=h,client=c domultisync value=1 set mode nousestats\n\
               eventgen rate=0 quit";
    assert!(read(new).expect("valid").old.is_none());
}

#[test]
fn deep_nesting_ends_with_an_error() {
    let text = "foreach $x in 1 { ".repeat(5000);
    assert!(read(&text).expect_err("too deep").contains("nested"));
    assert!(read(&"#".repeat(super::lex::MAX_BYTES + 1)).expect_err("too long").contains("bytes"));
    let many = format!(
        "define file name=a{}",
        (0..5000).fold(String::new(), |s, i| s + &format!(",a{i}=1"))
    );
    assert!(read(&many).expect_err("too many").contains("at most"));
}

proptest! {
    #[test]
    fn no_text_panics(text in ".{0,200}") {
        let _ = read(&text);
    }

    #[test]
    fn nothing_made_of_wml_panics(words in prop::collection::vec(prop::sample::select(vec![
        "set", "$a", "$bb", "=", "4k", "-3", "define", "fileset", "process", "thread", "flowop", "read",
        "name", ",", "{", "}", "(", ")", "randvar", "randtable", "\"x $y\"", "\"", "foreach", "in", "run",
        "stats", "dump", "*", "/", "-", ".mean", "true", "eventgen", "rate", "#\n", "é", "$(", "${x}",
    ]), 0..40)) {
        let _ = read(&words.join(" "));
        let _ = read(&words.concat());
    }
}
