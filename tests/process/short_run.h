// A run of processes that is over soon.
#ifndef GRAPEVINE_TESTS_PROCESS_SHORT_RUN_H_
#define GRAPEVINE_TESTS_PROCESS_SHORT_RUN_H_

#include <string>
#include <vector>

namespace grapevine::testing {

inline const std::vector<std::string> kShortRun = {
    "--model=softmax", "--data=synthetic:train=512:test=200", "--rounds=5"};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_PROCESS_SHORT_RUN_H_
