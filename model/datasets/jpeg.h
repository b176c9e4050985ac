// Decodes JPEG files into red, green and blue bytes, through libjpeg.
//
// A file gives the same bytes on every machine with the same libjpeg, because libjpeg's exact
// integer transform is used. Grey images get three equal channels. CMYK and YCCK images (inverted,
// as Adobe's programs write them, as well as plain) get their black multiplied into the other
// channels.
//
// Files are not trusted. Whatever libjpeg warns about is an error, apart from stray bytes
// between segments and unknown revisions, so that a truncated image is not silently trained on.
// Errors carry Failure::kInput and name the file.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_MODEL_DATASETS_JPEG_H_
#define GRAPEVINE_MODEL_DATASETS_JPEG_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grapevine {

struct ImageExtent {
  int64_t width = 0;
  int64_t height = 0;
  friend bool operator==(const ImageExtent&, const ImageExtent&) = default;
};

// Reads the extent of an image from its header. Errors name `path`. Refuses images of more than
// 2^28 pixels.
absl::StatusOr<ImageExtent> JpegExtent(std::string_view path, std::span<const uint8_t> file);

// pixels <- the image (height, width, 3) at 1 / `denominator` (1, 2, 4 or 8) of its extent, rounded
// up. Returns the reduced extent. Decoding a reduced image takes a fraction of the time.
absl::StatusOr<ImageExtent> DecodeJpeg(std::string_view path, std::span<const uint8_t> file,
                                       int denominator, std::vector<uint8_t>* pixels);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASETS_JPEG_H_
