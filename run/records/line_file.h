// A file that grows line by line: metrics.jsonl.
#ifndef GRAPEVINE_RUN_RECORDS_LINE_FILE_H_
#define GRAPEVINE_RUN_RECORDS_LINE_FILE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grapevine {

// Thread-compatible. A reader of the file sees whole lines only, as soon as
// Append returns; when the disk is full the part of a line that fitted is taken
// back. Errors are kOutput and name the file.
class LineFile {
 public:
  // Appends to `path`; creates it where it is missing.
  static absl::StatusOr<std::unique_ptr<LineFile>> Open(std::string path);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  // `line` has no line break.
  absl::Status Append(std::string_view line);
  const std::string& path() const { return path_; }

 private:
  LineFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_LINE_FILE_H_
