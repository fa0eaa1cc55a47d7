mod hostile;

use std::sync::Arc;
use std::time::Duration;

use crate::random::Rng;
use crate::{
    Action, Command, Dialect, Overrides, Personality, Quit, RunTime, SystemStep, Value, WmlError,
};
use disklab_source::Source;

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source { name: "a.f".to_owned(), text: text.to_owned() })
}

fn read(text: &str) -> Personality {
    Personality::read(&source(text), &Overrides::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn read_with(text: &str, variables: &[(&str, &str)]) -> Result<Personality, WmlError> {
    let variables = variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    Personality::read(&source(text), &Overrides { variables, run_time: None })
}

/// A script around flowops, with a fileset `fs` (10 files, 5 leaf directories).
fn around(flowops: &str) -> String {
    format!(
        "define fileset name=fs,path=/tmp,entries=10,leafdirs=5,dirwidth=5,size=4k\n\
         define process name=p {{ thread name=t {{\n{flowops}\n}} }}"
    )
}

fn fails(text: &str, place: &str, part: &str) {
    let error =
        Personality::read(&source(text), &Overrides::default()).expect_err(text).to_string();
    assert!(error.starts_with(&format!("a.f:{place}: ")), "{error}");
    assert!(error.contains(part), "{error}");
}

fn notes(personality: &Personality) -> String {
    personality.notes.iter().map(|n| n.message.as_str()).collect::<Vec<_>>().join("\n")
}

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
    assert_eq!(notes(&personality), "");
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
            (flowop.iters.fixed(), io.files.fileset, io.size.fixed(), list[0].row)
        })
        .collect();
    let rd = personality.rows.iter().position(|r| r == "rd").expect("row");
    assert_eq!(facts, [(Some(2), Some(0), Some(1024), rd), (Some(7), Some(1), Some(8192), rd)]);
    assert_eq!(personality.flowops().len(), 5);
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
        "no type of flowop",
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
fn wrong_flowops_are_told() {
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
fn wrong_filesets_and_processes_are_told() {
    let process = "define process name=p { thread name=t { flowop aiowait name=a } }\n";
    for (text, place, part) in [
        ("define fileset path=/t,entries=1", "2:1", "needs 'name='"),
        ("define fileset name=a,entries=1", "2:1", "needs 'path='"),
        ("define fileset name=a,path=/t", "2:1", "nothing in it"),
        ("define fileset name=a/b,path=/t,entries=1", "2:21", "cannot be a directory's name"),
        ("define fileset name=\"..\",path=/t,entries=1", "2:21", "cannot be a directory's name"),
        ("define fileset name=a,path=/t,entries=1,prealloc=101", "2:41", "share in percent"),
        ("define fileset name=a,path=/t,entries=1,prealloc=some", "2:50", "true or false"),
        ("define fileset name=a,path=/t,entries=1,dirdepthrv=5", "2:41", "random variable"),
        ("define file name=a,path=/t,entries=1", "2:28", "no attribute 'entries'"),
        (
            "define fileset name=a,path=/t,entries=1\ndefine file name=a,path=/t",
            "3:1",
            "twice; first in line 2",
        ),
        (
            "define process name=p { thread name=t { flowop aiowait name=a } }",
            "2:1",
            "defined twice",
        ),
        (
            "define process name=q,instances=10000 { thread name=t,instances=10000 { flowop aiowait name=a } }",
            "2:1",
            "100000001 threads",
        ),
        (
            "define process name=q { thread name=t,ioprio=8 { flowop aiowait name=a } }",
            "2:39",
            "0 (highest) to 7",
        ),
        ("eventgen", "2:1", "needs 'rate='"),
        ("eventgen rate=fast", "2:15", "expected a number"),
        ("run fast", "2:5", "no command"),
        ("set $t=fast run $t", "2:13", "number of seconds"),
        ("echo \"x\" run 1 define file name=a,path=/t", "2:16", "before the first 'run'"),
    ] {
        fails(&format!("{process}{text}"), place, part);
    }
    fails("set $a=5", "1:1", "no process");
}

#[test]
fn random_variables_are_checked() {
    let script = |set: &str| format!("{set}\n{}", around("flowop aiowait name=a"));
    for (set, place, part) in [
        ("set $r=randvar(type=gama)", "1:21", "did you mean 'gamma'"),
        ("set $r=randvar(type=uniform)", "1:5", "needs 'mean='"),
        ("set $r=randvar(gamma=0)", "1:5", "above 0"),
        ("set $r=randvar(mean=5,min=6)", "1:5", "below 'min'"),
        ("set $r=randvar(type=tabular)", "1:5", "needs 'randtable='"),
        ("set $r=randvar(type=uniform,mean=4,randtable={{100,1,2}})", "1:5", "'tabular'"),
        ("set $r=randvar(type=tabular,randtable={{50,1,2},{49,2,3}})", "1:29", "sum to 99 %"),
        ("set $r=randvar(type=tabular,randtable={{100,3,2}})", "1:45", "ends before"),
        ("set $r=randvar(sort=gamma)", "1:16", "no attribute 'sort'"),
        ("set $r=randvar(randsrc=dice)", "1:24", "'rand48' or 'urandom'"),
        ("set $r=cvar(type=cvar-gama)", "1:18", "did you mean 'cvar-gamma'"),
        ("set $r=cvar(type=cvar-gamma,parameters=mean:x)", "1:40", "no number"),
        ("set $r=cvar(type=cvar-normal,min=5,max=4)", "1:5", "above 'max'"),
    ] {
        fails(&script(set), place, part);
    }
    let text = "set $mean=16k set $r=randvar(type=gamma,mean=$mean,min=1k,round=512)\n\
                set $c=cvar(type=cvar-uniform,parameters=lower:4096;upper:8192,round=4096)\n\
                set $t=randvar(min=1k,randtable={{80,1k,4k},{20,4k,$mean}})\n";
    let personality = read(&format!(
        "{text}{}",
        around(
            "flowop write name=a,filesetname=fs,iosize=$r flowop write name=b,filesetname=fs,iosize=$c\n\
         flowop write name=c,filesetname=fs,iosize=$t",
        )
    ));
    let size =
        |i: usize| &personality.processes[0].threads[0].flowops[i].action.io().expect("io").size;
    let mut rng = Rng::stream(1, 1);
    for _ in 0..1000 {
        let (a, b, c) = (size(0).draw(&mut rng), size(1).draw(&mut rng), size(2).draw(&mut rng));
        assert!(a >= 1024 && a % 512 == 0, "{a}");
        assert!(b == 4096 || b == 8192, "{b}");
        assert!((1024..=16384).contains(&c), "{c}");
    }
    assert_eq!((size(0).mean(), size(1).mean(), size(2).mean()), (16384.0, 6144.0, 4096.0));
    let shown: Vec<&str> = personality.variables.iter().map(|v| v.value.as_str()).collect();
    assert_eq!(shown[..2], ["16384", "gamma of shape 1.5, mean 16384, min 1024"]);
}

#[test]
fn overrides_reach_everything_bound_to_them() {
    let text = format!(
        "set $n=5\nset $half=$n/2\nset $name=fs\nset $r=randvar(type=uniform,mean=$n)\n\
         define fileset name=two,path=$dir,entries=$n,dirwidth=2\n{}\nset $n=6\nrun $n",
        around("flowop write name=a,filesetname=$name,iosize=$half flowop hog name=b,value=$r")
    );
    let plain = read_with(&text, &[("dir", "/mnt")]).expect("valid");
    // Bound late: the last 'set' before the run counts, but calculations do not follow.
    assert_eq!(plain.filesets[0].entries.fixed(), Some(6));
    assert_eq!(
        plain.processes[0].threads[0].flowops[0].action.io().expect("io").size.fixed(),
        Some(2)
    );
    assert_eq!(plain.filesets[0].path, "/mnt");
    assert_eq!(plain.run_time(), Some(Duration::from_secs(6)));
    let given = read_with(&text, &[("$dir", "/mnt"), ("n", "1k"), ("name", "two")]).expect("valid");
    assert_eq!(given.filesets[0].entries.fixed(), Some(1024));
    let io = given.processes[0].threads[0].flowops[0].action.io().expect("io");
    assert_eq!((io.size.fixed(), io.files.fileset), (Some(512), Some(0)));
    let Action::Hog(Value::Random(random)) = &given.processes[0].threads[0].flowops[1].action
    else {
        panic!()
    };
    assert_eq!(random.mean, 1024.0);
    assert_eq!(given.run_time(), Some(Duration::from_secs(1024)));
    let setting = given.variables.iter().find(|v| v.name == "n").expect("set");
    assert!(setting.given && setting.value == "1024");
    // A constant in place of a random variable.
    let constant = read_with(&text, &[("dir", "/mnt"), ("r", "7")]).expect("valid");
    assert!(matches!(
        constant.processes[0].threads[0].flowops[1].action,
        Action::Hog(Value::Constant(7))
    ));
}

#[test]
fn wrong_overrides_are_told() {
    let text = format!("set $nfiles=5\n{}", around("flowop aiowait name=a"));
    for (name, value, part) in [
        ("nfile", "5", "'nfile' is no variable of a.f (did you mean 'nfiles'?)"),
        ("zzzzzz", "5", "it sets nfiles"),
        ("nfiles", "5K", "small letters"),
        ("n files", "5", "no variable's name"),
        ("", "5", "no variable's name"),
    ] {
        let error = read_with(&text, &[(name, value)]).expect_err(name).to_string();
        assert!(error.contains(part), "{error}");
    }
    let error = read_with(&text, &[("nfiles", "5"), ("$nfiles", "6")]).expect_err("twice");
    assert!(error.to_string().contains("given twice"), "{error}");
}

#[test]
fn commands_keep_their_order() {
    let personality = read(
        &(around("flowop aiowait name=a").replace(
            "define fileset",
            "set mode quit alldone enable lathist eventgen rate=10 create files\n\
         system \"sync; echo 3 > /proc/sys/vm/drop_caches; rm -rf /\" sleep 2 echo \"hello $dir\"\n\
         define fileset",
        ) + "\npsrun -5 100 shutdown processes list flowop quit run 7"),
    );
    assert_eq!((personality.quit, personality.latency_histogram), (Quit::AllDone, true));
    assert_eq!(personality.dialect, Dialect::V15);
    assert_eq!(personality.event_rate().and_then(Value::fixed), Some(10));
    let [
        Command::EventRate(_),
        Command::CreateFiles,
        Command::System { steps, .. },
        Command::Sleep(_),
        Command::Echo(text),
        Command::PeriodicRun { period: 5, reset: true, time: RunTime::Seconds(time) },
        Command::ShutdownProcesses,
        Command::ListFlowops,
    ] = personality.commands.as_slice()
    else {
        panic!("{:?}", personality.commands)
    };
    assert_eq!(text, "hello $dir");
    assert_eq!(time.fixed(), Some(100));
    assert_eq!(steps[..2], [SystemStep::Sync, SystemStep::DropCaches(3)]);
    assert!(notes(&personality).contains("'rm -rf /' is not executed"));
    assert_eq!(personality.run_time(), Some(Duration::from_secs(102)));
}

#[test]
fn a_script_without_run_gets_one() {
    let text = around("flowop aiowait name=a");
    let personality = read(&text);
    assert!(matches!(
        personality.commands.as_slice(),
        [Command::CreateFiles, Command::Run(RunTime::Unsaid)]
    ));
    assert_eq!(personality.run_time(), Some(Duration::from_secs(60)));
    let time = Some(Duration::from_millis(1500));
    let overrides = Overrides { variables: Vec::new(), run_time: time };
    let personality = Personality::read(&source(&text), &overrides).expect("valid");
    assert_eq!(personality.run_time(), time);
    let endless = read(&format!("set mode quit firstdone {text} run"));
    assert_eq!(endless.run_time(), None);
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
        let indexed = |f: &crate::Flowop| f.action.files()?.indexed.as_ref().map(Value::mean);
        read(text).flowops().into_iter().filter_map(indexed).collect::<Vec<_>>()
    };
    // 10 files, 5 empty directories.
    assert_eq!(means(&text), [1.0, 2.0, 3.0]);
    assert_eq!(means(&format!("{text}\nusage \"old\"")), [5.0, 2.0, 15.0]);
}

#[test]
fn what_files_take_is_foreseen() {
    let personality =
        read(&around("flowop aiowait name=a").replace("size=4k", "size=4k,prealloc=50"));
    let fileset = &personality.filesets[0];
    assert_eq!((fileset.expected_bytes(), fileset.expected_bytes_before()), (40960.0, 20480.0));
    let random = read(&format!(
        "set $t=randvar(type=uniform,mean=30) {} run $t",
        around("flowop aiowait name=a")
    ));
    assert_eq!(random.run_time(), Some(Duration::from_secs(30)));
}

#[test]
fn numbers_may_change_between_runs() {
    let text = format!(
        "set $io=4k set $other=1\n{}\n\
        foreach $io in 8k, 16k {{ set $other=$io run 5 stats snap }}",
        around("flowop write name=a,filesetname=fs,iosize=$io")
    );
    let personality = read(&text);
    let size = &personality.processes[0].threads[0].flowops[0].action.io().expect("io").size;
    assert_eq!(size.fixed(), Some(8192));
    let mut sizes = Vec::new();
    for command in &personality.commands {
        match command {
            Command::Set(variable, value) => variable.set(*value),
            Command::Run(_) => sizes.push(size.draw(&mut Rng::stream(0, 0))),
            _ => {}
        }
    }
    assert_eq!(sizes, [8192, 16384]);
    personality.rewind();
    assert_eq!(size.fixed(), Some(8192));
    // What is set for the first time changes nothing.
    let late = around("flowop statfile name=a,filesetname=$fs")
        .replace("define process", "create files set $fs=fs define process");
    assert_eq!(
        read(&late).processes[0].threads[0].flowops[0].action.files().and_then(|f| f.fileset),
        Some(0)
    );
    let text = around("flowop statfile name=a,filesetname=$fs");
    fails(&format!("set $fs=fs\n{text}\nrun 5\nset $fs=xx run 5"), "7:5", "only numbers can");
}

#[test]
fn the_old_dialect_is_accepted() {
    let personality = read(
        "set $dir=/tmp\nset $nfiles=10\nset $rate=3\nset $cached=false\nset $total=$nfiles * $rate\n\
         define randvar name=$io, type=tabular, min=1k, randtable =\n{{ 80, 1k, 4k},\n { 15, 4k, 16k},\n { 05, 16k, 64k}}\n\
         set $io.round = 1k\n\
         define posset name=pos, type=rnd, seed=5, entries=100, max=10m\n\
         define fileset name=fs,path=$dir,size=16k,entries=$total,dirwidth=1024,prealloc=100,cached=$cached\n\
         define file name=big,path=$dir,size=1g\n\
         define fileset name=exact,path=$dir,size=16k,entries=1,dirwidth=2,filesizegamma=0\n\
         define process name=p,instances=1 { thread name=t,memsize=10m,instances=1,procname=p {\n\
           flowop openfile name=open-file,filesetname=fs,fd=1\n\
           flowop appendfile name=write-file,dsync=false,iosize=$io,fd=1,iters=10\n\
           flowop write name=w,filename=big,possetname=pos,iosize=4k\n\
           flowop closefile name=close,fd=1\n\
           flowop finishoncount name=finish,value=1 } }\n\
         echo \"Loaded\"\nusage \"set \\$dir=<dir> defaults to $dir\"\nusage \" \"\n\
         stats clear run 5 stats snap stats dump \"x.out\" shutdown processes",
    );
    assert_eq!(personality.dialect, Dialect::V149);
    assert_eq!(personality.filesets[0].entries.fixed(), Some(30));
    let shapes: Vec<f64> = personality.filesets.iter().map(|f| f.size_shape).collect();
    assert_eq!(shapes, [1.5, 0.0, 0.0]);
    let flowops = &personality.processes[0].threads[0].flowops;
    let write = flowops[2].action.io().expect("io");
    assert!(write.random && write.working_set.0.fixed() == Some(10 << 20));
    let Value::Random(io) = &flowops[1].action.io().expect("io").size else { panic!() };
    assert_eq!(io.round, 1024.0);
    let notes = notes(&personality);
    for part in ["filesizegamma", "'cached'", "posset"] {
        assert!(notes.contains(part), "{notes}");
    }
    let snaps = personality.commands.iter().filter(|c| matches!(c, Command::StatsSnap));
    assert_eq!(snaps.count(), 2);
}

#[test]
fn load_takes_disklabs_personalities() {
    let personality = read("load fileserver\nset $nfiles=500\nset $runtime=5\nrun 30");
    assert_eq!(personality.filesets[0].entries.fixed(), Some(500));
    assert_eq!(personality.run_time(), Some(Duration::from_secs(30)));
    fails("load fileservr", "1:6", "did you mean 'fileserver'");
}

#[test]
fn what_has_no_effect_is_noted() {
    let personality = read(&format!(
        "enable multi master=h,client=c domultisync value=1\n{}",
        around("flowop aiowait name=a")
            .replace("dirwidth=5,", "")
            .replace("process name=p", "process name=p,instances=0")
    ));
    let notes = notes(&personality);
    for part in ["enable multi", "domultisync", "dirwidth", "0 instances"] {
        assert!(notes.contains(part), "{notes}");
    }
}
