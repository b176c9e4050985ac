// How many processes of a run share this machine.
#ifndef GRAPEVINE_EXPERIMENT_CORE_LOCAL_PROCESSES_H_
#define GRAPEVINE_EXPERIMENT_CORE_LOCAL_PROCESSES_H_

namespace grapevine {

// As the launcher of this process says in its environment (LOCAL_WORLD_SIZE, as torchrun
// and `train` do, or Open MPI's variable); 1 where none does. Slurm gives each process
// processors of its own instead. Safe from any thread.
int LocalProcesses();

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_LOCAL_PROCESSES_H_
