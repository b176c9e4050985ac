#include "model/network/network_graph.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "model/network/backward_cost.h"

namespace grapevine {

namespace {

class Fusion {
 public:
  explicit Fusion(NetworkGraph graph)
      : graph_(std::move(graph)), absorbed_(graph_.nodes.size(), false) {}

  NetworkGraph Run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Operation& operation = graph_.nodes[i].operation;
      if (std::holds_alternative<Add>(operation)) FuseAdd(static_cast<int>(i));
      if (std::holds_alternative<Relu>(operation)) FuseRelu(static_cast<int>(i));
    }
    Compact();
    return std::move(graph_);
  }

 private:
  // Returns the operation that writes `tensor`, or nothing unless exactly one operation reads it.
  std::optional<int> OnlyProducer(int tensor) const {
    if (tensor == 0 || graph_.Consumers(tensor).size() != 1) return std::nullopt;
    return tensor - 1;
  }

  // Fuses x + batch_norm(z): the normalization takes the place of the addition.
  void FuseAdd(int i) {
    for (int side : {0, 1}) {
      const std::optional<int> p = OnlyProducer(graph_.nodes[i].inputs[side]);
      if (!p) continue;
      const GraphNode& producer = graph_.nodes[*p];
      const auto* norm = std::get_if<BatchNormalization>(&producer.operation);
      if (norm == nullptr || norm->relu || producer.inputs.size() != 1) continue;
      graph_.nodes[i].inputs = {producer.inputs[0], graph_.nodes[i].inputs[1 - side]};
      graph_.nodes[i].operation = *norm;
      Absorb(*p);
      return;
    }
  }

  void FuseRelu(int i) {
    const std::optional<int> p = OnlyProducer(graph_.nodes[i].inputs[0]);
    if (!p) return;
    Operation operation = graph_.nodes[*p].operation;
    if (!SetRelu(&operation)) return;
    graph_.nodes[i].operation = operation;
    graph_.nodes[i].inputs = graph_.nodes[*p].inputs;
    Absorb(*p);
  }

  static bool SetRelu(Operation* operation) {
    return std::visit(
        [](auto& o) {
          if constexpr (requires { o.relu; }) {
            o.relu = true;
            return true;
          }
          return false;
        },
        *operation);
  }

  // Marks an operation that has moved to a later place. Its inputs are cleared, so that it is not
  // counted twice as their consumer.
  void Absorb(int node) {
    graph_.nodes[node].inputs.clear();
    absorbed_[node] = true;
  }

  void Compact() {
    std::vector<int> renamed(graph_.nodes.size() + 1, 0);
    std::vector<GraphNode> nodes;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (absorbed_[i]) continue;
      for (int& input : graph_.nodes[i].inputs) input = renamed[input];
      nodes.push_back(std::move(graph_.nodes[i]));
      renamed[i + 1] = static_cast<int>(nodes.size());
    }
    graph_.nodes = std::move(nodes);
  }

  NetworkGraph graph_;
  std::vector<bool> absorbed_;
};

// Returns where the parameters of an operation end in the replica, or 0 if it has none.
int64_t ParametersEnd(const Operation& operation, const ReplicaLayout& layout) {
  int64_t end = 0;
  std::visit(
      [&](const auto& o) {
        if constexpr (requires { o.weight; }) {
          for (const TensorView& view : layout.parameters) {
            if (view.offset == o.weight || view.offset == o.bias) {
              end = std::max(end, view.offset + view.size);
            }
          }
        }
      },
      operation);
  return end;
}

int64_t InputSize(const NetworkGraph& graph, const GraphNode& node) {
  const int tensor = node.inputs.front();
  return tensor == 0 ? graph.input.size() : graph.nodes[tensor - 1].shape.size();
}

int64_t InputChannels(const NetworkGraph& graph, const GraphNode& node) {
  const int tensor = node.inputs.front();
  return tensor == 0 ? graph.input.channels : graph.nodes[tensor - 1].shape.c;
}

// Returns the cost of an operation's forward pass for one image.
int64_t Cost(const NetworkGraph& graph, const GraphNode& node) {
  if (const auto* convolution = std::get_if<Convolution>(&node.operation)) {
    return node.shape.size() * InputChannels(graph, node) * convolution->kernel *
           convolution->kernel;
  }
  if (std::holds_alternative<InnerProduct>(node.operation)) {
    return node.shape.size() * InputSize(graph, node);
  }
  return node.shape.size() + InputSize(graph, node);
}

}  // namespace

std::vector<int> NetworkGraph::Consumers(int tensor) const {
  std::vector<int> consumers;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (int input : nodes[i].inputs) {
      if (input == tensor) consumers.push_back(static_cast<int>(i));
    }
  }
  return consumers;
}

NetworkGraph Fuse(NetworkGraph graph) { return Fusion(std::move(graph)).Run(); }

BackwardProgress::BackwardProgress(const NetworkGraph& graph)
    : final_from_(graph.nodes.size()), ready_at_(graph.nodes.size()) {
  int64_t end = 0, forward = 0;
  std::vector<int64_t> costs;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    final_from_[i] = end;
    end = std::max(end, ParametersEnd(graph.nodes[i].operation, graph.layout));
    costs.push_back(Cost(graph, graph.nodes[i]));
    forward += costs.back();
  }
  int64_t done = forward;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    done += kBackwardCost * costs[i];
    ready_at_[i] = static_cast<double>(done) / static_cast<double>((1 + kBackwardCost) * forward);
  }
}

double BackwardProgress::ReadyAt(int64_t from) const {
  // Backward begins with the last operation: the last one that meets the condition is the earliest.
  for (size_t i = final_from_.size(); i-- > 0;) {
    if (final_from_[i] <= from) return ready_at_[i];
  }
  return 1;
}

namespace {

// The largest number of outputs that is not taken to be a mistake.
constexpr int64_t kMaxExtent = int64_t{1} << 20;

int64_t Extent(int64_t size, int64_t kernel, int64_t stride, int64_t padding) {
  return (size + 2 * padding - kernel) / stride + 1;
}

std::string Describe(const TensorShape& s) { return absl::StrCat(s.c, "x", s.h, "x", s.w); }

}  // namespace

NetworkBuilder::NetworkBuilder(std::string name, ImageShape input) {
  graph_.name = std::move(name);
  graph_.input = input;
  shapes_.push_back({1, input.channels, input.height, input.width});
  if (input.height < 1 || input.width < 1 || input.channels < 1) {
    Refuse("input", "an image needs a height, a width and a channel");
    shapes_[0] = {1, 1, 1, 1};
  }
}

NetworkBuilder::Tensor NetworkBuilder::Convolution(std::string_view name, Tensor x,
                                                   const ConvolutionOptions& o) {
  CheckName(name);
  const TensorShape in = shape(x);
  if (o.outputs < 1 || o.outputs > kMaxExtent || o.kernel < 1 || o.stride < 1 || o.padding < 0 ||
      o.padding >= o.kernel) {
    Refuse(name, "outputs, kernel and stride must be positive, and padding less than the kernel");
    return x;
  }
  if (in.h + 2 * o.padding < o.kernel || in.w + 2 * o.padding < o.kernel) {
    Refuse(name, absl::StrCat("a kernel of ", o.kernel, " does not fit an input of ", Describe(in),
                              " with padding ", o.padding));
    return x;
  }
  const double deviation = o.gain / std::sqrt(static_cast<double>(in.c * o.kernel * o.kernel));
  grapevine::Convolution operation;
  operation.outputs = o.outputs;
  operation.kernel = o.kernel;
  operation.stride = o.stride;
  operation.padding = o.padding;
  operation.weight =
      AddParameter(name, "weight", {o.outputs, in.c, o.kernel, o.kernel}, 0, deviation);
  if (o.bias) operation.bias = AddParameter(name, "bias", {o.outputs}, 0, 0);
  return Append(operation, {x.id},
                {1, o.outputs, Extent(in.h, o.kernel, o.stride, o.padding),
                 Extent(in.w, o.kernel, o.stride, o.padding)});
}

NetworkBuilder::Tensor NetworkBuilder::Linear(std::string_view name, Tensor x, int64_t outputs) {
  return Linear(name, x, outputs, LinearOptions());
}

NetworkBuilder::Tensor NetworkBuilder::Linear(std::string_view name, Tensor x, int64_t outputs,
                                              const LinearOptions& options) {
  CheckName(name);
  if (outputs < 1 || outputs > kMaxExtent) {
    Refuse(name, absl::StrCat(outputs, " outputs"));
    return x;
  }
  const int64_t inputs = shape(x).size();
  const double deviation = options.gain / std::sqrt(static_cast<double>(inputs));
  InnerProduct operation;
  operation.outputs = outputs;
  operation.weight = AddParameter(name, "weight", {outputs, inputs}, 0, deviation);
  if (options.bias) operation.bias = AddParameter(name, "bias", {outputs}, 0, 0);
  return Append(operation, {x.id}, {1, outputs, 1, 1});
}

NetworkBuilder::Tensor NetworkBuilder::BatchNorm(std::string_view name, Tensor x) {
  return BatchNorm(name, x, BatchNormOptions());
}

NetworkBuilder::Tensor NetworkBuilder::BatchNorm(std::string_view name, Tensor x,
                                                 const BatchNormOptions& options) {
  CheckName(name);
  const int64_t channels = shape(x).c;
  BatchNormalization operation;
  operation.weight = AddParameter(name, "weight", {channels}, options.weight, 0);
  operation.bias = AddParameter(name, "bias", {channels}, 0, 0);
  operation.running_mean = AddBuffer(name, "running_mean", channels, 0);
  operation.running_variance = AddBuffer(name, "running_var", channels, 1);
  return Append(operation, {x.id}, shape(x));
}

NetworkBuilder::Tensor NetworkBuilder::Relu(Tensor x) {
  return Append(grapevine::Relu{}, {x.id}, shape(x));
}

NetworkBuilder::Tensor NetworkBuilder::Add(Tensor a, Tensor b) {
  if (shape(a) != shape(b)) {
    Refuse("Add",
           absl::StrCat(Describe(shape(a)), " and ", Describe(shape(b)), " have different shapes"));
  }
  return Append(grapevine::Add{}, {a.id, b.id}, shape(a));
}

NetworkBuilder::Tensor NetworkBuilder::MaxPool(Tensor x, const PoolOptions& options) {
  return Pool(x, Pooling::Kind::kMax, options);
}

NetworkBuilder::Tensor NetworkBuilder::AveragePool(Tensor x, const PoolOptions& options) {
  return Pool(x, Pooling::Kind::kAverage, options);
}

NetworkBuilder::Tensor NetworkBuilder::GlobalAveragePool(Tensor x) {
  Pooling operation;
  operation.kind = Pooling::Kind::kAverage;
  return Append(operation, {x.id}, {1, shape(x).c, 1, 1});
}

NetworkBuilder::Tensor NetworkBuilder::Pool(Tensor x, Pooling::Kind kind, const PoolOptions& o) {
  const TensorShape in = shape(x);
  if (o.kernel < 1 || o.stride < 1 || o.padding < 0 || 2 * o.padding > o.kernel ||
      in.h + 2 * o.padding < o.kernel || in.w + 2 * o.padding < o.kernel) {
    Refuse("pooling", absl::StrCat("kernel ", o.kernel, ", stride ", o.stride, ", padding ",
                                   o.padding, " do not fit an input of ", Describe(in)));
    return x;
  }
  return Append(Pooling{kind, o.kernel, o.stride, o.padding}, {x.id},
                {1, in.c, Extent(in.h, o.kernel, o.stride, o.padding),
                 Extent(in.w, o.kernel, o.stride, o.padding)});
}

NetworkBuilder::Tensor NetworkBuilder::Subsample(Tensor x, int64_t channels, int64_t stride) {
  const TensorShape in = shape(x);
  if (channels < in.c || stride < 1) {
    Refuse("Subsample", absl::StrCat(channels, " channels from ", in.c, " with stride ", stride));
    return x;
  }
  return Append(grapevine::Subsample{channels, stride}, {x.id},
                {1, channels, Extent(in.h, 1, stride, 0), Extent(in.w, 1, stride, 0)});
}

absl::StatusOr<NetworkGraph> NetworkBuilder::Build(Tensor logits) {
  if (logits.id != static_cast<int>(graph_.nodes.size()) || graph_.nodes.empty()) {
    Refuse("Build", "the logits must be what the last layer returned");
  } else if (shape(logits).area() != 1) {
    Refuse("Build", absl::StrCat("logits of shape ", Describe(shape(logits)),
                                 "; end with a Linear layer or a GlobalAveragePool"));
  }
  for (int tensor = 1; tensor < logits.id; ++tensor) {
    if (graph_.Consumers(tensor).empty()) {
      Refuse("Build", absl::StrCat("nothing reads the output of layer ", tensor));
    }
  }
  RETURN_IF_ERROR(status_);
  LayOutBuffers();
  return graph_;
}

NetworkBuilder::Tensor NetworkBuilder::Append(Operation operation, std::vector<int> inputs,
                                              const TensorShape& shape) {
  graph_.nodes.push_back({std::move(operation), std::move(inputs), shape});
  shapes_.push_back(shape);
  return {static_cast<int>(graph_.nodes.size())};
}

int64_t NetworkBuilder::AddParameter(std::string_view layer, std::string_view name,
                                     std::vector<int64_t> shape, double mean, double deviation) {
  ReplicaLayout& layout = graph_.layout;
  layout.AddParameter(absl::StrCat(std::string(layer), ".", std::string(name)), std::move(shape));
  const TensorView& view = layout.parameters.back();
  graph_.initial_values.push_back({view.offset, view.size, mean, deviation});
  return view.offset;
}

// Adds a buffer. Buffers come after all parameters; until Build, their offsets count from the first
// buffer.
int64_t NetworkBuilder::AddBuffer(std::string_view layer, std::string_view name, int64_t size,
                                  double value) {
  buffers_.push_back({absl::StrCat(std::string(layer), ".", std::string(name)), size, value});
  return std::exchange(buffer_size_, buffer_size_ + size);
}

void NetworkBuilder::LayOutBuffers() {
  ReplicaLayout& layout = graph_.layout;
  for (GraphNode& node : graph_.nodes) {
    if (auto* norm = std::get_if<BatchNormalization>(&node.operation)) {
      norm->running_mean += layout.parameter_size;
      norm->running_variance += layout.parameter_size;
    }
  }
  for (const Buffer& buffer : std::exchange(buffers_, {})) {
    layout.AddBuffer(buffer.name, {buffer.size});
    const TensorView& view = layout.buffers.back();
    graph_.initial_values.push_back({view.offset, view.size, buffer.value, 0});
  }
}

void NetworkBuilder::CheckName(std::string_view name) {
  if (name.empty()) Refuse("layer", "an empty name");
  if (!names_.insert(std::string(name)).second) Refuse(name, "the name is used twice");
}

void NetworkBuilder::Refuse(std::string_view layer, std::string_view why) {
  if (!status_.ok()) return;
  status_ = UsageError(absl::StrCat(graph_.name, ": ", std::string(layer), ": ", std::string(why)));
}

}  // namespace grapevine
