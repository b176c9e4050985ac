#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "tools/netlab/ethernet_switch.h"

namespace grapevine::netlab {
namespace {

using Header = std::array<uint8_t, kHeaderBytes>;

// Addresses 02:00:00:00:HH:LL.
Header FrameOf(int to, int from) {
  Header header{0x02, 0, 0, 0, static_cast<uint8_t>(to >> 8),   static_cast<uint8_t>(to),
                0x02, 0, 0, 0, static_cast<uint8_t>(from >> 8), static_cast<uint8_t>(from)};
  return header;
}

Header Broadcast(int from) {
  Header header = FrameOf(0, from);
  for (int i = 0; i < 6; ++i) header[i] = 0xff;
  return header;
}

TEST(AddressTableTest, FindsAPortOnceItsAddressWasSeen) {
  AddressTable table;
  EXPECT_EQ(table.Find(FrameOf(7, 1)), std::nullopt);
  table.Learn(FrameOf(1, 7), 3);
  EXPECT_EQ(table.Find(FrameOf(7, 1)), 3);
  table.Learn(FrameOf(1, 7), 4);  // it moved
  EXPECT_EQ(table.Find(FrameOf(7, 1)), 4);
}

TEST(AddressTableTest, GroupsGoEverywhere) {
  AddressTable table;
  table.Learn(Broadcast(1), 0);
  EXPECT_EQ(table.Find(Broadcast(2)), std::nullopt);
  EXPECT_EQ(table.Find(FrameOf(1, 2)), 0);
}

TEST(AddressTableTest, AFloodOfAddressesDoesNotGrowItForever) {
  AddressTable table;
  const int most = static_cast<int>(AddressTable::kMaxAddresses);
  for (int address = 0; address < 2 * most; ++address) table.Learn(FrameOf(0, address), 1);
  EXPECT_EQ(table.Find(FrameOf(most - 1, 0)), 1);
  EXPECT_EQ(table.Find(FrameOf(most, 0)), std::nullopt);
  table.Learn(FrameOf(0, 5), 2);  // known ones still move
  EXPECT_EQ(table.Find(FrameOf(5, 0)), 2);
}

}  // namespace
}  // namespace grapevine::netlab
