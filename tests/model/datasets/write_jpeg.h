// Small JPEG files for tests.
#ifndef GRAPEVINE_TESTS_MODEL_DATASETS_WRITE_JPEG_H_
#define GRAPEVINE_TESTS_MODEL_DATASETS_WRITE_JPEG_H_

// jpeglib.h needs FILE and size_t.
// clang-format off
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace grapevine {

struct JpegOptions {
  int width = 16;
  int height = 16;
  J_COLOR_SPACE pixels = JCS_RGB;  // what `value` gives: JCS_GRAYSCALE, JCS_CMYK
  J_COLOR_SPACE file = JCS_YCbCr;  // what is written: JCS_YCCK
  bool progressive = false;
  bool adobe = false;  // with a marker that Adobe wrote it
};

// The bytes of a file whose samples are value(x, y, channel), without subsampling, so that smooth
// images come back within a few levels.
inline std::string JpegBytes(const JpegOptions& options,
                             const std::function<int(int x, int y, int channel)>& value) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = static_cast<JDIMENSION>(options.width);
  jpeg.image_height = static_cast<JDIMENSION>(options.height);
  jpeg.input_components = options.pixels == JCS_GRAYSCALE ? 1 : options.pixels == JCS_CMYK ? 4 : 3;
  jpeg.in_color_space = options.pixels;
  jpeg_set_defaults(&jpeg);
  jpeg_set_colorspace(&jpeg, options.file);
  jpeg_set_quality(&jpeg, 100, TRUE);
  for (int i = 0; i < jpeg.num_components; ++i) {
    jpeg.comp_info[i].h_samp_factor = jpeg.comp_info[i].v_samp_factor = 1;
  }
  if (options.progressive) jpeg_simple_progression(&jpeg);
  jpeg.write_Adobe_marker = options.adobe ? TRUE : FALSE;
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<uint8_t> row(static_cast<size_t>(options.width * jpeg.input_components));
  for (int y = 0; y < options.height; ++y) {
    for (size_t i = 0; i < row.size(); ++i) {
      const int x = static_cast<int>(i) / jpeg.input_components;
      row[i] = static_cast<uint8_t>(value(x, y, static_cast<int>(i) % jpeg.input_components));
    }
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&jpeg, &pointer, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string result(reinterpret_cast<char*>(bytes), size);
  free(bytes);
  return result;
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_MODEL_DATASETS_WRITE_JPEG_H_
