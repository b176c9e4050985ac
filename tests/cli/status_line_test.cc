#include "cli/terminal/status_line.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "system/file_descriptor.h"

namespace grapevine {
namespace {

TEST(FitToWidth, NeverFillsTheLastColumn) {
  EXPECT_EQ(FitToWidth("0123456789", 11), "0123456789");
  EXPECT_EQ(FitToWidth("0123456789", 10), "012345...");
  EXPECT_EQ(FitToWidth("0123456789", 4), "012");
  EXPECT_EQ(FitToWidth("0123456789", 1), "");
  EXPECT_EQ(FitToWidth("0123456789", -1), "");
  EXPECT_EQ(FitToWidth("", 0), "");
}

TEST(FitToWidth, KeepsTheEnd) {
  EXPECT_EQ(FitToWidth("0123456789", 15, "  end"), "012345...  end");
  EXPECT_EQ(FitToWidth("0123456789", 16, "  end"), "0123456789  end");
  EXPECT_EQ(FitToWidth("0123456789", 10, "  end"), "0...  end");
  EXPECT_EQ(FitToWidth("0123456789", 9, "  end"), "01234...") << "no room for both";
  EXPECT_EQ(FitToWidth("", 3, "  end"), "");
}

TEST(TerminalWidth, IsWhatTheTerminalHasAtThatMoment) {
  const UniqueDescriptor terminal(posix_openpt(O_RDWR | O_NOCTTY));
  ASSERT_GE(terminal.get(), 0);
  for (const int columns : {40, 200}) {
    const winsize size{.ws_row = 24, .ws_col = static_cast<unsigned short>(columns)};
    ASSERT_EQ(ioctl(terminal.get(), TIOCSWINSZ, &size), 0);
    EXPECT_EQ(TerminalWidth(terminal.get()), columns);
  }
}

TEST(TerminalWidth, IsTheUsualOneOfWhatDoesNotSay) {
  const UniqueDescriptor terminal(posix_openpt(O_RDWR | O_NOCTTY)), file(open("/dev/null", O_RDWR));
  EXPECT_EQ(TerminalWidth(terminal.get()), 80) << "of no columns";
  EXPECT_EQ(TerminalWidth(file.get()), 80);
}

}  // namespace
}  // namespace grapevine
