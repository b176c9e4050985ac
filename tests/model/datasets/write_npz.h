// Arrays and archives as NumPy writes them, for tests.
#ifndef GRAPEVINE_TESTS_MODEL_DATASETS_WRITE_NPZ_H_
#define GRAPEVINE_TESTS_MODEL_DATASETS_WRITE_NPZ_H_

#include <zip.h>

#include <map>
#include <string>

#include "gtest/gtest.h"

namespace grapevine {

// A .npy file whose header is this text, in version 1 of the format.
inline std::string Npy(const std::string& header, const std::string& elements) {
  const std::string text = header + "\n";
  const std::string size = {static_cast<char>(text.size() & 0xff),
                            static_cast<char>(text.size() >> 8)};
  return std::string("\x93NUMPY\x01\x00", 8) + size + text + elements;
}

// `shape` as Python writes it: "(3, 28, 28)".
inline std::string Npy(const std::string& type, const std::string& shape,
                       const std::string& elements) {
  return Npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }",
             elements);
}

// Writes `arrays` by name, without ".npy"; returns the path.
inline std::string WriteNpz(const std::string& path,
                            const std::map<std::string, std::string>& arrays,
                            bool compressed = false) {
  int error = 0;
  zip_t* const zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error);
  EXPECT_NE(zip, nullptr) << error;
  for (const auto& [name, bytes] : arrays) {
    zip_source_t* const source = zip_source_buffer(zip, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = zip_file_add(zip, (name + ".npy").c_str(), source, 0);
    EXPECT_GE(index, 0) << zip_strerror(zip);
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(index),
                             compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  EXPECT_EQ(zip_close(zip), 0) << zip_strerror(zip);
  return path;
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_MODEL_DATASETS_WRITE_NPZ_H_
