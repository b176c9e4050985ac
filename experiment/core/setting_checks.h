// Checks that the settings of an experiment fit together: those of its model, which may see no data
// or learn nothing, and those of its algorithm and its optimizer.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_EXPERIMENT_CORE_SETTING_CHECKS_H_
#define GRAPEVINE_EXPERIMENT_CORE_SETTING_CHECKS_H_

#include "absl/status/status.h"
#include "kernels/vector/replica_layout.h"
#include "optim/optimizer.h"
#include "run/config/config.pb.h"

namespace grapevine {

// Checks the settings of the model. A model that sees no data, or learns nothing, makes some
// settings meaningless and requires others. Returns the first problem as kUsage: flag and value,
// what is wrong and the remedy (run/config/resolved_config.h replaces the flag by the variable or
// file that the value came from).
absl::Status CheckModelSettings(const Config& config);

// Refuses what only a simulated node can do: take a given time for the gradient of a network, or
// save by time where nodes go on without lost ones. Also refuses what no node can do: record what
// is given up for a checkpoint.
absl::Status CheckOnRealNodes(const Config& config);

// Checks that an algorithm and an optimizer go together: rules that take norms of tensors (LARS,
// LAMB) cannot step a server's range that cuts a tensor, and an algorithm may work with one
// optimizer alone (AlgorithmKind::optimizer). Errors are kUsage and name the flag and what works:
// the --optimizer that the algorithm has, or the tensor that would be cut and the nearest
// --algorithm that cuts none.
absl::Status CheckOptimizerFits(const Config& config, const Optimizer& optimizer,
                                const ReplicaLayout& layout);

// Whether evaluations decide when the batch grows (--batch-schedule=plateau).
bool GrowsAtPlateaus(const Config& config);

// Whether nodes exchange messages along --topology, with the weights of --mixing. An allreduce and
// servers use neither.
bool UsesGraph(const Config& config);
// Whether nodes do not use --topology, and it names a known topology, whether or not that fits the
// run.
bool AnyGraphWillDo(const Config& config);

// Whether --momentum, or --weight-decay, changes what the optimizer of this (valid) configuration
// does: Adam has no momentum of that kind, and a spec's own numbers take precedence.
bool MomentumMatters(const Config& config);
bool WeightDecayMatters(const Config& config);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_SETTING_CHECKS_H_
