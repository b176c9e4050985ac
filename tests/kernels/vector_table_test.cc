#include "kernels/vector/vector_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kernels/vector/vector_passes.h"

namespace grapevine {
namespace {

TEST(VectorTable, MemoryIsUsedAgainOnlyOnceNobodyHoldsIt) {
  VectorTable table;
  const Vec first = table.New(100, "a vector");
  SharedSlice on_its_way = table.Slice({first, 10, 20});
  float* const memory = table.At(first).data.get();
  table.Drop(first);
  const Vec second = table.New(100, "a vector");
  EXPECT_NE(table.At(second).data.get(), memory) << "a send still reads it";
  EXPECT_EQ(table.bytes(), 2 * 400);
  on_its_way = {};
  EXPECT_EQ(table.At(table.New(100, "a vector")).data.get(), memory);
  EXPECT_EQ(table.bytes(), 2 * 400);
  EXPECT_EQ(table.live(), 2u);
}

TEST(VectorTable, TakesMemoryAtTheFirstUse) {
  VectorTable table;
  const Vec early = table.New(100, "a vector");
  EXPECT_EQ(table.bytes(), 0);
  const Vec other = table.New(100, "a vector");
  float* const memory = table.At(other).data.get();
  table.Drop(other);
  EXPECT_EQ(table.At(early).data.get(), memory) << "what came back in the meantime";
  EXPECT_EQ(table.bytes(), 400);
}

TEST(VectorTable, TellsTheAllocatorWhatAVectorIsFor) {
  CpuPasses cpu;
  std::vector<std::string> asked;
  VectorTable table(&cpu, [&asked](int64_t size, std::string_view what) {
    asked.emplace_back(what);
    return NewSharedVector(size);
  });
  const Vec replica = table.New(3, "the replica"), copy = table.New(3, "a copy");
  table.At(replica);
  table.At(replica);
  table.Share(table.At(replica), copy);
  table.MakeOwn(copy);
  EXPECT_EQ(asked, (std::vector<std::string>{"the replica", "a copy"}));
  EXPECT_STREQ(table.role(copy), "a copy");
}

TEST(VectorTable, SharesMemoryUntilOneIsWritten) {
  VectorTable table;
  const Vec one = table.New(3, "a vector"), other = table.New(3, "a vector");
  std::ranges::fill(table.At(one).span(), 7.0f);
  table.Share(table.At(one), other);
  EXPECT_EQ(table.At(other).data.get(), table.At(one).data.get());
  EXPECT_EQ(table.bytes(), 12);

  table.MakeOwn(one);
  table.At(one).data[0] = 1;
  EXPECT_EQ(table.At(other).data[0], 7);
  EXPECT_EQ(table.At(one).data[2], 7);

  float* const memory = table.At(other).data.get();
  table.Drop(other);
  const Vec next = table.New(3, "a vector");
  EXPECT_EQ(table.At(next).data.get(), memory);
  table.MakeOwn(next);
  EXPECT_EQ(table.At(next).data.get(), memory) << "nobody shares it any more";
}

TEST(VectorTable, CombineAddsInTheListedOrderInPlaceToo) {
  VectorTable table;
  const Vec a = table.New(10, "a vector"), b = table.New(4, "a vector");
  for (int i = 0; i < 10; ++i) table.At(a).data[i] = static_cast<float>(i);
  std::ranges::fill(table.At(b).span(), 100.0f);
  const Term terms[] = {{0.5, {a, 3, 4}}, {2.0, {b, 0, 4}}};
  table.Combine({a, 3, 4}, terms);
  const std::vector<float> result(table.At(a).span().begin(), table.At(a).span().end());
  EXPECT_EQ(result, (std::vector<float>{0, 1, 2, 201.5, 202, 202.5, 203, 7, 8, 9}));
}

TEST(VectorPool, VectorsMayComeBackFromAnyThreadAndOutliveThePool) {
  SharedVector survivor;
  {
    VectorPool pool;
    survivor = pool.Take(8, "a vector");
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&pool] {
        for (int k = 0; k < 1000; ++k) pool.Take(64, "a vector").data[0] = 1;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_LE(pool.bytes(), (4 * 64 + 8) * 4);
  }
  std::ranges::fill(survivor.span(), 1.0f);
}

TEST(AlignedBuffer, IsAlignedToCacheLines) {
  for (const int64_t size : {0, 1, 17, 1 << 20}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(NewSharedVector(size).data.get()) % 64, 0u) << size;
  }
}

TEST(VectorTableDeath, BugsOfAnAlgorithmAreCaught) {
  VectorTable table;
  const Vec vector = table.New(4, "the gradient"), small = table.New(3, "the mixed replica");
  EXPECT_DEATH(table.Slice({vector, 2, 3}), "part \\[2, 5\\) of the gradient, a vector of 4");
  EXPECT_DEATH(table.Share(table.At(vector), small), "the mixed replica was to share");
  const Term term{1.0, {vector, 0, 4}};
  EXPECT_DEATH(table.Combine({small, 0, 3}, {&term, 1}),
               "terms of a sum into the mixed replica differ in size");
  table.Drop(vector);
  EXPECT_DEATH(table.Drop(vector), "dropped twice");
  EXPECT_DEATH(table.At(vector), "after it was dropped");
}

}  // namespace
}  // namespace grapevine
