// The contract of every transport: INSTANTIATE_TEST_SUITE_P it with a factory.
#ifndef GRAPEVINE_TESTS_NODE_TRANSPORT_TRANSPORT_CONTRACT_H_
#define GRAPEVINE_TESTS_NODE_TRANSPORT_TRANSPORT_CONTRACT_H_

#include <functional>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "tests/node/transport/transport_harness.h"

namespace grapevine {

struct TransportKind {
  std::string name;
  std::function<std::unique_ptr<TransportNetwork>(int nodes)> make;
};

class TransportContract : public ::testing::TestWithParam<TransportKind> {
 protected:
  std::unique_ptr<TransportNetwork> Make(int nodes) { return GetParam().make(nodes); }
};

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_NODE_TRANSPORT_TRANSPORT_CONTRACT_H_
