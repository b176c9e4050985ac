#include "kernels/passes/crc32c.h"

#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace grapevine {
namespace {

std::vector<uint8_t> Bytes(size_t size) {
  std::vector<uint8_t> bytes(size);
  uint32_t state = 12345;
  for (uint8_t& byte : bytes)
    byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

uint32_t Of(const std::vector<uint8_t>& bytes) {
  EXPECT_EQ(Crc32c(0, bytes.data(), bytes.size()), PortableCrc32c(0, bytes.data(), bytes.size()));
  return Crc32c(0, bytes.data(), bytes.size());
}

// RFC 3720, appendix B.4.
TEST(Crc32c, VectorsOfRfc3720) {
  std::vector<uint8_t> bytes(32);
  EXPECT_EQ(Of(bytes), 0x8a9136aau);
  bytes.assign(32, 0xff);
  EXPECT_EQ(Of(bytes), 0x62a8ab43u);
  std::iota(bytes.begin(), bytes.end(), 0);
  EXPECT_EQ(Of(bytes), 0x46dd794eu);
  std::iota(bytes.rbegin(), bytes.rend(), 0);
  EXPECT_EQ(Of(bytes), 0x113fdb5cu);
  const std::vector<uint8_t> read_command = {
      0x01, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00,
      0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x18, 0x28, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  EXPECT_EQ(Of(read_command), 0xd9963a56u);
  const std::string digits = "123456789";
  EXPECT_EQ(Crc32c(0, digits.data(), digits.size()), 0xe3069283u);
  EXPECT_EQ(Crc32c(0, nullptr, 0), 0u);
}

TEST(Crc32c, AgreesWithTheTablesAtEverySizeAndAlignment) {
  const std::vector<uint8_t> bytes = Bytes(20000);
  for (const size_t size : {1, 7, 8, 9, 63, 64, 1360, 4079, 4080, 4081, 8160, 12241, 19990}) {
    for (size_t offset = 0; offset < 9; ++offset) {
      EXPECT_EQ(Crc32c(17, &bytes[offset], size), PortableCrc32c(17, &bytes[offset], size))
          << size << " at " << offset;
    }
  }
}

TEST(Crc32c, Extends) {
  const std::vector<uint8_t> bytes = Bytes(30001);
  const uint32_t whole = Of(bytes);
  for (const size_t cut : {0, 1, 15, 4096, 30000, 30001}) {
    const uint32_t first = Crc32c(0, bytes.data(), cut);
    EXPECT_EQ(Crc32c(first, bytes.data() + cut, bytes.size() - cut), whole) << cut;
  }
}

TEST(Crc32c, CopiesInPassing) {
  const std::vector<uint8_t> bytes = Bytes(20001);
  const uint32_t start = Crc32c(0, bytes.data(), 3);
  for (const CopyTo where : {CopyTo::kCache, CopyTo::kMemory}) {
    std::vector<uint8_t> copy(bytes.size());
    const uint32_t crc = CopyAndCrc32c(where, start, &copy[3], &bytes[3], bytes.size() - 3);
    EXPECT_EQ(crc, Of(bytes));
    EXPECT_TRUE(std::equal(copy.begin() + 3, copy.end(), bytes.begin() + 3));
  }
}

TEST(Crc32c, SeesAFlippedBit) {
  std::vector<uint8_t> bytes = Bytes(9000);
  const uint32_t before = Of(bytes);
  for (const size_t at : {0, 4500, 8999}) {
    bytes[at] ^= 1;
    EXPECT_NE(Of(bytes), before) << at;
    bytes[at] ^= 1;
  }
}

}  // namespace
}  // namespace grapevine
