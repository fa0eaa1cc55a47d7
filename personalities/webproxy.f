# A web proxy's cache: an object is replaced by a new one, then five are read.
#
# Default figures: Filebench's webproxy (10,000 files of 16 KiB on average, gamma of
# shape 1.5; all in one directory; 100 threads; reads in pieces of 1 MiB; writes of
# up to 16 KiB; 80 % of the files exist at the start; 60 seconds). The rate can be
# limited by eventrate, in operations per second.

set $dir=/tmp
set $nfiles=10000
set $meandirwidth=1000000
set $meanfilesize=16k
set $nthreads=100
set $iosize=1m
set $meanappendsize=16k
set $eventrate=0
set $runtime=60

set $filesize=randvar(type=gamma,mean=$meanfilesize,gamma=1500)

eventgen rate=$eventrate

define fileset name=bigfileset,path=$dir,entries=$nfiles,size=$filesize,
               dirwidth=$meandirwidth,prealloc=80

define process name=proxycache,instances=1
{
  thread name=proxycache,memsize=10m,instances=$nthreads
  {
    flowop deletefile name=deletefile1,filesetname=bigfileset
    flowop createfile name=createfile1,filesetname=bigfileset,fd=1
    flowop appendfilerand name=appendfilerand1,iosize=$meanappendsize,fd=1
    flowop closefile name=closefile0,fd=1
    flowop openfile name=openfile1,filesetname=bigfileset,fd=1
    flowop readwholefile name=readfile1,fd=1,iosize=$iosize
    flowop closefile name=closefile1,fd=1
    flowop openfile name=openfile2,filesetname=bigfileset,fd=1
    flowop readwholefile name=readfile2,fd=1,iosize=$iosize
    flowop closefile name=closefile2,fd=1
    flowop openfile name=openfile3,filesetname=bigfileset,fd=1
    flowop readwholefile name=readfile3,fd=1,iosize=$iosize
    flowop closefile name=closefile3,fd=1
    flowop openfile name=openfile4,filesetname=bigfileset,fd=1
    flowop readwholefile name=readfile4,fd=1,iosize=$iosize
    flowop closefile name=closefile4,fd=1
    flowop openfile name=openfile5,filesetname=bigfileset,fd=1
    flowop readwholefile name=readfile5,fd=1,iosize=$iosize
    flowop closefile name=closefile5,fd=1
    flowop opslimit name=limit
  }
}

run $runtime
