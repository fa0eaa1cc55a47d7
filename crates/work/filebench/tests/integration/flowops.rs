//! What each flowop does to files, and what is counted.

use crate::support::{directory, measure, row, script, sizes, strict};
use disklab_filebench::Options;

const ONE: &str = "define file name=f,path=/ignored,size=2621440,prealloc";
const END: &str = "flowop finishoncount name=end,value=1";

fn fileset(entries: u64, prealloc: u64, size: &str) -> String {
    format!(
        "define fileset name=s,path=/ignored,entries={entries},size={size},dirwidth=1000,\
         dirgamma=0,prealloc={prealloc}"
    )
}

fn both() -> [Options; 2] {
    [Options::default(), strict()]
}

#[test]
fn whole_files_are_read() {
    for options in both() {
        let directory = directory();
        let text = script(
            ONE,
            &format!(
                "flowop openfile name=open,filename=f,fd=1 \
             flowop readwholefile name=read,fd=1,iosize=1m flowop closefile name=close,fd=1 {END}"
            ),
        );
        let measured = measure(directory.path(), &text, &options);
        assert_eq!(row(&measured, "read"), (1, 2_621_440));
        assert_eq!((row(&measured, "open"), row(&measured, "close")), ((1, 0), (1, 0)));
        assert_eq!(row(&measured, "end"), (1, 0));
        let counts =
            (measured.summary.operations, measured.reads.operations, measured.writes.operations);
        assert_eq!(counts, (3, 1, 0));
        assert_eq!(sizes(directory.path()).into_values().collect::<Vec<_>>(), [2_621_440]);
    }
}

#[test]
fn whole_files_are_rounded_up_by_filebench_only() {
    for (options, written) in both().into_iter().zip([2_621_440, 3 << 20]) {
        let directory = directory();
        let text = script(
            &fileset(1, 0, "2621440"),
            &format!(
                "flowop createfile name=make,filesetname=s,fd=1 \
             flowop writewholefile name=write,fd=1,iosize=1m flowop closefile name=close,fd=1 {END}"
            ),
        );
        let measured = measure(directory.path(), &text, &options);
        assert_eq!(row(&measured, "write"), (1, written));
        assert_eq!(sizes(directory.path())["s/00000001/00000001"], written);
    }
}

#[test]
fn an_open_without_a_flowop_counts_in_filebench_only() {
    for (options, operations) in both().into_iter().zip([1, 2]) {
        let directory = directory();
        let text = script(ONE, &format!("flowop read name=read,filename=f,iosize=4k {END}"));
        let measured = measure(directory.path(), &text, &options);
        assert_eq!(row(&measured, "read"), (operations, 4096));
    }
}

#[test]
fn sequential_reads_begin_again() {
    let end = "flowop finishoncount name=end,value=6,target=read";
    for (options, bytes) in both().into_iter().zip([6 * 4096, 4 * 4096]) {
        let directory = directory();
        let set = "define file name=f,path=/x,size=8k,prealloc";
        let text = script(
            set,
            &format!(
                "flowop openfile name=open,filename=f,fd=1 flowop read name=read,fd=1,iosize=4k,iters=6 {end}"
            ),
        );
        let measured = measure(directory.path(), &text, &options);
        assert_eq!(row(&measured, "read"), (6, bytes));
    }
}

#[test]
fn writes_continue_and_appends_go_to_the_end() {
    for options in both() {
        let directory = directory();
        let text = script(
            &fileset(1, 100, "10k"),
            &format!(
                "flowop openfile name=open,filesetname=s,fd=1 \
             flowop write name=write,fd=1,iosize=3k,iters=2 \
             flowop appendfile name=append,fd=1,iosize=5k,iters=3 \
             flowop fsync name=sync,fd=1 flowop fsyncset name=all,filesetname=s \
             flowop statfile name=stat,filesetname=s,fd=1 flowop statfile name=stat2,filesetname=s {END}"
            ),
        );
        let measured = measure(directory.path(), &text, &options);
        assert_eq!(row(&measured, "write"), (2, 6 << 10));
        assert_eq!(row(&measured, "append"), (3, 15 << 10));
        for name in ["sync", "all", "stat", "stat2"] {
            assert_eq!(row(&measured, name), (1, 0), "{name}");
        }
        assert_eq!(sizes(directory.path())["s/00000001/00000001"], 25 << 10);
    }
}

#[test]
fn random_appends_write_what_is_counted() {
    for options in both() {
        let directory = directory();
        let text = script(
            &fileset(1, 100, "0"),
            "flowop openfile name=open,filesetname=s,fd=1 \
             flowop appendfilerand name=append,fd=1,iosize=16k,iters=500 \
             flowop finishoncount name=end,value=1",
        );
        let measured = measure(directory.path(), &text, &options);
        let (operations, bytes) = row(&measured, "append");
        assert_eq!(operations, 500);
        assert_eq!(sizes(directory.path())["s/00000001/00000001"], bytes);
        let mean = bytes as f64 / 500.0;
        assert!((mean / 8192.0 - 1.0).abs() < 0.15, "{mean}");
    }
}

#[test]
fn random_offsets_are_whole_multiples_within_the_file() {
    for options in both() {
        let directory = directory();
        let text = script(
            "define file name=f,path=/x,size=64k,prealloc",
            "flowop read name=read,filename=f,random,iosize=4k,iters=300 \
             flowop write name=write,filename=f,random,iosize=4k,iters=300 \
             flowop write name=part,filename=f,random,iosize=4k,workingset=8k,iters=9 \
             flowop finishoncount name=end,value=1",
        );
        let measured = measure(directory.path(), &text, &options);
        assert_eq!(row(&measured, "write"), (300, 300 * 4096));
        assert_eq!(row(&measured, "read").1, 300 * 4096);
        assert_eq!(sizes(directory.path())["f/00000001/00000001"], 64 << 10);
    }
}

#[test]
fn files_are_created_and_deleted_in_turn() {
    for options in both() {
        let directory = directory();
        let text = script(
            &fileset(5, 0, "1k"),
            &format!(
                "flowop createfile name=make,filesetname=s,fd=1 flowop writewholefile name=w,fd=1 \
             flowop closefile name=c,fd=1 \
             flowop createfile name=make2,filesetname=s,fd=1 flowop closefile name=c2,fd=1 \
             flowop deletefile name=delete,filesetname=s {END}"
            ),
        );
        let measured = measure(directory.path(), &text, &options);
        assert_eq!((row(&measured, "make").0, row(&measured, "delete").0), (1, 1));
        let left = sizes(directory.path());
        assert_eq!(left.into_iter().collect::<Vec<_>>(), [("s/00000001/00000002".to_owned(), 0)]);
    }
}

#[test]
fn an_open_file_is_not_deleted_and_filebench_does_not_count_that() {
    // Filebench continues; here a thread that finds no file is done.
    for (options, ends) in both().into_iter().zip([0, 1]) {
        let directory = directory();
        let text = script(
            &fileset(2, 100, "1k"),
            &format!(
                "flowop openfile name=open,filesetname=s,fd=1 \
             flowop deletefile name=own,filesetname=s,fd=1 \
             flowop closefile name=c,fd=1 \
             flowop openfile name=other,filesetname=s,fd=2 \
             flowop deletefile name=delete,filesetname=s {END}"
            ),
        );
        let measured = measure(directory.path(), &text, &options);
        assert_eq!(row(&measured, "own").0, 1);
        assert_eq!((row(&measured, "delete").0, row(&measured, "end").0), (0, ends));
        assert_eq!(sizes(directory.path()).len(), 1);
    }
}

#[test]
fn copies_have_the_length_of_their_source() {
    for options in both() {
        let directory = directory();
        let sets =
            "define file name=a,path=/x,size=40k,prealloc\ndefine file name=b,path=/x,size=1k";
        let text = script(
            sets,
            &format!(
                "flowop openfile name=open,filename=a,fd=1 flowop readwholefile name=r,fd=1,iosize=64k \
             flowop createfile name=make,filename=b,fd=2 \
             flowop writewholefile name=w,fd=2,srcfd=1,iosize=1m {END}"
            ),
        );
        let measured = measure(directory.path(), &text, &options);
        assert_eq!(row(&measured, "w"), (1, 40 << 10));
        assert_eq!(sizes(directory.path())["b/00000001/00000001"], 40 << 10);
    }
}

#[test]
fn a_new_file_that_is_its_own_source_has_the_size_that_was_drawn() {
    for options in both() {
        let directory = directory();
        let text = script(
            &fileset(1, 0, "40k"),
            &format!(
                "flowop createfile name=make,filesetname=s,fd=1 \
                 flowop writewholefile name=w,srcfd=1,fd=1,iosize=8k {END}"
            ),
        );
        let measured = measure(directory.path(), &text, &options);
        assert_eq!(row(&measured, "w"), (1, 40 << 10));
    }
}

#[test]
fn directories_are_made_listed_and_removed() {
    for (options, bytes) in both().into_iter().zip([3 * 32, 1 + 2 + 8 + 3 * 279]) {
        let directory = directory();
        let set = "define fileset name=s,path=/x,entries=0,leafdirs=3,dirwidth=9,dirgamma=0";
        let text = script(
            set,
            &format!(
                "flowop makedir name=make,filesetname=s,iters=3 \
             flowop listdir name=list,filesetname=s \
             flowop removedir name=remove,filesetname=s,iters=2 {END}"
            ),
        );
        let measured = measure(directory.path(), &text, &options);
        assert_eq!((row(&measured, "make").0, row(&measured, "remove").0), (3, 2));
        let (lists, listed) = row(&measured, "list");
        assert_eq!(lists, 1);
        // '.', '..' and the one directory that is in there.
        assert!(listed >= 3 * 24 && (!options.strict || listed == bytes), "{listed}");
        let left =
            std::fs::read_dir(directory.path().join("s/00000001")).expect("directory").count();
        assert_eq!(left, 1);
    }
}

#[test]
fn asynchronous_writes_reach_the_file() {
    let directory = directory();
    let set = "define file name=f,path=/x,size=1m,prealloc=100";
    let text = script(
        set,
        "flowop aiowrite name=w,filename=f,random,iosize=4k,iters=100 flowop aiowait name=wait \
         flowop finishoncount name=end,value=100,target=w",
    );
    let measured = measure(directory.path(), &text, &Options::default());
    assert_eq!(row(&measured, "w"), (100, 100 * 4096));
    assert_eq!(row(&measured, "wait").0, 1);
    assert_eq!(measured.writes.operations, 100);
}

#[test]
fn composites_do_their_flowops_with_their_own_variables() {
    let directory = directory();
    let text = format!(
        "define flowop name=both,$size,$times=2 {{ \
            flowop appendfile name=a,filesetname=s,fd=1,iosize=$size,iters=$times }}\n{}",
        script(
            &fileset(1, 100, "0"),
            "flowop openfile name=open,filesetname=s,fd=1 \
             flowop both name=one,$size=1k,iters=3 flowop both name=two,$size=2k,$times=1 \
             flowop finishoncount name=end,value=1"
        )
    );
    let measured = measure(directory.path(), &text, &Options::default());
    assert_eq!((row(&measured, "one").0, row(&measured, "two").0), (3, 1));
    assert_eq!(row(&measured, "one.a"), (6, 6 << 10));
    assert_eq!(row(&measured, "two.a"), (1, 2 << 10));
    assert_eq!(sizes(directory.path())["s/00000001/00000001"], 8 << 10);
    // The summary counts what the composites do, not the composites.
    assert_eq!(measured.summary.operations, 8);
}

#[test]
fn with_opennext_each_open_goes_to_the_next_file_and_slot() {
    let directory = directory();
    let text = script(
        &fileset(3, 100, "4k"),
        "flowop read name=r,filesetname=s,iosize=4k,opennext,iters=3 \
         flowop fsyncset name=all,filesetname=s \
         flowop finishoncount name=end,value=1",
    );
    let measured = measure(directory.path(), &text, &Options::default());
    assert_eq!(row(&measured, "r"), (3, 3 * 4096));
    assert_eq!(row(&measured, "all").0, 3);
}

#[test]
fn preallocated_files_have_their_sizes_and_are_not_zeros() {
    let directory = directory();
    let set = "set $size=randvar(type=uniform,mean=10k,min=1k)\n\
               define fileset name=s,path=/x,entries=200,size=$size,dirwidth=10,prealloc=50";
    let text = script(set, &format!("flowop statfile name=stat,filesetname=s {END}"));
    let measured = measure(directory.path(), &text, &Options::default());
    assert_eq!(row(&measured, "stat").0, 1);
    let files = sizes(directory.path());
    assert!((70..130).contains(&files.len()), "{}", files.len());
    assert!(files.values().all(|size| (1024..=19 << 10).contains(size)));
    let (path, _) = files.iter().next().expect("a file");
    let bytes = std::fs::read(directory.path().join(path)).expect("read");
    assert!(bytes.chunks(64).all(|chunk| chunk.len() < 64 || chunk.iter().any(|byte| *byte != 0)));
}
