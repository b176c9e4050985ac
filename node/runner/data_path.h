// The vectors of a node, and their way between the node's memory, the passes over them, the
// gradient and the transport.
//
// Two implementations exist: host memory, which all of these share, and a device's memory
// (device_data_path.h), whose streams copy, compute and wait for each other while the runner goes
// on. In both, an algorithm's request returns at once, and every later request sees its result.
#ifndef GRAPEVINE_NODE_RUNNER_DATA_PATH_H_
#define GRAPEVINE_NODE_RUNNER_DATA_PATH_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/event.h"
#include "kernels/passes/sketch.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/shared_vector.h"
#include "kernels/vector/vector_handle.h"
#include "kernels/vector/vector_table.h"
#include "node/transport/message_memory.h"
#include "optim/optimizer.h"

namespace grapevine {

// Reports when a pass over vectors ran, and how many bytes it read and wrote
// (kernels/vector/vector_passes.h).
using OnPass = std::function<void(std::chrono::steady_clock::time_point begin,
                                  std::chrono::steady_clock::time_point end, int64_t bytes)>;

// Thread-compatible, for the runner's thread, except for OnceComputed and IsFinite. Errors of
// requests that return nothing are kept: status().
class DataPath {
 public:
  virtual ~DataPath() = default;

  // Returns the node's vectors. Passes over them run only inside Pass.
  virtual VectorTable& vectors() = 0;

  // Writes a whole vector from host memory of its size, which `write` fills.
  virtual absl::Status Write(Vec vector,
                             const std::function<absl::Status(float* memory)>& write) = 0;
  // Runs `pass`, which reads and writes these parts of vectors and moves `bytes`. Reports to OnPass
  // when the pass ran, at once or later.
  virtual void Pass(std::span<const Part> reads, std::span<const Part> writes, int64_t bytes,
                    const std::function<void()>& pass) = 0;

  // The requests of an algorithm (algorithm/host.h), each a pass.
  Vec NewZeros(int64_t size, const char* role);
  void Combine(Part out, std::span<const Term> terms);
  void Clip(Part part, double limit);
  // Carries out a step; `layout` is the layout of the whole replica.
  void Step(const Optimizer& optimizer, const ReplicaLayout& layout, const StepRequest& request);

  // Prepares for a gradient that is about to read `at`, whose vector may have been dropped already,
  // and to write `into`. Afterwards, the data that the gradient needs is ready, or its stream waits
  // for it.
  virtual void BeforeGradient(const SharedVector& at, Vec into) = 0;
  // Calls `computed` once everything that the objective has queued so far is done: at once on this
  // thread, or later on another, in the order of the calls. May be called from any thread.
  virtual void OnceComputed(std::function<void()> computed) = 0;
  // Returns false if a computed gradient has NaN or infinite elements. A gradient on a device is
  // not examined: the pass over it would have to be waited for, and neighbours refuse what follows
  // from such a gradient. May be called from any thread.
  virtual bool IsFinite(const SharedVector& gradient) const = 0;

  // Return the bytes of a payload, as a transport sends and receives them.
  virtual absl::StatusOr<Outgoing> Send(const Payload& payload) = 0;
  virtual absl::StatusOr<Incoming> Post(Rank from, Tag tag, const Payload& into) = 0;
  // Report that the message that was posted for has arrived, or will not come.
  virtual void Received(Rank from, Tag tag) = 0;
  virtual void Lost(Rank from, Tag tag) = 0;

  // Returns the elements of a vector's memory in host memory, which may be kept. Blocks until they
  // have arrived.
  virtual absl::StatusOr<SharedVector> Read(const SharedVector& memory) = 0;
  // Returns the current elements of a vector, in host memory that nobody else writes. Blocks until
  // they have arrived.
  virtual absl::StatusOr<SharedVector> Copy(Vec vector) = 0;
  // Returns the sketch (kernels/passes/sketch.h) of the first `size` elements.
  virtual absl::StatusOr<Sketch> SketchOf(Vec vector, int64_t size, uint64_t seed) = 0;

  virtual void Drop(Vec vector) = 0;

  // Returns the first error: memory that could not be allocated, or a device that failed.
  virtual absl::Status status() const = 0;
};

// Makes a node's data path; `on_failure` ends the run, from any thread.
using MakeDataPath = std::function<absl::StatusOr<std::unique_ptr<DataPath>>(
    OnPass on_pass, std::function<void(absl::Status why)> on_failure)>;

// The data path of a node whose vectors live in host memory, where nothing has to be moved.
class HostDataPath final : public DataPath {
 public:
  explicit HostDataPath(OnPass on_pass) : on_pass_(std::move(on_pass)) {}

  VectorTable& vectors() override { return vectors_; }
  absl::Status Write(Vec vector, const std::function<absl::Status(float* memory)>& write) override {
    return write(vectors_.At(vector).data.get());
  }
  void Pass(std::span<const Part> reads, std::span<const Part> writes, int64_t bytes,
            const std::function<void()>& pass) override;
  void BeforeGradient(const SharedVector&, Vec) override {}
  void OnceComputed(std::function<void()> computed) override { computed(); }
  bool IsFinite(const SharedVector& gradient) const override;
  absl::StatusOr<Outgoing> Send(const Payload& payload) override { return MemoryOf(payload); }
  absl::StatusOr<Incoming> Post(Rank, Tag, const Payload& into) override { return MemoryOf(into); }
  void Received(Rank, Tag) override {}
  void Lost(Rank, Tag) override {}
  absl::StatusOr<SharedVector> Read(const SharedVector& memory) override { return memory; }
  absl::StatusOr<SharedVector> Copy(Vec vector) override;
  absl::StatusOr<Sketch> SketchOf(Vec vector, int64_t size, uint64_t seed) override {
    return grapevine::SketchOf(vectors_.At(vector).data.get(), size, seed);
  }
  void Drop(Vec vector) override { vectors_.Drop(vector); }
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  SharedBytes MemoryOf(const Payload& payload) const;

  const OnPass on_pass_;
  VectorTable vectors_;
};

// A node's model at the boundary of a round, wherever it lives. Valid only during the call that
// shows it, on the runner's thread.
class BoundaryModel {
 public:
  BoundaryModel(DataPath* data_path, Vec model) : data_path_(data_path), model_(model) {}

  // False for a parameter server, which has no model: the other methods must not be called then.
  bool exists() const { return static_cast<bool>(model_); }
  // Returns the model in host memory. It may be kept; it is not written again.
  absl::StatusOr<SharedVector> Read() const {
    return data_path_->Read(data_path_->vectors().At(model_));
  }
  // Returns the sketch of the model's first `size` elements.
  absl::StatusOr<Sketch> SketchOf(int64_t size, uint64_t seed) const {
    return data_path_->SketchOf(model_, size, seed);
  }

 private:
  DataPath* const data_path_;
  const Vec model_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_DATA_PATH_H_
