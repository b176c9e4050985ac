#include "node/transport/edge/message_checksum.h"

#include "gtest/gtest.h"
#include "kernels/passes/crc32c.h"
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
  EXPECT_NE(checksums.Of({whole.owner, 0, 500}), first);
  EXPECT_NE(checksums.Of({whole.owner, 500, 500}), first);
  const uint32_t before = first->Through(4000);
  first.reset();
  whole.begin()[0] += 1;
  EXPECT_NE(checksums.Of(whole)->Through(4000), before);
}

}  // namespace
}  // namespace grapevine
