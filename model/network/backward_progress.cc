#include "model/network/backward_progress.h"

#include <algorithm>
#include <variant>

#include "model/network/backward_cost.h"

namespace grapevine {
namespace {

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
