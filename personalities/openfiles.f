# Empty files are opened and closed.
#
# Default figures: Filebench's openfiles (50,000 files, 100 entries per directory, 16
# threads, 60 seconds).

set $dir=/tmp
set $nfiles=50000
set $meandirwidth=100
set $nthreads=16
set $runtime=60

define fileset name=bigfileset,path=$dir,size=0,entries=$nfiles,prealloc,dirwidth=$meandirwidth

define process name=openfiles,instances=1
{
  thread name=openfilesthread,memsize=1m,instances=$nthreads
  {
    flowop openfile name=open1,filesetname=bigfileset,fd=1
    flowop closefile name=close1,fd=1
  }
}

run $runtime
