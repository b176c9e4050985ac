// The distance of each node's model from the mean of all, by the models that the nodes left.
//
// Safe from any thread; reads the files, a tensor at a time.
#ifndef GRAPEVINE_REPORT_PAGE_MODEL_DISTANCES_H_
#define GRAPEVINE_REPORT_PAGE_MODEL_DISTANCES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

// Returns |x_i - mean x|^2 over the parameters for each of the safetensors files at `paths`, at
// least one; the mean of these is the consensus distance. Batch-norm statistics do not count.
// kInput, with a sentence, if a file is missing or broken or two do not have the same tensors.
absl::StatusOr<std::vector<double>> ModelDistances(const std::vector<std::string>& paths);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PAGE_MODEL_DISTANCES_H_
