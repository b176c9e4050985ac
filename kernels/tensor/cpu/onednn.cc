#include "kernels/tensor/cpu/onednn.h"

#include <glog/logging.h>

#include <array>
#include <string>

#include "absl/strings/str_cat.h"

namespace grapevine {

using dnnl::memory;
using Tag = dnnl::memory::format_tag;

namespace {

Tag TagOf(Layout layout) {
  switch (layout) {
    case Layout::kNchw:
      return Tag::nchw;
    case Layout::kNhwc:
      return Tag::nhwc;
    case Layout::kNchw8c:
      return Tag::nChw8c;
    case Layout::kNchw16c:
      return Tag::nChw16c;
  }
  return Tag::undef;
}

}  // namespace

dnnl::engine& OneDnnEngine() {
  static auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl::stream& OneDnnStream() {
  // A CPU stream has no state of its own, but with one per thread this need not be relied on.
  thread_local dnnl::stream stream(OneDnnEngine());
  return stream;
}

memory::desc Descriptor(const TensorShape& s, Tag tag) {
  return memory::desc({s.n, s.c, s.h, s.w}, memory::data_type::f32, tag);
}

memory::desc Descriptor(const TensorFormat& format) {
  return Descriptor(format.shape, TagOf(format.layout));
}

memory::desc AnyDescriptor(const TensorShape& shape) { return Descriptor(shape, Tag::any); }

memory::desc VectorDescriptor(int64_t size) {
  return memory::desc({size}, memory::data_type::f32, Tag::x);
}

std::optional<TensorFormat> FormatOf(const memory::desc& descriptor, const TensorShape& shape) {
  constexpr std::array kLayouts = {Layout::kNchw16c, Layout::kNchw8c, Layout::kNhwc, Layout::kNchw};
  for (Layout layout : kLayouts) {
    const TensorFormat format{shape, layout};
    if (Descriptor(format) == descriptor) return format;
  }
  return std::nullopt;
}

dnnl::primitive_attr CallerScratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void AppendRelu(dnnl::primitive_attr* attributes) {
  dnnl::post_ops operations;
  operations.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
  attributes->set_post_ops(operations);
}

void BoundPrimitive::AddArgument(int argument, const memory::desc& descriptor) {
  memories_.push_back(memory(descriptor, OneDnnEngine(), DNNL_MEMORY_NONE));
  arguments_.push_back({argument, memories_.back().get()});
}

void BoundPrimitive::Bind(int argument, const void* data) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].arg != argument) continue;
    // Setting a handle zeroes the padding of a blocked tensor, so it is set only if it is new.
    if (memories_[i].get_data_handle() != data) {
      memories_[i].set_data_handle(const_cast<void*>(data));
    }
    return;
  }
  LOG(FATAL) << "no argument " << argument;
}

void BoundPrimitive::Run() {
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive_.get(), OneDnnStream().get(),
                             static_cast<int>(arguments_.size()), arguments_.data());
  CHECK_EQ(status, dnnl_success) << "oneDNN cannot run a primitive that it made";
}

Conversion::Conversion(const memory::desc& from, const memory::desc& to)
    : needed_(from != to), from_(from), to_(to) {
  if (!needed_) return;
  reorder_ = BoundPrimitive(
      dnnl::reorder(dnnl::reorder::primitive_desc(OneDnnEngine(), from, OneDnnEngine(), to)));
  reorder_.AddArgument(DNNL_ARG_FROM, from);
  reorder_.AddArgument(DNNL_ARG_TO, to);
}

const void* Conversion::Run(const void* from, void* to) {
  if (!needed_) return from;
  reorder_.Bind(DNNL_ARG_FROM, from);
  reorder_.Bind(DNNL_ARG_TO, to);
  reorder_.Run();
  return to;
}

absl::StatusOr<std::unique_ptr<Layer>> CatchOneDnn(
    std::string_view what, const std::function<std::unique_ptr<Layer>()>& make) {
  try {
    return make();
  } catch (const dnnl::error& error) {
    return absl::InternalError(absl::StrCat("oneDNN cannot make a layer: ", std::string(what), ": ",
                                            error.what(), " (status ", error.status, ")"));
  }
}

}  // namespace grapevine
