#include "run/checkpoint/state_saver.h"

#include <glog/logging.h>

#include "run/checkpoint/message_names.h"

namespace grapevine {

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
    Weight(WeightName(name), message.weight);
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

}  // namespace grapevine
