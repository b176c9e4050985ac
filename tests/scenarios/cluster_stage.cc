// Algorithms alone (tests/testing/cluster): a script decides what happens next.
//
// Node i's gradient is i everywhere, the learning rate 1, and all start at 0: what a
// model should be can be worked out by hand.
#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "tests/scenarios/stage.h"
#include "tests/testing/cluster.h"

namespace grapevine::testing {
namespace {

using Choice = Cluster::Choice;

// A node that does what the script says, of messages as long as its replica.
class Puppet final : public Algorithm {
 public:
  absl::Status On(const Event& event, Host& host) override {
    if (std::holds_alternative<Start>(event)) host_ = &host;
    return absl::OkStatus();
  }
  Round round() const override { return 0; }
  std::vector<Waiting> waiting_for() const override { return {}; }
  std::vector<Rank> Peers(Round, Round) const override { return {}; }

  Host& host() { return *host_; }
  Part NewMessage() {
    return {host_->New(host_->replica_size(), "a message"), 0, host_->replica_size()};
  }

 private:
  Host* host_ = nullptr;
};

class ClusterStage final : public Stage {
 public:
  explicit ClusterStage(ClusterOptions options) : nodes_(options.nodes) {
    options.learning_rate = 1;
    options.gradient = [](Rank rank, Round, std::span<const float>, std::span<float> gradient) {
      std::fill(gradient.begin(), gradient.end(), static_cast<float>(rank));
    };
    options.transcript = [this](Rank rank, const std::string& what) { Tell(rank, what); };
    if (options.algorithm == kPuppets) {
      options.algorithm = ClusterOptions().algorithm;
      options.rounds = false;
      options.make_algorithm = [this](const AlgorithmOptions&) {
        auto puppet = std::make_unique<Puppet>();
        puppets_.push_back(puppet.get());
        return puppet;
      };
    }
    cluster_ = std::make_unique<Cluster>(std::move(options));
  }

  absl::StatusOr<std::string> Do(const std::string& command) override {
    Words words(command);
    absl::Status done = Obey(words, command);
    done.Update(words.error());
    RETURN_IF_ERROR(done);
    if (!words.empty()) return UnknownCommand(command);
    if (!sentence_.empty()) told_ += sentence_ + "\n";
    sentence_.clear();
    speaker_ = -1;
    return std::exchange(told_, "");
  }

 private:
  absl::Status Obey(Words& words, const std::string& command) {
    if (words.Skip("start") || words.Skip("go")) return Start(words);
    if (words.Skip("compute")) return Compute(words.Ranks(nodes_));
    if (words.Skip("deliver")) return DeliverOne(words, false);
    if (words.Skip("lose")) return DeliverOne(words, true);
    if (words.Skip("announce")) return TakeOne(words, Choice::Kind::kOffer, "announce");
    if (words.Skip("return")) return TakeOne(words, Choice::Kind::kLoss, "return");
    if (words.Skip("hold")) return Hold(words, false);
    if (words.Skip("release")) return Hold(words, true);
    if (words.Skip("cut")) return Cut(words, false);
    if (words.Skip("heal")) return Cut(words, true);
    if (words.Skip("settle")) return Settle(words);
    if (words.Skip("show")) return Show();
    return puppets_.empty() ? UnknownCommand(command) : Pull(words, command);
  }

  // "0 offers round 3 to 1", "1 posts round 3 for 0", "1 withdraws round 3 for 0", "1 declines
  // round 3 of 0".
  absl::Status Pull(Words& words, const std::string& command) {
    const int64_t rank = words.Number();
    if (rank < 0 || rank >= nodes_ || !words.error().ok()) return UnknownCommand(command);
    Puppet& puppet = *puppets_[rank];
    const std::string verb = words.Take();
    words.Skip("round");
    const Tag tag{.index = words.Number()};
    for (const char* word : {"to", "for", "of"}) words.Skip(word);
    const Rank peer = static_cast<Rank>(words.Number());
    if (!words.error().ok()) return words.error();
    if (verb == "offers") {
      puppet.host().Offer(peer, tag, puppet.NewMessage());
    } else if (verb == "sends") {
      puppet.host().Send(peer, tag, puppet.NewMessage());
    } else if (verb == "posts") {
      puppet.host().Post(peer, tag, puppet.NewMessage(), 0);
    } else if (verb == "withdraws") {
      puppet.host().Withdraw(peer, tag);
    } else if (verb == "declines") {
      puppet.host().Decline(peer, tag);
    } else {
      return UnknownCommand(command);
    }
    return absl::OkStatus();
  }

  // "announce 0 to 1": an offer arrives; "return 0 to 1": a post of 1 comes back from 0.
  absl::Status TakeOne(Words& words, Choice::Kind kind, const char* verb) {
    const std::pair<Rank, Rank> link = Link(words);
    const auto choice = First([&](const Choice& c) {
      return c.kind == kind && c.from == link.first && c.node == link.second;
    });
    if (choice) return cluster_->Take(*choice);
    Answer(absl::StrCat("there is nothing to ", verb, " from ", link.first, " to ", link.second));
    return absl::OkStatus();
  }

  // "start for 3 rounds", "go on to round 5".
  absl::Status Start(Words& words) {
    words.Skip("on");
    words.Skip("to");
    words.Skip("for");
    words.Skip("round");
    const Round limit = words.Number();
    words.Skip("rounds");
    return cluster_->Begin(limit);
  }

  // Nodes hear that what they sent has left, and have their gradients.
  absl::Status Compute(const std::vector<Rank>& ranks) {
    for (const Rank rank : ranks) {
      if (!First([&](const Choice& c) {
            return c.kind == Choice::Kind::kGradient && c.node == rank;
          })) {
        Answer(absl::StrCat(rank, " computes no gradient"));
      }
      while (const auto choice = First([&](const Choice& c) {
               return (c.kind == Choice::Kind::kGradient || c.kind == Choice::Kind::kSent) &&
                      c.node == rank;
             })) {
        RETURN_IF_ERROR(cluster_->Take(*choice));
      }
    }
    return absl::OkStatus();
  }

  // "deliver 1 to 0", "deliver 1 to 0 the latest": of those that have a place.
  absl::Status DeliverOne(Words& words, bool lose) {
    const auto [from, to] = Link(words);
    const bool latest = words.Skip("the") && words.Skip("latest");
    std::optional<Choice> message;
    for (const Choice& choice : cluster_->Choices()) {
      if (choice.kind != Choice::Kind::kMessage || choice.node != to || choice.from != from)
        continue;
      if (!message || latest) message = choice;
    }
    if (!message) {
      Answer(absl::StrCat("nothing can arrive from ", from, " at ", to));
      return absl::OkStatus();
    }
    if (!lose) return cluster_->Take(*message);
    cluster_->Lose(*message);
    Answer(absl::StrCat("a message from ", from, " to ", to, " is lost"));
    return absl::OkStatus();
  }

  absl::Status Hold(Words& words, bool release) {
    Set(Link(words), release);
    return absl::OkStatus();
  }
  absl::Status Cut(Words& words, bool heal) {
    const std::vector<Rank> ranks = words.Ranks(nodes_);
    if (ranks.size() != 2) return absl::InvalidArgumentError("two nodes, please");
    Set({ranks[0], ranks[1]}, heal);
    Set({ranks[1], ranks[0]}, heal);
    return absl::OkStatus();
  }
  void Set(std::pair<Rank, Rank> link, bool open) {
    open ? static_cast<void>(held_.erase(link)) : static_cast<void>(held_.insert(link));
  }
  std::pair<Rank, Rank> Link(Words& words) {
    const Rank from = static_cast<Rank>(words.Number());
    words.Skip("to");
    return {from, static_cast<Rank>(words.Number())};
  }

  // "settle", "settle without the gradients of 2 3": everything else happens that can, but on
  // held links; each time the lowest node's first.
  absl::Status Settle(Words& words) {
    std::vector<Rank> late;
    if (words.Skip("without")) {
      for (const char* word : {"the", "gradients", "gradient", "of"}) words.Skip(word);
      late = words.Ranks(nodes_);
    }
    while (const auto choice = First([&](const Choice& c) {
             if (c.kind == Choice::Kind::kGradient)
               return std::ranges::find(late, c.node) == late.end();
             return c.kind == Choice::Kind::kSent || !held_.contains({c.from, c.node});
           })) {
      RETURN_IF_ERROR(cluster_->Take(*choice));
    }
    return absl::OkStatus();
  }

  std::optional<Choice> First(const std::function<bool(const Choice&)>& fits) const {
    for (const Choice& choice : cluster_->Choices()) {
      if (fits(choice)) return choice;
    }
    return std::nullopt;
  }

  absl::Status Show() {
    for (Rank rank = 0; rank < nodes_; ++rank) {
      Answer(absl::StrCat(rank, ": ", cluster_->resting(rank) ? Model(rank) : Waits(rank)));
    }
    return absl::OkStatus();
  }
  std::string Model(Rank rank) const {
    const std::span<const float> model = cluster_->replica(rank);
    if (model.empty()) return "rests, without a model";
    const bool alike =
        std::all_of(model.begin(), model.end(), [&](float x) { return x == model[0]; });
    return "rests, " + (alike ? absl::StrFormat("x = %.4g", model[0])
                              : "x = " + absl::StrJoin(model, " ", [](std::string* out, float x) {
                                  absl::StrAppendFormat(out, "%.4g", x);
                                }));
  }
  std::string Waits(Rank rank) const {
    const Algorithm& algorithm = cluster_->algorithm(rank);
    std::set<Rank> peers;
    for (const Waiting& waiting : algorithm.waiting_for()) peers.insert(waiting.peer);
    return absl::StrCat("in round ", algorithm.round(),
                        peers.empty() ? "" : ", waits for " + absl::StrJoin(peers, ", "));
  }

  // What one node does without another's doing is one line.
  void Tell(Rank rank, const std::string& what) {
    if (rank != speaker_) {
      if (!sentence_.empty()) told_ += sentence_ + "\n";
      sentence_ = absl::StrCat(rank, ": ", what);
    } else {
      absl::StrAppend(&sentence_, "; ", what);
    }
    speaker_ = rank;
  }
  void Answer(const std::string& line) { absl::StrAppend(&told_, line, "\n"); }

  static constexpr char kPuppets[] = "puppets";

  const Rank nodes_;
  std::vector<Puppet*> puppets_;  // by rank, where nodes are puppets
  std::unique_ptr<Cluster> cluster_;
  std::set<std::pair<Rank, Rank>> held_;  // from, to
  std::string told_;
  std::string sentence_;
  Rank speaker_ = -1;
};

}  // namespace

// "cluster of 3 with dpsgd on ring [weighted by out-degree] [and window 2]".
absl::StatusOr<std::unique_ptr<Stage>> MakeClusterStage(Words words) {
  ClusterOptions options{.parameters = 4};
  words.Skip("of");
  options.nodes = static_cast<Rank>(words.Number());
  words.Skip("with");
  options.algorithm = words.Take();
  words.Skip("on");
  options.topology = words.Take();
  if (words.Skip("weighted") && words.Skip("by")) options.mixing = words.Take();
  if (words.Skip("and") && words.Skip("window")) options.window = static_cast<int>(words.Number());
  RETURN_IF_ERROR(words.error());
  return std::make_unique<ClusterStage>(std::move(options));
}

}  // namespace grapevine::testing
