// Lines out of a non-blocking descriptor.
#ifndef GRAPEVINE_SYSTEM_LINE_READER_H_
#define GRAPEVINE_SYSTEM_LINE_READER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "system/unique_descriptor.h"

namespace grapevine {

// Thread-compatible.
class LineReader {
 public:
  // Without the line break. A line longer than kMaxLine comes in pieces.
  using OnLine = std::function<void(std::string_view line)>;

  explicit LineReader(OnLine on_line) : on_line_(std::move(on_line)) {}

  // Reads what is there, at most kMaxBurst, so that one busy writer does not
  // starve the others. Closes the descriptor at its end, after a last line
  // without a break.
  void Read(UniqueDescriptor& descriptor);

  static constexpr size_t kMaxLine = 16384;
  static constexpr size_t kMaxBurst = 262144;

 private:
  void Take(std::string_view bytes);
  void Flush();

  OnLine on_line_;
  std::string partial_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_LINE_READER_H_
