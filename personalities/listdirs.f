# Directories of a deep tree are listed.
#
# Default figures: Filebench's listdirs (50,000 empty files, 5 entries per directory,
# 16 threads, 60 seconds).

set $dir=/tmp
set $nfiles=50000
set $meandirwidth=5
set $nthreads=16
set $runtime=60

define fileset name=bigfileset,path=$dir,size=0,entries=$nfiles,prealloc,dirwidth=$meandirwidth

define process name=listdirs,instances=1
{
  thread name=listdirsthread,memsize=1m,instances=$nthreads
  {
    flowop listdir name=listdir1,filesetname=bigfileset
  }
}

run $runtime
