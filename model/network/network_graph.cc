#include "model/network/network_graph.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

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
  // The operation that writes `tensor`, where nobody but one reads it.
  std::optional<int> OnlyProducer(int tensor) const {
    if (tensor == 0 || graph_.Consumers(tensor).size() != 1) return std::nullopt;
    return tensor - 1;
  }

  // x + batch_norm(z): the normalization takes the place of the addition.
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

  // The operation moved to a later place; what it read must not count it twice.
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

// Where the parameters of an operation end in the replica; 0 for none.
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

// Forward, for one image.
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
  // The last operation, which goes back first, for which it holds.
  for (size_t i = final_from_.size(); i-- > 0;) {
    if (final_from_[i] <= from) return ready_at_[i];
  }
  return 1;
}

}  // namespace grapevine
