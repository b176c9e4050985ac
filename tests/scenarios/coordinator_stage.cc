// Rank 0's coordinator alone, on virtual time: a script says what nodes report.
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "node/control/control_protocol.h"
#include "node/control/coordinator.h"
#include "tests/scenarios/stage.h"

namespace grapevine::testing {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{250};

class CoordinatorStage final : public Stage {
 public:
  CoordinatorStage(Rank nodes, std::optional<BudgetDeskOptions> budget)
      : nodes_(nodes),
        shares_budget_(budget.has_value()),
        coordinator_({.own = RegistrationOf(0),
                      .run_id = "script",
                      .round_limit = budget ? budget->rounds : 100,
                      .budget = budget,
                      .rendezvous_timeout = milliseconds(20000),
                      .peer_timeout = milliseconds(4000),
                      .step_timeout = milliseconds(60000)},
                     now_) {}

  absl::StatusOr<std::string> Do(const std::string& command) override {
    Words words(command);
    absl::Status done = Obey(words, command);
    done.Update(words.error());
    RETURN_IF_ERROR(done);
    if (!words.empty()) return UnknownCommand(command);
    Collect();
    return std::exchange(told_, "");
  }

 private:
  absl::Status Obey(Words& words, const std::string& command) {
    if (words.Skip("register")) return Register(words);
    if (words.Skip("pass")) return Pass(words.Time());
    if (words.Skip("sleep")) return Sleep(words.Time());
    if (words.Skip("silence")) return Silence(words.Ranks(nodes_));
    if (words.Skip("done")) return Done(words);
    if (words.Skip("close")) return Close(words);
    if (words.Skip("finish")) return Finish();
    if (words.Skip("move")) return Move(words);
    const std::vector<Rank> ranks = words.Ranks(nodes_);
    if (words.Skip("in")) return Beat(ranks, words);
    if (words.Skip("has")) return Steps(ranks, words);
    if (words.Skip("blames")) return Blame(ranks.front(), words);
    if (words.Skip("fails:")) return Fail(ranks.front(), words);
    return UnknownCommand(command);
  }

  control::Registration RegistrationOf(Rank rank) const {
    control::Registration registration;
    registration.set_protocol_version(kControlProtocolVersion);
    registration.set_rank(rank);
    registration.set_world_size(nodes_);
    registration.set_nonce(static_cast<uint64_t>(rank) + 1);
    registration.set_address(absl::StrCat("node", rank, ":1"));
    control::Agreement* agreement = registration.add_agreements();
    agreement->set_name("lr");
    agreement->set_value("0.1");
    return registration;
  }

  // "register all", "register 2 with lr 0.2", "register 2 as another process".
  absl::Status Register(Words& words) {
    for (const Rank rank : words.Ranks(nodes_)) {
      control::Report report;
      *report.mutable_registration() = RegistrationOf(rank);
      if (words.Skip("with") && words.Skip("lr")) {
        report.mutable_registration()->mutable_agreements(0)->set_value(words.Take());
      }
      SessionId session = rank;
      if (words.Skip("as") && words.Skip("another") && words.Skip("process")) {
        report.mutable_registration()->set_nonce(99);
        session += 100;
      }
      coordinator_.OnReport(session, report, now_);
      beating_[rank];
    }
    return absl::OkStatus();
  }

  // Nodes beat with what they said last, and rank 0 looks at the clock.
  absl::Status Pass(std::chrono::nanoseconds time) {
    for (const SteadyTime until = now_ + time; now_ < until;) {
      now_ += kTick;
      for (auto& [rank, beat] : beating_) Report(rank, beat);
      coordinator_.OnTick(now_);
      Collect();
    }
    return absl::OkStatus();
  }
  // Rank 0 itself stands still.
  absl::Status Sleep(std::chrono::nanoseconds time) {
    now_ += time;
    coordinator_.OnTick(now_);
    return absl::OkStatus();
  }
  absl::Status Silence(const std::vector<Rank>& ranks) {
    for (const Rank rank : ranks) beating_.erase(rank);
    return absl::OkStatus();
  }

  // "0 2 in round 3", "1 in round 3 waiting for 0 2".
  absl::Status Beat(const std::vector<Rank>& ranks, Words& words) {
    words.Skip("round");
    control::Report report;
    control::Heartbeat* beat = report.mutable_heartbeat();
    beat->set_round(words.Number());
    beat->set_state("computing");
    if (words.Skip("waiting") && words.Skip("for")) {
      beat->set_state("waiting");
      for (const Rank awaited : words.Ranks(nodes_)) beat->add_waiting_for(awaited);
    }
    for (const Rank rank : ranks) {
      beating_[rank] = report;
      Report(rank, report);
    }
    return absl::OkStatus();
  }

  // "0 1 has done 3", "0 has done 3, rests", "0 has done 3, measured 2".
  absl::Status Steps(const std::vector<Rank>& ranks, Words& words) {
    control::Report report;
    words.Skip("done");
    report.mutable_steps()->set_steps(words.Number());
    report.mutable_steps()->set_resting(words.Skip("resting"));
    if (words.Skip("measured")) report.mutable_steps()->set_cut(words.Number());
    for (const Rank rank : ranks) Report(rank, report);
    return absl::OkStatus();
  }

  // "1 blames 2: the connection broke".
  absl::Status Blame(Rank reporter, Words& words) {
    std::string culprit = words.Take();
    if (!culprit.empty() && culprit.back() == ':') culprit.pop_back();
    control::Report report;
    report.mutable_failure()->set_culprit(std::atoi(culprit.c_str()));
    report.mutable_failure()->set_message(words.Rest());
    report.mutable_failure()->set_failure(static_cast<int>(Failure::kPeerLost));
    Report(reporter, report);
    return absl::OkStatus();
  }
  // "1 fails: the loss became nan".
  absl::Status Fail(Rank reporter, Words& words) {
    control::Report report;
    report.mutable_failure()->set_culprit(reporter);
    report.mutable_failure()->set_message(words.Rest());
    report.mutable_failure()->set_failure(static_cast<int>(Failure::kDiverged));
    Report(reporter, report);
    return absl::OkStatus();
  }

  // "done 0 1", "done all at round 200".
  absl::Status Done(Words& words) {
    const std::vector<Rank> ranks = words.Ranks(nodes_);
    control::Report report;
    report.mutable_done()->set_round_limit(words.Skip("at") && words.Skip("round") ? words.Number()
                                                                                   : 100);
    for (const Rank rank : ranks) Report(rank, report);
    return absl::OkStatus();
  }
  // Rank 0 has written the results.
  absl::Status Finish() {
    coordinator_.Finish();
    return absl::OkStatus();
  }
  absl::Status Close(Words& words) {
    for (const Rank rank : words.Ranks(nodes_)) {
      beating_.erase(rank);
      coordinator_.OnClosed(rank, "", now_);
      coordinator_.OnGone(rank, "", now_);
    }
    return absl::OkStatus();
  }
  // "move the end to round 200", "... for good".
  absl::Status Move(Words& words) {
    for (const char* word : {"the", "end", "to", "round"}) words.Skip(word);
    const Round limit = words.Number();
    coordinator_.ExtendRoundLimit(limit, words.Skip("for") && words.Skip("good"));
    return absl::OkStatus();
  }

  void Report(Rank rank, const control::Report& report) {
    if (report.kind_case() != control::Report::KIND_NOT_SET) {
      coordinator_.OnReport(rank, report, now_);
    } else {
      control::Report beat;
      beat.mutable_heartbeat();
      coordinator_.OnReport(rank, beat, now_);
    }
  }

  // Who hears what, those that hear the same together; then what rank 0's log says.
  void Collect() {
    Coordinator::Output output = coordinator_.Take();
    std::vector<std::pair<std::string, std::vector<std::string>>> heard;
    for (const auto& [session, directive] : output.directives) {
      if (directive.has_beat()) continue;
      const std::string what = InWords(directive);
      if (heard.empty() || heard.back().first != what) heard.push_back({what, {}});
      heard.back().second.push_back(session >= 100 ? absl::StrCat("the other ", session - 100)
                                                   : absl::StrCat(session));
    }
    const std::string when = At();
    for (const auto& [what, who] : heard) {
      absl::StrAppend(&told_, when, absl::StrJoin(who, ", "),
                      who.size() == 1 ? " hears: " : " hear: ", what, "\n");
    }
    if (output.all_done) absl::StrAppend(&told_, when, "all are done: results may be written\n");
    for (const std::string& notice : output.notices) {
      absl::StrAppend(&told_, when, "rank 0's log: ", notice, "\n");
    }
  }
  std::string At() const {
    return absl::StrCat("at ", std::chrono::duration<double>(now_ - SteadyTime()).count(), " s ");
  }
  std::string InWords(const control::Directive& directive) const {
    switch (directive.kind_case()) {
      case control::Directive::kRoster:
        return absl::StrCat("begin, to round ", directive.roster().round_limit());
      case control::Directive::kRoundLimit:
        return absl::StrCat(shares_budget_ ? "your limit is " : "the end is round ",
                            directive.round_limit().limit(),
                            directive.round_limit().final() ? " for good" : " for now");
      case control::Directive::kCut:
        return absl::StrCat("measure round ", directive.cut().round());
      case control::Directive::kAbort:
        return absl::StrCat("end with exit code ", directive.abort().failure(), ": ",
                            directive.abort().message());
      case control::Directive::kFinish:
        return "the end";
      default:
        return "something else";
    }
  }

  const Rank nodes_;
  const bool shares_budget_;
  SteadyTime now_{};
  Coordinator coordinator_;
  std::map<Rank, control::Report> beating_;
  std::string told_;
};

}  // namespace

// "coordinator of 3", "coordinator of 3 whose 2 workers share 8 rounds evaluated every 2".
absl::StatusOr<std::unique_ptr<Stage>> MakeCoordinatorStage(Words words) {
  words.Skip("of");
  const Rank nodes = static_cast<Rank>(words.Number());
  std::optional<BudgetDeskOptions> budget;
  if (words.Skip("whose")) {
    budget = {.nodes = nodes, .workers = static_cast<Rank>(words.Number())};
    for (const char* word : {"workers", "share"}) words.Skip(word);
    budget->rounds = words.Number();
    for (const char* word : {"rounds", "evaluated", "every"}) words.Skip(word);
    const Round every = words.Number();
    budget->measured = [](Round) { return true; };
    budget->evaluated = [every](Round round) { return round % every == 0; };
  }
  RETURN_IF_ERROR(words.error());
  return std::make_unique<CoordinatorStage>(nodes, std::move(budget));
}

}  // namespace grapevine::testing
