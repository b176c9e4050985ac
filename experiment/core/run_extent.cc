#include "experiment/core/run_extent.h"

#include <cmath>
#include <cstdint>

namespace grapevine {

int64_t GlobalBatch(const Config& config, Rank workers) {
  return int64_t{config.batch()} * workers;
}

RunExtent ExtentOf(const Config& config, Rank workers, const TrainTest* data) {
  RunExtent run;
  if (data != nullptr) {
    run.rounds_per_epoch = static_cast<double>(data->train->size()) /
                           static_cast<double>(GlobalBatch(config, workers));
  }
  run.rounds = config.has_rounds()
                   ? config.rounds()
                   : static_cast<Round>(std::ceil(config.epochs() * run.rounds_per_epoch - 1e-9));
  return run;
}

}  // namespace grapevine
