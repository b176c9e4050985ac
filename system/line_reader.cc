#include "system/line_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace grapevine {

void LineReader::Read(UniqueDescriptor& descriptor) {
  char buffer[16384];
  for (size_t total = 0; descriptor.open() && total < kMaxBurst;) {
    const ssize_t got = read(descriptor.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      descriptor.Close();
      if (!partial_.empty()) Flush();
      return;
    }
    total += static_cast<size_t>(got);
    Take({buffer, static_cast<size_t>(got)});
  }
}

void LineReader::Take(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t room = kMaxLine - partial_.size();
    const std::string_view head = bytes.substr(0, room);
    const size_t end = head.find('\n');
    const size_t length = std::min(end, head.size());
    partial_.append(head.substr(0, length));
    bytes.remove_prefix(length + (end == std::string_view::npos ? 0 : 1));
    if (end != std::string_view::npos || partial_.size() == kMaxLine) Flush();
  }
}

void LineReader::Flush() {
  // Empty first: the callback sees a reader that is ready for the next line.
  const std::string line = std::exchange(partial_, {});
  on_line_(line);
}

}  // namespace grapevine
