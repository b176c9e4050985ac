// A batch of labelled images, and where batches come from.
#ifndef GRAPEVINE_MODEL_DATA_BATCH_H_
#define GRAPEVINE_MODEL_DATA_BATCH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "kernels/device/device_copy.h"
#include "model/data/batch_memory.h"

namespace grapevine {

// One image's extents.
struct ImageShape {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;

  int64_t size() const { return height * width * channels; }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

// Images are fp32, normalized, channels last: (size, height, width, channels).
struct Batch {
  int64_t size = 0;
  BatchVector images;
  std::vector<int32_t> labels;
  // Of these images; null: none. Whoever writes images lets go of it.
  std::shared_ptr<const DeviceCopy> on_device = nullptr;
};

// Thread-compatible.
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  virtual ImageShape shape() const = 0;
  virtual int64_t classes() const = 0;
  virtual int64_t batch_size() const = 0;
  // The batch of `round`: a function of (seed, node, round) alone. Reuses the
  // memory of `batch`, or exchanges it. Errors are those of the files behind it.
  virtual absl::Status Fill(int64_t round, Batch* batch) = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_BATCH_H_
