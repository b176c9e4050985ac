#include "run/records/run_standing.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/status.h"
#include "run/records/json_record.h"

namespace grapevine {
namespace {

constexpr char kWait[] = "wait";

constexpr auto kStandingMembers = [](auto& record, auto&& visit) {
  visit("slowest_rank", record.slowest_rank);
  visit("slowest_round", record.slowest_round);
  visit("fastest_rank", record.fastest_rank);
  visit("fastest_round", record.fastest_round);
};

constexpr auto kWaitMembers = [](auto& record, auto&& visit) {
  visit("rank", record.rank);
  visit("peer", record.peer);
  visit("round", record.round);
  visit("seconds", record.seconds);
};

absl::Status Check(bool can_be, const char* what) {
  return can_be ? absl::OkStatus()
                : absl::InvalidArgumentError(absl::StrCat("has a ", what, " that cannot be"));
}

}  // namespace

std::string ToJsonLine(const RunStanding& standing) {
  nlohmann::ordered_json json = ToJson(standing, kStandingMembers);
  if (standing.wait) json[kWait] = ToJson(*standing.wait, kWaitMembers);
  return Dump(json);
}

absl::StatusOr<RunStanding> RunStandingFromJson(std::string_view line) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return absl::InvalidArgumentError("is not valid JSON");
  ASSIGN_OR_RETURN(RunStanding standing, FromJson<RunStanding>(json, kStandingMembers));
  RETURN_IF_ERROR(Check(std::min(standing.slowest_rank, standing.fastest_rank) >= 0, "rank"));
  RETURN_IF_ERROR(Check(
      standing.slowest_round >= 0 && standing.fastest_round >= standing.slowest_round, "round"));
  const auto found = json.find(kWait);
  if (found == json.end() || found->is_null()) return standing;
  ASSIGN_OR_RETURN(const StandingWait wait, FromJson<StandingWait>(*found, kWaitMembers));
  RETURN_IF_ERROR(Check(std::min(wait.rank, wait.peer) >= 0, "rank"));
  RETURN_IF_ERROR(Check(wait.round >= 0, "round"));
  RETURN_IF_ERROR(Check(std::isfinite(wait.seconds) && wait.seconds >= 0, "wait"));
  standing.wait = wait;
  return standing;
}

}  // namespace grapevine
