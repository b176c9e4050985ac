// The problem that a configuration names by --model, --data and --split.
#ifndef GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_PROBLEM_H_
#define GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_PROBLEM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "experiment/core/dataset_cache.h"
#include "model/problem/problem.h"
#include "run/config/config.pb.h"

namespace grapevine {

// For `workers` nodes. Loads the data set; from `cache` unless that is null. Errors
// carry kUsage and name the flag with its value, or kInput and name the file.
absl::StatusOr<std::unique_ptr<Problem>> MakeProblem(const Config& config, Rank workers,
                                                     DatasetCache* cache);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_PROBLEM_H_
