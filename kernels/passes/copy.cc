#include "kernels/passes/copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace grapevine {
namespace {

#if defined(__SSE2__)
// `to` begins a line of the cache; the rest of the last line is left.
void StreamLines(std::byte* to, const std::byte* from, size_t lines) {
  constexpr int kWords = kCacheLine / sizeof(__m128i);
  for (size_t line = 0; line < lines; ++line, to += kCacheLine, from += kCacheLine) {
    __m128i words[kWords];
    std::memcpy(words, from, kCacheLine);
    for (int i = 0; i < kWords; ++i) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, words[i]);
    }
  }
}

void CopyToMemory(std::byte* to, const std::byte* from, size_t size) {
  const size_t past_line = reinterpret_cast<uintptr_t>(to) % kCacheLine;
  const size_t head = std::min(size, past_line == 0 ? 0 : kCacheLine - past_line);
  const size_t lines = (size - head) / kCacheLine;
  std::memcpy(to, from, head);
  StreamLines(to + head, from + head, lines);
  const size_t done = head + lines * kCacheLine;
  std::memcpy(to + done, from + done, size - done);
  // Such writes keep no order with those that come after, a mutex's among them.
  _mm_sfence();
}
#else
void CopyToMemory(std::byte* to, const std::byte* from, size_t size) {
  std::memcpy(to, from, size);
}
#endif

}  // namespace

void Copy(CopyTo where, void* to, const void* from, size_t size) {
  if (size == 0) return;
  if (where == CopyTo::kCache) {
    std::memcpy(to, from, size);
  } else {
    CopyToMemory(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), size);
  }
}

}  // namespace grapevine
