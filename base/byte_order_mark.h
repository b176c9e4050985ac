// The byte-order mark with which Windows' editors begin a text in UTF-8.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_BASE_BYTE_ORDER_MARK_H_
#define GRAPEVINE_BASE_BYTE_ORDER_MARK_H_

#include <string_view>

namespace grapevine {

// `text` without the mark at its beginning, if it has one.
inline std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_BYTE_ORDER_MARK_H_
