# Sequential reads of one large file. At its end a file is read from its start again.
#
# Default figures: Filebench's singlestreamread (one file of 5 GiB, 1 thread,
# pieces of 1 MiB, 60 seconds). directio=1 gives its singlestreamreaddirect.

set $dir=/tmp
set $filesize=5g
set $nthreads=1
set $iosize=1m
set $directio=0
set $runtime=60

define file name=largefile1,path=$dir,size=$filesize,prealloc,reuse

define process name=seqread,instances=1
{
  thread name=seqread1,memsize=10m,instances=$nthreads
  {
    flowop read name=seqread1,filename=largefile1,iosize=$iosize,directio=$directio
  }
}

run $runtime
