# Empty directories are made. It ends when all are there.
#
# Default figures: Filebench's makedirs (10,000 directories, 100 in each directory, 16
# threads).

set $dir=/tmp
set $ndirs=10000
set $meandirwidth=100
set $nthreads=16

set mode quit firstdone

define fileset name=bigfileset,path=$dir,size=0,leafdirs=$ndirs,dirwidth=$meandirwidth

define process name=makedirs,instances=1
{
  thread name=makedirsthread,memsize=1m,instances=$nthreads
  {
    flowop makedir name=mkdir1,filesetname=bigfileset
  }
}

run
