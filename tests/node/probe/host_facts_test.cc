#include "node/probe/host_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/probe/name_lookup.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(HostFacts, OnlyInstructionSetsThatMatterAndInOneOrder) {
  EXPECT_THAT(InstructionSetsIn("processor\t: 0\nflags\t\t: fpu avx2 vme avx fma avx512f ht\n"
                                "processor\t: 1\nflags\t\t: amx_tile\n"),
              ElementsAre("avx", "avx2", "fma", "avx512f"));
  EXPECT_THAT(InstructionSetsIn("Features\t: fp asimd sve i8mm\n"),
              ElementsAre("asimd", "sve", "i8mm"));
  EXPECT_THAT(InstructionSetsIn("model name : avx2\n"), IsEmpty());
}

TEST(HostFacts, AvailableMemory) {
  EXPECT_EQ(AvailableMemoryIn("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), 2048 * 1024);
  EXPECT_FALSE(AvailableMemoryIn("MemTotal: 9 kB\n"));
  EXPECT_FALSE(AvailableMemoryIn("MemAvailable: -5 kB\n"));
  EXPECT_FALSE(AvailableMemoryIn("MemAvailable: 99999999999999999 kB\n"));
}

TEST(HostFacts, ThisMachineHasSome) {
  const probe::Facts facts = ReadHostFacts();
  EXPECT_GE(facts.cores(), 1);
  EXPECT_GT(facts.memory(), 0);
  EXPECT_GT(facts.descriptors(), 0);
  EXPECT_GT(facts.addresses_size(), 0);
}

TEST(NameLookup, AddressesStandForThemselvesAndNonsenseForNothing) {
  const probe::Lookup loopback = LookUp("127.0.0.1", std::chrono::milliseconds(60000));
  EXPECT_EQ(loopback.problem(), "");
  ASSERT_EQ(loopback.addresses_size(), 1);
  EXPECT_EQ(loopback.addresses(0), "127.0.0.1");
  EXPECT_EQ(loopback.names_size(), 1);
  const probe::Lookup nobody = LookUp("no.such.name.invalid.", std::chrono::milliseconds(60000));
  EXPECT_NE(nobody.problem(), "");
  EXPECT_EQ(nobody.addresses_size(), 0);
}

TEST(NameLookup, OneAnswerForEachNameInTheirOrder) {
  probe::Inspect inspect;
  for (const char* name : {"127.0.0.1", "no.such.name.invalid.", "127.0.0.2"}) {
    inspect.add_names(name);
  }
  probe::Facts facts;
  LookUpAll(
      inspect.names(), std::chrono::milliseconds(60000), [] { return false; }, &facts);
  ASSERT_EQ(facts.lookups_size(), 3);
  EXPECT_EQ(facts.lookups(0).addresses(0), "127.0.0.1");
  EXPECT_NE(facts.lookups(1).problem(), "");
  EXPECT_EQ(facts.lookups(2).addresses(0), "127.0.0.2");
  probe::Facts none;
  LookUpAll(
      inspect.names(), std::chrono::milliseconds(60000), [] { return true; }, &none);
  ASSERT_EQ(none.lookups_size(), 3);
  EXPECT_NE(none.lookups(0).problem(), "") << "nobody waits for it any more";
}

}  // namespace
}  // namespace grapevine
