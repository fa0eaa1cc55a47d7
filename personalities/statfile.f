# Files are looked at (stat).
#
# Default figures: Filebench's filemicro_statfile (10,000 files, 20 entries per
# directory, 20 threads, 60 seconds). Its files have 128 KiB; these are empty, as stat
# does not read them.

set $dir=/tmp
set $nfiles=10000
set $meandirwidth=20
set $nthreads=20
set $runtime=60

define fileset name=bigfileset,path=$dir,size=0,entries=$nfiles,prealloc,dirwidth=$meandirwidth

define process name=statfile,instances=1
{
  thread name=statfilethread,memsize=1m,instances=$nthreads
  {
    flowop statfile name=statfile1,filesetname=bigfileset
  }
}

run $runtime
