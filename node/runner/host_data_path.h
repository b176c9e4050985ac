// The data path of a node whose vectors live in host memory: there is nothing to move.
#ifndef GRAPEVINE_NODE_RUNNER_HOST_DATA_PATH_H_
#define GRAPEVINE_NODE_RUNNER_HOST_DATA_PATH_H_

#include <utility>

#include "node/runner/data_path.h"

namespace grapevine {

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
  absl::StatusOr<Outgoing> Send(const Payload& payload) override { return MemoryOf(payload); }
  absl::StatusOr<Incoming> Post(Rank, Tag, const Payload& into) override { return MemoryOf(into); }
  void Received(Rank, Tag) override {}
  absl::StatusOr<SharedVector> Read(const SharedVector& memory) override { return memory; }
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

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_HOST_DATA_PATH_H_
