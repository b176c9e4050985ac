// The problem that a configuration names by --model, --data and --split, and a cache of data sets
// for several experiments in one process.
#ifndef GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_PROBLEM_H_
#define GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_PROBLEM_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "model/data/dataset.h"
#include "model/datasets/dataset_kind.h"
#include "model/problem/problem.h"
#include "run/config/config.pb.h"
#include "system/mutex.h"

namespace grapevine {

// Loads each data set once for several experiments. Thread-safe. A data set stays in memory as
// long as the cache.
class DatasetCache {
 public:
  // Returns the data set that `spec` names. Callers wait while another caller loads.
  absl::StatusOr<TrainTest> Get(const std::string& spec) {
    MutexLock lock(mutex_);
    const auto known = loaded_.find(spec);
    if (known != loaded_.end()) return known->second;
    absl::StatusOr<TrainTest> data = MakeDataset(spec);
    if (data.ok()) loaded_.emplace(spec, *data);
    return data;
  }

 private:
  Mutex mutex_;
  std::map<std::string, TrainTest> loaded_ ABSL_GUARDED_BY(mutex_);
};

// Makes the problem for `workers` nodes. Loads the data set, through `cache` unless that is null.
// Errors are kUsage and name the flag with its value, or kInput and name the file.
absl::StatusOr<std::unique_ptr<Problem>> MakeProblem(const Config& config, Rank workers,
                                                     DatasetCache* cache);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_PROBLEM_H_
