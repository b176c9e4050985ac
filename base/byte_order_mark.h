// The byte-order mark that editors on Windows write at the beginning of a UTF-8 text.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_BASE_BYTE_ORDER_MARK_H_
#define GRAPEVINE_BASE_BYTE_ORDER_MARK_H_

#include <string_view>

namespace grapevine {

// Returns `text` without its leading byte-order mark, if it has one.
inline std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_BYTE_ORDER_MARK_H_
