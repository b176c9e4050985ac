// The way of a node's vectors: between the memory that they live in, the passes over
// them, the gradient and the transport.
//
// Two implementations: host memory, where all of it is the same memory, and a
// device's, whose streams copy, compute and wait for each other while the runner goes
// on. An algorithm's request returns at once in both; its result is seen by every
// later request.
#ifndef GRAPEVINE_NODE_RUNNER_DATA_PATH_H_
#define GRAPEVINE_NODE_RUNNER_DATA_PATH_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/event.h"
#include "kernels/passes/sketch.h"
#include "kernels/vector/aligned_buffer.h"
#include "kernels/vector/vector_table.h"
#include "node/transport/message_memory.h"

namespace grapevine {

// When a pass over vectors ran.
using OnPass = std::function<void(std::chrono::steady_clock::time_point begin,
                                  std::chrono::steady_clock::time_point end, int64_t bytes)>;

// Thread-compatible: the runner's thread, but for OnceComputed. Errors of requests that
// return nothing are kept: status().
class DataPath {
 public:
  virtual ~DataPath() = default;

  // Its passes run inside Pass alone.
  virtual VectorTable& vectors() = 0;

  // Writes a vector from host memory of its size, which `write` fills.
  virtual absl::Status Write(Vec vector,
                             const std::function<absl::Status(float* memory)>& write) = 0;
  // Runs `pass`, which reads and writes these parts of vectors and moves `bytes`. Tells
  // `on_pass` when it ran, at once or later.
  virtual void Pass(std::span<const Part> reads, std::span<const Part> writes, int64_t bytes,
                    const std::function<void()>& pass) = 0;

  // A gradient may begin that reads `at`, whose vector may be dropped by now, and writes
  // `into`: what it needs is there, or its stream waits for it.
  virtual void BeforeGradient(const SharedVector& at, Vec into) = 0;
  // Calls `computed` once all that the objective has queued by now is done: at once on
  // this thread, or later on another; in the order of the calls. From any thread.
  virtual void OnceComputed(std::function<void()> computed) = 0;

  // A payload, as a transport sends and receives it: its bytes.
  virtual absl::StatusOr<Outgoing> Send(const Payload& payload) = 0;
  virtual absl::StatusOr<Incoming> Post(Rank from, Tag tag, const Payload& into) = 0;
  // What was posted has arrived.
  virtual void Received(Rank from, Tag tag) = 0;

  // The elements of a vector's memory in host memory, which may be held. Waits for them.
  virtual absl::StatusOr<SharedVector> Read(const SharedVector& memory) = 0;
  // kernels/passes/sketch.h, of the first `size` elements.
  virtual absl::StatusOr<Sketch> SketchOf(Vec vector, int64_t size, uint64_t seed) = 0;

  virtual void Drop(Vec vector) = 0;

  // The first error: no memory, or a device that failed.
  virtual absl::Status status() const = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_DATA_PATH_H_
