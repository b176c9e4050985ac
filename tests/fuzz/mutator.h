// Inputs that are almost what a parser expects: seeds, slightly changed.
//
// The same seed and number give the same input on every machine. Thread-compatible.
#ifndef GRAPEVINE_TESTS_FUZZ_MUTATOR_H_
#define GRAPEVINE_TESTS_FUZZ_MUTATOR_H_

#include <cstdint>
#include <string>
#include <vector>

namespace grapevine::fuzz {

class Mutator {
 public:
  // `seeds`: at least one.
  Mutator(std::vector<std::string> seeds, uint64_t seed);

  // A seed after one to eight changes: bits flipped, bytes replaced, parts removed, duplicated or
  // taken from another seed, numbers made extreme.
  std::string Input(uint64_t number) const;

 private:
  const std::vector<std::string> seeds_;
  const uint64_t seed_;
};

}  // namespace grapevine::fuzz

#endif  // GRAPEVINE_TESTS_FUZZ_MUTATOR_H_
