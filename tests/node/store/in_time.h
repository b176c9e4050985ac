// Enough for a machine that is busy with other tests.
#ifndef GRAPEVINE_TESTS_NODE_STORE_IN_TIME_H_
#define GRAPEVINE_TESTS_NODE_STORE_IN_TIME_H_

#include <chrono>

#include "node/store/store.h"
#include "tests/testing/slowness.h"

namespace grapevine {

inline StoreDeadline InTime() {
  return std::chrono::steady_clock::now() + testing::Patient(std::chrono::minutes(1));
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_NODE_STORE_IN_TIME_H_
