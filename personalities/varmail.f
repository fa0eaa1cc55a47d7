# A mail server that keeps each message in a file of its own (/var/mail). Mails are
# deleted; arrive and are synced; are read, marked (a synced append) and read again.
#
# Default figures: Filebench's varmail (1,000 files of 16 KiB on average, gamma of
# shape 1.5; all in one directory; 16 threads; I/O in pieces of 1 MiB; appends of up
# to 16 KiB; 80 % of the files exist at the start; 60 seconds). With so few files
# Filebench itself often stops early for want of one.

set $dir=/tmp
set $nfiles=1000
set $meandirwidth=1000000
set $meanfilesize=16k
set $nthreads=16
set $iosize=1m
set $meanappendsize=16k
set $runtime=60

set $filesize=randvar(type=gamma,mean=$meanfilesize,gamma=1500)

define fileset name=bigfileset,path=$dir,entries=$nfiles,size=$filesize,
               dirwidth=$meandirwidth,prealloc=80

define process name=filereader,instances=1
{
  thread name=filereaderthread,memsize=10m,instances=$nthreads
  {
    flowop deletefile name=deletefile1,filesetname=bigfileset
    # A mail arrives.
    flowop createfile name=createfile2,filesetname=bigfileset,fd=1
    flowop appendfilerand name=appendfilerand2,iosize=$meanappendsize,fd=1
    flowop fsync name=fsyncfile2,fd=1
    flowop closefile name=closefile2,fd=1
    # A mail is read and marked.
    flowop openfile name=openfile3,filesetname=bigfileset,fd=1
    flowop readwholefile name=readfile3,fd=1,iosize=$iosize
    flowop appendfilerand name=appendfilerand3,iosize=$meanappendsize,fd=1
    flowop fsync name=fsyncfile3,fd=1
    flowop closefile name=closefile3,fd=1
    # A mail is read again.
    flowop openfile name=openfile4,filesetname=bigfileset,fd=1
    flowop readwholefile name=readfile4,fd=1,iosize=$iosize
    flowop closefile name=closefile4,fd=1
  }
}

run $runtime
