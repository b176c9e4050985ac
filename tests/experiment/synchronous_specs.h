// Examples of all algorithms that go through rounds, which a checkpoint takes.
#ifndef GRAPEVINE_TESTS_EXPERIMENT_SYNCHRONOUS_SPECS_H_
#define GRAPEVINE_TESTS_EXPERIMENT_SYNCHRONOUS_SPECS_H_

#include <string>
#include <vector>

#include "algorithm/algorithm_kind.h"
#include "tests/testing/registered_specs.h"

namespace grapevine {

inline std::vector<std::string> SynchronousSpecs() {
  std::vector<std::string> specs;
  for (const std::string& spec : testing::ExamplesOf(Algorithms())) {
    if (HasRounds(spec)) specs.push_back(spec);
  }
  return specs;
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_EXPERIMENT_SYNCHRONOUS_SPECS_H_
