# Sequential writes to one large file. Files grow until the time is over.
#
# Default figures: Filebench's singlestreamwrite (one file of 5 GiB, 1 thread,
# pieces of 1 MiB, 60 seconds). directio=1 gives its singlestreamwritedirect.

set $dir=/tmp
set $filesize=5g
set $nthreads=1
set $iosize=1m
set $directio=0
set $runtime=60

define file name=largefile1,path=$dir,size=$filesize,prealloc,reuse

define process name=seqwrite,instances=1
{
  thread name=seqwrite1,memsize=10m,instances=$nthreads
  {
    flowop write name=seqwrite1,filename=largefile1,iosize=$iosize,directio=$directio
  }
}

run $runtime
