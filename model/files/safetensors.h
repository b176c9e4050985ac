// Reads and writes models as safetensors files: named tensors that PyTorch, NumPy and others read.
//
// A file consists of the length of a JSON header (8 bytes, little-endian), the header, and
// the tensors' bytes. https://github.com/huggingface/safetensors
//
// Input is not trusted: lengths are bounded, offsets are checked, and tensors must tile the data
// without holes or overlaps. Errors about the contents of a file carry Failure::kInput and name the
// file; errors about writing carry Failure::kOutput.
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

// The JSON header. It is parsed in one pass, whose cost is linear in the header's length: only
// names, types, shapes and offsets are kept, and nesting is bounded. Unknown fields of a tensor are
// skipped.
struct SafetensorsHeader {
  struct Tensor {
    std::string name;
    std::string dtype;             // "F32"; empty if the header has none
    std::vector<int64_t> shape;    // at most 64 numbers, none negative
    std::vector<int64_t> offsets;  // two numbers, none negative
  };

  std::map<std::string, std::string> metadata;
  std::vector<Tensor> tensors;  // in the order of the header, each name once
};

// Parses a header. Errors are InvalidArgument, say what is wrong, and quote only a part of
// a long name. A pure function, safe from any thread.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view text);

// Returns a tensor's name for a message: a long name is cut, and unprintable bytes are escaped.
std::string ShownName(std::string_view name);

using SafetensorsMetadata = std::map<std::string, std::string>;

// A tensor to be written as fp32. The caller owns the elements, whose number is the product of the
// shape.
struct SafetensorsTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::span<const float> elements;
};

// Writes a file, which appears whole, once `guard` allows it, or not at all.
absl::Status WriteSafetensors(const std::string& path, std::span<const SafetensorsTensor> tensors,
                              const SafetensorsMetadata& metadata, const WriteGuard& guard = {});

// Writes the tensors of a replica (layout.size elements) under their names.
absl::Status WriteSafetensors(const std::string& path, const ReplicaLayout& layout,
                              const float* replica, const SafetensorsMetadata& metadata,
                              const WriteGuard& guard = {});

// An open, validated file. Immutable; safe from any thread.
class Safetensors {
 public:
  struct Tensor {
    std::string dtype;  // "F32" or "I64"
    std::vector<int64_t> shape;
    // The elements, little-endian and possibly not aligned.
    std::span<const uint8_t> bytes;
  };

  static absl::StatusOr<Safetensors> Open(const std::string& path);

  // The whole file.
  std::span<const uint8_t> bytes() const { return file_->bytes(); }
  const SafetensorsMetadata& metadata() const { return metadata_; }
  // The tensors by name.
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }

  // Fills a replica of `layout`. Refuses a file whose tensors are not exactly those of the layout,
  // and names a tensor that is missing, superfluous or of another shape or type. Only PyTorch's
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
