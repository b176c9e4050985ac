// Reads a Chrome trace back and checks it.
#ifndef GRAPEVINE_TESTS_TESTING_TRACE_FILE_H_
#define GRAPEVINE_TESTS_TESTING_TRACE_FILE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace grapevine::testing {

struct TraceSlice {
  int64_t process;
  int64_t thread;
  std::string name;
  int64_t begin;  // nanoseconds
  int64_t end;
  nlohmann::json arguments;
};

class TraceFile {
 public:
  explicit TraceFile(const std::string& path);

  const nlohmann::json& json() const { return json_; }
  const std::vector<TraceSlice>& slices() const { return slices_; }

  std::vector<TraceSlice> Named(const std::string& prefix) const;

  // Slices begin at 0 or later, end where they began or later, and do not overlap within a lane;
  // every lane and process has a name.
  void ExpectWellFormed() const;
  // How many arrows begin and end at a slice; an end without a beginning fails the test.
  int ExpectArrows() const;

 private:
  std::set<std::pair<int64_t, int64_t>> NamedLanes() const;
  void ExpectSliceAt(const nlohmann::json& flow) const;

  nlohmann::json json_;
  std::vector<TraceSlice> slices_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_TRACE_FILE_H_
