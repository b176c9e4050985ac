// The same weights and batch give PyTorch's loss, gradients and statistics.
// PyTorch computes in double: what is measured is our error alone.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "model/network_registry.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr double kLossTolerance = 1e-4;
constexpr float kLabelSmoothing = 0.1f;  // torch_parity.py has the same
constexpr int64_t kBatch = 8;
constexpr int64_t kClasses = 10;
constexpr int kNoTorch = 77;

struct ParityCase {
  std::string name;  // in torch_networks.py
  std::string spec;
  ImageShape image;
  double tolerance = 1e-4;
};

const ParityCase kCases[] = {
    {"softmax", "softmax", {28, 28, 1}},
    {"mlp", "mlp", {28, 28, 1}},
    {"lenet5", "lenet5", {28, 28, 1}},
    {"lenet5-cifar", "lenet5", {32, 32, 3}},
    {"resnet20", "resnet20", {32, 32, 3}},
    // Of its millions of ReLUs rounding switches a few, here as in PyTorch's own
    // fp32, which is up to 2 % from its fp64.
    {"resnet50", "resnet50", {64, 64, 3}, 3e-2},
};

template <typename Vector>
void WriteFile(const std::string& path, const Vector& values) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(values[0])));
}

template <typename T>
std::vector<T> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<T> values(bytes.size() / sizeof(T));
  std::copy(bytes.begin(), bytes.begin() + values.size() * sizeof(T),
            reinterpret_cast<char*>(values.data()));
  return values;
}

void WriteLayout(const std::string& path, const ReplicaLayout& layout) {
  std::ofstream file(path);
  for (const auto* section : {&layout.parameters, &layout.buffers}) {
    for (const TensorView& view : *section) {
      file << view.name;
      for (int64_t extent : view.shape) file << ' ' << extent;
      file << '\n';
    }
  }
}

Batch MakeBatch(const ImageShape& image) {
  KeyedRandom random(3, Purpose::kSyntheticData);
  Batch batch{.size = kBatch};
  for (int64_t i = 0; i < kBatch * image.size(); ++i) {
    batch.images.push_back(static_cast<float>(random.Normal()));
  }
  for (int64_t i = 0; i < kBatch; ++i) {
    batch.labels.push_back(static_cast<int32_t>(random.Below(kClasses)));
  }
  return batch;
}

class TorchParityTest : public testing::Test {
 protected:
  struct Subject {
    std::unique_ptr<Network> network;
    Batch batch;
    std::vector<float> replica;
  };

  static Subject Make(const ParityCase& c) {
    Subject subject{.batch = MakeBatch(c.image)};
    auto network = MakeNetwork(c.spec, c.image, kClasses, {.label_smoothing = kLabelSmoothing});
    EXPECT_TRUE(network.ok()) << network.status();
    subject.network = *std::move(network);
    subject.replica.resize(subject.network->layout().size);
    subject.network->Initialize(11, subject.replica.data());
    Disturb(&subject);
    return subject;
  }

  // Away from the starting values, where biases of 0 and scales of 1 hide errors.
  static void Disturb(Subject* subject) {
    KeyedRandom random(5, Purpose::kSyntheticData, 1);
    const int64_t parameters = subject->network->layout().parameter_size;
    for (size_t i = 0; i < subject->replica.size(); ++i) {
      const double noise = 0.03 * random.Normal();
      // Variances stay positive.
      const bool buffer = static_cast<int64_t>(i) >= parameters;
      subject->replica[i] += static_cast<float>(buffer ? std::abs(noise) : noise);
    }
  }

  std::string Path(const ParityCase& c, const std::string& suffix) const {
    return folder_ + "/" + c.name + suffix;
  }

  // The exit code.
  int AskTorch() const {
    std::string command = "/usr/bin/python3 tests/model/torch_parity.py " + folder_;
    for (const ParityCase& c : kCases) command += " " + c.name;
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  const std::string folder_ = testing::TempDir();
};

void ExpectSameGradient(const Network& network, const std::vector<float>& actual,
                        const std::vector<float>& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto* section : {&network.layout().parameters, &network.layout().buffers}) {
    for (const TensorView& view : *section) {
      double error = 0;
      double largest = 0;
      for (int64_t i = view.offset; i < view.offset + view.size; ++i) {
        error = std::max(error, std::abs(double{actual[i]} - double{expected[i]}));
        largest = std::max(largest, std::abs(double{expected[i]}));
      }
      EXPECT_LT(error, tolerance * largest) << view.name;
    }
  }
}

TEST_F(TorchParityTest, LossGradientsAndStatistics) {
  if (!std::filesystem::exists("/usr/bin/python3")) GTEST_SKIP() << "no /usr/bin/python3";
  std::vector<Subject> subjects;
  for (const ParityCase& c : kCases) {
    subjects.push_back(Make(c));
    WriteLayout(Path(c, ".layout"), subjects.back().network->layout());
    WriteFile(Path(c, ".replica"), subjects.back().replica);
    WriteFile(Path(c, ".images"), subjects.back().batch.images);
    WriteFile(Path(c, ".labels"), subjects.back().batch.labels);
  }
  const int code = AskTorch();
  if (code == kNoTorch) GTEST_SKIP() << "no python3-torch";
  ASSERT_EQ(code, 0) << "torch_parity.py failed; see above";

  for (size_t i = 0; i < subjects.size(); ++i) {
    SCOPED_TRACE(kCases[i].name);
    Network& network = *subjects[i].network;
    const float* replica = subjects[i].replica.data();
    std::vector<float> gradient(network.layout().size, std::nanf(""));
    const auto evaluation = network.Evaluate(replica, subjects[i].batch);
    const auto loss = network.Gradient(replica, subjects[i].batch, gradient.data());
    ASSERT_TRUE(evaluation.ok() && loss.ok());
    const auto expected = ReadFile<double>(Path(kCases[i], ".loss"));
    ASSERT_EQ(expected.size(), 2u);
    EXPECT_NEAR(evaluation->loss_sum / kBatch, expected[0], kLossTolerance * (1 + expected[0]));
    EXPECT_NEAR(*loss, expected[1], kLossTolerance);
    ExpectSameGradient(network, gradient, ReadFile<float>(Path(kCases[i], ".gradient")),
                       kCases[i].tolerance);
  }
}

}  // namespace
}  // namespace grapevine
