// Headers that tests which read JSON include as well, precompiled as
// //tests/testing:json_test_prefix.
#ifndef GRAPEVINE_TESTS_TESTING_JSON_TEST_HEADERS_H_
#define GRAPEVINE_TESTS_TESTING_JSON_TEST_HEADERS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#endif  // GRAPEVINE_TESTS_TESTING_JSON_TEST_HEADERS_H_
