// A network as data: the sequence of its operations and the layout of its replica.
// NetworkBuilder makes such a graph, and GraphNetwork runs it.
//
// Tensor 0 is the batch of images. Operation i writes tensor i + 1 and reads earlier ones.
//
// Thread-safety: graphs are values, safe from any thread.
#ifndef GRAPEVINE_MODEL_NETWORK_NETWORK_GRAPH_H_
#define GRAPEVINE_MODEL_NETWORK_NETWORK_GRAPH_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/tensor/layer.h"
#include "kernels/tensor/tensor_format.h"
#include "kernels/vector/replica_layout.h"
#include "model/data/batch.h"

namespace grapevine {

struct GraphNode {
  Operation operation;
  std::vector<int> inputs;  // numbers of the tensors that the operation reads
  TensorShape shape;        // shape of the output for one image (n = 1)
};

// The starting values of one tensor: mean + deviation * N(0, 1).
struct InitialValues {
  int64_t offset = 0;  // in the replica
  int64_t size = 0;
  double mean = 0;
  double deviation = 0;
};

struct NetworkGraph {
  std::string name;
  ImageShape input;
  std::vector<GraphNode> nodes;  // the last one writes the logits
  ReplicaLayout layout;
  std::vector<InitialValues> initial_values;

  int64_t classes() const { return nodes.back().shape.size(); }
  // Returns the operations that read `tensor`, ascending. An operation that reads it twice appears
  // twice.
  std::vector<int> Consumers(int tensor) const;
};

// Joins operations that one pass over memory can compute: a ReLU with the operation before it, an
// addition with the batch normalization of one of its summands. The result computes the same
// function with fewer operations, and the layout of the replica does not change.
NetworkGraph Fuse(NetworkGraph graph);

// Tells which part of a gradient is final during a network's backward pass. A parameter's gradient
// is final when its layer's backward has run; buffers are written in the forward pass. Parameters
// are in the replica roughly in the order of the layers, so that a gradient becomes final from
// its end on. Immutable.
class BackwardProgress {
 public:
  explicit BackwardProgress(const NetworkGraph& graph);

  // Returns the first element that is final, together with all elements after it, once the backward
  // of operation `i` and of all later ones has run.
  int64_t FinalFrom(int i) const { return final_from_[i]; }

  // Returns the share of a gradient's time after which the elements from `from` on are final. The
  // share is an estimate, which is the same on every machine: it counts operations (multiplications
  // in matrix products, elements elsewhere), and a backward pass costs twice the forward one.
  double ReadyAt(int64_t from) const;

 private:
  std::vector<int64_t> final_from_;  // one per operation; not decreasing
  std::vector<double> ready_at_;     // one per operation
};

// Describes a network layer by layer: the public way to bring your own.
//
//   NetworkBuilder b("tiny", {.height = 28, .width = 28, .channels = 1});
//   auto x = b.Relu(b.Convolution("conv1", b.input(), {.outputs = 8, .kernel = 3}));
//   auto logits = b.Linear("fc", b.GlobalAveragePool(x), 10);
//   absl::StatusOr<NetworkGraph> graph = b.Build(logits);
//
// Parameters get PyTorch's names ("conv1.weight") and are in the replica in the order of the
// calls. Adjacent layers that one pass can compute are fused later. The first mistake (an image
// smaller than the kernel, a name used twice) is remembered and returned by Build; until then
// every call returns some tensor.
//
// Thread-compatible.
class NetworkBuilder {
 public:
  // The output of a layer, which may be the input of others.
  struct Tensor {
    int id = 0;
  };

  struct ConvolutionOptions {
    int64_t outputs = 0;
    int64_t kernel = 3;  // square
    int64_t stride = 1;
    int64_t padding = 0;
    bool bias = true;
    // Weights start as N(0, gain^2 / inputs): sqrt(2) for ReLU (He et al. 2015).
    double gain = kReluGain;
  };
  struct LinearOptions {
    bool bias = true;
    double gain = kReluGain;
  };
  struct BatchNormOptions {
    double weight = 1;  // initial weight of every channel
  };
  struct PoolOptions {
    int64_t kernel = 2;
    int64_t stride = 2;
    int64_t padding = 0;
  };
  static constexpr double kReluGain = 1.4142135623730951;

  NetworkBuilder(std::string name, ImageShape input);

  Tensor input() const { return {0}; }
  // Returns the shape (n = 1, c, h, w) of a tensor for one image.
  const TensorShape& shape(Tensor x) const { return shapes_[x.id]; }

  Tensor Convolution(std::string_view name, Tensor x, const ConvolutionOptions& options);
  // Adds a linear layer over all elements of x in the order (c, h, w), as after torch.flatten.
  Tensor Linear(std::string_view name, Tensor x, int64_t outputs);
  Tensor Linear(std::string_view name, Tensor x, int64_t outputs, const LinearOptions& options);
  Tensor BatchNorm(std::string_view name, Tensor x);
  Tensor BatchNorm(std::string_view name, Tensor x, const BatchNormOptions& options);
  Tensor Relu(Tensor x);
  Tensor Add(Tensor a, Tensor b);
  Tensor MaxPool(Tensor x, const PoolOptions& options);
  Tensor AveragePool(Tensor x, const PoolOptions& options);
  Tensor GlobalAveragePool(Tensor x);
  // Takes every stride-th pixel and adds channels of zeros (He et al. 2016, option A).
  Tensor Subsample(Tensor x, int64_t channels, int64_t stride);

  // Returns the graph up to `logits`, which must be one row of numbers per image.
  // Errors are InvalidArgument, name the layer and carry Failure::kUsage.
  absl::StatusOr<NetworkGraph> Build(Tensor logits);

 private:
  Tensor Append(Operation operation, std::vector<int> inputs, const TensorShape& shape);
  Tensor Pool(Tensor x, Pooling::Kind kind, const PoolOptions& options);
  int64_t AddParameter(std::string_view layer, std::string_view name, std::vector<int64_t> shape,
                       double mean, double deviation);
  int64_t AddBuffer(std::string_view layer, std::string_view name, int64_t size, double value);
  void LayOutBuffers();
  void CheckName(std::string_view name);
  void Refuse(std::string_view layer, std::string_view why);

  struct Buffer {
    std::string name;
    int64_t size;
    double value;
  };

  NetworkGraph graph_;
  std::vector<TensorShape> shapes_;
  std::vector<Buffer> buffers_;
  int64_t buffer_size_ = 0;
  std::set<std::string> names_;
  absl::Status status_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_NETWORK_GRAPH_H_
