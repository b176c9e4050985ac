// Models as safetensors: named tensors that PyTorch, NumPy and others read.
//
// A file is the length of a JSON header (8 bytes, little-endian), the header, and
// the tensors' bytes. https://github.com/huggingface/safetensors
//
// Input is not trusted: lengths are bounded, offsets checked, and tensors must tile the data
// without holes or overlaps. Errors about their contents carry Failure::kInput and name the
// file; those about writing carry Failure::kOutput.
#ifndef GRAPEVINE_MODEL_FILES_SAFETENSORS_H_
#define GRAPEVINE_MODEL_FILES_SAFETENSORS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/vector/replica_layout.h"
#include "system/file.h"

namespace grapevine {

// The JSON header, read in one pass. Its cost is linear in the header's length: only names,
// types and shapes are kept, and nesting is bounded. Unknown fields of a tensor are skipped.
struct SafetensorsHeader {
  struct Tensor {
    std::string name;
    std::string dtype;             // "F32"; empty if the header has none
    std::vector<int64_t> shape;    // not negative, 64 at most
    std::vector<int64_t> offsets;  // not negative, two
  };

  std::map<std::string, std::string> metadata;
  std::vector<Tensor> tensors;  // in the order of the header, each name once
};

// Errors are InvalidArgument, say what is wrong, and quote no more than a part of
// a long name. Pure function, safe from any thread.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view text);

// A tensor's name for a message: cut, unprintable bytes escaped.
std::string ShownName(std::string_view name);

using SafetensorsMetadata = std::map<std::string, std::string>;

// To be written, as fp32; the elements are the caller's, as many as the shape says.
struct SafetensorsTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::span<const float> elements;
};

// The file appears whole, once `guard` allows it, or not at all.
absl::Status WriteSafetensors(const std::string& path, std::span<const SafetensorsTensor> tensors,
                              const SafetensorsMetadata& metadata, const WriteGuard& guard = {});

// Writes the tensors of a replica (layout.size elements) under their names.
absl::Status WriteSafetensors(const std::string& path, const ReplicaLayout& layout,
                              const float* replica, const SafetensorsMetadata& metadata,
                              const WriteGuard& guard = {});

// An opened file, validated. Immutable, safe from any thread.
class Safetensors {
 public:
  struct Tensor {
    std::string dtype;  // "F32" or "I64"
    std::vector<int64_t> shape;
    // Little-endian, maybe not aligned.
    std::span<const uint8_t> bytes;
  };

  static absl::StatusOr<Safetensors> Open(const std::string& path);

  // The whole file.
  std::span<const uint8_t> bytes() const { return file_->bytes(); }
  const SafetensorsMetadata& metadata() const { return metadata_; }
  // By name.
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }

  // Fills a replica of `layout`. Refuses files whose tensors are not exactly the layout's,
  // naming those that are missing, superfluous or of another shape or type; only PyTorch's
  // "*.num_batches_tracked" (one int64) may be superfluous.
  absl::Status Load(const ReplicaLayout& layout, float* replica) const;

 private:
  std::string path_;
  std::unique_ptr<MappedFile> file_;
  SafetensorsMetadata metadata_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_FILES_SAFETENSORS_H_
