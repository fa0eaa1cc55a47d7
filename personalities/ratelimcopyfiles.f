# A tree of files is copied at a fixed rate, as a background job would. It ends when
# all are copied.
#
# Default figures: Filebench's ratelimcopyfiles (10 files per second; else as
# copyfiles: 1,000 files of 16 KiB on average, 1 thread).

set $dir=/tmp
set $nfiles=1000
set $meandirwidth=20
set $meanfilesize=16k
set $iosize=1m
set $nthreads=1
set $eventrate=10

eventgen rate=$eventrate

set $filesize=randvar(type=gamma,mean=$meanfilesize,gamma=1500)

set mode quit firstdone

define fileset name=bigfileset,path=$dir,entries=$nfiles,size=$filesize,
               dirwidth=$meandirwidth,prealloc=100,paralloc
define fileset name=destfiles,path=$dir,entries=$nfiles,size=$filesize,
               dirwidth=$meandirwidth

define process name=filereader,instances=1
{
  thread name=filereaderthread,memsize=10m,instances=$nthreads
  {
    flowop openfile name=openfile1,filesetname=bigfileset,fd=1
    flowop readwholefile name=readfile1,fd=1,iosize=$iosize
    flowop createfile name=createfile2,filesetname=destfiles,fd=2
    flowop writewholefile name=writefile2,fd=2,srcfd=1,iosize=$iosize
    flowop closefile name=closefile1,fd=1
    flowop closefile name=closefile2,fd=2
    # With a target only its operations count: one file is one event.
    flowop iopslimit name=iopslim1,target=writefile2
  }
}

run
