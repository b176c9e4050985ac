#include "model/datasets/npz.h"

#include <zip.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/printable.h"
#include "base/spec.h"
#include "base/status.h"
#include "model/datasets/dataset_kind.h"
#include "model/datasets/npy.h"

namespace grapevine {
namespace {

// Samples are numbered by int32_t.
constexpr int64_t kMostSamples = std::numeric_limits<int32_t>::max();
// The most that is reserved because a header claims it (bytes of images, or number of labels).
// Beyond it, memory grows with the elements that the file really has.
constexpr int64_t kTrusted = int64_t{64} << 20;
// The most channels. Each channel has a table of its own.
constexpr int64_t kMostChannels = 4096;

// Reads one array of an archive, from its beginning. Must not outlive the archive.
// Thread-compatible.
class ZipEntry {
 public:
  ZipEntry(std::string name, zip_file_t* file) : name_(std::move(name)), file_(file, zip_fclose) {}

  // The name for messages: "digits.npz: x_train".
  const std::string& name() const { return name_; }
  bool open() const { return file_ != nullptr; }

  // Reads up to `size` bytes; fewer only at the end, where libzip has checked the CRC.
  absl::StatusOr<std::vector<uint8_t>> Read(int64_t size) {
    std::vector<uint8_t> bytes(static_cast<size_t>(size));
    const zip_int64_t read = zip_fread(file_.get(), bytes.data(), bytes.size());
    if (read < 0) {
      return InputError(name_, absl::StrCat("cannot read it: ", zip_file_strerror(file_.get())));
    }
    bytes.resize(static_cast<size_t>(read));
    return bytes;
  }

 private:
  std::string name_;
  std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file_;
};

// Thread-compatible.
class NpzArchive {
 public:
  static absl::StatusOr<NpzArchive> Open(const std::string& path) {
    int code = 0;
    zip_t* const zip = zip_open(path.c_str(), ZIP_RDONLY, &code);
    if (zip != nullptr) return NpzArchive(path, zip);
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    absl::Status status = InputError(
        path,
        absl::StrCat("cannot open it as an archive of numpy.savez: ", zip_error_strerror(&error)));
    zip_error_fini(&error);
    return status;
  }

  absl::StatusOr<ZipEntry> Find(const std::string& array) const {
    const zip_int64_t index = zip_name_locate(zip_.get(), (array + ".npy").c_str(), 0);
    if (index < 0) {
      return InputError(path_, absl::StrCat("expected the arrays x_train, y_train, x_test and "
                                            "y_test; there is no ",
                                            array, ", only ", Names()));
    }
    const std::string name = absl::StrCat(path_, ": ", array);
    ZipEntry entry(name, zip_fopen_index(zip_.get(), static_cast<zip_uint64_t>(index), 0));
    if (entry.open()) return entry;
    return InputError(name, absl::StrCat("cannot open it: ", zip_strerror(zip_.get())));
  }

 private:
  NpzArchive(std::string path, zip_t* zip) : path_(std::move(path)), zip_(zip, zip_discard) {}

  // Lists the first arrays of the archive, for a message.
  std::string Names() const {
    constexpr zip_int64_t kListed = 8;
    constexpr size_t kLongest = 40;
    std::vector<std::string> names;
    const zip_int64_t count = zip_get_num_entries(zip_.get(), 0);
    for (zip_int64_t i = 0; i < std::min(count, kListed); ++i) {
      const char* name = zip_get_name(zip_.get(), static_cast<zip_uint64_t>(i), 0);
      std::string_view shown = name == nullptr ? "?" : name;
      if (shown.ends_with(".npy")) shown.remove_suffix(4);
      names.push_back(Printable(shown, kLongest));
    }
    if (count > kListed) names.push_back("...");
    return names.empty() ? "nothing" : absl::StrJoin(names, ", ");
  }

  std::string path_;
  std::unique_ptr<zip_t, void (*)(zip_t*)> zip_;
};

// Calls `take` with every element as a Number.
template <typename Number, typename Take>
void ForEach(std::span<const uint8_t> elements, Take take) {
  for (size_t at = 0; at < elements.size(); at += sizeof(Number)) {
    Number number;
    std::memcpy(&number, elements.data() + at, sizeof(Number));
    take(number);
  }
}

// Calls `take` with every element as an integer of the array's type.
template <typename Take>
void ForEachInteger(const NpyHeader& header, std::span<const uint8_t> elements, Take take) {
  const bool sign = header.kind == 'i';
  switch (header.item_size) {
    case 1:
      return sign ? ForEach<int8_t>(elements, take) : ForEach<uint8_t>(elements, take);
    case 2:
      return sign ? ForEach<int16_t>(elements, take) : ForEach<uint16_t>(elements, take);
    case 4:
      return sign ? ForEach<int32_t>(elements, take) : ForEach<uint32_t>(elements, take);
    default:
      return sign ? ForEach<int64_t>(elements, take) : ForEach<uint64_t>(elements, take);
  }
}

struct NpzImages {
  ImageShape shape;
  int64_t count = 0;
  bool floats = false;
  std::vector<uint8_t> pixels;
};

// Returns the shape of the images. `channels` is the number that the user gives, or 0.
absl::StatusOr<ImageShape> ShapeOf(const std::string& name, const std::vector<int64_t>& shape,
                                   int64_t channels) {
  const size_t axes = shape.size();
  if (axes < 2 || axes > 4) {
    return InputError(name, absl::StrCat("expected the shape (N, height, width), (N, height, "
                                         "width, channels) or (N, features), found ",
                                         ShapeText(shape)));
  }
  const int64_t last = axes == 4 ? shape[3] : 1;
  if (last > kMostChannels) {
    return InputError(name, absl::StrCat("its shape ", ShapeText(shape), " has more than ",
                                         kMostChannels, " channels; save x.reshape(len(x), -1)"));
  }
  if (channels > 0 && channels != last) {
    return InputError(name, absl::StrCat("its shape ", ShapeText(shape), " has ", last,
                                         " channel(s), not channels=", channels));
  }
  if (channels == 0 && last != 1 && last != 3 && last != 4) {
    return InputError(name, absl::StrCat("its shape ", ShapeText(shape), " has ", last,
                                         " channels, images have 1, 3 or 4; if they come before "
                                         "rows save x.transpose(0, 2, 3, 1), else say channels=",
                                         last));
  }
  return axes == 2 ? ImageShape{1, shape[1], 1} : ImageShape{shape[1], shape[2], last};
}

// Appends elements as fp32. Returns false if an element is not finite or too large for fp32.
template <typename Number>
bool AppendFloats(std::span<const uint8_t> elements, std::vector<uint8_t>* pixels) {
  bool finite = true;
  ForEach<Number>(elements, [&](Number number) {
    // The conversion to float is undefined for a number that does not fit.
    constexpr auto kGreatest = static_cast<Number>(std::numeric_limits<float>::max());
    if (!(std::abs(number) <= kGreatest)) {
      finite = false;
      return;
    }
    const auto value = static_cast<float>(number);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    pixels->insert(pixels->end(), bytes, bytes + sizeof(value));
  });
  return finite;
}

absl::StatusOr<NpzImages> ReadImages(const NpzArchive& archive, const std::string& array,
                                     int64_t channels) {
  ASSIGN_OR_RETURN(ZipEntry entry, archive.Find(array));
  const ReadBytes read = [&entry](int64_t size) { return entry.Read(size); };
  ASSIGN_OR_RETURN(const NpyHeader header, ReadNpyHeader(entry.name(), read));
  const bool bytes = header.kind == 'u' && header.item_size == 1;
  const bool single = header.kind == 'f' && header.item_size == 4;
  if (!bytes && !single && !(header.kind == 'f' && header.item_size == 8)) {
    return InputError(
        entry.name(),
        absl::StrCat("expected images of type uint8, float32 or float64, found ", header.type,
                     "; save x.astype('float32'), or 'uint8' for ", "values from 0 to 255"));
  }
  NpzImages images{.floats = !bytes};
  ASSIGN_OR_RETURN(images.shape, ShapeOf(entry.name(), header.shape, channels));
  images.count = header.shape[0];
  if (images.count > kMostSamples) {
    return InputError(entry.name(), absl::StrCat("expected at most ", kMostSamples,
                                                 " images, found ", images.count));
  }
  const int64_t size = header.count * static_cast<int64_t>(bytes ? 1 : sizeof(float));
  images.pixels.reserve(static_cast<size_t>(std::min(size, kTrusted)));
  RETURN_IF_ERROR(
      ReadNpyElements(entry.name(), header, read, [&](std::span<const uint8_t> elements) {
        if (bytes) {
          images.pixels.insert(images.pixels.end(), elements.begin(), elements.end());
          return absl::OkStatus();
        }
        const bool finite = single ? AppendFloats<float>(elements, &images.pixels)
                                   : AppendFloats<double>(elements, &images.pixels);
        if (finite) return absl::OkStatus();
        return InputError(entry.name(),
                          "a value is NaN, infinite or too large for float32; "
                          "numpy.isfinite(x.astype('float32')) finds it");
      }));
  return images;
}

// Reads the labels of `count` images.
absl::StatusOr<std::vector<Label>> ReadLabels(const NpzArchive& archive, const std::string& array,
                                              int64_t count) {
  ASSIGN_OR_RETURN(ZipEntry entry, archive.Find(array));
  const ReadBytes read = [&entry](int64_t size) { return entry.Read(size); };
  ASSIGN_OR_RETURN(const NpyHeader header, ReadNpyHeader(entry.name(), read));
  const bool column = header.shape.size() == 2 && header.shape[1] == 1;
  if ((header.shape.size() != 1 && !column) || header.shape[0] != count) {
    const bool one_hot = header.shape.size() == 2 && header.shape[1] > 1;
    return InputError(
        entry.name(),
        absl::StrCat("expected the shape (", count, ",), a label for each image, found ",
                     ShapeText(header.shape), one_hot ? "; of one-hot rows save y.argmax(1)" : ""));
  }
  if (header.kind != 'i' && header.kind != 'u') {
    return InputError(entry.name(), absl::StrCat("expected labels of an integer type, found ",
                                                 header.type, "; save y.astype('int64')"));
  }
  std::vector<Label> labels;
  labels.reserve(static_cast<size_t>(std::min(count, kTrusted)));
  std::string refused;
  RETURN_IF_ERROR(
      ReadNpyElements(entry.name(), header, read, [&](std::span<const uint8_t> elements) {
        ForEachInteger(header, elements, [&](std::integral auto label) {
          if (!refused.empty()) return;
          if (std::cmp_less(label, 0) || std::cmp_greater_equal(label, kMaxClasses)) {
            refused = absl::StrCat("sample ", labels.size(), ": expected a label from 0 to ",
                                   kMaxClasses - 1, ", found ", label);
          }
          labels.push_back(static_cast<Label>(label));
        });
        return refused.empty() ? absl::OkStatus() : InputError(entry.name(), refused);
      }));
  return labels;
}

struct NpzPart {
  NpzImages images;
  std::vector<Label> labels;
};

absl::StatusOr<NpzPart> ReadNpzPart(const NpzArchive& archive, const std::string& name,
                                    int64_t channels) {
  NpzPart part;
  ASSIGN_OR_RETURN(part.images, ReadImages(archive, "x_" + name, channels));
  ASSIGN_OR_RETURN(part.labels, ReadLabels(archive, "y_" + name, part.images.count));
  return part;
}

// Measures the mean and deviation of bytes, per channel. The sums are sums of integers, so that the
// result is the same on every machine.
Normalization MeasuredNormalization(const NpzImages& images) {
  const auto channels = static_cast<size_t>(images.shape.channels);
  std::vector<std::array<int64_t, 256>> counts(channels);
  for (size_t i = 0; i < images.pixels.size(); ++i) ++counts[i % channels][images.pixels[i]];
  const double pixels = static_cast<double>(images.pixels.size() / channels);
  Normalization measured;
  for (const std::array<int64_t, 256>& count : counts) {
    double sum = 0, squares = 0;
    for (size_t byte = 0; byte < 256; ++byte) {
      sum += static_cast<double>(count[byte] * static_cast<int64_t>(byte));
      squares += static_cast<double>(count[byte] * static_cast<int64_t>(byte * byte));
    }
    const double mean = sum / pixels, variance = squares / pixels - mean * mean;
    measured.mean.push_back(static_cast<float>(mean / 255));
    measured.deviation.push_back(variance > 0 ? static_cast<float>(std::sqrt(variance) / 255)
                                              : 1.0f);
  }
  return measured;
}

// Returns `given` with one value for each channel, or `otherwise` if `given` is empty.
absl::StatusOr<std::vector<float>> PerChannel(const std::string& path, std::string_view option,
                                              const std::vector<float>& given,
                                              std::vector<float> otherwise) {
  if (given.empty()) return otherwise;
  if (given.size() == 1) return std::vector<float>(otherwise.size(), given[0]);
  if (given.size() == otherwise.size()) return given;
  return InputError(
      path, absl::StrCat("its images have ", otherwise.size(), " channel(s), ", std::string(option),
                         "= has ", given.size(), " values; give one, or one for each channel"));
}

absl::StatusOr<Normalization> NormalizationOf(const std::string& path, const NpzImages& images,
                                              const NpzOptions& options) {
  const auto channels = static_cast<size_t>(images.shape.channels);
  Normalization normalization{std::vector<float>(channels, 0.0f),
                              std::vector<float>(channels, 1.0f)};
  if (!images.floats) normalization = MeasuredNormalization(images);
  ASSIGN_OR_RETURN(normalization.mean, PerChannel(path, "mean", options.mean, normalization.mean));
  ASSIGN_OR_RETURN(normalization.deviation,
                   PerChannel(path, "std", options.deviation, normalization.deviation));
  return normalization;
}

int64_t ClassesIn(const NpzPart& train, const NpzPart& test) {
  const Label greatest =
      std::max(*std::ranges::max_element(train.labels), *std::ranges::max_element(test.labels));
  return std::max<int64_t>(greatest + 1, 2);
}

absl::Status CheckAlike(const std::string& path, const NpzImages& train, const NpzImages& test) {
  const auto text = [](const NpzImages& images) {
    return absl::StrCat(images.shape.height, " x ", images.shape.width, " x ",
                        images.shape.channels, images.floats ? " floats" : " bytes");
  };
  if (text(train) == text(test)) return absl::OkStatus();
  return InputError(
      absl::StrCat(path, ": x_test"),
      absl::StrCat("expected images of ", text(train), ", like x_train, found ", text(test)));
}

absl::Status BadNumbers(const Spec& spec, std::string_view option) {
  return SpecError(spec.text,
                   absl::StrCat(std::string(option), " is a number, or numbers separated by '/', ",
                                "one for each channel", option == "std" ? ", all positive" : ""));
}

// Parses "0.5" or "0.49/0.48/0.45". Returns an empty vector if the option is absent.
absl::StatusOr<std::vector<float>> Numbers(const Spec& spec, std::string_view option,
                                           const std::string& text) {
  std::vector<float> numbers;
  if (text.empty()) return numbers;
  for (const absl::string_view word : absl::StrSplit(text, '/')) {
    float number = 0;
    if (!absl::SimpleAtof(word, &number) || !std::isfinite(number) ||
        (option == "std" && number <= 0)) {
      return BadNumbers(spec, option);
    }
    numbers.push_back(number);
  }
  return numbers;
}

absl::StatusOr<TrainTest> MakeNpz(const Spec& spec) {
  SpecReader reader(spec);
  const std::string path = reader.Argument();
  NpzOptions options{.classes = reader.Integer("classes", 0, 2, kMaxClasses),
                     .augment = reader.Choice("augment", {"no", "yes"}) == "yes",
                     .channels = reader.Integer("channels", 0, 1, kMostChannels)};
  const std::string mean = reader.Text("mean", ""), deviation = reader.Text("std", "");
  RETURN_IF_ERROR(reader.Finish());
  if (path.empty()) return SpecError(spec.text, "expected a file, as in npz:FILE");
  ASSIGN_OR_RETURN(options.mean, Numbers(spec, "mean", mean));
  ASSIGN_OR_RETURN(options.deviation, Numbers(spec, "std", deviation));
  return ReadNpz(path, options);
}

const Registration kNpz(
    Datasets(),
    {.name = "npz",
     .options = ":FILE[:mean=M][:std=S][:classes=N][:channels=C][:augment=yes]",
     .help = "NumPy's arrays x_train, y_train, x_test, y_test, as numpy.savez writes them",
     .read = MakeNpz});

}  // namespace

absl::StatusOr<TrainTest> ReadNpz(const std::string& path, const NpzOptions& options) {
  ASSIGN_OR_RETURN(const NpzArchive archive, NpzArchive::Open(path));
  ASSIGN_OR_RETURN(NpzPart train, ReadNpzPart(archive, "train", options.channels));
  ASSIGN_OR_RETURN(NpzPart test, ReadNpzPart(archive, "test", options.channels));
  RETURN_IF_ERROR(CheckAlike(path, train.images, test.images));
  DatasetTraits traits{.name = "npz",
                       .shape = train.images.shape,
                       .floats = train.images.floats,
                       .classes = options.classes > 0 ? options.classes : ClassesIn(train, test)};
  ASSIGN_OR_RETURN(traits.normalization, NormalizationOf(path, train.images, options));
  if (options.augment) {
    if (traits.shape.height == 1) {
      return InputError(path, "augment=yes is for images; x_train has rows of features");
    }
    traits.augmentation = {.padding = 4, .mirror = true};
  }
  RETURN_IF_ERROR(CheckLabels(path + ": y_train", train.labels, traits.classes));
  RETURN_IF_ERROR(CheckLabels(path + ": y_test", test.labels, traits.classes));
  const auto make = [&traits](NpzPart part) {
    return std::make_shared<const MemoryDataset>(traits, std::move(part.images.pixels),
                                                 std::move(part.labels));
  };
  return TrainTest{make(std::move(train)), make(std::move(test))};
}

}  // namespace grapevine
