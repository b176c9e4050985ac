// A file read through a memory mapping: data sets and safetensors.
#ifndef GRAPEVINE_SYSTEM_MAPPED_FILE_H_
#define GRAPEVINE_SYSTEM_MAPPED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace grapevine {

// Immutable after Open; safe to read from any thread.
class MappedFile {
 public:
  // Refuses folders and unreadable files with their names. An empty file is
  // an empty span.
  static absl::StatusOr<std::unique_ptr<MappedFile>> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const uint8_t> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  const uint8_t* data_;
  size_t size_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_MAPPED_FILE_H_
