#include "model/datasets/npy.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/model/datasets/write_npz.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The bytes of a text, so many at a time as are asked for.
ReadBytes From(std::string bytes) {
  return [bytes = std::move(bytes), at = size_t{0}](int64_t size) mutable {
    const size_t end = std::min(bytes.size(), at + static_cast<size_t>(size));
    const std::vector<uint8_t> read(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                    bytes.begin() + static_cast<std::ptrdiff_t>(end));
    at = end;
    return absl::StatusOr<std::vector<uint8_t>>(read);
  };
}

std::string HeaderRefusal(const std::string& bytes) {
  const absl::Status status = ReadNpyHeader("x", From(bytes)).status();
  EXPECT_EQ(FailureOf(status), Failure::kInput) << status;
  EXPECT_THAT(std::string(status.message()), StartsWith("x: "));
  return std::string(status.message());
}

TEST(NpyTest, ReadsHeadersOfAllVersionsAndSpellings) {
  const std::string fields = "{'descr': '>f8', 'fortran_order': False, 'shape': (3, 28, 2), }   \n";
  const std::string size(1, static_cast<char>(fields.size()));
  for (const std::string& bytes :
       {std::string("\x93NUMPY\x01\x00", 8) + size + std::string(1, '\0') + fields,
        std::string("\x93NUMPY\x02\x00", 8) + size + std::string(3, '\0') + fields,
        std::string("\x93NUMPY\x03\x00", 8) + size + std::string(3, '\0') + fields,
        Npy("{\"shape\":(3,28,2),\"fortran_order\":False,\"descr\":\">f8\"}", "")}) {
    const absl::StatusOr<NpyHeader> header = ReadNpyHeader("x", From(bytes));
    ASSERT_TRUE(header.ok()) << header.status();
    EXPECT_EQ(header->kind, 'f');
    EXPECT_EQ(header->item_size, 8);
    EXPECT_TRUE(header->swapped);
    EXPECT_THAT(header->shape, ElementsAre(3, 28, 2));
    EXPECT_EQ(header->count, 168);
  }
  const absl::StatusOr<NpyHeader> scalar = ReadNpyHeader("x", From(Npy("|b1", "()", "")));
  ASSERT_TRUE(scalar.ok()) << scalar.status();
  EXPECT_EQ(scalar->count, 1);
}

TEST(NpyTest, BrokenHeadersAreRefused) {
  EXPECT_THAT(HeaderRefusal(""), HasSubstr("an end after 0 of 8 bytes"));
  EXPECT_THAT(HeaderRefusal("GIF89a..."), HasSubstr("begins with \\x93NUMPY"));
  EXPECT_THAT(HeaderRefusal(std::string("\x93NUMPY\x04\x00..", 10)), HasSubstr("found 4"));
  EXPECT_THAT(HeaderRefusal(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)),
              HasSubstr("header of at most 65536 bytes, found 4294967295"));
  EXPECT_THAT(HeaderRefusal(std::string("\x93NUMPY\x01\x00\x09\x00{", 11)),
              HasSubstr("an end after 1 of 9 bytes"));
  for (const char* fields :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'form': (3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} more", "os.system('true')"}) {
    EXPECT_THAT(HeaderRefusal(Npy(fields, "")), HasSubstr("is none of NumPy's arrays")) << fields;
  }
}

TEST(NpyTest, ArraysThatAreNotOfNumbersInCOrderAreRefusedWithTheRemedy) {
  for (const char* type : {"|O", "<U10", "<c8", "<M8[ns]", "|V16", "<f16"}) {
    const std::string why = HeaderRefusal(Npy(type, "(3,)", ""));
    EXPECT_THAT(why, HasSubstr(std::string("elements of type ") + type + "; convert them"));
  }
  EXPECT_THAT(HeaderRefusal(Npy("{'descr': [('a', '<f4')], 'fortran_order': False}", "")),
              HasSubstr("elements of type [('a', '<f4')]"));
  EXPECT_THAT(HeaderRefusal(Npy("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2)}", "")),
              HasSubstr("save numpy.ascontiguousarray(x)"));
}

TEST(NpyTest, EmptyAndAbsurdArraysAreRefusedBeforeMemoryIsTaken) {
  EXPECT_THAT(HeaderRefusal(Npy("<f4", "(0, 28)", "")),
              HasSubstr("its shape is (0, 28); expected no extent to be 0"));
  EXPECT_THAT(HeaderRefusal(Npy("<f4", "(17179869185,)", "")), HasSubstr("at most 68719476736"));
  EXPECT_THAT(HeaderRefusal(Npy("|u1", "(4294967296, 4294967296, 4294967296)", "")),
              HasSubstr("at most"));
}

TEST(NpyTest, ElementsAreWholeAndNoMoreOrFewer) {
  const auto read = [](const std::string& bytes, std::string* taken) {
    const ReadBytes from = From(bytes);
    const absl::StatusOr<NpyHeader> header = ReadNpyHeader("x", from);
    EXPECT_TRUE(header.ok()) << header.status();
    return ReadNpyElements("x", *header, from, [&](std::span<const uint8_t> elements) {
      taken->append(elements.begin(), elements.end());
      return absl::OkStatus();
    });
  };
  std::string taken;
  EXPECT_TRUE(read(Npy(">u2", "(2,)", "abcd"), &taken).ok());
  EXPECT_EQ(taken, "badc");
  // More than are handed out at once.
  const std::string many(10'000'000, 'x');
  taken.clear();
  EXPECT_TRUE(read(Npy("<f8", "(1250000,)", many), &taken).ok());
  EXPECT_TRUE(taken == many);
  EXPECT_THAT(std::string(read(Npy("<u2", "(2,)", "abc"), &taken).message()),
              HasSubstr("expected 4 bytes of elements, found 3"));
  EXPECT_THAT(std::string(read(Npy("<u2", "(2,)", "abcde"), &taken).message()),
              HasSubstr("found more"));
  EXPECT_THAT(std::string(read(Npy("<u8", "(5000000000,)", "abcde"), &taken).message()),
              HasSubstr("expected 40000000000 bytes of elements, found 5"));
}

}  // namespace
}  // namespace grapevine
