//! Flowops and composites.

use super::{around, fails, notes, read, source};
use crate::{Action, Attribute, Overrides, Personality};

#[test]
fn every_type_of_flowop_is_read() {
    let personality = read(&around(
        "flowop openfile name=a,filesetname=fs,fd=1,dsync,directio=true,noreadahead\n\
         flowop createfile name=b,filesetname=fs,fd=2\n\
         flowop read name=c,fd=1,iosize=4k,random,workingset=1m\n\
         flowop write name=d,filename=fs,iosize=4k,opennext\n\
         flowop readwholefile name=e,fd=1\n\
         flowop writewholefile name=f,fd=2,srcfd=1,iosize=1m\n\
         flowop appendfile name=g,fd=2,iosize=1k\n\
         flowop appendfilerand name=h,fd=2,iosize=1k,iters=3\n\
         flowop fsync name=i,fd=2\n\
         flowop fsyncset name=j,filesetname=fs\n\
         flowop closefile name=k,fd=1\n\
         flowop deletefile name=l,filesetname=fs\n\
         flowop statfile name=m,filesetname=fs,indexed=3\n\
         flowop makedir name=n,filesetname=fs\n\
         flowop removedir name=o,filesetname=fs\n\
         flowop listdir name=q,filesetname=fs\n\
         flowop aiowrite name=r,filesetname=fs,iosize=2k,random\n\
         flowop aiowait name=s\n\
         flowop finishoncount name=t,value=5,target=a\n\
         flowop finishonbytes name=u,value=1g\n\
         flowop eventlimit name=v\n\
         flowop iopslimit name=w,target=c\n\
         flowop opslimit name=x\n\
         flowop bwlimit name=y\n\
         flowop hog name=z,value=10\n\
         flowop delay name=aa,value=1\n\
         flowop print name=bb,value=2\n\
         flowop testrandvar name=cc,value=3\n\
         flowop block name=dd\n\
         flowop wakeup name=ee,target=dd\n\
         flowop semblock name=ff,value=10,highwater=20\n\
         flowop sempost name=gg,value=1,target=ff,blocking",
    ));
    // They are in a script without 'run', and nothing else is to be said of them.
    let [note] = &personality.notes[..] else { panic!("{}", notes(&personality)) };
    assert!(note.message.contains("no 'run'"), "{note}");
    let flowops = &personality.processes[0].threads[0].flowops;
    assert_eq!((flowops.len(), personality.flowop_count, personality.rows.len()), (32, 32, 32));
    let Action::OpenFile(files) = &flowops[0].action else { panic!() };
    assert!(files.how.dsync && files.how.direct && files.how.no_read_ahead);
    assert_eq!((files.fileset, files.slot), (Some(0), 1));
    let Action::Read(io) = &flowops[2].action else { panic!() };
    assert!(io.random && io.files.fileset.is_none());
    assert_eq!(io.working_set.0.fixed(), Some(1 << 20));
    let row = |name: &str| personality.rows.iter().position(|r| r == name);
    let Action::FinishOnCount(finish) = &flowops[18].action else { panic!() };
    assert_eq!(finish.target, row("a"));
    assert!(matches!(&flowops[21].action, Action::IopsLimit(target) if *target == row("c")));
    assert!(matches!(&flowops[29].action, Action::Wakeup(target) if Some(*target) == row("dd")));
    let Action::SemPost { target, blocking: true, .. } = &flowops[31].action else { panic!() };
    assert_eq!(Some(*target), row("ff"));
    let io: Vec<&str> =
        flowops.iter().filter(|f| f.action.is_io()).map(|f| f.name.as_str()).collect();
    assert_eq!(
        io,
        ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "q", "r", "s"]
    );
    assert_eq!(flowops.iter().filter(|f| f.action.is_read()).count(), 2);
    assert_eq!(flowops.iter().filter(|f| f.action.is_write()).count(), 5);
}

#[test]
fn composites_have_variables_of_their_own() {
    let personality = read(
        "set $size=8k\n\
         define fileset name=one,path=/t,entries=1,dirwidth=1\n\
         define fileset name=two,path=/t,entries=1,dirwidth=1\n\
         define flowop name=inner, $set, $io=1k, iters=2 {\n\
           flowop read name=rd, filesetname=$set, iosize=$io }\n\
         define flowop name=outer, $files, $n {\n\
           flowop inner name=in1, $set=$files\n\
           flowop inner name=in2, $set=two, $io=$size, iters=$n }\n\
         define process name=p { thread name=t {\n\
           flowop outer name=out, $n=7, $files=one, iters=3 } }",
    );
    let out = &personality.processes[0].threads[0].flowops[0];
    assert_eq!(out.iters.fixed(), Some(3));
    let Action::Composite(inner) = &out.action else { panic!() };
    let facts: Vec<_> = inner
        .iter()
        .map(|flowop| {
            let Action::Composite(list) = &flowop.action else { panic!() };
            let io = list[0].action.io().expect("a read");
            let row = personality.rows[list[0].row].as_str();
            (flowop.iters.fixed(), io.files.fileset, io.size.fixed(), row)
        })
        .collect();
    // As upstream names them (parser_inner_flowop_define), so that no two uses share a row.
    let (one, two) = ("out.in1.rd", "out.in2.rd");
    assert_eq!(facts, [(Some(2), Some(0), Some(1024), one), (Some(7), Some(1), Some(8192), two)]);
    assert_eq!(personality.rows, ["out", "out.in1", one, "out.in2", two]);
    assert_eq!(personality.flowops().len(), 5);
}

#[test]
fn composites_find_targets_of_their_own() {
    let personality = read(
        "define fileset name=one,path=/t,entries=1,dirwidth=1\n\
         define flowop name=both {\n\
           flowop read name=rd, filesetname=one, iosize=4k\n\
           flowop finishoncount name=fin, value=5, target=rd }\n\
         define process name=p { thread name=t {\n\
           flowop both name=a\n\
           flowop both name=b\n\
           flowop finishoncount name=fin, value=9, target=a.rd } }",
    );
    let targets: Vec<_> = personality
        .flowops()
        .into_iter()
        .filter_map(|flowop| match &flowop.action {
            Action::FinishOnCount(finish) => {
                Some((flowop.name.as_str(), personality.rows[finish.target?].as_str()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(targets, [("a.fin", "a.rd"), ("b.fin", "b.rd"), ("fin", "a.rd")]);
}

#[test]
fn a_personality_of_no_threads_is_an_error() {
    let text = |set: &str| {
        format!(
            "set $nthreads={set}\ndefine fileset name=one,path=/t,entries=1,dirwidth=1\n\
             define process name=p {{ thread name=t,instances=$nthreads {{\n\
             flowop statfile name=s,filesetname=one }} }}"
        )
    };
    fails(&text("0"), "3:1", "no thread runs");
    assert_eq!(read(&text("2")).rows, ["s"]);
}

#[test]
fn composites_that_go_wrong() {
    let base = "define fileset name=fs,path=/t,entries=1,dirwidth=1\n\
                define process name=p { thread name=t { flowop a name=x } }\n";
    fails(&format!("{base}define flowop name=a {{ flowop a name=y }}"), "3:31", "may use itself");
    fails(
        &format!("{base}define flowop name=a, $s {{ flowop statfile name=y,filesetname=$s }}"),
        "3:63",
        "'$s' has no value",
    );
    fails(
        &format!("{base}define flowop name=read {{ flowop aiowait name=y }}"),
        "3:1",
        "a type of flowop already",
    );
    fails(
        &format!("{base}define flowop name=bb {{ flowop aiowait name=y }}"),
        "2:48",
        "unknown flowop type",
    );
    fails(
        "define flowop name=a, $set { flowop aiowait name=y }\n\
         define process name=p { thread name=t { flowop a name=x,$sett=1 } }",
        "2:57",
        "did you mean 'set'",
    );
    let mut blow = "define flowop name=c0 { flowop aiowait name=y }\n".to_owned();
    for i in 1..=10 {
        let uses = format!("flowop c{} name=y ", i - 1).repeat(8);
        blow += &format!("define flowop name=c{i} {{ {uses} }}\n");
    }
    blow += "define process name=p { thread name=t { flowop c10 name=x } }";
    let error = Personality::read(&source(&blow), &Overrides::default()).expect_err("too many");
    assert!(error.to_string().contains("more than 16384 flowops"), "{error}");
}

#[test]
fn wrong_flowops_are_reported() {
    for (flowops, place, part) in [
        ("flowop raed name=a", "3:8", "did you mean 'read'"),
        ("flowop read name=a,iosize=4k,filesetname=fss", "3:42", "did you mean 'fs'"),
        ("flowop read name=a,iosize=4k", "3:8", "no flowop of this thread opens a file in slot 0"),
        ("flowop read name=a,filesetname=fs", "3:8", "iosize"),
        ("flowop read name=a,filesetname=fs,iosize=0", "3:35", "iosize"),
        ("flowop read name=a,filesetname=fs,iosize=fs", "3:42", "expected a number"),
        ("flowop read name=a,filesetname=fs,iosize=$io", "3:42", "'$io' is not set"),
        ("flowop read name=a,filesetname=fs,iosise=4k", "3:35", "did you mean 'iosize'"),
        ("flowop read iosize=4k,filesetname=fs", "3:8", "needs 'name='"),
        ("flowop openfile name=a,filesetname=fs,fd=128", "3:39", "from 0 to 127"),
        ("flowop openfile name=a", "3:8", "needs 'filesetname='"),
        ("flowop openfile name=a,filename=fs,filesetname=fs", "3:8", "give one"),
        ("flowop deletefile name=a", "3:8", "needs 'filesetname='"),
        ("flowop aiowrite name=a,filesetname=fs,iosize=4k", "3:8", "random"),
        ("flowop wakeup name=a", "3:8", "needs 'target='"),
        (
            "flowop block name=bb flowop wakeup name=a,target=ba",
            "3:50",
            "no 'block' is named 'ba' (did you mean 'bb'?)",
        ),
        ("flowop aiowait name=bb flowop wakeup name=a,target=bb", "3:52", "no 'block' is named"),
        (
            "flowop block name=bb flowop sempost name=a,target=bb,value=1",
            "3:51",
            "no 'semblock' is named",
        ),
        ("flowop finishoncount name=a,value=1,target=xy", "3:44", "no flowop of this thread"),
        ("flowop finishoncount name=a", "3:8", "needs 'value='"),
        ("flowop hog name=a,value", "3:19", "needs a value"),
        ("flowop aiowait name=a,$x=1", "3:23", "only composite"),
        ("flowop openfile name=a,filesetname=fs,dsync=maybe", "3:45", "true or false"),
    ] {
        fails(&around(flowops), place, part);
    }
    let noted = read(&around("flowop statfile name=a,filesetname=fs,iosize=4k"));
    assert!(notes(&noted).contains("'iosize' has no effect on 'statfile'"));
}

#[test]
fn an_index_is_a_share_where_filebench_takes_it_for_one() {
    let text = format!(
        "set $idx=randvar(type=uniform,mean=1)\n{}",
        around(
            "flowop statfile name=a,filesetname=fs,indexed=$idx flowop makedir name=b,filesetname=fs,indexed=$idx\n\
         flowop statfile name=c,filesetname=fs,indexed=3"
        )
    );
    let means = |text: &str| {
        let indexed = |f: &crate::Flowop| f.action.files()?.indexed.as_ref().map(Attribute::mean);
        read(text).flowops().into_iter().filter_map(indexed).collect::<Vec<_>>()
    };
    // 10 files, 5 empty directories.
    assert_eq!(means(&text), [1.0, 2.0, 3.0]);
    assert_eq!(means(&format!("{text}\nusage \"old\"")), [5.0, 2.0, 15.0]);
}
