# A file server: users create, write, extend, read, stat and delete whole files
# in a tree of directories. Every thread does the same ten steps, each on the next
# file of the tree.
#
# Default figures: Filebench's file server (10,000 files of 128 KiB on average,
# gamma of shape 1.5; 20 entries per directory; 50 threads; I/O in pieces of 1 MiB;
# appends of up to 16 KiB; 80 % of the files exist at the start; 60 seconds).

set $dir=/tmp
set $nfiles=10000
set $meandirwidth=20
set $meanfilesize=128k
set $nthreads=50
set $iosize=1m
set $meanappendsize=16k
set $runtime=60

set $filesize=randvar(type=gamma,mean=$meanfilesize,gamma=1500)

define fileset name=bigfileset,
               path=$dir,
               entries=$nfiles,
               size=$filesize,
               dirwidth=$meandirwidth,
               prealloc=80

define process name=filereader,instances=1
{
  thread name=filereaderthread,memsize=10m,instances=$nthreads
  {
    # A new file.
    flowop createfile name=createfile1,filesetname=bigfileset,fd=1
    flowop writewholefile name=wrtfile1,srcfd=1,fd=1,iosize=$iosize
    flowop closefile name=closefile1,fd=1
    # An old one grows.
    flowop openfile name=openfile1,filesetname=bigfileset,fd=1
    flowop appendfilerand name=appendfilerand1,iosize=$meanappendsize,fd=1
    flowop closefile name=closefile2,fd=1
    # Another is read.
    flowop openfile name=openfile2,filesetname=bigfileset,fd=1
    flowop readwholefile name=readfile1,fd=1,iosize=$iosize
    flowop closefile name=closefile3,fd=1
    flowop deletefile name=deletefile1,filesetname=bigfileset
    flowop statfile name=statfile1,filesetname=bigfileset
  }
}

run $runtime
