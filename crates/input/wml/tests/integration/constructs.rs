//! What the workloads of Filebench itself are made of, in our own words: each must be
//! read, and mean what it means there.
//!
//! The names are those of the workloads that use the construct
//! (`workloads/` of Filebench, in its forms of 1.4.9 and 1.5).

use std::sync::Arc;

use disklab_source::Source;
use disklab_wml::{Action, Attribute, Dialect, Overrides, Personality, Quit, ScriptCommand};

/// A workload's name, a script with its constructs, and its dialect.
const SCRIPTS: &[(&str, &str, Dialect)] = &[
    (
        "filemicro_create: a thread that makes one large file, and stops after so many writes",
        "set $dir=/tmp\nset $nthreads=1\nset $iosize=1m\nset $count=1024\nset $sync=false\nset mode quit firstdone\n\
         define fileset name=bigfileset,path=$dir,size=0,entries=$nthreads,dirwidth=1024\n\
         define process name=filecreate,instances=1 {\n\
           thread name=filecreatethread,memsize=10m,instances=$nthreads {\n\
             flowop createfile name=create1,filesetname=bigfileset,fd=1\n\
             flowop appendfile name=append-file,filesetname=bigfileset,iosize=$iosize,fd=1,dsync=$sync,iters=$count\n\
             flowop closefile name=close,fd=1\n\
             flowop finishoncount name=finish,value=1,target=close } }",
        Dialect::V15,
    ),
    (
        "filemicro_createfiles: writes whole files without a source",
        "set $nfiles=1k\ndefine fileset name=big,path=/tmp,size=16k,entries=$nfiles,dirwidth=100\n\
         define process name=p,instances=1 { thread name=t,memsize=10m,instances=16 {\n\
           flowop createfile name=create1,filesetname=big,fd=1\n\
           flowop writewholefile name=write1,filesetname=big,fd=1\n\
           flowop closefile name=close1,fd=1\n\
           flowop opslimit name=limit\n\
           flowop finishoncount name=finish,value=$nfiles } }",
        Dialect::V15,
    ),
    (
        "filemicro_createrand: appends, syncs the slot that the append has opened, ends after so many bytes",
        "set $bytes=1g set $sync=false define file name=large,path=/tmp,size=0,prealloc\n\
         define process name=p,instances=1 { thread name=t,memsize=10m,instances=1 {\n\
           flowop appendfilerand name=append-file,filename=large,dsync=$sync,iosize=1m,iters=10\n\
           flowop fsync name=sync flowop finishonbytes name=finish,value=$bytes } }",
        Dialect::V15,
    ),
    (
        "filemicro_rread and rwrite: `cached`, and usage lines",
        "set $dir=/tmp\nset $cached=false\nset $bytes=128m\n\
         define file name=bigfile1,path=$dir,size=1g,prealloc,reuse,cached=$cached\n\
         define process name=p,instances=1 { thread name=t,memsize=10m,instances=1 {\n\
           flowop read name=read-file,filename=bigfile1,random,iosize=2k,iters=1\n\
           flowop finishonbytes name=finish,value=$bytes } }\n\
         echo  \"Read Version 0 is loaded\"\nusage \"Usage: set \\$dir=<dir>   defaults to $dir\"\nusage \" \"",
        Dialect::V149,
    ),
    (
        "filemicro_rwritefsync: a sync after 10 writes; finishoncount with a target",
        "define file name=big,path=/tmp,size=1g,prealloc,reuse,paralloc\n\
         define process name=p { thread name=t,memsize=10m {\n\
           flowop write name=write-file,filename=big,random,iosize=8k,iters=16384\n\
           flowop fsync name=sync-file flowop finishoncount name=finish,value=1,target=sync-file } }",
        Dialect::V15,
    ),
    (
        "filemicro_seqwriterandvargam: a random variable of the old form",
        "set $nthreads=1\nset $count=128k\nset $sync=false\n\
         define randvar name=$iosize, type=gamma, min=1k, mean=5632, gamma=1500\n\
         define fileset name=big,path=/tmp,size=0,entries=$nthreads,dirwidth=1024,prealloc=100\n\
         define process name=p,instances=1 { thread name=t,memsize=10m,instances=$nthreads {\n\
           flowop openfile name=open-file,filesetname=big,fd=1\n\
           flowop appendfile name=write-file,dsync=$sync,iosize=$iosize,fd=1,iters=$count\n\
           flowop closefile name=close,fd=1 flowop finishoncount name=finish,value=1 } }",
        Dialect::V149,
    ),
    (
        "filemicro_seqwriterandvartab: a table over several lines, numbers with a leading zero",
        "define randvar name=$iosize, type=tabular, min=1k, randtable =\n\
         {{ 80, 1k, 4k},\n { 15, 4k, 16k},\n { 05, 16k, 64k}}\n\
         define fileset name=big,path=/tmp,size=0,entries=1,dirwidth=1024,prealloc=100\n\
         define process name=p { thread name=t,memsize=10m {\n\
           flowop openfile name=o,filesetname=big,fd=1\n\
           flowop appendfile name=w,iosize=$iosize,fd=1 flowop closefile name=c,fd=1 } }",
        Dialect::V149,
    ),
    (
        "filemicro_writefsync: appends of a whole tree",
        "define fileset name=big,path=/tmp,size=0,entries=1k,dirwidth=100,prealloc=100\n\
         define process name=p { thread name=t,memsize=10m {\n\
           flowop appendfile name=append-file,filesetname=big,iosize=8k,iters=1250\n\
           flowop fsync name=fsync-file flowop finishoncount name=finish,value=1250 } }",
        Dialect::V15,
    ),
    (
        "randomfileaccess: several slots, picks by index, a random variable without type in front",
        "set $nfiles=10000\n\
         define randvar name=$wrtiosize, min=512, round=512, type=gamma, mean=16k\n\
         define randvar name=$rdiosize, type=tabular, min=8k, round=1k, randtable =\n{{85,   8k,  8k},\n {15,   8k, 64k}\n}\n\
         define randvar name=$fileidx, type=gamma, min=0, gamma=100\n\
         define fileset name=big,path=/tmp,size=$rdiosize,entries=$nfiles,dirwidth=20,prealloc=100\n\
         define process name=p,instances=1 { thread name=t,memsize=10m,instances=5 {\n\
           flowop openfile name=o1,filesetname=big,indexed=$fileidx,fd=1\n\
           flowop openfile name=o2,filesetname=big,indexed=$fileidx,fd=2\n\
           flowop appendfilerand name=a1,iosize=$wrtiosize,fd=1\n\
           flowop readwholefile name=r1,iosize=$rdiosize,fd=2\n\
           flowop closefile name=c1,fd=1 flowop closefile name=c2,fd=2 } }",
        Dialect::V149,
    ),
    (
        "networkfs: a calculated variable; composites that are given their fileset",
        "set $eventrate=10\nset $nfiles=100\nset $totalfiles=$nfiles * $eventrate\neventgen rate=$eventrate\n\
         define fileset name=big,path=/tmp,size=4k,entries=$totalfiles,dirwidth=20,prealloc=60\n\
         define flowop name=rmw, $filesetrmw\n{\n\
           flowop openfile name=o1,filesetname=$filesetrmw,fd=1\n\
           flowop createfile name=n2,filesetname=$filesetrmw,fd=2\n\
           flowop writewholefile name=w2,fd=2,iosize=8k,srcfd=1\n\
           flowop closefile name=c1,fd=1\n  flowop closefile name=c2,fd=2\n\
           flowop deletefile name=d1,fd=1\n}\n\
         define process name=p,instances=1\n{\n  thread name=t,memsize=10m,instances=1\n  {\n\
           flowop rmw name=rmw1, iters=6, $filesetrmw=big\n    flowop eventlimit name=ratecontrol\n  }\n}",
        Dialect::V149,
    ),
    (
        "compflow_demo: composites in composites, texts and numbers as their variables",
        "set $size=128k\n\
         define fileset name=one,path=/tmp,size=$size,entries=70,dirwidth=20,prealloc=80, paralloc\n\
         define fileset name=two,path=/tmp,size=$size,entries=70,dirwidth=20,prealloc=80, paralloc\n\
         define flowop name=readwrite, $fileset {\n\
           flowop openfile name=o4,filesetname=$fileset,fd=1 flowop openfile name=o5,filesetname=$fileset,fd=2\n\
           flowop readwholefile name=r1,fd=1 flowop writewholefile name=w1,fd=2,srcfd=1\n\
           flowop closefile name=c4,fd=1 flowop closefile name=c5,fd=2 }\n\
         define flowop name=dowork, $filesetnm, $rwiters {\n\
           flowop readwrite name=rw1, iters=$rwiters, $fileset=$filesetnm\n\
           flowop deletefile name=d1,filesetname=$filesetnm }\n\
         define process name=p,instances=1 {\n\
           thread name=user1,memsize=10m,instances=2 { flowop dowork name=dowork1, iters=1, $rwiters=5, $filesetnm=one }\n\
           thread name=user2,memsize=10m,instances=2 { flowop dowork name=dowork2, iters=1, $rwiters=4, $filesetnm=two } }",
        Dialect::V15,
    ),
    (
        "createdelete-swing: a composite with a process's iterations, sizes made equal, block and wakeup across processes",
        "set $nfiles=1000\nset $meandirwidth=$nfiles\neventgen rate=0\n\
         define fileset name=manyfiles,\n\t       path=/tmp,\n\t       entries=$nfiles,\n\t       size=500k,\n\
         \t       filesizegamma=0,\n\t       dirwidth=$meandirwidth,\n\t       dirgamma=0\n\
         define flowop name=createandclose\n{\n\tflowop createfile name=cf,\n\t\t\t  filesetname=manyfiles,\n\t\t\t  fd=1\n\
         \tflowop writewholefile name=ww,filesetname=manyfiles,fd=1\n\tflowop closefile name=cl,fd=1\n\tflowop eventlimit name=l\n}\n\
         define process name=crproc {\n\tthread name=crthread {\n\t\tflowop createandclose name=cc,iters=$nfiles\n\
         \t\tflowop wakeup name=w,target=delprocblock\n\t\tflowop block name=crprocblock\n\t}\n}\n\
         define process name=delproc {\n\tthread name=delthread {\n\t\tflowop block name=delprocblock\n\
         \t\tflowop deletefile name=dd,filesetname=manyfiles,iters=$nfiles\n\t\tflowop wakeup name=cw,target=crprocblock\n\t}\n}",
        Dialect::V149,
    ),
    (
        "cvar_example: a custom variable",
        "set $iosize=cvar(type=cvar-uniform,parameters=lower:4096;upper:8192)\n\
         define file name=single,path=/tmp,size=100m,prealloc\n\
         define process name=p,instances=1 { thread name=t,memsize=1m,instances=1 {\n\
           flowop openfile name=o,filesetname=single,fd=1\n\
           flowop read name=r,fd=1,iosize=$iosize flowop closefile name=c,fd=1 } }\nrun 60",
        Dialect::V15,
    ),
    (
        "fileserver, varmail and webserver of 1.5: file sizes from a custom variable",
        "set $filesize=cvar(type=cvar-gamma,parameters=mean:131072;gamma:1.5)\n\
         define fileset name=big,path=/tmp,size=$filesize,entries=10,dirwidth=20,prealloc=80,readonly\n\
         define process name=p,instances=1 { thread name=t,memsize=10m,instances=50 {\n\
           flowop statfile name=s,filesetname=big } }\nrun 60",
        Dialect::V15,
    ),
    (
        "videoserver: names of filesets in variables, a limit of the bandwidth by a target",
        "set $passvidsname=passivevids\nset $actvidsname=activevids\nset $reuseit=false\neventgen rate=96\n\
         define fileset name=$actvidsname,path=/tmp,size=10g,entries=3,dirwidth=4,prealloc,paralloc,reuse=$reuseit\n\
         define fileset name=$passvidsname,path=/tmp,size=10g,entries=3,dirwidth=20,prealloc=50,paralloc,reuse=$reuseit\n\
         define process name=w,instances=1 { thread name=w,memsize=10m,instances=1 {\n\
           flowop deletefile name=vidremover,filesetname=$passvidsname\n\
           flowop createfile name=wrtopen,filesetname=$passvidsname,fd=1\n\
           flowop writewholefile name=newvid,iosize=1m,fd=1,srcfd=1\n\
           flowop closefile name=wrtclose, fd=1\n flowop delay name=replaceinterval, value=10 } }\n\
         define process name=r,instances=1 { thread name=r,memsize=10m,instances=48 {\n\
           flowop read name=vidreader,filesetname=$actvidsname,iosize=256k\n\
           flowop bwlimit name=serverlimit, target=vidreader } }",
        Dialect::V15,
    ),
    (
        "oltp: spaces around '=', shared memory, asynchronous writes, semaphores",
        "set $eventrate=0\nset $directio=0\neventgen rate = $eventrate\n\
         define fileset name=datafiles,path=/tmp,size=10m,entries=10,dirwidth=1024,prealloc=100,reuse\n\
         define process name=lgwr,instances=1 { thread name=lgwr,memsize=1m,useism {\n\
           flowop aiowrite name=lg-write,filesetname=datafiles,\n        iosize=256k,random,directio=$directio,dsync\n\
           flowop aiowait name=lg-aiowait flowop semblock name=lg-block,value=3200,highwater=1000 } }\n\
         define process name=shadow,instances=200 { thread name=shadow,memsize=1m,useism {\n\
           flowop read name=sr,filesetname=datafiles,\n      iosize=2k,workingset=0,random,opennext,directio=$directio\n\
           flowop hog name=shadowhog,value=200000\n\
           flowop sempost name=post,value=1,target=lg-block,blocking flowop eventlimit name=random-rate } }\nrun 60",
        Dialect::V15,
    ),
    (
        "ratelimcopyfiles: a limit by a target, a fileset on a flowop that has a slot",
        "eventgen rate=10\nset mode quit firstdone\n\
         define fileset name=a,path=/tmp,size=16k,entries=10,dirwidth=20,prealloc=100\n\
         define fileset name=b,path=/tmp,size=16k,entries=10,dirwidth=20\n\
         define process name=p { thread name=t,memsize=10m {\n\
           flowop openfile name=o1,filesetname=a,fd=1 flowop readwholefile name=r1,fd=1,iosize=1m\n\
           flowop createfile name=c2,filesetname=b,fd=2\n\
           flowop writewholefile name=w2,filesetname=b,fd=2,srcfd=1,iosize=1m\n\
           flowop closefile name=c1,fd=1 flowop closefile name=c3,fd=2\n\
           flowop iopslimit name=l, target=w2 } }",
        Dialect::V15,
    ),
    (
        "listdirs, makedirs, removedirs: trees of empty files and of empty directories",
        "define fileset name=a,path=/tmp,size=0,entries=500,dirwidth=5,prealloc\n\
         define fileset name=b,path=/tmp,size=0,leafdirs=100,dirwidth=100\n\
         define fileset name=c,path=/tmp,size=0,leafdirs=100,dirwidth=100,prealloc\n\
         define process name=p,instances=1 { thread name=t,memsize=1m,instances=16 {\n\
           flowop listdir name=l,filesetname=a flowop makedir name=m,filesetname=b\n\
           flowop removedir name=r,filesetname=c } }",
        Dialect::V15,
    ),
    (
        "scripts on the web: caches dropped between creation and run, histograms, output at intervals",
        "define fileset name=a,path=\"/mnt/test dir\",size=1k,entries=5,dirwidth=5,prealloc,trusttree,reuse,writeonly\n\
         define process name=p { thread name=t,ioprio=3 { flowop openfile name=o,filesetname=a,fd=1,noreadahead\n\
           flowop closefile name=c,fd=1 flowop delay name=d,value=1 } }\n\
         enable lathist\ncreate files\nsystem \"sync\"\nsystem \"echo 3 > /proc/sys/vm/drop_caches\"\npsrun -10 60",
        Dialect::V15,
    ),
    (
        "fileserver-new: a variable that is set anew after it has been used",
        "set $nfiles=10000\nset $runtime=5\n\
         define fileset name=big,path=/tmp,size=128k,entries=$nfiles,dirwidth=20,prealloc=80\n\
         define process name=p,instances=1 { thread name=t,memsize=10m {\n\
           flowop statfile name=s,filesetname=big } }\n\
         set $nfiles=1000\necho \"    \\$nfiles=$nfiles\"\nrun $runtime",
        Dialect::V15,
    ),
    (
        "singlestreamwrite: a file without a size",
        "define file name=large,path=/tmp,prealloc\n\
         define process name=p { thread name=t,memsize=10m {\n\
           flowop write name=w,filename=large,iosize=1m,directio } }",
        Dialect::V15,
    ),
    (
        "netsfs of 1.5: tables set as variables, with a row of no share; composites without variables",
        "set $filesize = randvar(type=tabular, min=1k, round=1k, randtable =\n\
         {{ 0,   1k,    7k},\n {92,   1k,   1k},\n {08,  11k,   21k}\n})\n\
         set $fileidx = randvar(type=gamma, min=0, gamma=100)\neventgen rate=10\n\
         define fileset name=big,path=/tmp,size=$filesize,entries=100,dirwidth=20,prealloc=60\n\
         define flowop name=appnd\n{\n\
           flowop openfile name=o6,filesetname=big,indexed=$fileidx,fd=6\n\
           flowop appendfilerand name=a6,iosize=$filesize,fd=6\n  flowop closefile name=c6,fd=6\n}\n\
         define process name=p { thread name=t,memsize=10m {\n\
           flowop appnd name=appnd1, iters=3\n\
           flowop statfile name=s1,filesetname=big,indexed=$fileidx\n\
           flowop eventlimit name=ratecontrol } }\nrun 60",
        Dialect::V15,
    ),
    (
        "tpcso: many flowops of one name, comments among them, names with dots and dashes",
        "set $usermode=20000\ndebug 1\neventgen rate=0\n\
         define file name=aux.df,path=/tmp,size=251m,reuse,prealloc,paralloc\n\
         define file name=log_1_1,path=/tmp,size=1021m,reuse,prealloc,paralloc\n\
         define process name=lgwr { thread name=lgwr,memsize=1m,useism\n  {\n\
           flowop write name=lg-write,filename=log_1_1,\n\
               iosize=256k,workingset=1g,random,dsync,directio\n\
         #   flowop delay name=lg-delay,value=1\n\
           flowop semblock name=lg-block,value=320,highwater=1000\n  }\n}\n\
         define process name=shadow,instances=2 { thread name=shadow,memsize=1m,useism\n  {\n\
         \tflowop read name=shadowread-aux.df,filename=aux.df,\n\
                 iosize=2k,workingset=10g,random,dsync,directio\n\
           flowop hog name=shadowhog,value=$usermode\n\
           flowop read name=shadowread-log_1_1,filename=log_1_1,iosize=2k,random\n\
           flowop hog name=shadowhog,value=$usermode\n\
         \tflowop sempost name=post,value=1,target=lg-block,blocking } }",
        Dialect::V15,
    ),
    (
        "scripts of 2005: dollar signs of a version control, what is not set in usage lines, a slot of deletefile",
        "set $nfiles=100\n\
         define randvar name=$iosize, type=gamma, min=1k, mean=5632, gamma=1500\n\
         define fileset name=big,path=/tmp,size=16k,entries=$nfiles,dirwidth=100,prealloc=100,cached=$cached\n\
         define process name=p,instances=1 { thread name=t,memsize=10m,instances=16 {\n\
           flowop appendfile name=a1,filesetname=big,iosize=$iosize,fd=1\n\
           flowop closefile name=c1,fd=1\n\
           flowop deletefile name=d1,filesetname=big,fd=1\n  flowop opslimit name=limit } }\n\
         echo  \"Deletes Version $Revision: 1.7 $ $Date: 2005/06/14 19:36:36 $ is loaded\"\n\
         usage \"       set \\$filesize=<size>    defaults to $filesize\"\n\
         usage \"       set \\$iosize.type=<type>   defaults to $iosize.type\"\n\
         usage \"(mean width, see log (width, nfiles)\"\nusage \" \"",
        Dialect::V149,
    ),
];

fn read(name: &str, text: &str) -> Personality {
    let source = Arc::new(Source { name: name.to_owned(), text: text.to_owned() });
    Personality::read(&source, &Overrides::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn script(name: &str) -> Personality {
    let (name, text, _) = SCRIPTS.iter().find(|(n, ..)| n.starts_with(name)).expect("in the table");
    read(name, text)
}

#[test]
fn each_is_read_as_its_dialect() {
    for (name, text, dialect) in SCRIPTS {
        let personality = read(name, text);
        assert_eq!(personality.dialect, *dialect, "{name}");
        assert!(!personality.processes.is_empty() && !personality.rows.is_empty(), "{name}");
        // Only what is known to have no effect may be noted, and that nothing says how
        // long it runs.
        for note in &personality.notes {
            let known = ["cached", "filesizegamma", "has no effect", "no 'run'"];
            assert!(known.iter().any(|k| note.message.contains(k)), "{name}: {note}");
        }
    }
}

#[test]
fn composites_of_composites_reach_their_filesets() {
    let personality = script("compflow_demo");
    let filesets: Vec<Option<usize>> = personality
        .flowops()
        .iter()
        .filter(|flowop| flowop.name.ends_with(".rw1.o4"))
        .map(|flowop| flowop.action.files().and_then(|files| files.fileset))
        .collect();
    assert_eq!(filesets, [Some(0), Some(1)]);
    let iters: Vec<Option<u64>> = personality
        .flowops()
        .iter()
        .filter(|f| f.name.ends_with(".rw1"))
        .map(|f| f.iters.fixed())
        .collect();
    assert_eq!(iters, [Some(5), Some(4)]);
    // Each use of a composite has rows of its own, named after it.
    let rows: Vec<&String> = personality.rows.iter().filter(|row| row.ends_with("o4")).collect();
    assert_eq!(rows, ["dowork1.rw1.o4", "dowork2.rw1.o4"]);
}

#[test]
fn processes_wake_each_other() {
    let personality = script("createdelete-swing");
    let row = |name: &str| personality.rows.iter().position(|row| row == name);
    let targets: Vec<Option<usize>> = personality
        .flowops()
        .iter()
        .filter_map(
            |f| if let Action::Wakeup(target) = f.action { Some(Some(target)) } else { None },
        )
        .collect();
    assert_eq!(targets, [row("delprocblock"), row("crprocblock")]);
    assert_eq!(personality.filesets[0].size_shape, 0.0);
    assert_eq!(personality.filesets[0].dir_width.fixed(), Some(1000));
}

#[test]
fn values_mean_what_they_mean_there() {
    let personality = script("networkfs");
    assert_eq!(personality.filesets[0].entries.fixed(), Some(1000));
    assert_eq!(script("ratelimcopyfiles").quit, Quit::FirstDone);
    let Attribute::Random(size) = script("fileserver, varmail").filesets[0].size.clone() else {
        panic!("a random size")
    };
    assert_eq!(size.mean, 131_072.0);
    let old = script("filemicro_seqwriterandvartab");
    let io = old.flowops().into_iter().find_map(|f| f.action.io()).expect("an append").clone();
    // 80 % around 2.5 KiB, 15 % around 10 KiB, 5 % around 40 KiB.
    assert_eq!(io.size.mean(), 5632.0);
}

#[test]
fn a_variable_has_its_value_of_the_run() {
    let personality = script("fileserver-new");
    assert_eq!(personality.filesets[0].entries.fixed(), Some(1000));
    let reported = personality.commands.iter().find_map(|command| match command {
        ScriptCommand::Echo(text) => Some(text.trim()),
        _ => None,
    });
    assert_eq!(reported, Some("$nfiles=1000"));
}

#[test]
fn omitted_attributes_have_filebenchs_defaults() {
    // `define file` without a size: parser_gram.y takes 1 KiB.
    assert_eq!(script("singlestreamwrite").filesets[0].size.fixed(), Some(1024));
    // A row of 0 % is never drawn: 92 % of 1 KiB, 8 % around 16 KiB.
    let Attribute::Random(size) = script("netsfs of 1.5").filesets[0].size.clone() else {
        panic!("a random size")
    };
    assert_eq!(Attribute::Random(size).mean(), 0.92 * 1024.0 + 0.08 * 16_384.0);
    let hogs = script("tpcso");
    assert_eq!(hogs.flowops().iter().filter(|f| f.name == "shadowhog").count(), 2);
    assert_eq!(hogs.rows.iter().filter(|row| *row == "shadowhog").count(), 1);
}
