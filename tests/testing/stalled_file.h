// A file whose disk stalls: a FIFO that nobody reads.
#ifndef GRAPEVINE_TESTS_TESTING_STALLED_FILE_H_
#define GRAPEVINE_TESTS_TESTING_STALLED_FILE_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "system/file_descriptor.h"

namespace grapevine::testing {

class StalledFile {
 public:
  // It takes as little as a pipe can before it stalls: a page or so.
  explicit StalledFile(std::string path) : path_(std::move(path)) {
    unlink(path_.c_str());
    EXPECT_EQ(mkfifo(path_.c_str(), 0600), 0);
    // A reader must be there before a writer opens it.
    reader_ = UniqueDescriptor(open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    fcntl(reader_.get(), F_SETFL, 0);
    EXPECT_GE(fcntl(reader_.get(), F_SETPIPE_SZ, 1), 1);
  }

  // The disk goes on: all until the writer closes it.
  std::string ReadAll() const {
    std::string text;
    char buffer[4096];
    ssize_t got;
    while ((got = read(reader_.get(), buffer, sizeof(buffer))) > 0) text.append(buffer, got);
    return text;
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  UniqueDescriptor reader_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_STALLED_FILE_H_
