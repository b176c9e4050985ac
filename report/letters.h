// How much room a text takes, and what fits where there is less.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_REPORT_LETTERS_H_
#define GRAPEVINE_REPORT_LETTERS_H_

#include <cstddef>
#include <string>

namespace grapevine {

// Code points of UTF-8: a sign like "\u00d7" is as wide as a letter.
size_t LetterCount(const std::string& text);

// `text`, cut between letters to end in "..." if it has more than `most` of them (at least three).
std::string Fitting(std::string text, size_t most);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_LETTERS_H_
