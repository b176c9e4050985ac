#include "model/files/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "system/file.h"

namespace grapevine {
namespace {

using Json = nlohmann::json;

constexpr char kMetadata[] = "__metadata__";
constexpr size_t kMaxDimensions = 64;
constexpr int kDeepest = 64;

// Receives the parser's events. A callback that returns false ends the parse.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(SafetensorsHeader* header) : header_(header) {}

  const std::string& error() const { return error_; }

  bool null() override { return Scalar(); }
  bool boolean(bool) override { return Scalar(); }
  bool number_integer(int64_t) override { return Scalar(); }  // negative numbers
  bool number_float(double, const std::string&) override { return Scalar(); }
  bool binary(Json::binary_t&) override { return Scalar(); }

  bool number_unsigned(uint64_t value) override {
    if (state_ != State::kSizes) return Scalar();
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return Unexpected();
    if (sizes_->size() == kMaxDimensions) {
      return Refuse(absl::StrCat("has more than ", kMaxDimensions, " dimensions"));
    }
    sizes_->push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(std::string& value) override {
    if (state_ == State::kMetadata) {
      header_->metadata[key_] = std::move(value);
      return true;
    }
    if (state_ != State::kTensor || key_ != "dtype") return Scalar();
    header_->tensors.back().dtype = std::move(value);
    return true;
  }

  bool start_object(size_t) override {
    switch (state_) {
      case State::kNowhere:
        state_ = State::kHeader;
        return true;
      case State::kHeader:
        fields_.clear();
        state_ = key_ == kMetadata ? State::kMetadata : State::kTensor;
        if (state_ == State::kTensor) header_->tensors.push_back({.name = key_});
        return true;
      default:
        return Descend();
    }
  }

  bool key(std::string& name) override {
    if (state_ == State::kUnknown) return true;
    std::set<std::string>& names = state_ == State::kHeader ? names_ : fields_;
    if (!names.insert(name).second) {
      return Fail(absl::StrCat("the header names '", ShownName(name), "' twice"));
    }
    key_ = std::move(name);
    return true;
  }

  bool end_object() override {
    if (state_ == State::kUnknown) {
      Ascend();
    } else {
      state_ = State::kHeader;
    }
    return true;
  }

  bool start_array(size_t) override {
    if (state_ != State::kTensor || (key_ != "shape" && key_ != "data_offsets")) return Descend();
    SafetensorsHeader::Tensor& tensor = header_->tensors.back();
    sizes_ = key_ == "shape" ? &tensor.shape : &tensor.offsets;
    state_ = State::kSizes;
    return true;
  }

  bool end_array() override {
    if (state_ == State::kUnknown) {
      Ascend();
    } else {
      state_ = State::kTensor;
    }
    return true;
  }

  bool parse_error(size_t position, const std::string&, const Json::exception&) override {
    return Fail(absl::StrCat("the header is not a JSON object (byte ", position, ")"));
  }

 private:
  enum class State { kNowhere, kHeader, kMetadata, kTensor, kSizes, kUnknown };

  bool Fail(std::string why) {
    error_ = std::move(why);
    return false;
  }

  // Fails with an error about the current tensor.
  bool Refuse(const std::string& why) {
    const std::string& name = state_ == State::kHeader ? key_ : header_->tensors.back().name;
    return Fail(absl::StrCat("tensor '", ShownName(name), "': ", why));
  }

  // Fails because the value that begins here has a type that is not allowed in its place.
  bool Unexpected() {
    if (state_ == State::kNowhere) return Fail("the header is not a JSON object");
    if (state_ == State::kMetadata) {
      return Fail(absl::StrCat(kMetadata, ": '", ShownName(key_), "' is not a string"));
    }
    if (state_ == State::kHeader) {
      return key_ == kMetadata ? Fail(absl::StrCat(kMetadata, " is not an object"))
                               : Refuse("expected an object");
    }
    if (key_ == "shape") return Refuse("expected a shape of non-negative integers");
    if (key_ == "data_offsets") return Refuse("expected two data_offsets");
    return Refuse("expected dtype F32, found no text");
  }

  bool IsUnknownField() const {
    return state_ == State::kTensor && key_ != "dtype" && key_ != "shape" && key_ != "data_offsets";
  }

  bool Scalar() { return state_ == State::kUnknown || IsUnknownField() ? true : Unexpected(); }

  // Enters an array or object of an unknown field.
  bool Descend() {
    if (state_ != State::kUnknown && !IsUnknownField()) return Unexpected();
    state_ = State::kUnknown;
    return ++depth_ <= kDeepest ||
           Refuse(absl::StrCat("a field nested more than ", kDeepest, " deep"));
  }

  void Ascend() {
    if (--depth_ == 0) state_ = State::kTensor;
  }

  SafetensorsHeader* header_;
  std::string error_;
  State state_ = State::kNowhere;
  std::string key_;
  std::set<std::string> names_;   // in the header
  std::set<std::string> fields_;  // in the current tensor, or in the metadata
  std::vector<int64_t>* sizes_ = nullptr;
  int depth_ = 0;  // nesting within an unknown field
};

static_assert(std::endian::native == std::endian::little, "tensors are copied as they lie");

// A JSON type that keeps the order of the layout in written files.
using OrderedJson = nlohmann::ordered_json;

constexpr uint64_t kPrefix = 8;
// The longest header that the format allows.
constexpr uint64_t kLongestHeader = 100'000'000;

std::vector<const TensorView*> Views(const ReplicaLayout& layout) {
  std::vector<const TensorView*> views;
  for (const TensorView& view : layout.parameters) views.push_back(&view);
  for (const TensorView& view : layout.buffers) views.push_back(&view);
  return views;
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

int64_t BytesOf(const SafetensorsTensor& tensor) {
  return static_cast<int64_t>(tensor.elements.size_bytes());
}

std::string HeaderOf(std::span<const SafetensorsTensor> tensors,
                     const SafetensorsMetadata& metadata) {
  OrderedJson header = OrderedJson::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  int64_t end = 0;
  for (const SafetensorsTensor& tensor : tensors) {
    const int64_t begin = std::exchange(end, end + BytesOf(tensor));
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  // Tensors begin at a multiple of 8 bytes.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

std::string LittleEndian64(uint64_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

absl::Status Write(const std::string& path, std::span<const SafetensorsTensor> tensors,
                   const std::string& header, const WriteGuard& guard) {
  ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file, AtomicFile::Create(path));
  RETURN_IF_ERROR(file->Append(LittleEndian64(header.size())));
  RETURN_IF_ERROR(file->Append(header));
  for (const SafetensorsTensor& tensor : tensors) {
    RETURN_IF_ERROR(file->Append(
        {reinterpret_cast<const char*>(tensor.elements.data()), tensor.elements.size_bytes()}));
  }
  return file->Commit(guard);
}

// Returns the bytes of an element, or 0 for a type that no model here has.
int64_t ElementSize(std::string_view dtype) {
  if (dtype == "F32") return sizeof(float);
  if (dtype == "I64") return sizeof(int64_t);
  return 0;
}

// Returns the bytes of a tensor with elements of `element` bytes, or -1 if there are more than
// `limit`.
int64_t ByteSize(const std::vector<int64_t>& shape, int64_t element, int64_t limit) {
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  int64_t bytes = element;
  for (int64_t extent : shape) {
    if (extent > limit / bytes) return -1;
    bytes *= extent;
  }
  return bytes;
}

absl::StatusOr<Safetensors::Tensor> PlaceTensor(const std::string& path,
                                                SafetensorsHeader::Tensor described,
                                                std::span<const uint8_t> data) {
  const auto refuse = [&](std::string_view why) {
    return InputError(path,
                      absl::StrCat("tensor '", ShownName(described.name), "': ", std::string(why)));
  };
  const int64_t element = ElementSize(described.dtype);
  if (element == 0) {
    return refuse(absl::StrCat(
        "expected dtype F32, found ",
        described.dtype.empty() ? "none" : absl::StrCat("\"", ShownName(described.dtype), "\"")));
  }
  const std::vector<int64_t>& offsets = described.offsets;
  if (offsets.size() != 2) return refuse("expected two data_offsets");
  const auto limit = static_cast<int64_t>(data.size());
  if (offsets[0] > offsets[1] || offsets[1] > limit) {
    return refuse(absl::StrCat("its bytes ", offsets[0], " to ", offsets[1],
                               " are not within the file's ", limit, " bytes of data"));
  }
  if (ByteSize(described.shape, element, limit) != offsets[1] - offsets[0]) {
    return refuse(absl::StrCat("its shape ", ShapeText(described.shape), " does not take ",
                               offsets[1] - offsets[0], " bytes"));
  }
  return Safetensors::Tensor{
      std::move(described.dtype), std::move(described.shape),
      data.subspan(static_cast<size_t>(offsets[0]), static_cast<size_t>(offsets[1] - offsets[0]))};
}

// Checks that the tensors lie end to end from the first to the last byte of the data.
absl::Status CheckTiling(const std::string& path, std::span<const uint8_t> data,
                         const std::map<std::string, Safetensors::Tensor>& tensors) {
  std::vector<std::pair<const uint8_t*, const std::string*>> order;
  for (const auto& [name, tensor] : tensors) order.emplace_back(tensor.bytes.data(), &name);
  std::ranges::sort(order, [&](const auto& a, const auto& b) {
    const auto key = [&](const auto& entry) {
      return std::pair(entry.first, tensors.at(*entry.second).bytes.size());
    };
    return key(a) < key(b);
  });
  const uint8_t* end = data.data();
  for (const auto& [begin, name] : order) {
    if (begin != end) {
      return InputError(
          path, absl::StrCat("tensor '", ShownName(*name), "' ",
                             begin < end ? "overlaps another one" : "leaves a hole before it"));
    }
    end += tensors.at(*name).bytes.size();
  }
  if (end != data.data() + data.size()) {
    return InputError(path, absl::StrCat(data.data() + data.size() - end,
                                         " bytes after the last tensor belong to none"));
  }
  return absl::OkStatus();
}

// Whether a tensor is the batch counter of PyTorch's batch normalization. PyTorch needs the counter
// only for batch normalization without momentum, which does not occur here.
bool IsBatchCounter(std::string_view name, const Safetensors::Tensor& tensor) {
  constexpr std::string_view kCounter = "num_batches_tracked";
  const std::string_view last = name.substr(name.rfind('.') + 1);  // 0 where there is no dot
  return last == kCounter && tensor.dtype == "I64" && tensor.shape.empty();
}

absl::StatusOr<uint64_t> HeaderLength(const std::string& path, std::span<const uint8_t> bytes) {
  if (bytes.size() < kPrefix) {
    return InputError(path,
                      absl::StrCat("expected at least ", kPrefix, " bytes, found ", bytes.size()));
  }
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > kLongestHeader || length > bytes.size() - kPrefix) {
    return InputError(path, absl::StrCat("its header claims ", length, " bytes; expected at most ",
                                         std::min<uint64_t>(kLongestHeader, bytes.size() - kPrefix),
                                         "; is it a safetensors file, and whole?"));
  }
  return length;
}

}  // namespace

absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view text) {
  SafetensorsHeader header;
  HeaderReader reader(&header);
  if (!Json::sax_parse(text, &reader)) return absl::InvalidArgumentError(reader.error());
  return header;
}

std::string ShownName(std::string_view name) {
  constexpr size_t kMaxShown = 100;
  return absl::StrCat(absl::CHexEscape(std::string(name.substr(0, kMaxShown))),
                      name.size() > kMaxShown ? "..." : "");
}

absl::Status WriteSafetensors(const std::string& path, std::span<const SafetensorsTensor> tensors,
                              const SafetensorsMetadata& metadata, const WriteGuard& guard) {
  absl::Status status = Write(path, tensors, HeaderOf(tensors, metadata), guard);
  if (status.ok() || FailureOf(status) != Failure::kOther) return status;
  return WithFailure(std::move(status), Failure::kOutput);
}

absl::Status WriteSafetensors(const std::string& path, const ReplicaLayout& layout,
                              const float* replica, const SafetensorsMetadata& metadata,
                              const WriteGuard& guard) {
  std::vector<SafetensorsTensor> tensors;
  for (const TensorView* view : Views(layout)) {
    tensors.push_back({.name = view->name,
                       .shape = view->shape,
                       .elements = {replica + view->offset, static_cast<size_t>(view->size)}});
  }
  return WriteSafetensors(path, tensors, metadata, guard);
}

absl::StatusOr<Safetensors> Safetensors::Open(const std::string& path) {
  absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  Safetensors result;
  result.path_ = path;
  result.file_ = *std::move(file);
  const std::span<const uint8_t> bytes = result.file_->bytes();
  ASSIGN_OR_RETURN(const uint64_t length, HeaderLength(path, bytes));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data() + kPrefix), length);
  absl::StatusOr<SafetensorsHeader> header = ParseSafetensorsHeader(text);
  if (!header.ok()) return InputError(path, std::string(header.status().message()));
  result.metadata_ = std::move(header->metadata);
  const std::span<const uint8_t> data = bytes.subspan(kPrefix + length);
  for (SafetensorsHeader::Tensor& described : header->tensors) {
    std::string name = described.name;
    ASSIGN_OR_RETURN(Tensor tensor, PlaceTensor(path, std::move(described), data));
    result.tensors_.emplace(std::move(name), std::move(tensor));
  }
  RETURN_IF_ERROR(CheckTiling(path, data, result.tensors_));
  return result;
}

absl::Status Safetensors::Load(const ReplicaLayout& layout, float* replica) const {
  const std::vector<const TensorView*> views = Views(layout);
  for (const TensorView* view : views) {
    const auto found = tensors_.find(view->name);
    if (found == tensors_.end()) {
      return InputError(path_, absl::StrCat("tensor '", view->name, "' of shape ",
                                            ShapeText(view->shape), " is missing"));
    }
    const Tensor& tensor = found->second;
    if (tensor.dtype != "F32") {
      return InputError(path_, absl::StrCat("tensor '", view->name, "': expected dtype F32, found ",
                                            tensor.dtype));
    }
    if (tensor.shape != view->shape) {
      return InputError(
          path_, absl::StrCat("tensor '", view->name, "': expected shape ", ShapeText(view->shape),
                              ", found ", ShapeText(tensor.shape)));
    }
  }
  std::set<std::string_view> known;
  for (const TensorView* view : views) known.insert(view->name);
  for (const auto& [name, tensor] : tensors_) {
    if (known.contains(name) || IsBatchCounter(name, tensor)) continue;
    return InputError(path_, absl::StrCat("tensor '", ShownName(name), "' is not in the model"));
  }
  for (const TensorView* view : views) {
    const Tensor& tensor = tensors_.at(view->name);
    if (tensor.bytes.empty()) continue;
    std::memcpy(replica + view->offset, tensor.bytes.data(), tensor.bytes.size());
  }
  return absl::OkStatus();
}

}  // namespace grapevine
