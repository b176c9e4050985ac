#include "model/network/fusion.h"

#include <optional>
#include <utility>
#include <variant>

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

}  // namespace

NetworkGraph Fuse(NetworkGraph graph) { return Fusion(std::move(graph)).Run(); }

}  // namespace grapevine
