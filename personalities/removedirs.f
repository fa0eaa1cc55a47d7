# Empty directories are removed. It ends when none is left.
#
# Default figures: Filebench's removedirs (10,000 directories, 100 in each directory,
# 16 threads).

set $dir=/tmp
set $ndirs=10000
set $meandirwidth=100
set $nthreads=16

set mode quit firstdone

define fileset name=bigfileset,path=$dir,size=0,leafdirs=$ndirs,prealloc,dirwidth=$meandirwidth

define process name=removedirs,instances=1
{
  thread name=removedirsthread,memsize=1m,instances=$nthreads
  {
    flowop removedir name=rmdir1,filesetname=bigfileset
  }
}

run
