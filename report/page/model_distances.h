// How far each node's model is from the mean of all, by the models that they left.
//
// Safe from any thread; the files are read, a tensor at a time.
#ifndef GRAPEVINE_REPORT_PAGE_MODEL_DISTANCES_H_
#define GRAPEVINE_REPORT_PAGE_MODEL_DISTANCES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

// Of the safetensors files at `paths`, at least one: |x_i - mean x|^2 over the parameters, whose
// mean is the consensus distance. Batch-norm statistics do not count. kInput, with a sentence, if a
// file is missing or broken or two do not have the same tensors.
absl::StatusOr<std::vector<double>> ModelDistances(const std::vector<std::string>& paths);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PAGE_MODEL_DISTANCES_H_
