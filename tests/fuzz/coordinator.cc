// What rank 0 makes of its nodes' reports (node/control/coordinator.h). The input is a list
// of events: one byte for what happens, one for the session or the time, one for the
// length of a report, and the report as protobuf.
#include "node/control/coordinator.h"

#include <glog/logging.h>

#include <algorithm>
#include <map>
#include <optional>

#include "node/control/control_line.h"
#include "node/control/control_protocol.h"
#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

constexpr Rank kNodes = 3;
constexpr Round kRounds = 100;
constexpr Rank kWorkers = 2;

control::Registration Own() {
  control::Registration own;
  own.set_protocol_version(kControlProtocolVersion);
  own.set_rank(0);
  own.set_world_size(kNodes);
  own.set_nonce(1000);
  own.set_address("10.0.0.1:7000");
  control::Agreement* agreement = own.add_agreements();
  agreement->set_name("topology");
  agreement->set_value("ring");
  return own;
}

class Events {
 public:
  Events(const uint8_t* data, size_t size) : rest_(fuzz::Text(data, size)) {}

  bool more() const { return !rest_.empty(); }
  uint8_t Byte() { return rest_.empty() ? 0 : static_cast<uint8_t>(Bytes(1)[0]); }
  std::string_view Bytes(size_t count) {
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(bytes.size());
    return bytes;
  }

 private:
  std::string_view rest_;
};

// Whatever nodes say, rank 0 says nothing that a node could not obey, and an end is
// an end.
class Watch {
 public:
  Watch(bool shares_budget, bool open_ended)
      : sharing_(shares_budget ? kWorkers : 0), open_ended_(open_ended) {}

  void Look(Coordinator& coordinator) {
    const Coordinator::Output output = coordinator.Take();
    for (const auto& [session, directive] : output.directives) {
      const bool joined = directive.kind_case() != control::Directive::kRoster;
      if (!joined) cuts_[session] = 0;
      const absl::Status status = CheckDirective(directive, {.world_size = kNodes,
                                                             .rounds = kRounds,
                                                             .sharing = sharing_,
                                                             .cut = cuts_[session],
                                                             .joined = joined,
                                                             .open_ended = open_ended_});
      CHECK(status.ok()) << status << directive.DebugString();
      if (directive.has_cut()) cuts_[session] = directive.cut().round();
    }
    for (const auto& [rank, metrics] : output.metrics) CHECK(rank >= 0 && rank < kNodes);
    const Coordinator::Phase phase = coordinator.phase();
    CHECK(phase >= phase_ || phase_ == phase);
    if (over()) CHECK(phase == phase_);
    CHECK_EQ(phase == Coordinator::Phase::kAborted, !coordinator.verdict().ok());
    phase_ = phase;
  }

 private:
  bool over() const {
    return phase_ == Coordinator::Phase::kFinished || phase_ == Coordinator::Phase::kAborted;
  }

  const Rank sharing_;
  const bool open_ended_;
  std::map<SessionId, Round> cuts_;
  Coordinator::Phase phase_ = Coordinator::Phase::kGathering;
};

void PlayWith(const std::optional<BudgetDeskOptions>& budget, bool open_ended, const uint8_t* data,
              size_t size) {
  SteadyTime now{};
  Coordinator coordinator({.own = Own(),
                           .run_id = "run",
                           .round_limit = kRounds,
                           .budget = budget,
                           .open_ended = open_ended},
                          now);
  Watch watch(budget.has_value(), open_ended);
  Events events(data, size);
  for (int i = 0; events.more() && i < 1000; ++i) {
    const uint8_t event = events.Byte() % 6;
    const uint8_t what = events.Byte();
    if (event == 0) {
      now += std::chrono::milliseconds(what * 100);
      coordinator.OnTick(now);
    } else if (event == 1) {
      coordinator.OnClosed(what % 8, "gone", now);
    } else if (event == 4) {
      coordinator.OnLeft(what % 8, now);
    } else if (event == 5) {
      coordinator.OnGone(what % kNodes, "gone", now);
    } else {
      control::Report report;
      if (!report.ParseFromString(std::string(events.Bytes(events.Byte())))) continue;
      coordinator.OnReport(what % 8, report, now);
    }
    watch.Look(coordinator);
  }
}

// With rounds, as many as are known or not, and where nodes share a budget of gradients.
FUZZ_TARGET(coordinator) {
  for (const bool open_ended : {false, true}) PlayWith(std::nullopt, open_ended, data, size);
  PlayWith(BudgetDeskOptions{.nodes = kNodes,
                             .workers = kWorkers,
                             .rounds = kRounds,
                             .measured = [](Round round) { return round % 2 == 0; },
                             .evaluated = [](Round round) { return round % 4 == 0; }},
           /*open_ended=*/false, data, size);
}

}  // namespace
}  // namespace grapevine
