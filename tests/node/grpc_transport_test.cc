#include "node/grpc_transport.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/node/grpc_network.h"
#include "tests/node/transport_contract.h"

namespace grapevine {
namespace {

INSTANTIATE_TEST_SUITE_P(Grpc, TransportContract,
                         testing::Values(TransportKind{
                             "grpc",
                             [](int nodes) { return std::make_unique<GrpcNetwork>(nodes); }}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace grapevine
