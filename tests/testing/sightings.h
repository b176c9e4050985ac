// What a test's random cases are to show, and whether they have: a check of something that not
// every case has says nothing where no case has it.
//
//   PlaySeeds(450, /*least=*/1, [](uint64_t seed, Sightings& seen) {
//     ...
//     seen.Count("whoever comes back goes on", returned);
//   });
#ifndef GRAPEVINE_TESTS_TESTING_SIGHTINGS_H_
#define GRAPEVINE_TESTS_TESTING_SIGHTINGS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tests/testing/seeds.h"

namespace grapevine::testing {

// Thread-compatible.
class Sightings {
 public:
  // It was seen so many times more. To be called in every case that might have shown it, with 0
  // where it has not.
  void Count(std::string_view what, std::integral auto times) {
    seen_[std::string(what)] += static_cast<uint64_t>(times);
  }

  bool All(uint64_t least) const {
    return std::ranges::all_of(seen_, [least](const auto& thing) { return thing.second >= least; });
  }
  // For each thing, "whoever comes back goes on: 3".
  std::string Describe() const {
    std::string text;
    for (const auto& [what, times] : seen_) text += "\n  " + what + ": " + std::to_string(times);
    return text;
  }

 private:
  std::map<std::string, uint64_t> seen_;
};

// Plays the cases of Seeds(count), until one fails. Each thing that is counted is seen `least`
// times in `count` cases, or the test fails; in proportion where the environment asks for fewer or
// more, but at least once: a share that has not shown a thing is followed by more cases, up to
// `count`. A case that is played alone need show nothing.
inline void PlaySeeds(uint64_t count, uint64_t least,
                      const std::function<void(uint64_t seed, Sightings& seen)>& play) {
  const auto seeds = Seeds(count);
  const uint64_t asked = seeds.size();
  const uint64_t enough = OnlySeed() ? 0 : std::max<uint64_t>(1, least * asked / count);
  Sightings seen;
  uint64_t played = 0;
  const auto goes_on = [&] { return played < asked || (played < count && !seen.All(enough)); };
  for (; goes_on() && !::testing::Test::HasFailure(); ++played) play(seeds.front() + played, seen);
  if (::testing::Test::HasFailure()) return;
  EXPECT_TRUE(seen.All(enough)) << "not seen " << enough << " times in " << played << " cases from "
                                << seeds.front() << " on:" << seen.Describe();
}

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_SIGHTINGS_H_
