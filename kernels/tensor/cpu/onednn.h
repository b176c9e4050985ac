// oneDNN for our layers: descriptors, conversions between layouts, and primitives whose arguments
// are bound once.
//
// Internal to kernels/tensor/: the only header that includes dnnl.hpp. Thread-compatible.
// Primitives run on the calling thread (tensor_thread.h).
#ifndef GRAPEVINE_KERNELS_TENSOR_CPU_ONEDNN_H_
#define GRAPEVINE_KERNELS_TENSOR_CPU_ONEDNN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dnnl.hpp"
#include "kernels/tensor/layer.h"
#include "kernels/tensor/memory_plan.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

// Return the CPU engine and the calling thread's in-order stream. The engine is never destroyed:
// oneDNN's own globals may be gone when the process ends.
dnnl::engine& OneDnnEngine();
dnnl::stream& OneDnnStream();

dnnl::memory::desc Descriptor(const TensorFormat& format);
dnnl::memory::desc Descriptor(const TensorShape& shape, dnnl::memory::format_tag tag);
// Returns a descriptor that leaves the choice of the layout to the primitive.
dnnl::memory::desc AnyDescriptor(const TensorShape& shape);
// Describes a vector of the replica.
dnnl::memory::desc VectorDescriptor(int64_t size);
// Returns the format of a tensor that `descriptor` describes; nullopt if none of our layouts can
// express it.
std::optional<TensorFormat> FormatOf(const dnnl::memory::desc& descriptor,
                                     const TensorShape& shape);

// Returns attributes with which a primitive takes its scratchpad from the caller: scratchpads are
// planned, not hidden.
dnnl::primitive_attr CallerScratchpad();
void AppendRelu(dnnl::primitive_attr* attributes);

// A primitive with its arguments.
class BoundPrimitive {
 public:
  BoundPrimitive() = default;
  explicit BoundPrimitive(const dnnl::primitive& primitive) : primitive_(primitive) {}

  void AddArgument(int argument, const dnnl::memory::desc& descriptor);
  void Bind(int argument, const void* data);
  void Run();

 private:
  dnnl::primitive primitive_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

// Converts a tensor from one layout to another. Does nothing if the layouts agree.
class Conversion {
 public:
  Conversion() = default;
  Conversion(const dnnl::memory::desc& from, const dnnl::memory::desc& to);

  bool needed() const { return needed_; }
  // Return the bytes of a copy in either layout; 0 if no conversion is needed.
  int64_t from_bytes() const { return needed_ ? static_cast<int64_t>(from_.get_size()) : 0; }
  int64_t to_bytes() const { return needed_ ? static_cast<int64_t>(to_.get_size()) : 0; }
  // Returns `from` if no conversion is needed; otherwise converts it into `to` and returns `to`.
  const void* Run(const void* from, void* to);

 private:
  bool needed_ = false;
  dnnl::memory::desc from_;
  dnnl::memory::desc to_;
  BoundPrimitive reorder_;
};

// Runs `make` and turns oneDNN's exceptions into a Status that names `what`.
absl::StatusOr<std::unique_ptr<Layer>> CatchOneDnn(
    std::string_view what, const std::function<std::unique_ptr<Layer>()>& make);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CPU_ONEDNN_H_
