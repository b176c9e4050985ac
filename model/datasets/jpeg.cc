#include "model/datasets/jpeg.h"

// jpeglib.h needs FILE and size_t.
#include <cstddef>
#include <cstdio>
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <array>
#include <csetjmp>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {
namespace {

constexpr int64_t kMaxPixels = int64_t{1} << 28;

// libjpeg reports errors through functions of its caller and does not expect them to return. They
// leave libjpeg, which is C, by a long jump past frames without destructors.
struct ErrorTrap {
  jpeg_error_mgr manager;  // first: libjpeg hands it back
  jmp_buf jump;
  std::array<char, JMSG_LENGTH_MAX> message;
};

[[noreturn]] void Leave(j_common_ptr jpeg) {
  auto* trap = reinterpret_cast<ErrorTrap*>(jpeg->err);
  jpeg->err->format_message(jpeg, trap->message.data());
  longjmp(trap->jump, 1);
}

bool Harmless(int message) {
  switch (message) {
    case JWRN_ADOBE_XFORM:
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
      return true;
    default:
      return false;
  }
}

// Handles libjpeg's messages. Negative levels are warnings about corrupt data.
void OnMessage(j_common_ptr jpeg, int level) {
  if (level < 0 && !Harmless(jpeg->err->msg_code)) Leave(jpeg);
}

// The input and output of a decoding. The type is trivial because of the long jumps.
struct Decoding {
  std::span<const uint8_t> file;
  int denominator;
  std::vector<uint8_t>* pixels;
  ImageExtent extent;
};

void Open(const Decoding& decoding, jpeg_decompress_struct* jpeg) {
  jpeg_mem_src(jpeg, decoding.file.data(), decoding.file.size());
  jpeg_read_header(jpeg, TRUE);
}

void ReadExtent(jpeg_decompress_struct* jpeg, Decoding* decoding) {
  Open(*decoding, jpeg);
  decoding->extent = {jpeg->image_width, jpeg->image_height};
}

// Converts CMYK to RGB. Adobe's programs write inks inverted, 255 for no ink, and mark such files.
void InkToLight(bool inverted, const JSAMPLE* inks, int64_t width, uint8_t* pixels) {
  const auto light = [&](int ink) { return inverted ? ink : 255 - ink; };
  for (int64_t x = 0; x < width; ++x) {
    const int black = light(inks[4 * x + 3]);
    for (int64_t c = 0; c < 3; ++c) {
      pixels[3 * x + c] = static_cast<uint8_t>((light(inks[4 * x + c]) * black + 127) / 255);
    }
  }
}

void Decode(jpeg_decompress_struct* jpeg, Decoding* decoding) {
  Open(*decoding, jpeg);
  const bool inks = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
  jpeg->out_color_space = inks ? JCS_CMYK : JCS_RGB;
  jpeg->scale_num = 1;
  jpeg->scale_denom = static_cast<unsigned>(decoding->denominator);
  jpeg->dct_method = JDCT_ISLOW;
  jpeg_start_decompress(jpeg);
  const int64_t width = jpeg->output_width;
  decoding->extent = {width, jpeg->output_height};
  decoding->pixels->resize(static_cast<size_t>(3 * width * decoding->extent.height));
  // The row lives as long as the decoder.
  JSAMPARRAY row = (*jpeg->mem->alloc_sarray)(reinterpret_cast<j_common_ptr>(jpeg), JPOOL_IMAGE,
                                              4 * jpeg->output_width, 1);
  while (jpeg->output_scanline < jpeg->output_height) {
    uint8_t* pixels = decoding->pixels->data() + 3 * width * jpeg->output_scanline;
    if (!inks) {
      jpeg_read_scanlines(jpeg, &pixels, 1);
    } else {
      jpeg_read_scanlines(jpeg, row, 1);
      InkToLight(jpeg->saw_Adobe_marker != 0, row[0], width, pixels);
    }
  }
  jpeg_finish_decompress(jpeg);
}

// Runs `work` on a decoder and returns whether it succeeded. A long jump returns to this function,
// which changes none of its own variables between setjmp and the jump.
bool Run(void (*work)(jpeg_decompress_struct*, Decoding*), ErrorTrap* trap, Decoding* decoding) {
  jpeg_decompress_struct jpeg;
  jpeg.err = jpeg_std_error(&trap->manager);
  trap->manager.error_exit = Leave;
  trap->manager.emit_message = OnMessage;
  jpeg_create_decompress(&jpeg);
  if (setjmp(trap->jump) != 0) {
    jpeg_destroy_decompress(&jpeg);
    return false;
  }
  work(&jpeg, decoding);
  jpeg_destroy_decompress(&jpeg);
  return true;
}

absl::StatusOr<ImageExtent> RunChecked(std::string_view path,
                                       void (*work)(jpeg_decompress_struct*, Decoding*),
                                       Decoding decoding) {
  if (decoding.file.empty()) return InputError(path, "expected a JPEG image, found an empty file");
  ErrorTrap trap;
  if (!Run(work, &trap, &decoding)) {
    return InputError(path, absl::StrCat("cannot decode it as JPEG: ", trap.message.data()));
  }
  return decoding.extent;
}

}  // namespace

absl::StatusOr<ImageExtent> JpegExtent(std::string_view path, std::span<const uint8_t> file) {
  absl::StatusOr<ImageExtent> extent = RunChecked(path, ReadExtent, {.file = file});
  if (extent.ok() && extent->width * extent->height > kMaxPixels) {
    return InputError(path,
                      absl::StrCat("its ", extent->width, " x ", extent->height,
                                   " pixels are more than the ", kMaxPixels, " that are decoded"));
  }
  return extent;
}

absl::StatusOr<ImageExtent> DecodeJpeg(std::string_view path, std::span<const uint8_t> file,
                                       int denominator, std::vector<uint8_t>* pixels) {
  return RunChecked(path, Decode, {.file = file, .denominator = denominator, .pixels = pixels});
}

}  // namespace grapevine
