// How long a run is, from its settings and the size of its data set.
//
// Thread-safety: a pure function.
#ifndef GRAPEVINE_EXPERIMENT_CORE_RUN_EXTENT_H_
#define GRAPEVINE_EXPERIMENT_CORE_RUN_EXTENT_H_

#include "base/ids.h"
#include "model/data/dataset.h"
#include "optim/run_position.h"
#include "run/config/config.pb.h"

namespace grapevine {

// The samples that all workers together see in a round.
int64_t GlobalBatch(const Config& config, Rank workers);

// `data`: null for a model without, whose rounds count as epochs.
RunExtent ExtentOf(const Config& config, Rank workers, const TrainTest* data);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_RUN_EXTENT_H_
