// The emulation itself: that it is as unforgiving as a GPU. What it computes is tested by
// the tests that run on it.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/emulated_cuda/device_code.h"
#include "tests/emulated_cuda/launch.h"
#include "tests/emulated_cuda/runtime.h"

namespace emulated_cuda {
namespace {

void RunKernel(void (*kernel)(), dim3 block) {
  Launch(kernel, 1, block)();
  cudaDeviceSynchronize();
}

// How the threads of a block came, one after the other.
std::vector<unsigned> arrivals;
void Arrive() { arrivals.push_back(threadIdx.x); }

TEST(EmulatedBlockTest, ThreadsComeInManyOrders) {
  std::set<std::vector<unsigned>> orders;
  for (int i = 0; i < 100; ++i) {
    arrivals.clear();
    RunKernel(Arrive, 64);
    orders.insert(arrivals);
    EXPECT_EQ(std::set<unsigned>(arrivals.begin(), arrivals.end()).size(), 64u);
  }
  EXPECT_GT(orders.size(), 20u);
}

// Each thread writes its own number, and takes that of another.
template <bool kWaits>
void Rotate(unsigned* taken) {
  static unsigned numbers[100];
  UseShared(&numbers, sizeof(numbers));
  numbers[threadIdx.x] = threadIdx.x;
  if (kWaits) __syncthreads();
  taken[threadIdx.x] = numbers[(threadIdx.x + 1) % blockDim.x];
}

template <bool kWaits>
bool RotatesAlways() {
  unsigned* taken = nullptr;
  EXPECT_EQ(cudaHostAlloc(reinterpret_cast<void**>(&taken), 100 * sizeof(unsigned), 0),
            cudaSuccess);
  bool always = true;
  for (int i = 0; i < 20; ++i) {
    Launch(Rotate<kWaits>, 1, 100)(taken);
    cudaDeviceSynchronize();
    for (unsigned t = 0; t < 100; ++t) always = always && taken[t] == (t + 1) % 100;
  }
  cudaFreeHost(taken);
  return always;
}

TEST(EmulatedBlockTest, ABarrierIsNeededAndIsEnough) {
  EXPECT_TRUE(RotatesAlways<true>());
  EXPECT_FALSE(RotatesAlways<false>());
}

void DifferentBarriers() {
  if (threadIdx.x < 7) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}
void MissingLane() {
  if (threadIdx.x != 3) __syncwarp();
}
void ReturnedLane() {
  if (threadIdx.x == 3) return;
  __shfl_xor_sync(0xffffffff, 1, 1);
}
void PartOfAWarp() { __syncwarp(); }
void UnnamedSource() {
  if (threadIdx.x < 16) __shfl_sync(0xffff, 1.0f, 20);
}
void UnnamedSelf() { __ballot_sync(0xffff, 1); }
void DifferentExchanges() {
  if (threadIdx.x % 2 == 0) {
    __syncwarp();
  } else {
    __syncwarp();
  }
}
void WarpAgainstBlock() {
  if (threadIdx.x == 3) {
    __syncthreads();
  } else {
    __syncwarp();
    __syncthreads();
  }
}
void TooMuchShared() {
  static double memory[7000];
  UseShared(&memory, sizeof(memory));
}

TEST(EmulatedBlockDeathTest, UndefinedMeetingsEndTheProcess) {
  EXPECT_DEATH(RunKernel(DifferentBarriers, 64), "is at the barrier at .*, others at ");
  EXPECT_DEATH(RunKernel(MissingLane, 64), "named by an exchange|names lanes that have returned");
  EXPECT_DEATH(RunKernel(ReturnedLane, 64), "named by an exchange|names lanes that have returned");
  EXPECT_DEATH(RunKernel(PartOfAWarp, 16), "names lanes that have returned, or are none");
  EXPECT_DEATH(RunKernel(UnnamedSource, 32), "reads a lane that it does not name");
  EXPECT_DEATH(RunKernel(UnnamedSelf, 32), "is not named by its own exchange");
  EXPECT_DEATH(RunKernel(DifferentExchanges, 32), "lanes of a warp meet at ");
  EXPECT_DEATH(RunKernel(WarpAgainstBlock, 32), "for others of their warp that do not come");
  EXPECT_DEATH(RunKernel(TooMuchShared, 32), "56000 bytes of shared memory");
}

TEST(EmulatedLaunchTest, RefusesWhatNoGpuTakes) {
  for (const auto& [grid, block] : std::vector<std::pair<dim3, dim3>>{
           {0, 32}, {1, 0}, {1, 1025}, {1, dim3(32, 33)}, {dim3(1, 65536), 1}}) {
    Launch(Arrive, grid, block)();
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
}

void Write(char* at) { *at = 1; }

TEST(EmulatedMemoryDeathTest, NothingIsTouchedOutside) {
  char* memory = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory), 1000), cudaSuccess);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0u);
  const auto write = [&](int64_t at) {
    Launch(Write, 1, 1)(memory + at);
    cudaFree(memory);
  };
  EXPECT_DEATH(write(1000), "something wrote outside of 1000 bytes");
  EXPECT_DEATH(write(1024), "block .0, 0, 0., thread .0, 0, 0.: touches memory that is not there");
  EXPECT_DEATH(write(-1), "something wrote outside of 1000 bytes");
  write(999);
}

class EmulatedStreamTest : public ::testing::Test {
 protected:
  EmulatedStreamTest() {
    EXPECT_EQ(cudaStreamCreateWithFlags(&a_, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&b_, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cudaStreamCreate(&waiting_), cudaSuccess);
    EXPECT_EQ(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), cudaSuccess);
  }
  ~EmulatedStreamTest() override {
    cudaEventDestroy(event_);
    for (const cudaStream_t stream : {a_, b_, waiting_}) cudaStreamDestroy(stream);
    cudaGetLastError();
  }
  void Note(cudaStream_t stream, char what) {
    EXPECT_EQ(Queue(stream, [this, what] { done_ += what; }), cudaSuccess);
  }

  cudaStream_t a_, b_, waiting_;
  cudaEvent_t event_;
  std::string done_;
};

TEST_F(EmulatedStreamTest, WorksLateAndInOrder) {
  for (const char what : {'1', '2', '3'}) Note(a_, what);
  EXPECT_EQ(done_, "");
  EXPECT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
  EXPECT_EQ(done_, "123");
}

TEST_F(EmulatedStreamTest, StreamsHaveNoOrderButEvents) {
  std::set<std::string> orders;
  for (int i = 0; i < 50; ++i) {
    done_.clear();
    Note(a_, 'a');
    Note(b_, 'b');
    cudaDeviceSynchronize();
    orders.insert(done_);
  }
  EXPECT_EQ(orders, (std::set<std::string>{"ab", "ba"}));
  for (int i = 0; i < 50; ++i) {
    done_.clear();
    Note(a_, 'a');
    cudaEventRecord(event_, a_);
    cudaStreamWaitEvent(b_, event_, 0);
    Note(b_, 'b');
    cudaDeviceSynchronize();
    EXPECT_EQ(done_, "ab");
  }
}

TEST_F(EmulatedStreamTest, TheDefaultStreamWaitsForThoseThatWaitForIt) {
  for (int i = 0; i < 50; ++i) {
    done_.clear();
    Note(waiting_, '1');
    Note(nullptr, '2');
    Note(waiting_, '3');
    cudaDeviceSynchronize();
    EXPECT_EQ(done_, "123");
  }
}

TEST_F(EmulatedStreamTest, EventsPassWhenTheyAreAskedOrAwaited) {
  Note(a_, 'a');
  Note(a_, 'b');
  Note(a_, 'c');
  cudaEventRecord(event_, a_);
  EXPECT_EQ(cudaEventQuery(event_), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
  EXPECT_EQ(cudaEventSynchronize(event_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event_), cudaSuccess);
  EXPECT_EQ(done_, "abc");
}

TEST_F(EmulatedStreamTest, PageableMemoryIsReadBeforeTheCallReturns) {
  int* memory = nullptr;
  int *pinned = nullptr, pageable = 1, read = 0;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory), 2 * sizeof(int)), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(reinterpret_cast<void**>(&pinned), sizeof(int), 0), cudaSuccess);
  *pinned = 1;
  cudaMemcpyAsync(memory, &pageable, sizeof(int), cudaMemcpyDefault, a_);
  cudaMemcpyAsync(memory + 1, pinned, sizeof(int), cudaMemcpyDefault, a_);
  pageable = *pinned = 2;
  cudaStreamSynchronize(a_);
  cudaMemcpy(&read, memory, sizeof(int), cudaMemcpyDefault);
  EXPECT_EQ(read, 1);
  cudaMemcpy(&read, memory + 1, sizeof(int), cudaMemcpyDefault);
  EXPECT_EQ(read, 2);
  EXPECT_EQ(cudaMemcpy(&read, memory + 1, 2 * sizeof(int), cudaMemcpyDefault),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(&read, memory, sizeof(int), cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  cudaFree(memory);
  cudaFreeHost(pinned);
}

TEST_F(EmulatedStreamTest, MemoryEnds) {
  SetDeviceMemory(1000);
  void *first = nullptr, *second = nullptr;
  EXPECT_EQ(cudaMalloc(&first, 600), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&second, 600), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&second, 600), cudaSuccess);
  EXPECT_EQ(cudaFree(second), cudaSuccess);
  SetDeviceMemory(size_t{4} << 30);
}

class EmulatedCaptureTest : public EmulatedStreamTest {
 protected:
  // What `call`, which a capture forbids, answers; and that the capture is spoilt.
  template <typename Call>
  void ExpectForbidden(cudaStream_t stream, const Call& call, cudaError_t error) {
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    Note(stream, 'c');
    EXPECT_EQ(call(), error);
    cudaGraph_t graph;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    cudaDeviceSynchronize();
    EXPECT_EQ(done_, "");
  }
};

TEST_F(EmulatedCaptureTest, RecordsAndRepeats) {
  ASSERT_EQ(cudaStreamBeginCapture(a_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  Note(a_, '1');
  Note(a_, '2');
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamEndCapture(a_, &graph), cudaSuccess);
  cudaGraphExec_t executable;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  cudaGraphDestroy(graph);
  cudaGraphLaunch(executable, a_);
  cudaGraphLaunch(executable, a_);
  cudaGraphExecDestroy(executable);
  EXPECT_EQ(done_, "");
  cudaDeviceSynchronize();
  EXPECT_EQ(done_, "1212");
}

TEST_F(EmulatedCaptureTest, ForbidsToAllocateAndToWait) {
  void* memory = nullptr;
  constexpr auto kUnsupported = cudaErrorStreamCaptureUnsupported;
  cudaEventRecord(event_, b_);
  ExpectForbidden(
      a_, [&] { return cudaMalloc(&memory, 1); }, kUnsupported);
  ExpectForbidden(
      a_, [&] { return cudaHostAlloc(&memory, 1, 0); }, kUnsupported);
  ExpectForbidden(
      a_, [&] { return cudaFree(memory); }, kUnsupported);
  ExpectForbidden(
      a_, [&] { return cudaDeviceSynchronize(); }, kUnsupported);
  ExpectForbidden(
      a_, [&] { return cudaStreamSynchronize(a_); }, kUnsupported);
  ExpectForbidden(
      a_, [&] { return cudaEventSynchronize(event_); }, kUnsupported);
  ExpectForbidden(
      a_, [&] { return cudaEventQuery(event_); }, kUnsupported);
  int pageable = 0;
  ExpectForbidden(
      a_, [&] { return cudaMemcpy(&pageable, &pageable, 4, cudaMemcpyDefault); }, kUnsupported);
  ExpectForbidden(
      a_, [&] { return cudaMemcpyAsync(&pageable, &pageable, 4, cudaMemcpyDefault, a_); },
      kUnsupported);
}

TEST_F(EmulatedCaptureTest, ForbidsWhatIsNotInIt) {
  cudaEventRecord(event_, b_);
  ExpectForbidden(
      a_, [&] { return cudaStreamWaitEvent(a_, event_, 0); }, cudaErrorStreamCaptureIsolation);
  ExpectForbidden(
      waiting_, [&] { return Queue(nullptr, [] {}); }, cudaErrorStreamCaptureImplicit);
}

TEST_F(EmulatedCaptureTest, AnEventOfItCannotBeAskedEvenLater) {
  ASSERT_EQ(cudaStreamBeginCapture(a_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event_, a_), cudaSuccess);
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamEndCapture(a_, &graph), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event_), cudaErrorCapturedEvent);
  cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace emulated_cuda
