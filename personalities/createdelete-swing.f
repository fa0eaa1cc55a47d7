# A directory fills and empties in turn: one process creates all files, then wakes the
# other, which deletes them all and wakes the first.
#
# Default figures: Filebench's createdelete-swing by V. Tarasov (10,000 files of 500 KiB
# in one directory, without a limit of the rate, 60 seconds).

set $dir=/tmp
set $nfiles=10000
set $meanfilesize=500k
set $meandirwidth=1000000
set $eventrate=0
set $runtime=60

eventgen rate=$eventrate

define fileset name=manyfiles,path=$dir,entries=$nfiles,size=$meanfilesize,
               dirwidth=$meandirwidth,dirgamma=0

define flowop name=createandclose
{
  flowop createfile name=createfile,filesetname=manyfiles,fd=1
  flowop writewholefile name=writewholefile,fd=1
  flowop closefile name=closefile,fd=1
  flowop eventlimit name=crlimit
}

define process name=crproc
{
  thread name=crthread
  {
    flowop createandclose name=createandclose,iters=$nfiles
    flowop wakeup name=wakeupdelproc,target=delprocblock
    flowop block name=crprocblock
  }
}

define process name=delproc
{
  thread name=delthread
  {
    flowop block name=delprocblock
    flowop deletefile name=dodelete,filesetname=manyfiles,iters=$nfiles
    flowop wakeup name=crprocwake,target=crprocblock
  }
}

run $runtime
