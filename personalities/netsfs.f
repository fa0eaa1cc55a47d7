# A network file server, as its clients' system calls were seen: programs start (three
# files are read), files are read and written to new ones which replace them, files
# grow, and one is looked at. Few files get most of the traffic.
#
# Default figures: Filebench's netsfs (tables of file, read and write sizes; 100,000
# files, 60 % of them there at the start; 10 rounds per second; 1 thread; 60 seconds).
# The index of a popular file has a mean of 5,000, as in Filebench 1.4.9; in 1.5 it is
# nearly always that of the first file, as there an index is no longer a share.

set $dir=/tmp
set $eventrate=10
set $meandirwidth=20
set $nthreads=1
set $nfiles=100000
set $hotfiles=5000
set $runtime=60

eventgen rate=$eventrate

set $wrtiosize=randvar(type=tabular,min=1k,round=1k,randtable={
  { 0,   1k,   7k},
  {50,   9k,  15k},
  {14,  17k,  23k},
  {14,  33k,  39k},
  {12,  65k,  71k},
  {10, 129k, 135k}
})
set $rdiosize=randvar(type=tabular,min=8k,round=1k,randtable={
  {85,   8k,   8k},
  { 8,  17k,  23k},
  { 4,  33k,  39k},
  { 2,  65k,  71k},
  { 1, 129k, 135k}
})
set $filesize=randvar(type=tabular,min=1k,round=1k,randtable={
  {33,   1k,    1k},
  {21,   1k,    3k},
  {13,   3k,    5k},
  {10,   5k,   11k},
  { 8,  11k,   21k},
  { 5,  21k,   43k},
  { 4,  43k,   85k},
  { 3,  85k,  171k},
  { 2, 171k,  341k},
  { 1, 341k, 1707k}
})
set $fileidx=randvar(type=gamma,mean=$hotfiles,gamma=100)

define fileset name=bigfileset,path=$dir,size=$filesize,entries=$nfiles,
               dirwidth=$meandirwidth,prealloc=60

define flowop name=rmw, $set
{
  flowop openfile name=openfile1,filesetname=$set,indexed=$fileidx,fd=1
  flowop readwholefile name=readfile1,iosize=$rdiosize,fd=1
  flowop createfile name=newfile2,filesetname=$set,indexed=$fileidx,fd=2
  flowop writewholefile name=writefile2,fd=2,iosize=$wrtiosize,srcfd=1
  flowop closefile name=closefile1,fd=1
  flowop closefile name=closefile2,fd=2
  flowop deletefile name=deletefile1,fd=1
}

define flowop name=launch, $set
{
  flowop openfile name=openfile3,filesetname=$set,indexed=$fileidx,fd=3
  flowop readwholefile name=readfile3,iosize=$rdiosize,fd=3
  flowop openfile name=openfile4,filesetname=$set,indexed=$fileidx,fd=4
  flowop readwholefile name=readfile4,iosize=$rdiosize,fd=4
  flowop closefile name=closefile3,fd=3
  flowop openfile name=openfile5,filesetname=$set,indexed=$fileidx,fd=5
  flowop readwholefile name=readfile5,iosize=$rdiosize,fd=5
  flowop closefile name=closefile4,fd=4
  flowop closefile name=closefile5,fd=5
}

define flowop name=appnd, $set
{
  flowop openfile name=openfile6,filesetname=$set,indexed=$fileidx,fd=6
  flowop appendfilerand name=appendfilerand6,iosize=$wrtiosize,fd=6
  flowop closefile name=closefile6,fd=6
}

define process name=netclient,instances=1
{
  thread name=fileuser,memsize=10m,instances=$nthreads
  {
    flowop launch name=launch1,iters=1,$set=bigfileset
    flowop rmw name=rmw1,iters=6,$set=bigfileset
    flowop appnd name=appnd1,iters=3,$set=bigfileset
    flowop statfile name=statfile1,filesetname=bigfileset,indexed=$fileidx
    flowop eventlimit name=ratecontrol
  }
}

run $runtime
