#include "model/files/safetensors_header.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

using Json = nlohmann::json;

constexpr char kMetadata[] = "__metadata__";
constexpr size_t kMaxDimensions = 64;
constexpr int kDeepest = 64;

// Takes the parser's events. A callback that returns false ends the parse.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(SafetensorsHeader* header) : header_(header) {}

  const std::string& error() const { return error_; }

  bool null() override { return Scalar(); }
  bool boolean(bool) override { return Scalar(); }
  bool number_integer(int64_t) override { return Scalar(); }  // below 0
  bool number_float(double, const std::string&) override { return Scalar(); }
  bool binary(Json::binary_t&) override { return Scalar(); }

  bool number_unsigned(uint64_t value) override {
    if (place_ != Place::kSizes) return Scalar();
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return Unexpected();
    if (sizes_->size() == kMaxDimensions) {
      return Refuse(absl::StrCat("has more than ", kMaxDimensions, " dimensions"));
    }
    sizes_->push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::kMetadata) {
      header_->metadata[key_] = std::move(value);
      return true;
    }
    if (place_ != Place::kTensor || key_ != "dtype") return Scalar();
    header_->tensors.back().dtype = std::move(value);
    return true;
  }

  bool start_object(size_t) override {
    switch (place_) {
      case Place::kNowhere:
        place_ = Place::kHeader;
        return true;
      case Place::kHeader:
        fields_.clear();
        place_ = key_ == kMetadata ? Place::kMetadata : Place::kTensor;
        if (place_ == Place::kTensor) header_->tensors.push_back({.name = key_});
        return true;
      default:
        return Descend();
    }
  }

  bool key(std::string& name) override {
    if (place_ == Place::kUnknown) return true;
    std::set<std::string>& names = place_ == Place::kHeader ? names_ : fields_;
    if (!names.insert(name).second) {
      return Fail(absl::StrCat("the header names '", ShownName(name), "' twice"));
    }
    key_ = std::move(name);
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kUnknown) {
      Ascend();
    } else {
      place_ = Place::kHeader;
    }
    return true;
  }

  bool start_array(size_t) override {
    if (place_ != Place::kTensor || (key_ != "shape" && key_ != "data_offsets")) return Descend();
    SafetensorsHeader::Tensor& tensor = header_->tensors.back();
    sizes_ = key_ == "shape" ? &tensor.shape : &tensor.offsets;
    place_ = Place::kSizes;
    return true;
  }

  bool end_array() override {
    if (place_ == Place::kUnknown) {
      Ascend();
    } else {
      place_ = Place::kTensor;
    }
    return true;
  }

  bool parse_error(size_t position, const std::string&, const Json::exception&) override {
    return Fail(absl::StrCat("the header is not a JSON object (byte ", position, ")"));
  }

 private:
  enum class Place { kNowhere, kHeader, kMetadata, kTensor, kSizes, kUnknown };

  bool Fail(std::string why) {
    error_ = std::move(why);
    return false;
  }

  // About the present tensor.
  bool Refuse(const std::string& why) {
    const std::string& name = place_ == Place::kHeader ? key_ : header_->tensors.back().name;
    return Fail(absl::StrCat("tensor '", ShownName(name), "': ", why));
  }

  // The value that begins here is of no type that its place may have.
  bool Unexpected() {
    if (place_ == Place::kNowhere) return Fail("the header is not a JSON object");
    if (place_ == Place::kMetadata) {
      return Fail(absl::StrCat(kMetadata, ": '", ShownName(key_), "' is not a string"));
    }
    if (place_ == Place::kHeader) {
      return key_ == kMetadata ? Fail(absl::StrCat(kMetadata, " is not an object"))
                               : Refuse("expected an object");
    }
    if (key_ == "shape") return Refuse("expected a shape of non-negative integers");
    if (key_ == "data_offsets") return Refuse("expected two data_offsets");
    return Refuse("expected dtype F32, found no text");
  }

  bool IsUnknownField() const {
    return place_ == Place::kTensor && key_ != "dtype" && key_ != "shape" && key_ != "data_offsets";
  }

  bool Scalar() { return place_ == Place::kUnknown || IsUnknownField() ? true : Unexpected(); }

  // Into an array or object of a field that nobody knows.
  bool Descend() {
    if (place_ != Place::kUnknown && !IsUnknownField()) return Unexpected();
    place_ = Place::kUnknown;
    return ++depth_ <= kDeepest ||
           Refuse(absl::StrCat("a field nested more than ", kDeepest, " deep"));
  }

  void Ascend() {
    if (--depth_ == 0) place_ = Place::kTensor;
  }

  SafetensorsHeader* header_;
  std::string error_;
  Place place_ = Place::kNowhere;
  std::string key_;
  std::set<std::string> names_;   // in the header
  std::set<std::string> fields_;  // in the present tensor, or in the metadata
  std::vector<int64_t>* sizes_ = nullptr;
  int depth_ = 0;  // below the unknown field
};

}  // namespace

absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view text) {
  SafetensorsHeader header;
  HeaderReader reader(&header);
  if (!Json::sax_parse(text, &reader)) return absl::InvalidArgumentError(reader.error());
  return header;
}

std::string ShownName(std::string_view name) {
  constexpr size_t kMost = 100;
  return absl::StrCat(absl::CHexEscape(std::string(name.substr(0, kMost))),
                      name.size() > kMost ? "..." : "");
}

}  // namespace grapevine
