#include "gtest/gtest.h"
#include "kernels/passes/crc32c.h"
#include "node/transport/edge/wire_format.h"
#include "tests/node/transport/transport_harness.h"

namespace grapevine {
namespace {

TEST(MessageChecksum, GrowsAsFarAsAsked) {
  const SharedSlice whole = Pattern(1000, 1);
  const SharedSlice slice{whole.owner, 100, 500};
  MessageChecksum checksum(slice);
  EXPECT_EQ(checksum.Through(0), 0u);
  EXPECT_EQ(checksum.Through(400), Crc32c(0, slice.begin(), 400));
  EXPECT_EQ(checksum.Through(2000), Crc32c(0, slice.begin(), 2000));
  // A second neighbour that is behind costs nothing.
  EXPECT_EQ(checksum.Through(400), Crc32c(0, slice.begin(), 2000));
}

TEST(ChecksumsInFlight, OneForEachSliceInFlight) {
  ChecksumsInFlight checksums;
  const SharedSlice whole = Pattern(1000, 1);
  auto first = checksums.Of(whole);
  EXPECT_EQ(checksums.Of(whole), first);
  EXPECT_NE(checksums.Of(SharedSlice{whole.owner, 0, 500}), first);
  EXPECT_NE(checksums.Of(SharedSlice{whole.owner, 500, 500}), first);
  const uint32_t before = first->Through(4000);
  first.reset();
  whole.begin()[0] += 1;
  EXPECT_NE(checksums.Of(whole)->Through(4000), before);
}

TEST(MessageChecksum, CoversTheNoteWhereThereIsOne) {
  EXPECT_EQ(WithNote(17, {}), 17u);
  const uint32_t noted = WithNote(17, {.weight = 0.5, .clock = 3});
  EXPECT_NE(noted, 17u);
  EXPECT_NE(noted, WithNote(17, {.weight = 0.25, .clock = 3}));
  EXPECT_NE(noted, WithNote(17, {.weight = 0.5, .clock = 4}));
  // 1.0 and 2 as eight little-endian bytes each.
  const unsigned char bytes[] = {0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 2, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(WithNote(17, {.weight = 1, .clock = 2}), Crc32c(17, bytes, sizeof(bytes)));
}

}  // namespace
}  // namespace grapevine
