// Reads a text file of fields separated by blanks or commas, line by line: edge lists and matrices.
// "#" and "%" begin comments. Lines without fields and a byte-order mark are skipped.
//
// Thread-safety: thread-compatible. Fields point into the file and live as long as the reader.
#ifndef GRAPEVINE_TOPOLOGY_FILES_FIELD_READER_H_
#define GRAPEVINE_TOPOLOGY_FILES_FIELD_READER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "system/file.h"

namespace grapevine {

class FieldReader {
 public:
  // Errors carry Failure::kInput.
  static absl::StatusOr<FieldReader> Open(const std::string& path);

  // Moves to the next line with fields. Returns false at the end.
  bool Next();
  // The fields of the current line.
  const std::vector<std::string_view>& fields() const { return fields_; }
  // Returns the error "PATH:LINE: MESSAGE" about the current line, with Failure::kInput.
  absl::Status Error(std::string_view message) const;

 private:
  FieldReader(std::string path, std::unique_ptr<MappedFile> file);

  std::string path_;
  std::unique_ptr<MappedFile> file_;
  std::string_view rest_;
  int64_t line_ = 0;
  std::vector<std::string_view> fields_;
};

// Returns a field, quoted for a message: at most 40 bytes, unprintable ones escaped.
std::string Quoted(std::string_view field);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_FILES_FIELD_READER_H_
