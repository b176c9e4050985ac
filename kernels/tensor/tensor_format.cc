#include "kernels/tensor/tensor_format.h"

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

const char* Name(Layout layout) {
  switch (layout) {
    case Layout::kNchw:
      return "nchw";
    case Layout::kNhwc:
      return "nhwc";
    case Layout::kNchw8c:
      return "nChw8c";
    case Layout::kNchw16c:
      return "nChw16c";
  }
  return "";
}

const char* Suffix(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return "";
    case ElementType::kBFloat16:
      return " bf16";
    case ElementType::kFloat16:
      return " fp16";
  }
  return "";
}

}  // namespace

int64_t BytesOf(ElementType type) { return type == ElementType::kFloat32 ? 4 : 2; }

int64_t BlockChannels(Layout layout) {
  switch (layout) {
    case Layout::kNchw8c:
      return 8;
    case Layout::kNchw16c:
      return 16;
    default:
      return 1;
  }
}

int64_t TensorFormat::size() const {
  const int64_t block = BlockChannels(layout);
  return shape.n * ((shape.c + block - 1) / block * block) * shape.area();
}

std::string ToString(const TensorFormat& format) {
  const TensorShape& s = format.shape;
  return absl::StrCat(s.n, "x", s.c, "x", s.h, "x", s.w, " ", Name(format.layout),
                      Suffix(format.type));
}

}  // namespace grapevine
