mod flowops;
mod hostile;

use std::sync::Arc;
use std::time::Duration;

use crate::random::Rng;
use crate::{
    Action, Attribute, Dialect, Overrides, Personality, Quit, RunTime, ScriptCommand, SystemStep,
    WmlError,
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
fn wrong_filesets_and_processes_are_reported() {
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
            "define process name=q,instances=200 { thread name=t,instances=200 { flowop aiowait name=a } }",
            "2:1",
            "40001 threads in all; at most 16384",
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
        ("run fast", "2:5", "unknown command"),
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
        ("set $r=cvar(type=cvar-gamma,parameters=mean:x)", "1:40", "invalid number"),
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
    let Action::Hog(Attribute::Random(random)) = &given.processes[0].threads[0].flowops[1].action
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
        Action::Hog(Attribute::Constant(7))
    ));
}

#[test]
fn wrong_overrides_are_reported() {
    let text = format!("set $nfiles=5\n{}", around("flowop aiowait name=a"));
    for (name, value, part) in [
        ("nfile", "5", "'nfile' is not a variable of a.f (did you mean 'nfiles'?)"),
        ("zzzzzz", "5", "it sets nfiles"),
        ("nfiles", "5K", "small letters"),
        ("n files", "5", "not a variable name"),
        ("", "5", "not a variable name"),
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
    assert_eq!(personality.event_rate().and_then(Attribute::fixed), Some(10));
    let [
        ScriptCommand::EventRate(_),
        ScriptCommand::CreateFiles,
        ScriptCommand::System { steps, .. },
        ScriptCommand::Sleep(_),
        ScriptCommand::Echo(text),
        ScriptCommand::PeriodicRun { period: 5, reset: true, time: RunTime::Seconds(time) },
        ScriptCommand::ShutdownProcesses,
        ScriptCommand::ListFlowops,
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
        [ScriptCommand::CreateFiles, ScriptCommand::Run(RunTime::Unsaid)]
    ));
    assert_eq!(personality.run_time(), Some(Duration::from_secs(60)));
    assert_eq!(personality.notes.len(), 1);
    let said = notes(&personality);
    assert!(said.contains("no 'run'") && said.contains("it runs for 60 seconds"), "{said}");
    let endless = read(&format!("set mode quit alldone\n{text}"));
    assert!(notes(&endless).contains("it runs until its threads are done"));
    let unsaid = read(&format!("{text}\nrun"));
    assert_eq!(notes(&unsaid), "", "60 seconds is what Filebench means by it");
    let time = Some(Duration::from_millis(1500));
    let overrides = Overrides { variables: Vec::new(), run_time: time };
    let personality = Personality::read(&source(&text), &overrides).expect("valid");
    assert_eq!(personality.run_time(), time);
    let endless = read(&format!("set mode quit firstdone {text} run"));
    assert_eq!(endless.run_time(), None);
}

#[test]
fn file_space_and_run_time_are_predicted() {
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
            ScriptCommand::Set(variable, value) => variable.set(*value),
            ScriptCommand::Run(_) => sizes.push(size.draw(&mut Rng::stream(0, 0))),
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
    let Attribute::Random(io) = &flowops[1].action.io().expect("io").size else { panic!() };
    assert_eq!(io.round, 1024.0);
    let notes = notes(&personality);
    for part in ["filesizegamma", "'cached'", "posset"] {
        assert!(notes.contains(part), "{notes}");
    }
    let snaps = personality.commands.iter().filter(|c| matches!(c, ScriptCommand::StatsSnap));
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
fn statements_without_effect_are_noted() {
    let personality = read(&format!(
        "enable multi master=h,client=c domultisync value=1\n{}",
        around("flowop aiowait name=a").replace("dirwidth=5,", "").replace(
            "process name=p",
            "process name=q,instances=0 { thread name=t { \
                      flowop statfile name=s,filesetname=fs } }\ndefine process name=p"
        )
    ));
    let notes = notes(&personality);
    for part in ["enable multi", "domultisync", "dirwidth", "0 instances"] {
        assert!(notes.contains(part), "{notes}");
    }
}
