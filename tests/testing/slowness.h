// How many times slower than a machine that is free, at most, this one may be: TEST_SLOWNESS. What
// tests wait for in real time is allowed so many times as long; who waits in vain learns it later.
#ifndef GRAPEVINE_TESTS_TESTING_SLOWNESS_H_
#define GRAPEVINE_TESTS_TESTING_SLOWNESS_H_

#include <cstdlib>

namespace grapevine::testing {

// At least 1.
inline int Slowness() {
  const char* text = std::getenv("TEST_SLOWNESS");
  const int slowness = text == nullptr ? 1 : std::atoi(text);
  return slowness < 1 ? 1 : slowness;
}

// A time that is enough on a machine that is free, for this one.
template <typename Duration>
Duration Patient(Duration time) {
  return Slowness() * time;
}

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_SLOWNESS_H_
