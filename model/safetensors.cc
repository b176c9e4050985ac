#include "model/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/input_error.h"
#include "nlohmann/json.hpp"
#include "run/failure.h"
#include "system/atomic_file.h"

namespace grapevine {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied as they lie");

using Json = nlohmann::json;
// Keeps the order of the layout in written files.
using OrderedJson = nlohmann::ordered_json;

constexpr char kMetadata[] = "__metadata__";
constexpr uint64_t kPrefix = 8;
// The format's own bound.
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

std::string HeaderOf(const ReplicaLayout& layout, const SafetensorsMetadata& metadata) {
  OrderedJson header = OrderedJson::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  for (const TensorView* view : Views(layout)) {
    const int64_t begin = view->offset * static_cast<int64_t>(sizeof(float));
    const int64_t end = begin + view->size * static_cast<int64_t>(sizeof(float));
    header[view->name] = {{"dtype", "F32"}, {"shape", view->shape}, {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  // Tensors begin at a multiple of 8 bytes.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

std::string LittleEndian64(uint64_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

absl::Status Write(const std::string& path, const std::string& header, std::string_view data) {
  absl::StatusOr<std::unique_ptr<AtomicFile>> file = AtomicFile::Create(path);
  if (!file.ok()) return file.status();
  const std::string length = LittleEndian64(header.size());
  for (std::string_view bytes : {std::string_view(length), std::string_view(header), data}) {
    if (absl::Status status = (*file)->Append(bytes); !status.ok()) return status;
  }
  return (*file)->Commit();
}

// Parses text as JSON; refuses keys that appear twice in any object, which the
// library would drop silently.
absl::StatusOr<Json> ParseStrictly(const std::string& path, std::string_view text) {
  std::vector<std::map<std::string, int>> open_objects;
  std::string duplicate;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key) {
      const std::string key = parsed.get<std::string>();
      if (++open_objects.back()[key] > 1) duplicate = key;
    }
    return true;
  };
  const Json header = Json::parse(text, watch, /*allow_exceptions=*/false);
  if (!duplicate.empty()) {
    return InputError(path, absl::StrCat("the header names '", duplicate, "' twice"));
  }
  if (!header.is_object()) return InputError(path, "the header is not a JSON object");
  return header;
}

absl::StatusOr<SafetensorsMetadata> ParseMetadata(const std::string& path, const Json& json) {
  SafetensorsMetadata metadata;
  if (!json.is_object()) return InputError(path, "__metadata__ is not an object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) {
      return InputError(path, absl::StrCat("__metadata__: '", key, "' is not a string"));
    }
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// A JSON array of integers in [0, 2^63).
bool ReadSizes(const Json& json, std::vector<int64_t>* sizes) {
  if (!json.is_array()) return false;
  for (const Json& value : json) {
    if (!value.is_number_unsigned()) return false;
    const uint64_t size = value.get<uint64_t>();
    if (size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return false;
    sizes->push_back(static_cast<int64_t>(size));
  }
  return true;
}

// Bytes of an fp32 tensor, nullopt-like -1 when they are more than `limit`.
int64_t ByteSize(const std::vector<int64_t>& shape, int64_t limit) {
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  int64_t bytes = sizeof(float);
  for (int64_t extent : shape) {
    if (extent > limit / bytes) return -1;
    bytes *= extent;
  }
  return bytes;
}

absl::StatusOr<Safetensors::Tensor> ParseTensor(const std::string& path, const std::string& name,
                                                const Json& json, std::span<const uint8_t> data) {
  const auto refuse = [&](std::string_view why) {
    return InputError(path, absl::StrCat("tensor '", name, "': ", std::string(why)));
  };
  if (!json.is_object()) return refuse("expected an object");
  const Json dtype = json.value("dtype", Json());
  if (dtype != "F32") return refuse(absl::StrCat("expected dtype F32, found ", dtype.dump()));
  Safetensors::Tensor tensor;
  if (!ReadSizes(json.value("shape", Json()), &tensor.shape)) {
    return refuse("expected a shape of non-negative integers");
  }
  std::vector<int64_t> offsets;
  if (!ReadSizes(json.value("data_offsets", Json()), &offsets) || offsets.size() != 2) {
    return refuse("expected two data_offsets");
  }
  const auto limit = static_cast<int64_t>(data.size());
  if (offsets[0] > offsets[1] || offsets[1] > limit) {
    return refuse(absl::StrCat("its bytes ", offsets[0], " to ", offsets[1],
                               " are not within the file's ", limit, " bytes of data"));
  }
  if (ByteSize(tensor.shape, limit) != offsets[1] - offsets[0]) {
    return refuse(absl::StrCat("its shape ", ShapeText(tensor.shape), " does not take ",
                               offsets[1] - offsets[0], " bytes"));
  }
  tensor.bytes =
      data.subspan(static_cast<size_t>(offsets[0]), static_cast<size_t>(offsets[1] - offsets[0]));
  return tensor;
}

// Tensors must lie end to end from the first to the last byte of the data.
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
          path, absl::StrCat("tensor '", *name, "' ",
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

absl::Status WriteSafetensors(const std::string& path, const ReplicaLayout& layout,
                              const float* replica, const SafetensorsMetadata& metadata) {
  const std::string_view data(reinterpret_cast<const char*>(replica),
                              static_cast<size_t>(layout.size) * sizeof(float));
  absl::Status status = Write(path, HeaderOf(layout, metadata), data);
  return status.ok() ? status : WithFailure(std::move(status), Failure::kOutput);
}

absl::StatusOr<Safetensors> Safetensors::Open(const std::string& path) {
  absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  Safetensors result;
  result.path_ = path;
  result.file_ = *std::move(file);
  const std::span<const uint8_t> bytes = result.file_->bytes();
  const absl::StatusOr<uint64_t> length = HeaderLength(path, bytes);
  if (!length.ok()) return length.status();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data() + kPrefix), *length);
  const absl::StatusOr<Json> header = ParseStrictly(path, text);
  if (!header.ok()) return header.status();
  const std::span<const uint8_t> data = bytes.subspan(kPrefix + *length);
  for (const auto& [name, json] : header->items()) {
    if (name == kMetadata) {
      absl::StatusOr<SafetensorsMetadata> metadata = ParseMetadata(path, json);
      if (!metadata.ok()) return metadata.status();
      result.metadata_ = *std::move(metadata);
      continue;
    }
    absl::StatusOr<Tensor> tensor = ParseTensor(path, name, json, data);
    if (!tensor.ok()) return tensor.status();
    result.tensors_.emplace(name, *std::move(tensor));
  }
  if (absl::Status status = CheckTiling(path, data, result.tensors_); !status.ok()) return status;
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
    if (tensor.shape != view->shape) {
      return InputError(
          path_, absl::StrCat("tensor '", view->name, "': expected shape ", ShapeText(view->shape),
                              ", found ", ShapeText(tensor.shape)));
    }
  }
  for (const auto& [name, tensor] : tensors_) {
    if (std::ranges::find(views, name, &TensorView::name) == views.end()) {
      return InputError(path_, absl::StrCat("tensor '", name, "' is not in the model"));
    }
  }
  for (const TensorView* view : views) {
    const Tensor& tensor = tensors_.at(view->name);
    if (tensor.bytes.empty()) continue;
    std::memcpy(replica + view->offset, tensor.bytes.data(), tensor.bytes.size());
  }
  return absl::OkStatus();
}

}  // namespace grapevine
