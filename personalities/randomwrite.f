# Random writes to a large file.
#
# Default figures: Filebench's randomwrite (one file of 5 GiB, 1 thread, writes of
# 8 KiB, 60 seconds). The file should be larger than the memory, or directio=1.

set $dir=/tmp
set $filesize=5g
set $iosize=8k
set $nthreads=1
set $workingset=0
set $directio=0
set $runtime=60

define file name=largefile1,path=$dir,size=$filesize,prealloc,reuse,paralloc

define process name=randomwrite,instances=1
{
  thread name=rand-thread,memsize=5m,instances=$nthreads
  {
    flowop write name=rand-write1,filename=largefile1,iosize=$iosize,random,
           workingset=$workingset,directio=$directio
  }
}

run $runtime
