# Every algorithm, by families, and the task on which they are compared. To be sourced.

task=(-n 8 --model=mlp --epochs=3 --batch=16) # and default settings
diverged=7                                    # the exit code of a run that does, which is a result

each_family() { # COMMAND: called with the name of a family and its flags, for each of them
  "$1" gossip --topology=ring,one-peer-exponential --algorithm=dpsgd,dpsgd:order=atc,dpsgd:local=8,sgp,sgp:overlap=1
  "$1" asynchronous-gossip --topology=ring --algorithm=adpsgd,adpsgd:every=8
  "$1" outer-gossip --topology=random-matching --algorithm=noloco:every=8,noloco:every=32
  "$1" allreduce --topology=ring --algorithm=allreduce,allreduce:halving-doubling,allreduce:recursive-doubling,allreduce:double-tree,allreduce:tree,allreduce:torus:2x4,allreduce:hierarchical,allreduce:buckets=4
  "$1" averaging --topology=ring --algorithm=average:every=8,average:epoch,average:once,easgd:every=8,slowmo:every=8,diloco:every=8
  "$1" servers --topology=ring --algorithm=ps:servers=2,ps:async:servers=2,ps:async:adaptive:servers=2,ps:async:staleness=2:servers=2,downpour:window=8:servers=2,adag:window=8:servers=2,easgd:async:every=8:servers=2
  "$1" momentum-easgd --topology=ring --algorithm=eamsgd:every=8,eamsgd:async:every=8:servers=2 --optimizer=nesterov
}
