# A video server: many threads each read a film from its start to its end at a fixed
# rate, while one thread replaces the films that nobody watches.
#
# Default figures: Filebench's videoserver (32 active and 194 passive films of 10 GiB,
# half of the passive ones there at the start; 48 streams reading 256 KiB at a time;
# one film written anew every 10 seconds in pieces of 1 MiB). One event is 1 MiB read:
# 96 events per second give each of 48 streams 2 MiB/s. It takes 1.3 TiB: for a smaller
# place set filesize.

set $dir=/tmp
set $eventrate=96
set $filesize=10g
set $nthreads=48
set $numactivevids=32
set $numpassivevids=194
set $readiosize=256k
set $writeiosize=1m
set $repintval=10
set $runtime=60

eventgen rate=$eventrate

define fileset name=activevids,path=$dir,entries=$numactivevids,size=$filesize,
               dirwidth=4,prealloc,paralloc
define fileset name=passivevids,path=$dir,entries=$numpassivevids,size=$filesize,
               dirwidth=20,prealloc=50,paralloc

define process name=vidwriter,instances=1
{
  thread name=vidwriter,memsize=10m,instances=1
  {
    flowop deletefile name=vidremover,filesetname=passivevids
    flowop createfile name=wrtopen,filesetname=passivevids,fd=1
    flowop writewholefile name=newvid,iosize=$writeiosize,fd=1,srcfd=1
    flowop closefile name=wrtclose,fd=1
    flowop delay name=replaceinterval,value=$repintval
  }
}

define process name=vidreaders,instances=1
{
  thread name=vidreaders,memsize=10m,instances=$nthreads
  {
    flowop read name=vidreader,filesetname=activevids,iosize=$readiosize
    flowop bwlimit name=serverlimit,target=vidreader
  }
}

run $runtime
