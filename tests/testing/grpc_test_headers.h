// Headers that tests which speak gRPC, or use generated messages, include as well, precompiled as
// //tests/testing:grpc_test_prefix.
#ifndef GRAPEVINE_TESTS_TESTING_GRPC_TEST_HEADERS_H_
#define GRAPEVINE_TESTS_TESTING_GRPC_TEST_HEADERS_H_

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#endif  // GRAPEVINE_TESTS_TESTING_GRPC_TEST_HEADERS_H_
