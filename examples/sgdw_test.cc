// SGDW's formula; what all optimizers promise is in //tests/optim:optimizer_contract,
// which this test links.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "kernels/vector/replica_layout.h"
#include "kernels/vector/vector_table.h"
#include "optim/optimizer.h"

namespace grapevine {
namespace {

TEST(Sgdw, DecaysApartFromTheMomentum) {
  constexpr float kRate = 0.1f, kDecay = 0.5f, kMomentum = 0.9f;
  ReplicaLayout layout;
  layout.AddParameter("x", {1});
  const auto sgdw = *MakeOptimizer("sgdw:momentum=0.9:weight_decay=0.5", {});
  VectorTable vectors;
  const Vec replica = vectors.New(1, "x"), gradient = vectors.New(1, "g"),
            state = vectors.New(1, "m");
  vectors.Clear(state);
  float x = 2, velocity = 0;
  vectors.At(replica).data[0] = x;
  for (const float g : {1.0f, -3.0f, 0.5f}) {
    vectors.At(gradient).data[0] = g;
    const Term own{1.0, vectors.Whole(replica)};
    sgdw->Step(layout,
               {.range = {0, 1},
                .out = replica,
                .mix = {&own, 1},
                .own = replica,
                .gradient = gradient,
                .state = state,
                .learning_rate = kRate},
               vectors);
    velocity = kMomentum * velocity + g;
    x = x - kRate * kDecay * x - kRate * velocity;
    EXPECT_FLOAT_EQ(vectors.At(replica).data[0], x);
  }
}

TEST(Sgdw, SaysItsNumbersAndRefusesOthers) {
  EXPECT_EQ((*MakeOptimizer("sgdw:momentum=0.8", {.weight_decay = 0.01}))->name(),
            "sgdw:momentum=0.8:weight_decay=0.01");
  EXPECT_EQ(MakeOptimizer("sgdw:momentum=1", {}).status().message(),
            "sgdw:momentum=1: option momentum: 1 is more than 0.9999");
}

}  // namespace
}  // namespace grapevine
