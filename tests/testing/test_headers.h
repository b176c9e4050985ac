// Headers that nearly every test includes, precompiled as //tests/testing:test_prefix. Tests
// still include what they use.
#ifndef GRAPEVINE_TESTS_TESTING_TEST_HEADERS_H_
#define GRAPEVINE_TESTS_TESTING_TEST_HEADERS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#endif  // GRAPEVINE_TESTS_TESTING_TEST_HEADERS_H_
