// The kinds of allreduce, and the sizes, that every suite covers.
#ifndef GRAPEVINE_TESTS_ALGORITHM_ALLREDUCE_KINDS_H_
#define GRAPEVINE_TESTS_ALGORITHM_ALLREDUCE_KINDS_H_

#include <cctype>
#include <string>
#include <vector>

#include "algorithm/allreduce/allreduce_kind.h"
#include "base/ids.h"
#include "base/registry.h"

namespace grapevine::testing {

inline std::vector<std::string> AllreduceKinds() {
  std::vector<std::string> specs;
  for (const Listing& kind : Allreduces().Listings()) specs.push_back("allreduce:" + kind.name);
  return specs;
}

// 1 .. 17 and some larger ones.
inline std::vector<Rank> SomeSizes() {
  std::vector<Rank> sizes;
  for (Rank n = 1; n <= 17; ++n) sizes.push_back(n);
  for (const Rank n : {21, 24, 32, 35}) sizes.push_back(n);
  return sizes;
}

// A spec as a test name.
inline std::string KindName(std::string spec) {
  for (char& c : spec) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return spec;
}

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_ALGORITHM_ALLREDUCE_KINDS_H_
