#include "kernels/vector/replica_layout.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace grapevine {
namespace {

TensorView View(std::string name, std::vector<int64_t> shape, int64_t offset) {
  int64_t size = 1;
  for (int64_t extent : shape) size *= extent;
  return {std::move(name), std::move(shape), offset, size};
}

// FNV-1a, 64 bits.
class Hash {
 public:
  void Add(std::string_view bytes) {
    for (char c : bytes) Byte(static_cast<uint8_t>(c));
    Byte(0);
  }
  void Add(int64_t value) {
    for (int i = 0; i < 8; ++i) Byte(static_cast<uint8_t>(value >> (8 * i)));
  }
  uint64_t value() const { return value_; }

 private:
  void Byte(uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }
  uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace

void ReplicaLayout::AddParameter(std::string name, std::vector<int64_t> shape) {
  parameters.push_back(View(std::move(name), std::move(shape), size));
  size += parameters.back().size;
  parameter_size = size;
}

void ReplicaLayout::AddBuffer(std::string name, std::vector<int64_t> shape) {
  buffers.push_back(View(std::move(name), std::move(shape), size));
  size += buffers.back().size;
}

ReplicaLayout ReplicaLayout::Within(ReplicaRange range) const {
  ReplicaLayout within;
  within.buffer_momentum = buffer_momentum;
  const auto add = [range](const TensorView& view, auto&& append) {
    const int64_t begin = std::max(view.offset, range.offset);
    const int64_t end = std::min(view.offset + view.size, range.offset + range.size);
    if (begin >= end) return;
    const bool whole = end - begin == view.size;
    append(view.name, whole ? view.shape : std::vector<int64_t>{end - begin});
  };
  for (const TensorView& view : parameters) {
    add(view, [&](auto name, auto shape) { within.AddParameter(name, std::move(shape)); });
  }
  for (const TensorView& view : buffers) {
    add(view, [&](auto name, auto shape) { within.AddBuffer(name, std::move(shape)); });
  }
  return within;
}

uint64_t ReplicaLayout::Fingerprint() const {
  Hash hash;
  hash.Add(parameter_size);
  hash.Add(size);
  for (const std::vector<TensorView>* section : {&parameters, &buffers}) {
    for (const TensorView& view : *section) {
      hash.Add(view.name);
      for (int64_t extent : view.shape) hash.Add(extent);
    }
    hash.Add(static_cast<int64_t>(section->size()));
  }
  return hash.value();
}

std::string FirstNonFinite(const ReplicaLayout& layout, const float* vector) {
  for (const auto* tensors : {&layout.parameters, &layout.buffers}) {
    for (const TensorView& tensor : *tensors) {
      const float* const begin = vector + tensor.offset;
      if (!std::all_of(begin, begin + tensor.size, [](float x) { return std::isfinite(x); })) {
        return tensor.name;
      }
    }
  }
  return "";
}

}  // namespace grapevine
