# A tree of files is written. It ends when all are there.
#
# Default figures: Filebench's createfiles (50,000 files of 16 KiB on average, gamma of
# shape 1.5; 100 entries per directory; 16 threads; pieces of 1 MiB).

set $dir=/tmp
set $nfiles=50000
set $meandirwidth=100
set $meanfilesize=16k
set $iosize=1m
set $nthreads=16

set $filesize=randvar(type=gamma,mean=$meanfilesize,gamma=1500)

set mode quit firstdone

define fileset name=bigfileset,path=$dir,entries=$nfiles,size=$filesize,
               dirwidth=$meandirwidth

define process name=filecreate,instances=1
{
  thread name=filecreatethread,memsize=10m,instances=$nthreads
  {
    flowop createfile name=createfile1,filesetname=bigfileset,fd=1
    flowop writewholefile name=writefile1,fd=1,iosize=$iosize
    flowop closefile name=closefile1,fd=1
  }
}

run
