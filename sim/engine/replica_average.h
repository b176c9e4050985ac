// The averaged model and the distances to it of replicas in one process.
#ifndef GRAPEVINE_SIM_ENGINE_REPLICA_AVERAGE_H_
#define GRAPEVINE_SIM_ENGINE_REPLICA_AVERAGE_H_

#include <cstdint>
#include <span>

#include "kernels/vector/aligned_buffer.h"
#include "kernels/vector/replica_layout.h"
#include "model/problem/averaged_model.h"

namespace grapevine {

// Merges in the order of the runtime's tree over the ranks (children 2r+1 and
// 2r+2 of r), so that the mean has the bits that a real run's has. One replica a
// rank, at least one, of layout.size elements each; the result is a new vector.
AveragedModel AverageReplicas(const ReplicaLayout& layout, int64_t round,
                              std::span<const SharedVector> replicas);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_REPLICA_AVERAGE_H_
