// Every network gives the losses, gradients and statistics that PyTorch gave once: the
// oracle of how layers are wired, where there is no PyTorch.
#include "tests/model/torch_answers.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace grapevine {
namespace {

class TorchAnswersTest : public ::testing::TestWithParam<TorchCase> {};

TEST_P(TorchAnswersTest, LossesGradientsAndStatistics) {
  const TorchCase& c = GetParam();
  const std::map<std::string, AnswerDigest> answers = ReadAnswers("tests/model/torch_answers.txt");
  const auto expected = answers.find(c.name);
  ASSERT_NE(expected, answers.end()) << "run tests/model/record_torch_answers";
  TorchSubject subject = MakeTorchSubject(c);
  const NetworkAnswer answer = AnswerOf(subject);
  ExpectSameAnswer(Digest(subject.network->layout(), answer), expected->second, c.tolerance);
}

INSTANTIATE_TEST_SUITE_P(Networks, TorchAnswersTest, ::testing::ValuesIn(TorchCases()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace grapevine
