#include "algorithm/server/accumulated_updates.h"

#include <algorithm>

namespace grapevine {
namespace {

// out <- sum of two, unless there is nothing to sum.
void Sum(Part out, Term first, Term second, Host& host) {
  const Term terms[] = {first, second};
  if (out.size > 0) host.Combine(out, terms);
}

}  // namespace

void WindowPusher::Start(Vec model, Host& host) {
  weights_ = model_ = model;
  step_.Start(host);
}

void WindowPusher::OnGradient(Vec gradient, Round step, Round nominal_round, Host& host) {
  const Vec stepped = step_.Take(model_, gradient, step, nominal_round, host);
  if (model_ != weights_) host.Drop(model_);
  model_ = stepped;
}

// Nobody has seen the last step's model: the update takes its place.
Vec WindowPusher::Push(Host& host) {
  const auto [offset, size] = host.parameters();
  const Part update{model_, offset, size};
  Sum(update, {1.0, update}, {-1.0, {weights_, offset, size}}, host);
  host.Drop(std::exchange(weights_, Vec{}));
  return model_;
}

void WindowPusher::OnAnswer(Vec answer, Host& host) {
  host.Drop(model_);
  weights_ = model_ = answer;
}

void AddingServer::Start(ReplicaRange range, Host& host) {
  size_ = range.size;
  parameters_ = std::clamp<int64_t>(host.parameters().size - range.offset, 0, range.size);
}

ServerRule::Moved AddingServer::Apply(const Update& update, Vec weights, Host& host) {
  const Vec moved = update.vector;
  const auto parameters = [&](Vec vector) { return Part{vector, 0, parameters_}; };
  const auto buffers = [&](Vec vector) { return Part{vector, parameters_, size_ - parameters_}; };
  Sum(parameters(moved), {1.0, parameters(weights)}, {part_, parameters(moved)}, host);
  const double share = 1.0 / workers_;
  Sum(buffers(moved), {1.0 - share, buffers(weights)}, {share, buffers(moved)}, host);
  host.Drop(weights);
  return {.weights = moved};
}

}  // namespace grapevine
