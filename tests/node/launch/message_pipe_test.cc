#include "node/launch/message_pipe.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/launch/agent.pb.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Pipes {
  Pipes() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    read = UniqueDescriptor(ends[0]);
    write = UniqueDescriptor(ends[1]);
  }
  UniqueDescriptor read, write;
};

launch::Report Said(const std::string& words) {
  launch::Report report;
  report.set_words(words);
  return report;
}

std::vector<std::string> AllIn(MessageReader& reader) {
  std::vector<std::string> words;
  while (true) {
    const absl::StatusOr<std::optional<std::string>> message = reader.Next();
    EXPECT_TRUE(message.ok()) << message.status();
    if (!message.ok() || !*message) return words;
    launch::Report report;
    EXPECT_TRUE(report.ParseFromString(**message));
    words.push_back(report.words());
  }
}

TEST(MessagePipe, MessagesOfAnySizeComeWholeHoweverTheyAreCut) {
  const std::string large(3'000'000, 'x');
  Pipes pipes;
  MessageWriter writer;
  MessageReader reader;
  for (const std::string& words : {std::string("a"), std::string(), large, std::string("b")}) {
    writer.Add(Said(words));
  }
  std::vector<std::string> heard;
  while (writer.waiting() > 0) {  // a pipe takes 64 KiB at once
    ASSERT_TRUE(writer.Write(pipes.write).ok());
    reader.Read(pipes.read);
    for (std::string& words : AllIn(reader)) heard.push_back(std::move(words));
  }
  EXPECT_THAT(heard, ElementsAre("a", "", large, "b"));
  pipes.write.Close();
  reader.Read(pipes.read);
  EXPECT_FALSE(pipes.read.open());
}

TEST(MessagePipe, WhatAShellSaysFirstIsPassedOver) {
  MessageReader reader;
  reader.Take("Welcome to node2\nno mail");
  EXPECT_EQ(*reader.Greeting("agent "), std::nullopt);
  reader.Take("\nagent 1.0\n");
  EXPECT_EQ(*reader.Greeting("agent "), "agent 1.0");
}

TEST(MessagePipe, WhoTalksWithoutEndIsRefused) {
  MessageReader reader;
  for (int line = 0; line < 1000; ++line) reader.Take(std::string(100, 'x') + "\n");
  EXPECT_THAT(std::string(reader.Greeting("agent ").status().message()), HasSubstr("says much"));
  MessageReader at_once;
  at_once.Take(std::string(MessageReader::kMaxNoise, 'x'));
  EXPECT_FALSE(at_once.Greeting("agent ").ok());
}

TEST(MessagePipe, AMessageTooLongIsRefusedBeforeItComes) {
  MessageReader reader;
  reader.Take(std::string("\x01\x00\x40\x00", 4));  // one byte too many
  EXPECT_EQ(reader.Next().status().message(), "announces a message of 4194305 bytes");
}

TEST(MessagePipe, NobodyReads) {
  signal(SIGPIPE, SIG_IGN);
  Pipes pipes;
  pipes.read.Close();
  MessageWriter writer;
  writer.Add(Said("hello"));
  EXPECT_THAT(std::string(writer.Write(pipes.write).message()), HasSubstr("Broken pipe"));
}

}  // namespace
}  // namespace grapevine
