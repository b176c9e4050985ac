#include "node/control/vital_signs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/units.h"
#include "node/control/wording.h"

namespace grapevine {
namespace {

using std::chrono::nanoseconds;

constexpr size_t kMaxChain = 8;
// The largest part of a node's own words that is shown.
constexpr size_t kMaxState = 400;

}  // namespace

void VitalSigns::Begin(Rank rank, const std::string& address, SteadyTime now) {
  Node& node = nodes_[rank];
  node.address = address;
  node.silence.Begin(now);
  node.moved = node.round_since = node.waits_since = now;
}

void VitalSigns::OnHeartbeat(Rank rank, const control::Heartbeat& heartbeat, SteadyTime now) {
  Node& node = nodes_.at(rank);
  // A node that starts or stops waiting has moved, too: an attempt to connect may just have failed.
  if (heartbeat.progress() != node.heartbeat.progress() ||
      !std::ranges::equal(heartbeat.waiting_for(), node.heartbeat.waiting_for())) {
    node.moved = now;
  }
  const bool other_round = heartbeat.round() != node.heartbeat.round();
  if (other_round) node.moved = node.round_since = now;
  if (other_round || node.heartbeat.waiting_for().empty()) node.waits_since = now;
  node.heartbeat = heartbeat;
  node.heartbeat.set_state(Printable(heartbeat.state(), kMaxState));
}

void VitalSigns::OnRound(Rank rank, Round round, SteadyTime now) {
  Node& node = nodes_.at(rank);
  if (round <= node.heartbeat.round()) return;
  node.heartbeat.set_round(round);
  node.moved = node.round_since = node.waits_since = now;
}

void VitalSigns::OnReturn(Rank rank, SteadyTime now) {
  Node& node = nodes_.at(rank);
  node.connected = true;
  node.silence.Begin(now);
}

void VitalSigns::Excuse(SteadyTime now) {
  for (auto& [rank, node] : nodes_) node.moved = node.round_since = now;
}

void VitalSigns::Postpone(nanoseconds gap, SteadyTime now) {
  for (auto& [rank, node] : nodes_) {
    node.silence.Postpone(gap, options_.peer_timeout, now);
    for (SteadyTime* since : {&node.moved, &node.round_since, &node.waits_since}) *since += gap;
  }
}

std::string VitalSigns::SilentFor(Rank rank, SteadyTime now) const {
  return HumanSeconds(now - last_heard(rank));
}

std::string VitalSigns::At(Rank rank) const {
  const control::Heartbeat& heartbeat = nodes_.at(rank).heartbeat;
  return absl::StrCat("round ", heartbeat.round(),
                      heartbeat.state().empty() ? "" : absl::StrCat(", ", heartbeat.state()));
}

std::vector<Rank> VitalSigns::Awaited(Rank rank) const {
  const auto& awaited = nodes_.at(rank).heartbeat.waiting_for();
  return {awaited.begin(), awaited.end()};
}

std::optional<Rank> VitalSigns::FirstAwaited(Rank rank) const {
  const control::Heartbeat& heartbeat = nodes_.at(rank).heartbeat;
  if (heartbeat.waiting_for().empty()) return std::nullopt;
  return heartbeat.waiting_for(0);
}

std::string VitalSigns::WhoWaitsFor(Rank awaited) const {
  std::vector<Rank> waiting;
  for (const auto& [rank, node] : nodes_) {
    const auto& list = node.heartbeat.waiting_for();
    if (std::find(list.begin(), list.end(), awaited) != list.end()) waiting.push_back(rank);
  }
  if (waiting.empty()) return "";
  return absl::StrCat(", while ", Named(waiting), waiting.size() == 1 ? " waits" : " wait",
                      " for it");
}

nanoseconds VitalSigns::LongestSilence(const Node& node) const {
  return node.connected ? node.silence.Limit(options_.least_silence, options_.peer_timeout)
                        : options_.peer_timeout;
}

std::optional<Blame> VitalSigns::Silent(SteadyTime now) const {
  const auto lost_since = [this](const auto& entry) {
    return entry.second.silence.Deadline(LongestSilence(entry.second));
  };
  const auto& [rank, node] = *std::ranges::min_element(nodes_, {}, lost_since);
  const nanoseconds limit = LongestSilence(node);
  if (now < node.silence.Deadline(limit)) return std::nullopt;
  const std::string bound =
      limit >= options_.peer_timeout
          ? absl::StrCat(FlagWithTime("--peer-timeout", options_.peer_timeout),
                         " is how long that may last")
          : absl::StrCat("longer than ", HumanSeconds(limit), ", as its silences have been short; ",
                         FlagWithTime("--min-peer-timeout", options_.least_silence),
                         " is the least that one may last");
  return Blame{
      rank, Failure::kPeerLost,
      absl::StrCat("rank ", rank, " at ", node.address, " is silent: last heard ",
                   SilentFor(rank, now), " ago in ", At(rank), WhoWaitsFor(rank),
                   node.connected ? "" : "; its connection broke, and it has not come back",
                   "; its process is stopped, or its host or network is down (", bound, ")")};
}

const VitalSigns::Node* VitalSigns::FirstAwaited(const Node& node) const {
  if (node.heartbeat.waiting_for().empty()) return nullptr;
  const auto found = nodes_.find(node.heartbeat.waiting_for(0));
  return found == nodes_.end() ? nullptr : &found->second;
}

// Judges by what each node has last said: a node that has gone on since has had no time to say so.
std::optional<StandingWait> VitalSigns::LongestWait(const std::function<bool(Rank)>& done) const {
  std::optional<StandingWait> longest;
  for (const auto& [rank, node] : nodes_) {
    const Node* const awaited = FirstAwaited(node);
    if (awaited == nullptr || done(rank) || FirstAwaited(*awaited) != nullptr) continue;
    const double seconds = Seconds(node.silence.last_heard() - node.waits_since);
    if (longest && seconds <= longest->seconds) continue;
    longest = {.rank = rank,
               .peer = node.heartbeat.waiting_for(0),
               .round = std::max<Round>(0, node.heartbeat.round()),
               .seconds = seconds};
  }
  return longest;
}

std::optional<RunStanding> VitalSigns::Standing(const std::function<bool(Rank)>& done) const {
  std::optional<RunStanding> standing;
  for (const auto& [rank, node] : nodes_) {
    if (done(rank)) continue;
    const Round round = std::max<Round>(0, node.heartbeat.round());
    if (!standing) standing = {rank, round, rank, round, LongestWait(done)};
    if (round < standing->slowest_round) {
      standing->slowest_rank = rank;
      standing->slowest_round = round;
    }
    if (round > standing->fastest_round) {
      standing->fastest_rank = rank;
      standing->fastest_round = round;
    }
  }
  return standing;
}

std::optional<std::string> VitalSigns::Stuck(const std::function<bool(Rank)>& done) const {
  std::vector<std::string> chain;
  nanoseconds still = nanoseconds::max();
  for (const auto& [rank, node] : nodes_) {
    if (done(rank)) continue;
    const std::optional<Rank> awaited = FirstAwaited(rank);
    if (!awaited) return std::nullopt;
    still = std::min(still, StoodStill(node));
    if (chain.size() < kMaxChain) {
      chain.push_back(absl::StrCat("rank ", rank, " waits for ", *awaited, " in round ",
                                   node.heartbeat.round()));
    }
  }
  if (chain.empty() || still < options_.peer_timeout * 3 / 2) return std::nullopt;
  return absl::StrCat("nothing has moved for ", HumanSeconds(still), " (",
                      FlagWithTime("--peer-timeout", options_.peer_timeout),
                      "): ", absl::StrJoin(chain, ", "));
}

std::optional<Blame> VitalSigns::Slow(SteadyTime now, const std::function<bool(Rank)>& done,
                                      std::vector<std::string>* notices) {
  for (auto& [rank, node] : nodes_) {
    const nanoseconds standing = now - node.round_since;
    if (standing < options_.peer_timeout / 2 || done(rank) || FirstAwaited(rank)) continue;
    const std::string waiting = WhoWaitsFor(rank);
    const std::string finding = absl::StrCat("rank ", rank, " is slow: alive, but for ",
                                             HumanSeconds(standing), " in ", At(rank), waiting);
    // A long evaluation moves on, batch by batch.
    if (StoodStill(node) >= options_.step_timeout) {
      return Blame{
          rank, Failure::kPeerLost,
          absl::StrCat(finding, ", and nothing has moved for ", HumanSeconds(StoodStill(node)),
                       "; ", FlagWithTime("--step-timeout", options_.step_timeout),
                       " allows no more")};
    }
    if (node.slow_noticed == node.heartbeat.round() || waiting.empty()) continue;
    node.slow_noticed = node.heartbeat.round();
    notices->push_back(finding);
  }
  return std::nullopt;
}

}  // namespace grapevine
