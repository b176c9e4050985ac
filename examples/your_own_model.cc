// A network and a data set of your own in a grapevine of your own:
// docs/your-own-model.md walks through it. Every command knows both:
//
//   your_own_model train -n 2 --model=two-convolutions:width=16 --data=waves
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status.h"
#include "cli/grapevine.h"
#include "model/data/dataset.h"
#include "model/datasets/dataset_kind.h"
#include "model/networks/network_kind.h"
#include "random/keyed_random.h"

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
  std::vector<grapevine::Label> labels;
  for (int64_t i = 0; i < size; ++i) {
    labels.push_back(static_cast<grapevine::Label>(random.Below(kDirections)));
    const double angle = std::numbers::pi * labels.back() / kDirections;
    const double phase = 2 * std::numbers::pi * random.Unit();
    for (int64_t p = 0; p < kSide * kSide; ++p) {
      const double along = std::cos(angle) * static_cast<double>(p % kSide) +
                           std::sin(angle) * static_cast<double>(p / kSide);
      const double value = 128 + 40 * std::sin(1.5 * along + phase) + 40 * random.Normal();
      pixels.push_back(static_cast<uint8_t>(std::clamp(value, 0.0, 255.0)));
    }
  }
  return std::make_shared<grapevine::MemoryDataset>(
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
  RETURN_IF_ERROR(reader.Finish());
  return grapevine::TrainTest{.train = MakeWaves(train, 1), .test = MakeWaves(500, 2)};
}

const grapevine::Registration kTwoConvolutions(grapevine::Networks(),
                                               {.name = "two-convolutions",
                                                .options = "[:width=8]",
                                                .help = "two convolutions and a linear layer",
                                                .describe = DescribeTwoConvolutions});
const grapevine::Registration kWaves(grapevine::Datasets(), {.name = "waves",
                                                             .options = "[:train=2000]",
                                                             .help = "waves in four directions",
                                                             .read = ReadWaves});

}  // namespace

int main(int argc, char** argv) { return grapevine::RunGrapevine(argc, argv); }
