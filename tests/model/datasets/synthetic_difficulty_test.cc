// The built-in data set must be worth training on: too hard for a linear
// classifier, within reach of a small convolutional network.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/vector/vector_table.h"
#include "model/data/dataset_batches.h"
#include "model/datasets/dataset_kind.h"
#include "model/networks/network_kind.h"
#include "optim/optimizer.h"

namespace grapevine {
namespace {

// One node's training with the default batch and optimizer.
class Training {
 public:
  Training(const std::string& model, const TrainTest& data, float learning_rate)
      : learning_rate_(learning_rate),
        network_(*MakeNetwork(model, data.train->traits().shape, data.train->traits().classes,
                              NetworkOptions{})),
        optimizer_(*MakeOptimizer("sgd", {.momentum = 0.9})),
        batches_(data.train, AllSamples(*data.train), {.batch_size = 32, .seed = 1}),
        test_(data.test, 500),
        rounds_per_epoch_(data.train->size() / 32),
        replica_(vectors_.New(network_->layout().size, "the replica")),
        gradient_(vectors_.New(network_->layout().size, "the gradient")),
        state_(vectors_.New(network_->layout().size, "the optimizer's state")) {
    vectors_.Clear(state_);
    network_->Initialize(/*seed=*/1, replica());
  }

  void Epoch() {
    Batch batch;
    for (int64_t i = 0; i < rounds_per_epoch_; ++i) {
      ASSERT_TRUE(batches_.Fill(round_++, &batch).ok());
      ASSERT_TRUE(network_->Gradient(replica(), batch, vectors_.At(gradient_).data.get()).ok());
      const Term own{1.0, vectors_.Whole(replica_)};
      optimizer_->Step(network_->layout(),
                       {.range = {0, own.part.size},
                        .out = replica_,
                        .mix = {&own, 1},
                        .own = replica_,
                        .gradient = gradient_,
                        .state = state_,
                        .learning_rate = learning_rate_},
                       vectors_);
    }
  }

  double TestAccuracy() {
    Batch batch;
    int64_t correct = 0, samples = 0;
    for (int64_t i = 0; i < test_.count(); ++i) {
      EXPECT_TRUE(test_.Fill(i, &batch).ok());
      const EvaluationSums evaluation = *network_->Evaluate(replica(), batch);
      correct += evaluation.correct;
      samples += evaluation.samples;
    }
    return static_cast<double>(correct) / static_cast<double>(samples);
  }

 private:
  static std::vector<int32_t> AllSamples(const Dataset& data) {
    std::vector<int32_t> samples(static_cast<size_t>(data.size()));
    std::iota(samples.begin(), samples.end(), 0);
    return samples;
  }

  float* replica() { return vectors_.At(replica_).data.get(); }

  float learning_rate_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Optimizer> optimizer_;
  ShardBatches batches_;
  EvaluationBatches test_;
  int64_t rounds_per_epoch_;
  int64_t round_ = 0;
  VectorTable vectors_;
  Vec replica_, gradient_, state_;
};

// The best test accuracy after any of the epochs.
double BestAccuracy(const std::string& model, float learning_rate, int epochs, double enough) {
  Training training(model, *MakeDataset("synthetic"), learning_rate);
  double best = 0;
  for (int epoch = 0; epoch < epochs && best < enough; ++epoch) {
    training.Epoch();
    const double accuracy = training.TestAccuracy();
    std::printf("%s lr %g epoch %d: %.4f\n", model.c_str(), learning_rate, epoch + 1, accuracy);
    best = std::max(best, accuracy);
  }
  return best;
}

TEST(SyntheticDifficultyTest, SoftmaxRegressionStaysBelow85PerCent) {
  for (float learning_rate : {0.05f, 0.01f}) {
    const double best = BestAccuracy("softmax", learning_rate, 10, 1);
    EXPECT_LT(best, 0.85);
    EXPECT_GT(best, 0.6);  // a classifier that learned nothing proves nothing
  }
}

TEST(SyntheticDifficultyTest, LeNet5Reaches95PerCentWithin5Epochs) {
  EXPECT_GE(BestAccuracy("lenet5", 0.05f, 5, 0.95), 0.95);
}

}  // namespace
}  // namespace grapevine
