// A node's model at the boundary of a round, wherever it lies.
//
// Valid during the call that shows it; the runner's thread.
#ifndef GRAPEVINE_NODE_RUNNER_BOUNDARY_MODEL_H_
#define GRAPEVINE_NODE_RUNNER_BOUNDARY_MODEL_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kernels/passes/sketch.h"
#include "kernels/vector/aligned_buffer.h"
#include "kernels/vector/vector_handle.h"
#include "node/runner/data_path.h"

namespace grapevine {

class BoundaryModel {
 public:
  BoundaryModel(DataPath* data_path, Vec model) : data_path_(data_path), model_(model) {}

  // A parameter server has none; nothing else may be asked then.
  bool exists() const { return static_cast<bool>(model_); }
  // In host memory. May be held; it is not written again.
  absl::StatusOr<SharedVector> Read() const {
    return data_path_->Read(data_path_->vectors().At(model_));
  }
  // Of its first `size` elements (kernels/passes/sketch.h).
  absl::StatusOr<Sketch> SketchOf(int64_t size, uint64_t seed) const {
    return data_path_->SketchOf(model_, size, seed);
  }

 private:
  DataPath* const data_path_;
  const Vec model_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_BOUNDARY_MODEL_H_
