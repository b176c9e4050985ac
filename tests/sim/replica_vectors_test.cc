// Messages between virtual nodes: replicas are shared, and yet nobody sees what
// another one writes.
#include "sim/engine/replica_vectors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "model/problem/quadratic_problem.h"
#include "optim/optimizer.h"

namespace grapevine {
namespace {

constexpr int64_t kSize = 4;

class ReplicaVectorsTest : public ::testing::Test {
 protected:
  ReplicaVectorsTest() : optimizer_(*MakeOptimizer("sgd", {.momentum = 0})) {
    std::vector<std::unique_ptr<Objective>> objectives;
    objectives.push_back(std::make_unique<QuadraticObjective>(
        QuadraticOptions{.optimum = std::vector<float>(kSize, 1)}));
    layout_ = objectives[0]->layout();
    vectors_ = std::make_unique<ReplicaVectors>(
        ReplicaVectors::Parts{.layout = &layout_,
                              .optimizer = optimizer_.get(),
                              .initialize =
                                  [](float* replica) {
                                    std::fill_n(replica, kSize, 0.0f);
                                    return absl::OkStatus();
                                  },
                              .objectives = std::move(objectives)});
  }

  Vec Filled(float value) {
    const Vec vector = vectors_->New(kSize, "a vector");
    std::ranges::fill(vectors_->At(vector).span(), value);
    return vector;
  }
  Part Whole(Vec vector) const { return {vector, 0, kSize}; }
  // What `from` holds, by message, in a new vector.
  Vec Received(Vec from) {
    vectors_->Hold(0, Whole(from));
    const Vec into = vectors_->New(kSize, "a vector");
    vectors_->Deliver(0, Whole(into));
    return into;
  }
  std::vector<float> Values(Vec vector) const {
    const auto span = vectors_->At(vector).span();
    return {span.begin(), span.end()};
  }
  std::vector<float> All(float value) const { return std::vector<float>(kSize, value); }

  const std::unique_ptr<Optimizer> optimizer_;
  ReplicaLayout layout_;
  std::unique_ptr<ReplicaVectors> vectors_;
};

TEST_F(ReplicaVectorsTest, AReceivedReplicaCostsNoMemory) {
  const Vec sender = Filled(7);
  const Vec receiver = Received(sender);
  EXPECT_EQ(vectors_->At(receiver).data, vectors_->At(sender).data);
  EXPECT_EQ(Values(receiver), All(7));
}

TEST_F(ReplicaVectorsTest, ASenderThatWritesOnLeavesItsReceiversAlone) {
  const Vec sender = Filled(7);
  const Vec one = Received(sender), other = Received(sender);
  const Vec source = Filled(3);
  const Term term{1.0, Whole(source)};
  vectors_->Combine(Whole(sender), {&term, 1});
  EXPECT_EQ(Values(sender), All(3));
  EXPECT_EQ(Values(one), All(7));
  EXPECT_EQ(Values(other), All(7));
}

TEST_F(ReplicaVectorsTest, AReceiverThatWritesLeavesTheOthersAlone) {
  const Vec sender = Filled(7);
  const Vec one = Received(sender), other = Received(sender);
  vectors_->BeginGradient(0, sender, one, 0);
  ASSERT_TRUE(vectors_->EndGradient(0).ok());
  EXPECT_EQ(Values(one), All(6)) << "7 less the optimum";
  EXPECT_EQ(Values(other), All(7));
  EXPECT_EQ(Values(sender), All(7));
}

TEST_F(ReplicaVectorsTest, PartsAreCopied) {
  const Vec sender = Filled(7), receiver = Filled(0);
  vectors_->Hold(0, Part{sender, 1, 2});
  vectors_->Deliver(0, Part{receiver, 2, 2});
  EXPECT_EQ(Values(receiver), (std::vector<float>{0, 0, 7, 7}));
  EXPECT_NE(vectors_->At(receiver).data, vectors_->At(sender).data);

  // Into a vector that shares its memory.
  const Vec shared = Received(sender);
  vectors_->Hold(0, Part{receiver, 0, 1});
  vectors_->Deliver(0, Part{shared, 3, 1});
  EXPECT_EQ(Values(shared), (std::vector<float>{7, 7, 7, 0}));
  EXPECT_EQ(Values(sender), All(7));
}

TEST_F(ReplicaVectorsTest, AMessageOutlivesItsSendersVector) {
  const Vec sender = Filled(7);
  vectors_->Hold(5, Whole(sender));
  vectors_->Drop(sender);
  const Vec other = Filled(9);
  const Vec receiver = vectors_->New(kSize, "a vector");
  vectors_->Deliver(5, Whole(receiver));
  EXPECT_EQ(Values(receiver), All(7));
  EXPECT_EQ(Values(other), All(9));
}

TEST_F(ReplicaVectorsTest, WhatAGradientReadsMayBeDropped) {
  const Vec at = Filled(3), into = vectors_->New(kSize, "a vector");
  vectors_->BeginGradient(0, at, into, 0);
  vectors_->Drop(at);
  const absl::StatusOr<double> loss = vectors_->EndGradient(0);
  ASSERT_TRUE(loss.ok());
  EXPECT_EQ(Values(into), All(2));
}

}  // namespace
}  // namespace grapevine
