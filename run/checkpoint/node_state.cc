#include "run/checkpoint/node_state.h"

#include <glog/logging.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {
namespace {

// Returns the name of the weight in the note of the message whose vector has this name.
std::string WeightName(std::string_view vector) { return std::string(vector) + ".weight"; }

}  // namespace

StateSaver::StateSaver(Round completed, Vec model, Copy copy)
    : model_(model), copy_(std::move(copy)), state_{.round = completed} {}

void StateSaver::Vector(std::string_view name, Vec vector) {
  CHECK(state_.vectors.emplace(name, copy_(vector)).second) << "two vectors are named " << name;
  if (vector == model_) state_.model = name;
}

void StateSaver::Number(std::string_view name, double* number) {
  CHECK(state_.numbers.emplace(name, *number).second) << "two numbers are named " << name;
}

void StateSaver::Weight(std::string_view name, double* weight) {
  CHECK_GT(*weight, 0) << name << " is no weight";
  Number(name, weight);
}

void StateSaver::Rounds(std::string_view name, int64_t* rounds) {
  CHECK(*rounds >= 0 && *rounds <= state_.round) << name << " is no number of rounds";
  double number = static_cast<double>(*rounds);
  Number(name, &number);
}

void StateSaver::Message(std::string_view name, const StateMessage& message) {
  if (message.arrived) {
    Vector(name, message.vector);
    // The weight of a lost message is 0: no other run goes on from this state, but from the mean.
    Number(WeightName(name), message.weight);
  } else {
    const Awaited awaited{std::string(name), message.vector};
    CHECK(awaited_.emplace(std::pair(message.from, message.tag), awaited).second)
        << name << " awaits a message that another awaits";
  }
}

void StateSaver::OnReceived(const Received& event) {
  const auto awaited = awaited_.extract(std::pair(event.from, event.tag));
  if (awaited.empty()) return;
  const Awaited& message = awaited.mapped();
  double weight = event.note.weight;
  Vector(message.name, message.vector);
  Weight(WeightName(message.name), &weight);
}

StateRestorer::StateRestorer(const NodeState* state, Vectors vectors)
    : state_(*state), vectors_(std::move(vectors)) {}

void StateRestorer::Vector(std::string_view name, Vec vector) {
  const auto saved = state_.vectors.find(std::string(name));
  if (saved == state_.vectors.end()) {
    status_.Update(
        absl::InvalidArgumentError(absl::StrCat("lacks the vector ", std::string(name))));
    return;
  }
  taken_.emplace(name);
  const int64_t size = vectors_.size(vector);
  if (saved->second.size != size) {
    status_.Update(absl::InvalidArgumentError(absl::StrCat(
        "has ", saved->second.size, " elements of ", std::string(name), ", which has ", size)));
    return;
  }
  vectors_.fill(vector, saved->second.span());
}

void StateRestorer::Number(std::string_view name, double* number) {
  const auto saved = state_.numbers.find(std::string(name));
  if (saved == state_.numbers.end()) {
    status_.Update(
        absl::InvalidArgumentError(absl::StrCat("lacks the number ", std::string(name))));
    return;
  }
  taken_.emplace(name);
  if (!std::isfinite(saved->second)) {
    status_.Update(absl::InvalidArgumentError(
        absl::StrCat("says that ", std::string(name), " is ", saved->second)));
    return;
  }
  *number = saved->second;
}

void StateRestorer::Weight(std::string_view name, double* weight) {
  Number(name, weight);
  if (*weight > 0) return;
  status_.Update(absl::InvalidArgumentError(absl::StrCat("says that ", std::string(name), " is ",
                                                         *weight, ", where weights are positive")));
}

void StateRestorer::Rounds(std::string_view name, int64_t* rounds) {
  double number = 0;
  Number(name, &number);
  if (number != std::floor(number) || number < 0 || number > static_cast<double>(state_.round)) {
    status_.Update(absl::InvalidArgumentError(
        absl::StrCat("says that ", std::string(name), " is ", number,
                     ", and not a number of rounds up to ", state_.round)));
    return;
  }
  *rounds = static_cast<int64_t>(number);
}

void StateRestorer::Message(std::string_view name, const StateMessage& message) {
  Vector(name, message.vector);
  Weight(WeightName(name), message.weight);
}

absl::Status StateRestorer::Finish() const {
  RETURN_IF_ERROR(status_);
  const auto unused = [](const std::string& name) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", name, ", for which the algorithm has no use"));
  };
  for (const auto& [name, vector] : state_.vectors) {
    if (!taken_.contains(name)) return unused(name);
  }
  for (const auto& [name, number] : state_.numbers) {
    if (!taken_.contains(name)) return unused(name);
  }
  return absl::OkStatus();
}

}  // namespace grapevine
