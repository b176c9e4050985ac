// The same weights and batch give PyTorch's loss, gradients and statistics.
// PyTorch computes in double: what is measured is our error alone.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/model/torch_answers.h"

namespace grapevine {
namespace {

constexpr int kNoTorch = 77;

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
  for (const TensorView& view : Tensors(layout)) {
    file << view.name;
    for (int64_t extent : view.shape) file << ' ' << extent;
    file << '\n';
  }
}

void ExpectSameGradient(const ReplicaLayout& layout, const std::vector<float>& actual,
                        const std::vector<float>& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const TensorView& view : Tensors(layout)) {
    double error = 0;
    double largest = 0;
    for (int64_t i = view.offset; i < view.offset + view.size; ++i) {
      error = std::max(error, std::abs(double{actual[i]} - double{expected[i]}));
      largest = std::max(largest, std::abs(double{expected[i]}));
    }
    EXPECT_LT(error, tolerance * largest) << view.name;
  }
}

class TorchParityTest : public ::testing::Test {
 protected:
  static std::string Path(const TorchCase& c, const std::string& suffix) {
    return ::testing::TempDir() + "/" + c.name + suffix;
  }

  static void WriteQuestion(const TorchCase& c, const TorchSubject& subject) {
    WriteLayout(Path(c, ".layout"), subject.network->layout());
    WriteFile(Path(c, ".replica"), subject.replica);
    WriteFile(Path(c, ".images"), subject.batch.images);
    WriteFile(Path(c, ".labels"), subject.batch.labels);
  }

  // The exit code.
  static int AskTorch() {
    std::string command = "/usr/bin/python3 tests/model/torch_parity.py " + ::testing::TempDir();
    for (const TorchCase& c : TorchCases()) command += " " + c.name;
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  static NetworkAnswer TorchAnswer(const TorchCase& c) {
    const auto losses = ReadFile<double>(Path(c, ".loss"));
    EXPECT_EQ(losses.size(), 2u);
    return {.evaluation_loss = losses.at(0),
            .training_loss = losses.at(1),
            .gradient = ReadFile<float>(Path(c, ".gradient"))};
  }

  // For record_torch_answers.
  static void Record(const std::string& path, const std::vector<TorchSubject>& subjects) {
    std::ofstream file(path);
    for (size_t i = 0; i < subjects.size(); ++i) {
      const TorchCase& c = TorchCases()[i];
      Write(c.name, Digest(subjects[i].network->layout(), TorchAnswer(c)), file);
    }
  }
};

TEST_F(TorchParityTest, LossGradientsAndStatistics) {
  if (!std::filesystem::exists("/usr/bin/python3")) GTEST_SKIP() << "/usr/bin/python3 is missing";
  std::vector<TorchSubject> subjects;
  for (const TorchCase& c : TorchCases()) {
    subjects.push_back(MakeTorchSubject(c));
    WriteQuestion(c, subjects.back());
  }
  const int code = AskTorch();
  if (code == kNoTorch)
    GTEST_SKIP() << "python3-torch is missing: tools/install_packages test_packages.txt";
  ASSERT_EQ(code, 0) << "torch_parity.py failed; see above";
  if (const char* path = std::getenv("GRAPEVINE_TORCH_ANSWERS")) Record(path, subjects);

  for (size_t i = 0; i < subjects.size(); ++i) {
    const TorchCase& c = TorchCases()[i];
    SCOPED_TRACE(c.name);
    const NetworkAnswer actual = AnswerOf(subjects[i]);
    const NetworkAnswer expected = TorchAnswer(c);
    EXPECT_NEAR(actual.evaluation_loss, expected.evaluation_loss,
                kTorchLossTolerance * (1 + expected.evaluation_loss));
    EXPECT_NEAR(actual.training_loss, expected.training_loss, kTorchLossTolerance);
    ExpectSameGradient(subjects[i].network->layout(), actual.gradient, expected.gradient,
                       c.tolerance);
  }
}

}  // namespace
}  // namespace grapevine
