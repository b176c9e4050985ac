// Headers that tests which use generated messages include as well, precompiled as
// //tests/testing:protobuf_test_prefix.
#ifndef GRAPEVINE_TESTS_TESTING_PROTOBUF_TEST_HEADERS_H_
#define GRAPEVINE_TESTS_TESTING_PROTOBUF_TEST_HEADERS_H_

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#endif  // GRAPEVINE_TESTS_TESTING_PROTOBUF_TEST_HEADERS_H_
