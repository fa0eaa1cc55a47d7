# Random reads of a large file, and random writes to it at the same time.
#
# Default figures: Filebench's randomrw (one file of 5 GiB, 1 thread each, I/O of
# 8 KiB, 60 seconds). The file should be larger than the memory, or directio=1.

set $dir=/tmp
set $filesize=5g
set $iosize=8k
set $nthreads=1
set $workingset=0
set $directio=0
set $runtime=60

define file name=largefile1,path=$dir,size=$filesize,prealloc,reuse,paralloc

define process name=randomrw,instances=1
{
  thread name=rand-r-thread,memsize=5m,instances=$nthreads
  {
    flowop read name=rand-read1,filename=largefile1,iosize=$iosize,random,
           workingset=$workingset,directio=$directio
  }
  thread name=rand-w-thread,memsize=5m,instances=$nthreads
  {
    flowop write name=rand-write1,filename=largefile1,iosize=$iosize,random,
           workingset=$workingset,directio=$directio
  }
}

run $runtime
