#include "tests/testing/trace_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/file_text.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

int64_t Nanoseconds(const nlohmann::json& microseconds) {
  return std::llround(microseconds.get<double>() * 1000);
}

}  // namespace

TraceFile::TraceFile(const std::string& path) : json_(JsonOf(FileText(path))) {
  for (const nlohmann::json& event : json_["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const int64_t begin = Nanoseconds(event["ts"]);
    slices_.push_back({event["pid"], event["tid"], event["name"], begin,
                       begin + Nanoseconds(event["dur"]),
                       event.value("args", nlohmann::json::object())});
  }
}

std::vector<TraceSlice> TraceFile::Named(const std::string& prefix) const {
  std::vector<TraceSlice> named;
  for (const TraceSlice& slice : slices_) {
    if (slice.name.starts_with(prefix)) named.push_back(slice);
  }
  return named;
}

void TraceFile::ExpectWellFormed() const {
  const std::set<std::pair<int64_t, int64_t>> named = NamedLanes();
  std::map<std::pair<int64_t, int64_t>, std::vector<TraceSlice>> lanes;
  for (const TraceSlice& slice : slices_) {
    EXPECT_GE(slice.begin, 0);
    EXPECT_GE(slice.end, slice.begin) << slice.name;
    lanes[{slice.process, slice.thread}].push_back(slice);
  }
  for (auto& [lane, slices] : lanes) {
    std::ranges::sort(slices, {}, [](const TraceSlice& s) { return std::pair(s.begin, s.end); });
    for (size_t i = 1; i < slices.size(); ++i) {
      EXPECT_LE(slices[i - 1].end, slices[i].begin)
          << "process " << lane.first << ", lane " << lane.second << ": " << slices[i - 1].name
          << " and " << slices[i].name;
    }
    EXPECT_TRUE(named.contains(lane)) << lane.first << " " << lane.second;
  }
}

int TraceFile::ExpectArrows() const {
  std::set<uint64_t> begun;
  int ended = 0;
  for (const nlohmann::json& event : json_["traceEvents"]) {
    if (event["ph"] == "s") {
      EXPECT_TRUE(begun.insert(event["id"].get<uint64_t>()).second) << "an id is used twice";
      ExpectSliceAt(event);
    }
  }
  for (const nlohmann::json& event : json_["traceEvents"]) {
    if (event["ph"] != "f") continue;
    EXPECT_TRUE(begun.contains(event["id"].get<uint64_t>()));
    ExpectSliceAt(event);
    ++ended;
  }
  return ended;
}

std::set<std::pair<int64_t, int64_t>> TraceFile::NamedLanes() const {
  std::set<std::pair<int64_t, int64_t>> named;
  for (const nlohmann::json& event : json_["traceEvents"]) {
    if (event["name"] == "thread_name") {
      named.emplace(event["pid"].get<int64_t>(), event["tid"].get<int64_t>());
    }
  }
  return named;
}

void TraceFile::ExpectSliceAt(const nlohmann::json& flow) const {
  const int64_t at = Nanoseconds(flow["ts"]);
  EXPECT_TRUE(std::ranges::any_of(slices_, [&](const TraceSlice& slice) {
    return slice.process == flow["pid"] && slice.thread == flow["tid"] && slice.begin == at;
  })) << flow;
}

}  // namespace grapevine::testing
