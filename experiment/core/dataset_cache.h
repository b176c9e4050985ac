// Data sets that several experiments of one process read: loaded once.
#ifndef GRAPEVINE_EXPERIMENT_CORE_DATASET_CACHE_H_
#define GRAPEVINE_EXPERIMENT_CORE_DATASET_CACHE_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "model/data/dataset.h"
#include "model/datasets/dataset_registry.h"
#include "system/mutex.h"

namespace grapevine {

// Thread-safe. A data set stays in memory as long as the cache.
class DatasetCache {
 public:
  // Others who ask for the same spec meanwhile wait for the one who loads it.
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

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_DATASET_CACHE_H_
