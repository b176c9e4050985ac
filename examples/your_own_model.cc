// A network and a data set of your own, in one file: docs/your-own-model.md
// walks through it. Trains one node for a second and prints the accuracy.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/dataset_evaluation.h"
#include "model/dataset_registry.h"
#include "model/network_objective.h"
#include "model/network_registry.h"
#include "model/shard_batches.h"
#include "optim/optimizer.h"
#include "random/keyed_random.h"
#include "run/failure.h"

namespace {

using grapevine::Dataset;
using grapevine::NetworkBuilder;

// --model=two-convolutions:width=8
NetworkBuilder::Tensor DescribeTwoConvolutions(grapevine::SpecReader& options, int64_t classes,
                                               NetworkBuilder& b) {
  const int64_t width = options.Integer("width", 8, 1, 1024);
  auto x = b.Convolution("conv1", b.input(), {.outputs = width, .padding = 1, .bias = false});
  x = b.MaxPool(b.Relu(b.BatchNorm("bn1", x)), {});
  x = b.Relu(b.Convolution("conv2", x, {.outputs = 2 * width, .padding = 1}));
  return b.Linear("fc", b.GlobalAveragePool(x), classes);
}

// Grey waves that run in one of four directions, under noise.
std::shared_ptr<const Dataset> MakeWaves(int64_t size, uint64_t seed) {
  constexpr int64_t kSide = 16;
  constexpr int64_t kDirections = 4;
  grapevine::KeyedRandom random(seed, grapevine::Purpose::kSyntheticData);
  std::vector<uint8_t> pixels;
  std::vector<uint8_t> labels;
  for (int64_t i = 0; i < size; ++i) {
    labels.push_back(static_cast<uint8_t>(random.Below(kDirections)));
    const double angle = std::numbers::pi * labels.back() / kDirections;
    const double phase = 2 * std::numbers::pi * random.Unit();
    for (int64_t p = 0; p < kSide * kSide; ++p) {
      const double along = std::cos(angle) * static_cast<double>(p % kSide) +
                           std::sin(angle) * static_cast<double>(p / kSide);
      const double value = 128 + 40 * std::sin(1.5 * along + phase) + 40 * random.Normal();
      pixels.push_back(static_cast<uint8_t>(std::clamp(value, 0.0, 255.0)));
    }
  }
  return std::make_shared<Dataset>(
      grapevine::DatasetTraits{.name = "waves",
                               .shape = {kSide, kSide, 1},
                               .classes = kDirections,
                               .normalization = {.mean = {0.5f}, .deviation = {0.2f}}},
      std::move(pixels), std::move(labels));
}

// --data=waves:train=2000
absl::StatusOr<grapevine::TrainTest> ReadWaves(const grapevine::Spec& spec) {
  grapevine::SpecReader reader(spec);
  const int64_t train = reader.Integer("train", 2000, 1);
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return grapevine::TrainTest{.train = MakeWaves(train, 1), .test = MakeWaves(500, 2)};
}

absl::StatusOr<double> TrainAndEvaluate() {
  auto data = grapevine::MakeDataset("waves");
  if (!data.ok()) return data.status();
  const grapevine::DatasetTraits& traits = data->train->traits();
  const auto make = [&] {
    return grapevine::MakeNetwork("two-convolutions:width=16", traits.shape, traits.classes, {});
  };
  auto network = make();
  if (!network.ok()) return network.status();
  auto optimizer = grapevine::MakeOptimizer("sgd:momentum=0.9", {});
  if (!optimizer.ok()) return optimizer.status();

  std::vector<int32_t> all(static_cast<size_t>(data->train->size()));
  std::iota(all.begin(), all.end(), 0);
  grapevine::NetworkObjective objective(
      *std::move(network),
      std::make_unique<grapevine::ShardBatches>(data->train, all, grapevine::ShardOptions{}),
      /*seed=*/1);

  const grapevine::ReplicaLayout& layout = objective.layout();
  std::vector<float> replica(layout.size), gradient(layout.size);
  std::vector<float> state(layout.parameter_size * (*optimizer)->state_vectors());
  objective.Initialize(replica.data());
  for (int64_t round = 0; round < 150; ++round) {
    const auto loss = objective.Gradient(replica.data(), round, gradient.data());
    if (!loss.ok()) return loss.status();
    if (round % 30 == 0) std::printf("round %3d: loss %.3f\n", static_cast<int>(round), *loss);
    const grapevine::WeightedVector self{.weight = 1, .vector = replica.data()};
    (*optimizer)
        ->Step(layout,
               {.mix = {&self, 1},
                .own = replica.data(),
                .gradient = gradient.data(),
                .learning_rate = 0.02f},
               state.data(), replica.data());
  }

  auto evaluator = make();
  if (!evaluator.ok()) return evaluator.status();
  const auto evaluation = grapevine::EvaluateOn(data->test, replica.data(), **evaluator);
  if (!evaluation.ok()) return evaluation.status();
  return static_cast<double>(evaluation->correct) / static_cast<double>(evaluation->samples);
}

}  // namespace

int main() {
  grapevine::RegisterNetwork("two-convolutions", DescribeTwoConvolutions);
  grapevine::RegisterDataset("waves", ReadWaves);
  const absl::StatusOr<double> accuracy = TrainAndEvaluate();
  if (!accuracy.ok()) {
    std::fprintf(stderr, "%s\n", accuracy.status().ToString().c_str());
    return grapevine::ExitCode(accuracy.status());
  }
  std::printf("test accuracy %.1f %%\n", 100 * *accuracy);
  return *accuracy > 0.9 ? 0 : 1;
}
