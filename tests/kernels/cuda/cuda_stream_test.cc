// A GPU as the project's Device: memory, streams, events, recordings. Skips where there is
// no GPU.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "kernels/cuda/cuda_gpu.h"
#include "kernels/cuda/cuda_passes.h"
#include "kernels/device/device.h"
#include "kernels/passes/mix_and_step.h"
#include "kernels/passes/sketch.h"
#include "tests/kernels/cuda/on_device.h"

namespace grapevine {
namespace {

constexpr int64_t kSize = 5000;
constexpr int64_t kBytes = kSize * static_cast<int64_t>(sizeof(float));
constexpr auto kLong = std::chrono::seconds(60);

class CudaStreamTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped()) return;
    auto gpu = OpenGpu(0);
    ASSERT_TRUE(gpu.ok()) << gpu.status();
    gpu_ = *std::move(gpu);
    first_ = NewStream();
    second_ = NewStream();
  }

  std::unique_ptr<DeviceStream> NewStream() {
    auto stream = gpu_->NewStream();
    EXPECT_TRUE(stream.ok()) << stream.status();
    return *std::move(stream);
  }
  std::shared_ptr<float> OnGpu() { return Floats(gpu_->Allocate(kBytes, "a vector")); }
  std::shared_ptr<float> Pinned() { return Floats(gpu_->AllocatePinned(kBytes, "a vector")); }
  std::shared_ptr<float> Pinned(const std::vector<float>& values) {
    std::shared_ptr<float> memory = Pinned();
    std::memcpy(memory.get(), values.data(), kBytes);
    return memory;
  }
  static std::shared_ptr<float> Floats(absl::StatusOr<std::shared_ptr<void>> memory) {
    EXPECT_TRUE(memory.ok()) << memory.status();
    return std::static_pointer_cast<float>(*std::move(memory));
  }
  static std::vector<float> Values(const std::shared_ptr<float>& memory) {
    return {memory.get(), memory.get() + kSize};
  }
  static cudaStream_t Raw(const std::unique_ptr<DeviceStream>& stream) {
    return static_cast<CudaStream&>(*stream).get();
  }

  std::unique_ptr<Device> gpu_;
  std::unique_ptr<DeviceStream> first_, second_;
};

TEST_F(CudaStreamTest, AStreamDoesItsWorkInOrder) {
  const std::vector<float> values = Noise(1, kSize);
  const auto up = Pinned(values), down = Pinned();
  const auto a = OnGpu(), b = OnGpu();
  first_->Upload(up.get(), kBytes, a.get());
  first_->WeightedSum(std::vector<WeightedVector>{{0.5f, a.get()}, {0.25f, a.get()}}, kSize,
                      b.get());
  first_->Download(b.get(), kBytes, down.get());
  ASSERT_TRUE(first_->Record()->Wait(kLong).ok());
  ASSERT_TRUE(first_->status().ok()) << first_->status();
  std::vector<float> expected(kSize);
  WeightedSum(std::vector<WeightedVector>{{0.5f, values.data()}, {0.25f, values.data()}}, kSize,
              expected.data());
  EXPECT_EQ(Values(down), expected);
}

TEST_F(CudaStreamTest, AStreamWaitsForAnother) {
  for (int repetition = 0; repetition < 20; ++repetition) {
    const std::vector<float> values = Noise(static_cast<uint64_t>(repetition), kSize);
    const auto up = Pinned(values), down = Pinned();
    const auto a = OnGpu();
    first_->Upload(up.get(), kBytes, a.get());
    const auto there = first_->Record();
    second_->WaitFor(*there);
    second_->Download(a.get(), kBytes, down.get());
    const auto back = second_->Record();
    ASSERT_TRUE(back->Wait(kLong).ok());
    EXPECT_TRUE(there->passed());
    EXPECT_EQ(Values(down), values);
  }
}

TEST_F(CudaStreamTest, WhoAsksAnEventOftenEnoughSeesItPass) {
  const auto up = Pinned(Noise(1, kSize));
  const auto a = OnGpu();
  for (int i = 0; i < 50; ++i) first_->Upload(up.get(), kBytes, a.get());
  const auto event = first_->Record();
  int64_t asked = 0;
  while (!event->passed()) ASSERT_LT(++asked, int64_t{1} << 32);
}

TEST_F(CudaStreamTest, MixesAndSketchesAsTheCpu) {
  std::vector<float> mixed = Noise(1, kSize), gradient = Noise(2, kSize),
                     velocity = Noise(3, kSize);
  const OnDevice<float> gpu_in(mixed), gpu_gradient(gradient), gpu_velocity(velocity);
  const OnDevice<float> gpu_out(mixed);
  SgdStep step{.own = mixed.data(),
               .gradient = gradient.data(),
               .velocity = velocity.data(),
               .learning_rate = 0.1f,
               .weight_decay = 1e-4f,
               .momentum = 0.9f};
  SgdStep gpu_step = step;
  gpu_step.own = gpu_in.get();
  gpu_step.gradient = gpu_gradient.get();
  gpu_step.velocity = gpu_velocity.get();
  first_->MixAndStep(std::vector<WeightedVector>{{1.0f, gpu_in.get()}}, gpu_step, kSize,
                     gpu_out.get());
  const OnDevice<char> workspace(
      std::vector<char>(static_cast<size_t>(first_->SketchWorkspace(kSize))));
  const OnDevice<double> sketch(std::vector<double>(kSketchSize, 0.0));
  first_->ComputeSketch(gpu_out.get(), kSize, /*seed=*/7, workspace.get(), sketch.get());
  ASSERT_TRUE(first_->Record()->Wait(kLong).ok());
  ASSERT_TRUE(first_->status().ok()) << first_->status();
  MixAndStep(std::vector<WeightedVector>{{1.0f, mixed.data()}}, step, kSize, mixed.data());
  EXPECT_EQ(gpu_out.Read(), mixed);
  EXPECT_EQ(gpu_velocity.Read(), velocity);
  const Sketch expected = SketchOf(mixed.data(), kSize, /*seed=*/7);
  EXPECT_EQ(sketch.Read(), std::vector<double>(expected.begin(), expected.end()));
}

TEST_F(CudaStreamTest, TakesNormsAsTheCpu) {
  const std::vector<float> vector = Noise(1, kSize);
  const OnDevice<float> gpu_vector(vector);
  const OnDevice<char> workspace(
      std::vector<char>(static_cast<size_t>(first_->NormWorkspace(kSize))));
  const OnDevice<double> norms(std::vector<double>(2, 0.0));
  first_->ComputeSquaredNorm(gpu_vector.get(), kSize, workspace.get(), norms.get());
  // A part need not begin where a load of four elements can.
  first_->ComputeSquaredNorm(gpu_vector.get() + 3, kSize - 5, workspace.get(), norms.get() + 1);
  ASSERT_TRUE(first_->Record()->Wait(kLong).ok());
  ASSERT_TRUE(first_->status().ok()) << first_->status();
  EXPECT_EQ(norms.Read(), std::vector<double>({SquaredNorm(vector.data(), kSize),
                                               SquaredNorm(vector.data() + 3, kSize - 5)}));
}

TEST_F(CudaStreamTest, TellsTheTimeBetweenTimedEvents) {
  const auto up = Pinned(Noise(1, kSize));
  const auto a = OnGpu();
  const auto begin = first_->RecordTimed();
  first_->Upload(up.get(), kBytes, a.get());
  const auto end = first_->RecordTimed();
  ASSERT_TRUE(end->Wait(kLong).ok());
  EXPECT_GT(end->Since(*begin).count(), 0);
}

TEST_F(CudaStreamTest, RefusesMoreVectorsThanAKernelTakes) {
  const auto a = OnGpu();
  const std::vector<WeightedVector> terms(kMaxCudaTerms + 1, {1.0f, a.get()});
  first_->WeightedSum(terms, kSize, a.get());
  EXPECT_EQ(first_->status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(second_->status().ok());
}

TEST_F(CudaStreamTest, KeepsTheFirstErrorOfQueueing) {
  const auto up = Pinned();
  first_->Upload(up.get(), kBytes, nullptr);
  const absl::Status status = first_->status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_NE(status.message().find("a copy to the GPU: "), std::string::npos) << status;
  first_->WeightedSum(std::vector<WeightedVector>(kMaxCudaTerms + 1), kSize, nullptr);
  EXPECT_EQ(first_->status(), status);
  cudaGetLastError();
}

TEST_F(CudaStreamTest, AnAllocationThatIsTooLargeSaysForWhat) {
  const auto memory = gpu_->Allocate(int64_t{1} << 50, "a vector");
  EXPECT_EQ(memory.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(memory.status().message().find("no memory for a vector on cuda:0"), std::string::npos)
      << memory.status();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

using CudaRecordingTest = CudaStreamTest;

TEST_F(CudaRecordingTest, RepeatsWhatWasRecorded) {
  const std::vector<float> values = Noise(1, kSize);
  const auto up = Pinned(values), down = Pinned(std::vector<float>(kSize));
  const auto a = OnGpu();
  const auto recording = CudaRecording::Of(Raw(first_), [&] {
    first_->Upload(up.get(), kBytes, a.get());
    first_->WeightedSum(std::vector<WeightedVector>{{2.0f, a.get()}}, kSize, a.get());
    first_->Download(a.get(), kBytes, down.get());
  });
  ASSERT_TRUE(recording.ok()) << recording.status();
  ASSERT_TRUE(first_->Record()->Wait(kLong).ok());
  EXPECT_EQ(Values(down), std::vector<float>(kSize)) << "recording runs nothing";
  for (const float factor : {1.0f, 3.0f}) {
    std::vector<float> expected(kSize);
    for (int64_t i = 0; i < kSize; ++i) {
      up.get()[i] = factor * values[static_cast<size_t>(i)];
      expected[static_cast<size_t>(i)] = 2 * up.get()[i];
    }
    ExpectCuda(recording->Queue(Raw(first_)), "a recorded step");
    ASSERT_TRUE(first_->Record()->Wait(kLong).ok());
    EXPECT_EQ(Values(down), expected);
  }
}

TEST_F(CudaRecordingTest, MayGoWhileItsWorkIsUnderWay) {
  const std::vector<float> values = Noise(1, kSize);
  const auto up = Pinned(values), down = Pinned();
  const auto a = OnGpu();
  {
    const auto recording = CudaRecording::Of(Raw(first_), [&] {
      first_->Upload(up.get(), kBytes, a.get());
      first_->Download(a.get(), kBytes, down.get());
    });
    ASSERT_TRUE(recording.ok()) << recording.status();
    ExpectCuda(recording->Queue(Raw(first_)), "a recorded step");
  }
  ASSERT_TRUE(first_->Record()->Wait(kLong).ok());
  EXPECT_EQ(Values(down), values);
}

TEST_F(CudaRecordingTest, RefusesCallsThatAllocate) {
  const auto recording = CudaRecording::Of(Raw(first_), [] {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, 1 << 20), cudaErrorStreamCaptureUnsupported);
  });
  EXPECT_EQ(recording.status().code(), absl::StatusCode::kInternal);
  EXPECT_NE(recording.status().message().find("recording a CUDA graph"), std::string::npos)
      << recording.status();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  // The stream is as good as before.
  const auto up = Pinned(Noise(1, kSize));
  const auto a = OnGpu();
  first_->Upload(up.get(), kBytes, a.get());
  EXPECT_TRUE(first_->Record()->Wait(kLong).ok());
}

TEST_F(CudaRecordingTest, RefusesCallsThatWait) {
  const auto recording =
      CudaRecording::Of(Raw(first_), [&] { EXPECT_FALSE(second_->Record()->Wait(kLong).ok()); });
  EXPECT_FALSE(recording.ok());
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaRecordingTest, RefusesToWaitForWhatIsNotRecorded) {
  const auto outside = second_->Record();
  const auto recording = CudaRecording::Of(Raw(first_), [&] { first_->WaitFor(*outside); });
  EXPECT_FALSE(recording.ok());
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
}  // namespace grapevine
