#include "kernels/passes/crc32c.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace grapevine {
namespace {

#if defined(__SSE2__)
// Copies `lines` whole cache lines; `to` is aligned to a cache line.
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
  // Streaming stores are not ordered with later stores, such as the unlocking of a mutex.
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

namespace {

// Polynomials over GF(2) modulo the Castagnoli polynomial are bit-reflected: bit 31 is the
// coefficient of x^0.
constexpr uint32_t kPolynomial = 0x82f63b78;
constexpr uint32_t kOne = 0x80000000;

constexpr uint32_t TimesX(uint32_t a) { return (a >> 1) ^ ((a & 1) != 0 ? kPolynomial : 0); }

constexpr uint32_t Multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (; a != 0; a <<= 1, b = TimesX(b)) {
    if ((a & kOne) != 0) product ^= b;
  }
  return product;
}

// Returns x^exponent.
constexpr uint32_t PowerOfX(uint64_t exponent) {
  uint32_t result = kOne;
  uint32_t square = TimesX(kOne);
  for (; exponent != 0; exponent >>= 1, square = Multiply(square, square)) {
    if ((exponent & 1) != 0) result = Multiply(result, square);
  }
  return result;
}

// tables[k][b] is the raw CRC of byte b followed by k zero bytes.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = TimesX(crc);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k) {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

#if defined(__x86_64__)
#define GRAPEVINE_CRC_TARGET __attribute__((target("sse4.2,pclmul")))

bool HasCrcInstructions() {
  static const bool has = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
  return has;
}

uint64_t Load(const uint8_t* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

// Bytes in each of the three interleaved streams; the three fit L1.
constexpr size_t kStream = 1360;
// Bytes that prefetches run ahead. The processor's own prefetcher begins anew with each stream:
// from memory, the checksum took 1.8 times as long without explicit prefetches. They may pass the
// end of the data, where they do nothing.
constexpr size_t kAhead = 2 * 3 * kStream;

GRAPEVINE_CRC_TARGET void Prefetch(const uint8_t* p) {
  _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T0);
}

// Returns the factor by which appending `bytes` zero bytes multiplies a raw CRC, without the x^33
// that a reflected 64-bit product and the crc32 instruction add.
constexpr uint32_t Shift(uint64_t bytes) { return PowerOfX(8 * bytes - 33); }

GRAPEVINE_CRC_TARGET uint32_t Shifted(uint32_t crc, uint32_t shift) {
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi32_si128(static_cast<int>(crc)),
                                               _mm_cvtsi32_si128(static_cast<int>(shift)), 0);
  return static_cast<uint32_t>(_mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(product))));
}

GRAPEVINE_CRC_TARGET uint32_t ThreeStreams(uint32_t crc, const uint8_t* p) {
  constexpr uint32_t kOneStream = Shift(kStream);
  constexpr uint32_t kTwoStreams = Shift(2 * kStream);
  uint64_t a = crc;
  uint64_t b = 0;
  uint64_t c = 0;
  for (size_t i = 0; i < kStream; i += 8) {
    if (i % kCacheLine == 0) {
      for (size_t stream = 0; stream < 3; ++stream) Prefetch(p + kAhead + stream * kStream + i);
    }
    a = _mm_crc32_u64(a, Load(p + i));
    b = _mm_crc32_u64(b, Load(p + kStream + i));
    c = _mm_crc32_u64(c, Load(p + 2 * kStream + i));
  }
  return Shifted(static_cast<uint32_t>(a), kTwoStreams) ^
         Shifted(static_cast<uint32_t>(b), kOneStream) ^ static_cast<uint32_t>(c);
}

GRAPEVINE_CRC_TARGET uint32_t InstructionCrc32c(uint32_t crc, const void* data, size_t size) {
  const uint8_t* p = static_cast<const uint8_t*>(data);
  crc = ~crc;
  for (; size >= 3 * kStream; size -= 3 * kStream, p += 3 * kStream) crc = ThreeStreams(crc, p);
  uint64_t raw = crc;
  for (; size >= 8; size -= 8, p += 8) raw = _mm_crc32_u64(raw, Load(p));
  crc = static_cast<uint32_t>(raw);
  for (; size > 0; --size, ++p) crc = _mm_crc32_u8(crc, *p);
  return ~crc;
}
#endif

}  // namespace

uint32_t PortableCrc32c(uint32_t crc, const void* data, size_t size) {
  const uint8_t* p = static_cast<const uint8_t*>(data);
  crc = ~crc;
  for (; size >= 8; size -= 8, p += 8) {
    uint32_t next = 0;
    for (size_t k = 0; k < 4; ++k) next ^= kTables[7 - k][((crc >> (8 * k)) ^ p[k]) & 0xff];
    for (size_t k = 4; k < 8; ++k) next ^= kTables[7 - k][p[k]];
    crc = next;
  }
  for (; size > 0; --size, ++p) crc = (crc >> 8) ^ kTables[0][(crc ^ *p) & 0xff];
  return ~crc;
}

uint32_t Crc32c(uint32_t crc, const void* data, size_t size) {
#if defined(__x86_64__)
  if (HasCrcInstructions()) return InstructionCrc32c(crc, data, size);
#endif
  return PortableCrc32c(crc, data, size);
}

uint32_t CopyAndCrc32c(CopyTo where, uint32_t crc, void* to, const void* from, size_t size) {
  // A block fits the L1 cache, so that reading its bytes a second time is free.
  constexpr size_t kBlock = 8160;
  std::byte* out = static_cast<std::byte*>(to);
  const std::byte* in = static_cast<const std::byte*>(from);
  while (size > 0) {
    const size_t block = std::min(size, kBlock);
    Copy(where, out, in, block);
    crc = Crc32c(crc, in, block);
    out += block;
    in += block;
    size -= block;
  }
  return crc;
}

}  // namespace grapevine
