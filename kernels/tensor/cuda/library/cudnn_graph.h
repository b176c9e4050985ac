// cuDNN 9's graph API: a graph of operations on tensors of known formats, the plans that cuDNN
// proposes for it, and running a plan; and the graphs of a convolution.
//
// No other file uses the backend's descriptors. A graph can be planned for a GPU that is not
// present (CudnnTarget::Described), so that tests show that our graphs are well formed and have
// engines on every generation of GPUs.
//
// Thread-compatible. A plan keeps the parts of its graph alive that it needs. The caller owns the
// handle, which must outlive the plans.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_CUDNN_GRAPH_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_CUDNN_GRAPH_H_

#include <cudnn_graph.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/tensor/layer.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

// Returns OK, or Internal with the message "WHAT: STATUS: cuDNN's last error message".
absl::Status CudnnStatus(cudnnStatus_t status, std::string_view what);

cudnnDataType_t CudnnType(ElementType type);

// A descriptor of the backend. Copies share the descriptor.
class CudnnDescriptor {
 public:
  CudnnDescriptor() = default;
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);

  // Returns null if the descriptor could not be made; setting an attribute then fails.
  cudnnBackendDescriptor_t get() const { return descriptor_.get(); }

  cudnnStatus_t Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                    int64_t count, const void* values);
  cudnnStatus_t Set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value);
  cudnnStatus_t Set(cudnnBackendAttributeName_t name, std::span<const int64_t> values);
  cudnnStatus_t Finalize();

 private:
  std::shared_ptr<void> descriptor_;
};

// The GPU for which plans are made: the GPU of a handle, or one that is only described.
class CudnnTarget {
 public:
  explicit CudnnTarget(cudnnHandle_t handle) : handle_(handle) {}
  // Makes a target that is only described. `json` is a value of
  // CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION.
  static absl::StatusOr<CudnnTarget> Described(std::string_view json);

  cudnnHandle_t handle() const { return handle_; }
  const CudnnDescriptor& device() const { return device_; }  // empty if the target has a handle

 private:
  CudnnTarget() = default;
  cudnnHandle_t handle_ = nullptr;
  CudnnDescriptor device_;
};

// A tensor of a graph. A tensor that is `within` has no memory: it goes from one operation to the
// next.
struct CudnnTensor {
  int64_t id = 0;       // the id by which CudnnPlan::Bind finds the tensor's memory
  TensorFormat format;  // nhwc, also for weights (out, in, kh, kw): cuDNN's KRSC
  bool within = false;
};

struct CudnnWindow {
  int64_t stride = 1;
  int64_t padding = 0;
};

struct CudnnEngineRules {
  bool tensor_cores_for_fp32 = true;  // TF32
  // Whether every run of a plan must give the same bits.
  bool deterministic = true;
};

// A plan with its arguments, ready to run.
class CudnnCall {
 public:
  // Queues the call on the handle's stream.
  absl::Status Run(cudnnHandle_t handle) const;

 private:
  friend class CudnnPlan;
  std::string name_;
  CudnnDescriptor plan_;
  CudnnDescriptor arguments_;
};

class CudnnPlan {
 public:
  int64_t workspace_bytes() const { return workspace_bytes_; }
  // The names of the graph and of the engine.
  const std::string& name() const { return name_; }

  struct Argument {
    int64_t id = 0;
    const void* memory = nullptr;  // aligned to 16 bytes
    bool operator==(const Argument&) const = default;
  };
  absl::StatusOr<CudnnCall> Bind(std::span<const Argument> arguments, void* workspace) const;

 private:
  friend class CudnnGraph;
  std::string name_;
  CudnnDescriptor plan_;
  int64_t workspace_bytes_ = 0;
};

// A graph of operations. Errors are kept until Plans, which reports the first one.
class CudnnGraph {
 public:
  // `name` names the operation, shapes and types; it begins every error.
  explicit CudnnGraph(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }

  enum class Pass { kForward, kDataGradient, kFilterGradient };
  // Adds a convolution with fp32 accumulation. x, w and y are the operands, or their gradients if
  // the pass reads or writes these.
  void Convolution(Pass pass, const CudnnWindow& window, const CudnnTensor& x, const CudnnTensor& w,
                   const CudnnTensor& y);
  // Adds y = a + b, where b is broadcast.
  void Add(const CudnnTensor& a, const CudnnTensor& b, const CudnnTensor& y);
  void Relu(const CudnnTensor& x, const CudnnTensor& y);

  // Returns the tensors that lie in memory.
  const std::vector<CudnnTensor>& arguments() const { return arguments_; }

  // Returns at most `most` plans that cuDNN can run, in the order of its heuristics, and at least
  // one. If no plan can run, the error says why.
  absl::StatusOr<std::vector<CudnnPlan>> Plans(const CudnnTarget& target,
                                               const CudnnEngineRules& rules, int most);

 private:
  CudnnDescriptor Tensor(const CudnnTensor& tensor);
  void Pointwise(cudnnPointwiseMode_t mode, const CudnnTensor& x, const CudnnTensor* b,
                 const CudnnTensor& y);
  void Note(cudnnStatus_t status, std::string_view step);
  absl::StatusOr<CudnnDescriptor> Operations(const CudnnTarget& target);
  absl::StatusOr<std::vector<CudnnDescriptor>> Configurations(const CudnnDescriptor& operations,
                                                              cudnnBackendHeurMode_t mode,
                                                              const CudnnTarget& target);
  absl::StatusOr<CudnnPlan> Plan(const CudnnDescriptor& configuration, const CudnnTarget& target);

  const std::string name_;
  absl::Status status_;
  std::vector<std::pair<int64_t, CudnnDescriptor>> tensors_;
  std::vector<CudnnTensor> arguments_;
  std::vector<CudnnDescriptor> operations_;
  bool fp32_ = false;  // whether the operands are fp32
};

// The ids of the arguments of a convolution's graphs.
enum ConvolutionArgument : int64_t { kInput = 1, kWeights = 2, kOutput = 3, kBias = 4 };

// The graphs of one convolution: forward, and the two gradients. A value; needs no GPU.
class ConvolutionGraphs {
 public:
  ConvolutionGraphs(const Convolution& operation, const TensorFormat& input);

  const TensorFormat& output() const { return output_; }
  // The weights (out, in, kh, kw) in cuDNN's order, of the input's type. The bias has the input's
  // type too: cuDNN has no engine that adds an fp32 bias to bf16 or fp16.
  const TensorFormat& weights() const { return weights_; }

  // Returns the graph of the product alone. In the gradients' passes, kOutput is a gradient, and so
  // is kInput or kWeights, whichever the pass writes.
  CudnnGraph Product(CudnnGraph::Pass pass) const;
  // Returns the graph of the forward pass with the operation's bias and ReLU, if it has them.
  CudnnGraph Fused() const;

 private:
  std::string Name(std::string_view pass) const;

  const Convolution operation_;
  const TensorFormat input_;
  TensorFormat output_;
  TensorFormat weights_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_CUDNN_GRAPH_H_
