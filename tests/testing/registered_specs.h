// The specs that a contract suite runs: the examples of all that is registered of a kind.
#ifndef GRAPEVINE_TESTS_TESTING_REGISTERED_SPECS_H_
#define GRAPEVINE_TESTS_TESTING_REGISTERED_SPECS_H_

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "base/registry.h"
#include "base/spec.h"

namespace grapevine::testing {

// Variants included.
template <typename Kind>
std::vector<std::string> ExamplesOf(const Kind& kind) {
  std::vector<std::string> specs = kind.examples;
  if constexpr (requires { kind.variants; }) {
    if (!kind.variants) return specs;
    for (const Listing& variant : kind.variants()) specs.push_back(kind.name + ":" + variant.name);
  }
  return specs;
}

template <typename Kind>
std::vector<std::string> ExamplesOf(const Registry<Kind>& registry) {
  std::vector<std::string> specs;
  for (const Kind* kind : registry.All()) {
    for (std::string& spec : ExamplesOf(*kind)) specs.push_back(std::move(spec));
  }
  return specs;
}

// Each has examples, and all are specs of itself.
template <typename Kind>
void ExpectOwnExamples(const Registry<Kind>& registry) {
  for (const Kind* kind : registry.All()) {
    EXPECT_FALSE(kind->examples.empty()) << kind->name << " is under no contract";
    for (const std::string& spec : kind->examples) EXPECT_EQ(ParseSpec(spec)->name, kind->name);
  }
}

// A spec as the name of a test case.
inline std::string SpecTestName(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_REGISTERED_SPECS_H_
