#include "tests/emulated_cuda/runtime.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/passes/denormals.h"
#include "tests/emulated_cuda/block.h"
#include "tests/emulated_cuda/gpu_name.h"
#include "tests/emulated_cuda/launch.h"
#include "tests/emulated_cuda/memory.h"

namespace emulated_cuda {
namespace {

using Work = std::function<void()>;

// A point in a stream's work.
struct Moment {
  bool passed = false;
  uint64_t when = 0;  // pieces of work before it
};

struct Piece {
  uint64_t number;                        // in the order of all calls
  std::shared_ptr<const Moment> awaited;  // or null
  Work run;
};

}  // namespace
}  // namespace emulated_cuda

struct CUgraph_st {
  std::vector<emulated_cuda::Work> nodes;
};
struct CUgraphExec_st {
  std::vector<emulated_cuda::Work> nodes;
};

struct CUstream_st {
  bool waits_for_default = true;  // and that for it
  bool destroyed = false;
  std::deque<emulated_cuda::Piece> queue;
  // While it is captured.
  std::unique_ptr<CUgraph_st> graph;
  bool spoilt = false;
};

struct CUevent_st {
  bool timed;
  std::shared_ptr<emulated_cuda::Moment> recorded;  // null before
  const CUstream_st* captured_on = nullptr;         // when it was recorded last
  int asked = 0;
};

namespace emulated_cuda {
namespace {

constexpr int kLowestPriority = 0;
constexpr int kHighestPriority = -5;
constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxBlocksBeside = 65535;

// The number that a variable of the environment has.
uint64_t NumberOf(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Device {
  // Whether it has stopped working, for good.
  bool lost() const { return done >= most_pieces; }

  std::mutex mutex;
  Memory memory;
  size_t memory_size = NumberOf("EMULATED_GPU_BYTES", uint64_t{4} << 30);
  const uint64_t most_pieces = NumberOf("EMULATED_GPU_PIECES", UINT64_MAX);
  CUstream_st default_stream;
  std::vector<std::unique_ptr<CUstream_st>> streams;
  uint64_t pieces = 0;  // queued so far
  uint64_t done = 0;
  uint64_t random = 1;
};

Device& TheDevice() {
  static auto* const device = new Device;
  return *device;
}

using Lock = std::lock_guard<std::mutex>;

// What every call says after it.
constexpr cudaError_t kLost = cudaErrorECCUncorrectable;

// Each thread has its own.
thread_local cudaError_t last_error = cudaSuccess;
thread_local CUstream_st* capturing = nullptr;  // a stream, in the mode of threads

cudaError_t Fail(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t Spoil(CUstream_st* stream, cudaError_t error) {
  stream->spoilt = true;
  return Fail(error);
}

// What a thread may not do while it captures a stream. cudaSuccess: it does not.
cudaError_t ForbiddenInCapture() {
  return capturing == nullptr ? cudaSuccess : Spoil(capturing, cudaErrorStreamCaptureUnsupported);
}

// The default stream waits for what was queued before on others, and they for it.
bool Ready(const Device& device, const CUstream_st& stream) {
  if (stream.queue.empty()) return false;
  const Piece& next = stream.queue.front();
  if (next.awaited != nullptr && !next.awaited->passed) return false;
  const auto earlier = [&](const CUstream_st& other) {
    return !other.queue.empty() && other.queue.front().number < next.number;
  };
  if (!stream.waits_for_default) return true;
  if (&stream != &device.default_stream) return !earlier(device.default_stream);
  return std::none_of(device.streams.begin(), device.streams.end(), [&](const auto& other) {
    return other->waits_for_default && earlier(*other);
  });
}

// Runs a piece that is ready, if there is one.
bool RunOne(Device& device) {
  if (device.lost()) return false;
  std::vector<CUstream_st*> ready;
  if (Ready(device, device.default_stream)) ready.push_back(&device.default_stream);
  for (const auto& stream : device.streams) {
    if (Ready(device, *stream)) ready.push_back(stream.get());
  }
  if (ready.empty()) return false;
  device.random = device.random * 6364136223846793005 + 1442695040888963407;
  CUstream_st* const chosen = ready[(device.random >> 33) % ready.size()];
  const Work work = std::move(chosen->queue.front().run);
  chosen->queue.pop_front();
  const grapevine::FlushDenormals as_kernels_do;  // nvcc's -ftz=true
  work();
  ++device.done;
  return true;
}

template <typename Done>
cudaError_t RunUntil(Device& device, const Done& done) {
  while (!done()) {
    if (RunOne(device)) continue;
    if (device.lost()) return Fail(kLost);
    std::fprintf(stderr, "emulated CUDA: work waits for what was never queued\n");
    std::abort();
  }
  return cudaSuccess;
}

void RunAll(Device& device) {
  while (RunOne(device)) {
  }
  std::erase_if(device.streams, [](const auto& stream) { return stream->destroyed; });
}

CUstream_st* StreamOf(Device& device, cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy ? &device.default_stream : stream;
}

// Queues or records. A capture of a stream that waits for the default one forbids to use
// that.
cudaError_t Put(Device& device, CUstream_st* stream, Work work,
                std::shared_ptr<const Moment> awaited = nullptr) {
  if (device.lost()) return Fail(kLost);
  if (stream == &device.default_stream) {
    for (const auto& other : device.streams) {
      if (other->graph != nullptr && other->waits_for_default) {
        return Spoil(other.get(), cudaErrorStreamCaptureImplicit);
      }
    }
  }
  if (stream->graph != nullptr) {
    if (stream->spoilt) return Fail(cudaErrorStreamCaptureInvalidated);
    stream->graph->nodes.push_back(std::move(work));
    return cudaSuccess;
  }
  stream->queue.push_back({device.pieces++, std::move(awaited), std::move(work)});
  return cudaSuccess;
}

std::shared_ptr<Moment> PutMoment(Device& device, CUstream_st* stream) {
  auto moment = std::make_shared<Moment>();
  const cudaError_t error = Put(device, stream, [&device, moment] {
    moment->passed = true;
    moment->when = device.done;
  });
  return error == cudaSuccess ? moment : nullptr;
}

// cudaMemcpyDefault's, from where the memory is.
cudaMemcpyKind KindOf(const Memory& memory, const void* from, const void* to) {
  const bool from_device = memory.KindOf(from) == MemoryKind::kDevice;
  const bool to_device = memory.KindOf(to) == MemoryKind::kDevice;
  if (from_device) return to_device ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
  return to_device ? cudaMemcpyHostToDevice : cudaMemcpyHostToHost;
}

bool IsCopy(const Memory& memory, const void* from, const void* to, size_t bytes,
            cudaMemcpyKind kind) {
  return memory.Holds(from, bytes) && memory.Holds(to, bytes) &&
         (kind == cudaMemcpyDefault || kind == KindOf(memory, from, to));
}

cudaError_t Allocate(MemoryKind kind, void** memory, size_t bytes) {
  Device& device = TheDevice();
  const Lock lock(device.mutex);
  if (const cudaError_t error = ForbiddenInCapture(); error != cudaSuccess) return error;
  *memory = bytes == 0 ? nullptr : device.memory.Allocate(kind, bytes, device.memory_size);
  return bytes > 0 && *memory == nullptr ? Fail(cudaErrorMemoryAllocation) : cudaSuccess;
}

// Waits for the whole device.
cudaError_t Free(MemoryKind kind, void* memory) {
  Device& device = TheDevice();
  const Lock lock(device.mutex);
  if (const cudaError_t error = ForbiddenInCapture(); error != cudaSuccess) return error;
  if (memory == nullptr) return cudaSuccess;
  RunAll(device);
  return device.memory.Free(kind, memory) ? cudaSuccess : Fail(cudaErrorInvalidValue);
}

bool IsLaunch(const dim3& grid, const dim3& block) {
  const auto product = [](const dim3& d) { return uint64_t{d.x} * d.y * d.z; };
  return product(grid) > 0 && grid.x <= 0x7fffffff && grid.y <= kMaxBlocksBeside &&
         grid.z <= kMaxBlocksBeside && product(block) > 0 && product(block) <= kMaxThreads &&
         block.z <= 64;
}

cudaError_t NewStream(cudaStream_t* stream, unsigned flags) {
  Device& device = TheDevice();
  const Lock lock(device.mutex);
  device.streams.push_back(std::make_unique<CUstream_st>());
  *stream = device.streams.back().get();
  (*stream)->waits_for_default = (flags & cudaStreamNonBlocking) == 0;
  return cudaSuccess;
}

}  // namespace

cudaError_t Queue(cudaStream_t stream, std::function<void()> work) {
  Device& device = TheDevice();
  const Lock lock(device.mutex);
  return Put(device, StreamOf(device, stream), std::move(work));
}

void LaunchThreads(const dim3& grid, const dim3& block, size_t shared, cudaStream_t stream,
                   std::function<void()> thread) {
  if (!IsLaunch(grid, block) || shared > 0) {  // no kernel asks for that yet
    Fail(cudaErrorInvalidConfiguration);
    return;
  }
  Queue(stream, [grid, block, thread = std::move(thread)] { RunGrid(grid, block, thread); });
}

bool Reaches(const void* memory, size_t bytes) {
  Device& device = TheDevice();
  const Lock lock(device.mutex);
  return device.memory.KindOf(memory) != MemoryKind::kPageable &&
         device.memory.Holds(memory, bytes);
}

void SetDeviceMemory(size_t bytes) {
  Device& device = TheDevice();
  const Lock lock(device.mutex);
  device.memory_size = bytes;
}

// The functions of the runtime, which have the linkage of C wherever they stand.
extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : Fail(cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return Fail(cudaErrorInvalidDevice);
  *properties = {};
  std::strcpy(properties->name, kGpuName);
  properties->major = 9;
  const Lock lock(TheDevice().mutex);
  properties->totalGlobalMem = TheDevice().memory_size;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = kLowestPriority;
  *highest = kHighestPriority;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  const Lock lock(TheDevice().mutex);
  if (const cudaError_t error = ForbiddenInCapture(); error != cudaSuccess) return error;
  RunAll(TheDevice());
  return cudaSuccess;
}

// Names, of the errors above and of those that the project asks about.
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define NAME(error) \
  case error:       \
    return #error
    NAME(cudaSuccess);
    NAME(cudaErrorInvalidValue);
    NAME(cudaErrorMemoryAllocation);
    NAME(cudaErrorInvalidConfiguration);
    NAME(cudaErrorInvalidDevice);
    NAME(cudaErrorInvalidResourceHandle);
    NAME(cudaErrorNotReady);
    NAME(cudaErrorECCUncorrectable);
    NAME(cudaErrorIllegalState);
    NAME(cudaErrorStreamCaptureUnsupported);
    NAME(cudaErrorStreamCaptureInvalidated);
    NAME(cudaErrorStreamCaptureIsolation);
    NAME(cudaErrorStreamCaptureImplicit);
    NAME(cudaErrorCapturedEvent);
#undef NAME
    default:
      return "an error of the emulation";
  }
}
const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  return Allocate(MemoryKind::kDevice, memory, bytes);
}
cudaError_t cudaFree(void* memory) { return Free(MemoryKind::kDevice, memory); }
cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  return Allocate(MemoryKind::kPinned, memory, bytes);
}
cudaError_t cudaFreeHost(void* memory) { return Free(MemoryKind::kPinned, memory); }

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  const Lock lock(TheDevice().mutex);
  *total = TheDevice().memory_size;
  *free = *total - std::min(*total, TheDevice().memory.device_bytes());
  return cudaSuccess;
}

// Zero bytes may come from nowhere, which memcpy forbids.
static void CopyBytes(void* to, const void* from, size_t bytes) {
  std::copy_n(static_cast<const char*>(from), bytes, static_cast<char*>(to));
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  Device& device = TheDevice();
  const Lock lock(device.mutex);
  if (const cudaError_t error = ForbiddenInCapture(); error != cudaSuccess) return error;
  if (!IsCopy(device.memory, from, to, bytes, kind)) return Fail(cudaErrorInvalidValue);
  bool done = false;
  const cudaError_t error = Put(device, &device.default_stream, [=, &done] {
    CopyBytes(to, from, bytes);
    done = true;
  });
  return error == cudaSuccess ? RunUntil(device, [&] { return done; }) : error;
}

// Pageable memory is read before the call returns, and written likewise; a capture, which
// reads nothing, refuses it.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t on) {
  Device& device = TheDevice();
  const Lock lock(device.mutex);
  CUstream_st* const stream = StreamOf(device, on);
  if (!IsCopy(device.memory, from, to, bytes, kind)) return Fail(cudaErrorInvalidValue);
  const bool reads_pageable = device.memory.KindOf(from) == MemoryKind::kPageable;
  const bool writes_pageable = device.memory.KindOf(to) == MemoryKind::kPageable;
  if (stream->graph != nullptr && (reads_pageable || writes_pageable)) {
    return Spoil(stream, cudaErrorStreamCaptureUnsupported);
  }
  if (reads_pageable) {
    const auto* const begin = static_cast<const char*>(from);
    return Put(device, stream, [to, staged = std::vector<char>(begin, begin + bytes)] {
      CopyBytes(to, staged.data(), staged.size());
    });
  }
  auto done = std::make_shared<bool>(false);
  const cudaError_t error = Put(device, stream, [=] {
    CopyBytes(to, from, bytes);
    *done = true;
  });
  if (error != cudaSuccess || !writes_pageable) return error;
  return RunUntil(device, [&] { return *done; });
}

cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t on) {
  Device& device = TheDevice();
  const Lock lock(device.mutex);
  if (device.memory.KindOf(memory) == MemoryKind::kPageable ||
      !device.memory.Holds(memory, bytes)) {
    return Fail(cudaErrorInvalidValue);
  }
  return Put(device, StreamOf(device, on), [=] { std::memset(memory, value, bytes); });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return NewStream(stream, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return NewStream(stream, flags);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return NewStream(stream, flags);
}

// Its work is still done.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Lock lock(TheDevice().mutex);
  if (stream == nullptr || stream->destroyed) return Fail(cudaErrorInvalidResourceHandle);
  stream->destroyed = true;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t on) {
  Device& device = TheDevice();
  const Lock lock(device.mutex);
  if (const cudaError_t error = ForbiddenInCapture(); error != cudaSuccess) return error;
  CUstream_st* const stream = StreamOf(device, on);
  if (stream->graph != nullptr) return Spoil(stream, cudaErrorStreamCaptureUnsupported);
  return RunUntil(device, [&] { return stream->queue.empty(); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t on, cudaEvent_t event, unsigned) {
  Device& device = TheDevice();
  const Lock lock(device.mutex);
  CUstream_st* const stream = StreamOf(device, on);
  if (event->captured_on != nullptr) {
    if (event->captured_on == stream) return cudaSuccess;  // it is in order
    return Fail(cudaErrorStreamCaptureUnsupported);        // no capture forks yet
  }
  if (stream->graph != nullptr) return Spoil(stream, cudaErrorStreamCaptureIsolation);
  if (event->recorded == nullptr) return cudaSuccess;
  return Put(
      device, stream, [] {}, event->recorded);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st{.timed = (flags & cudaEventDisableTiming) == 0};
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const Lock lock(TheDevice().mutex);
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t on) {
  Device& device = TheDevice();
  const Lock lock(device.mutex);
  CUstream_st* const stream = StreamOf(device, on);
  event->captured_on = stream->graph == nullptr ? nullptr : stream;
  event->recorded = PutMoment(device, stream);
  event->asked = 0;
  return event->recorded == nullptr ? last_error : cudaSuccess;
}

// Asking makes the device work, more each time: who asks for ever sees it pass.
cudaError_t cudaEventQuery(cudaEvent_t event) {
  Device& device = TheDevice();
  const Lock lock(device.mutex);
  if (const cudaError_t error = ForbiddenInCapture(); error != cudaSuccess) return error;
  if (event->captured_on != nullptr) return Fail(cudaErrorCapturedEvent);
  if (event->recorded == nullptr) return cudaSuccess;
  if (event->recorded->passed) return cudaSuccess;
  const int pieces = event->asked++ == 0 ? 1 : 1 << std::min(event->asked, 16);
  for (int i = 0; i < pieces && !event->recorded->passed; ++i) RunOne(device);
  if (event->recorded->passed) return cudaSuccess;
  return Fail(device.lost() ? kLost : cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  Device& device = TheDevice();
  const Lock lock(device.mutex);
  if (const cudaError_t error = ForbiddenInCapture(); error != cudaSuccess) return error;
  if (event->captured_on != nullptr) return Fail(cudaErrorCapturedEvent);
  if (event->recorded == nullptr) return cudaSuccess;
  return RunUntil(device, [&] { return event->recorded->passed; });
}

// A piece of work takes a microsecond: what depends on times is the same in every run.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  const Lock lock(TheDevice().mutex);
  for (const cudaEvent_t event : {begin, end}) {
    if (!event->timed || event->recorded == nullptr || event->captured_on != nullptr) {
      return Fail(cudaErrorInvalidResourceHandle);
    }
    if (!event->recorded->passed) return Fail(cudaErrorNotReady);
  }
  *milliseconds = 1e-3f * static_cast<float>(end->recorded->when - begin->recorded->when);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t on, cudaStreamCaptureMode mode) {
  Device& device = TheDevice();
  const Lock lock(device.mutex);
  CUstream_st* const stream = StreamOf(device, on);
  // The other modes forbid more, or less; nobody asks for them yet.
  if (stream == &device.default_stream || mode != cudaStreamCaptureModeThreadLocal) {
    return Fail(cudaErrorStreamCaptureUnsupported);
  }
  if (stream->graph != nullptr || capturing != nullptr) {
    return Fail(cudaErrorIllegalState);
  }
  stream->graph = std::make_unique<CUgraph_st>();
  stream->spoilt = false;
  capturing = stream;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Lock lock(TheDevice().mutex);
  *graph = nullptr;
  if (stream == nullptr || capturing != stream) {
    return Fail(cudaErrorIllegalState);
  }
  capturing = nullptr;
  std::unique_ptr<CUgraph_st> recorded = std::move(stream->graph);
  if (stream->spoilt) return Fail(cudaErrorStreamCaptureInvalidated);
  *graph = recorded.release();
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long) {
  if (const cudaError_t error = ForbiddenInCapture(); error != cudaSuccess) return error;
  *executable = new CUgraphExec_st{graph->nodes};
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  for (const Work& node : executable->nodes) {
    if (const cudaError_t error = Queue(stream, node); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // extern "C"

}  // namespace emulated_cuda
