# A tree of files is deleted. It ends when none is left.
#
# Default figures: Filebench's filemicro_delete (5,000 files of 16 KiB on average,
# gamma of shape 1.5; 100 entries per directory; 16 threads). That ends after 1,000
# operations of the process; this one deletes all.

set $dir=/tmp
set $nfiles=5000
set $meandirwidth=100
set $meanfilesize=16k
set $nthreads=16

set $filesize=randvar(type=gamma,mean=$meanfilesize,gamma=1500)

set mode quit alldone

define fileset name=bigfileset,path=$dir,entries=$nfiles,size=$filesize,
               dirwidth=$meandirwidth,prealloc=100,paralloc

define process name=filedelete,instances=1
{
  thread name=filedeletethread,memsize=10m,instances=$nthreads
  {
    flowop deletefile name=deletefile1,filesetname=bigfileset
  }
}

run
