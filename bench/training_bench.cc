// Training steps per second on one thread at batch 32 against PyTorch.
//
//   bazel build -c opt //bench:training_bench
//   taskset -c 0 bazel-bin/bench/training_bench [NETWORK…]
//
// A step is forward, backward and momentum SGD. Ours and the peer
// (bench/peers/torch_training.py, Debian's python3-torch with
// libopenblas0-openmp) take turns on the same core; the ratio is that of the
// medians. Run it from the root of the source tree.
#include <glog/logging.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/peers/peer_process.h"
#include "kernels/aligned_buffer.h"
#include "kernels/denormals.h"
#include "model/network_registry.h"
#include "optim/optimizer.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr int64_t kBatch = 32;
constexpr int64_t kClasses = 10;
constexpr int kTurns = 15;
constexpr double kTurnSeconds = 0.25;

ImageShape InputOf(const std::string& name) {
  if (name == "resnet50") return {64, 64, 3};
  return name.starts_with("resnet") ? ImageShape{32, 32, 3} : ImageShape{28, 28, 1};
}

// Any numbers will do: the time does not depend on them.
Batch RandomBatch(const ImageShape& image) {
  KeyedRandom random(1, Purpose::kSyntheticData);
  Batch batch{.size = kBatch};
  for (int64_t i = 0; i < kBatch * image.size(); ++i) {
    batch.images.push_back(static_cast<float>(random.Normal()));
  }
  for (int64_t i = 0; i < kBatch; ++i) {
    batch.labels.push_back(static_cast<int32_t>(random.Below(kClasses)));
  }
  return batch;
}

class Trainer {
 public:
  explicit Trainer(const std::string& name) : batch_(RandomBatch(InputOf(name))) {
    auto network = MakeNetwork(name, InputOf(name), kClasses, {});
    CHECK(network.ok()) << network.status();
    network_ = *std::move(network);
    auto optimizer = MakeOptimizer("sgd", {.momentum = 0.9});
    CHECK(optimizer.ok()) << optimizer.status();
    optimizer_ = *std::move(optimizer);
    const ReplicaLayout& layout = network_->layout();
    replica_ = NewSharedVector(layout.size);
    gradient_ = NewSharedVector(layout.size);
    state_ = NewSharedVector(layout.parameter_size * optimizer_->state_vectors());
    std::fill_n(state_.data.get(), state_.size, 0.0f);
    network_->Initialize(1, replica_.data.get());
  }

  // Seconds for so many steps.
  double Run(int64_t steps) {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < steps; ++i) Step();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  void Step() {
    float* replica = replica_.data.get();
    const auto loss = network_->Gradient(replica, batch_, gradient_.data.get());
    CHECK(loss.ok()) << loss.status();
    const WeightedVector self{.weight = 1, .vector = replica};
    const FlushDenormals flush_denormals;
    optimizer_->Step(network_->layout(),
                     {.mix = {&self, 1},
                      .own = replica,
                      .gradient = gradient_.data.get(),
                      .learning_rate = 0.01f},
                     state_.data.get(), replica, cpu_);
  }

  const Batch batch_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Optimizer> optimizer_;
  SharedVector replica_;
  SharedVector gradient_;
  SharedVector state_;
  CpuPasses cpu_;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Compare(const std::string& name, PeerProcess* peer) {
  Trainer ours(name);
  ours.Run(5);
  const auto steps = std::max<int64_t>(1, std::llround(kTurnSeconds / (ours.Run(5) / 5)));
  const std::string request = absl::StrCat(name, " ", steps);
  bool has_peer = peer->Ask(absl::StrCat(name, " 5")).has_value();
  std::vector<double> own_rates;
  std::vector<double> peer_rates;
  for (int turn = 0; turn < kTurns; ++turn) {
    const double samples = static_cast<double>(steps * kBatch);
    own_rates.push_back(samples / ours.Run(steps));
    const std::optional<double> seconds = has_peer ? peer->Ask(request) : std::nullopt;
    has_peer = seconds.has_value();
    if (has_peer) peer_rates.push_back(samples / *seconds);
  }
  const double own = Median(own_rates);
  if (!has_peer) {
    std::printf("%-10s %9.0f samples/s; PyTorch does not run here\n", name.c_str(), own);
    return;
  }
  const double theirs = Median(peer_rates);
  std::printf("%-10s %9.0f samples/s, PyTorch %9.0f, ratio %.2f\n", name.c_str(), own, theirs,
              own / theirs);
  std::fflush(stdout);
}

int Main(const std::vector<std::string>& names) {
  signal(SIGPIPE, SIG_IGN);
  setenv("OMP_NUM_THREADS", "1", 1);
  PeerProcess peer({"/usr/bin/python3", "bench/peers/torch_training.py"});
  for (const std::string& name : names) Compare(name, &peer);
  return 0;
}

}  // namespace
}  // namespace grapevine

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty()) names = {"softmax", "mlp", "lenet5", "resnet20"};
  return grapevine::Main(names);
}
