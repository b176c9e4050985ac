// Which random cases a test plays: as many as it says, from its first seed on, unless its
// environment asks for others:
//
//   TEST_SEED=17         that one alone
//   TEST_FIRST_SEED=500  from that one on
//   TEST_SEEDS=10000     so many
//   TEST_SEEDS=1/3       a third of as many as the test says
//
// For what holds with every seed. A test that measures a mean names its seeds itself.
#ifndef GRAPEVINE_TESTS_TESTING_SEEDS_H_
#define GRAPEVINE_TESTS_TESTING_SEEDS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace grapevine::testing {

// TEST_SEED, if it is set.
inline std::optional<uint64_t> OnlySeed() {
  const char* text = std::getenv("TEST_SEED");
  return text == nullptr ? std::nullopt : std::optional<uint64_t>(std::strtoull(text, nullptr, 10));
}

// How many Seeds(count) are.
inline uint64_t SeedCount(uint64_t count) {
  if (OnlySeed()) return 1;
  const char* text = std::getenv("TEST_SEEDS");
  if (text == nullptr) return count;
  char* end = nullptr;
  const uint64_t number = std::strtoull(text, &end, 10);
  const uint64_t parts = *end == '/' ? std::strtoull(end + 1, &end, 10) : 0;
  EXPECT_TRUE(end != text && *end == '\0') << "TEST_SEEDS=" << text << ": a number, or 1/3, say";
  return std::max<uint64_t>(1, parts == 0 ? number : count * number / parts);
}

// `count` seeds from `first` on, or those that the environment asks for. They are noted in the
// test's results.
inline std::vector<uint64_t> Seeds(uint64_t count, uint64_t first = 1) {
  if (const std::optional<uint64_t> only = OnlySeed()) return {*only};
  if (const char* text = std::getenv("TEST_FIRST_SEED")) first = std::strtoull(text, nullptr, 10);
  count = SeedCount(count);
  ::testing::Test::RecordProperty("seeds",
                                  std::to_string(first) + ".." + std::to_string(first + count - 1));
  std::vector<uint64_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), first);
  return seeds;
}

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_SEEDS_H_
