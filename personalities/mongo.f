# The mongo benchmark of ReiserFS, in its Filebench form: files grow and are read, and
# those of a second tree are deleted. It ends when that tree is empty.
#
# Default figures: Filebench's mongo (two trees of 1,000 files of 16 KiB on average,
# gamma of shape 1.5; 20 entries per directory; 1 thread; appends of up to 16 KiB).

set $dir=/tmp
set $nfiles=1000
set $dirwidth=20
set $meanfilesize=16k
set $nthreads=1
set $meaniosize=16k
set $readiosize=1m

set $filesize=randvar(type=gamma,mean=$meanfilesize,gamma=1500)

set mode quit firstdone

define fileset name=postset,path=$dir,size=$filesize,entries=$nfiles,
               dirwidth=$dirwidth,prealloc,paralloc
define fileset name=postsetdel,path=$dir,size=$filesize,entries=$nfiles,
               dirwidth=$dirwidth,prealloc,paralloc

define process name=filereader,instances=1
{
  thread name=filereaderthread,memsize=10m,instances=$nthreads
  {
    flowop openfile name=openfile1,filesetname=postset,fd=1
    flowop appendfilerand name=appendfilerand1,iosize=$meaniosize,fd=1
    flowop closefile name=closefile1,fd=1
    flowop openfile name=openfile2,filesetname=postset,fd=1
    flowop readwholefile name=readfile1,fd=1,iosize=$readiosize
    flowop closefile name=closefile2,fd=1
    flowop deletefile name=deletefile1,filesetname=postsetdel
  }
}

run
