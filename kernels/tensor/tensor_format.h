// Shapes and memory layouts of tensors.
//
// Every tensor is logically (n, c, h, w); a matrix has h = w = 1. The layout is the order of
// its elements in memory, chosen by the layer that writes the tensor; the device chooses the
// element type. Values; thread-safe.
#ifndef GRAPEVINE_KERNELS_TENSOR_TENSOR_FORMAT_H_
#define GRAPEVINE_KERNELS_TENSOR_TENSOR_FORMAT_H_

#include <cstdint>
#include <string>

namespace grapevine {

struct TensorShape {
  int64_t n = 0;
  int64_t c = 0;
  int64_t h = 1;
  int64_t w = 1;

  int64_t size() const { return n * c * h * w; }
  int64_t area() const { return h * w; }
  friend bool operator==(const TensorShape&, const TensorShape&) = default;
};

// The order of a tensor's elements in memory. kNchw8c and kNchw16c have blocks of 8 and 16 channels
// innermost, with the last block padded with zeros.
enum class Layout { kNchw, kNhwc, kNchw8c, kNchw16c };

enum class ElementType { kFloat32, kBFloat16, kFloat16 };

int64_t BytesOf(ElementType type);

struct TensorFormat {
  TensorShape shape;
  Layout layout = Layout::kNhwc;
  ElementType type = ElementType::kFloat32;

  // Returns the number of elements in memory, padding included.
  int64_t size() const;
  int64_t bytes() const { return size() * BytesOf(type); }
  friend bool operator==(const TensorFormat&, const TensorFormat&) = default;
};

// Returns the number of channels in one block of `layout`; 1 for a layout without blocks.
int64_t BlockChannels(Layout layout);

// Returns a format as text for messages: "32x16x28x28 nChw16c", "32x16x28x28 nhwc bf16".
std::string ToString(const TensorFormat& format);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_TENSOR_FORMAT_H_
